"""The why of a rebalance, and the notes between rebalances, in plain sentences. Wording only: the facts come from `timeline`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ErrorCode
from .views import Change, Note, Rebalance
from .words import counted, duration, instant, listed, partitions, printable

_APIS = {"join_group": "its JoinGroup", "sync_group": "its SyncGroup", "offset_commit": "an offset commit", "heartbeat": "a heartbeat"}


def why(rebalance: Rebalance) -> str:
    """One sentence: what began this rebalance, what came in its course, how it ended."""
    begun = f"Generation {rebalance.generation} began" if rebalance.generation is not None else "A rebalance began"
    if rebalance.outcome == "empty":
        begun = f"The group became empty in generation {rebalance.generation}"
    clauses = [f"{begun} because {because(rebalance)}", *_course(rebalance)]
    ending = _ENDINGS.get(rebalance.outcome, "")
    return "; ".join([*clauses, *([ending] if ending else [])]) + "."


_ENDINGS = {
    "interrupted": "it was never Stable, because the next rebalance came first",
    "lost": "it did not end, because the coordinator gave the group up",
    "joining": "it has not ended: the join phase goes on where the log stops",
    "syncing": "it is not Stable yet: the sync phase goes on where the log stops",
}


def because(rebalance: Rebalance) -> str:
    """What began a rebalance, as the clause after "because"."""
    tell = _TRIGGERS.get(rebalance.trigger.kind)
    return printable(rebalance.reason) if tell is None else tell(rebalance, rebalance.trigger)


def _joined(rebalance: Rebalance, trigger: Change) -> str:
    member = counted("member", trigger.members)
    if rebalance.state_before != "Empty":
        return f"{member} joined"
    return f"{member} joined the empty group"


def _rejoined(rebalance: Rebalance, trigger: Change) -> str:
    note, who = trigger.note, f"{'leader' if trigger.note.get('leads') else 'member'} {trigger.members[0]}"
    if note.get("grown"):
        topics = listed([f"topic {printable(topic)} grew to {count} partitions" for topic, count in note["grown"]])
        return f"{topics} and {who}, which saw it, asked to join again"
    if note.get("topics_added") or note.get("topics_dropped"):
        changes = [f"added {topic}" for topic in note["topics_added"]] + [f"dropped {topic}" for topic in note["topics_dropped"]]
        return f"{who} changed its subscription ({printable(', '.join(changes))})"
    if note.get("given_up"):
        return f"{who} gave up {partitions(note['given_up'])} and joined again, so that others can have them (cooperative rebalancing)"
    if trigger.line["changed"]:
        return f"{who} joined again with changed metadata"
    return f"{who} asked to join again with the same subscription, which is how a leader has partitions assigned anew"


def _replaced(rebalance: Rebalance, trigger: Change) -> str:
    instance = printable(trigger.line["group_instance_id"])
    return f"static member {instance} came back as {trigger.members[0]}, which fenced {trigger.note['replaced']}"


def _removed(rebalance: Rebalance, trigger: Change) -> str:
    return removal(trigger)


def removal(change: Change) -> str:
    """Who was removed and why: "member a expired after 6 s of silence (its last sign of life was ...)"."""
    who, line = counted("member", change.members), change.line
    detail = line.get("detail")
    match line["reason"]:
        case "left":
            return f"{who} left" + (f' (saying "{printable(detail)}")' if detail else "")
        case "session expired":
            return f"{who} expired after {_silence(detail)} of silence{_last_sign(change)}"
        case "first join never completed":
            return f"{who} expired: its first join was not completed within {_silence(detail)}"
        case "did not rejoin in time":
            return f"{who} did not rejoin in time and {_were(change)} removed"
        case "did not sync in time":
            return f"{who} did not send SyncGroup in time and {_were(change)} removed"
        case "group is full":
            return f"{who} found the group full (group.max.size) and {_were(change)} removed"
        case reason:
            return f"{who} {_were(change)} removed ({printable(reason)})"


def _were(change: Change) -> str:
    return "was" if len(change.members) == 1 else "were"


def _silence(detail: str | None) -> str:
    number, _, unit = (detail or "").partition(" ")
    return duration(int(number)) if unit == "ms" and number.isdecimal() else "too long a time"


def _last_sign(change: Change) -> str:
    sign = change.note.get("last_sign")
    if sign is None:
        return ""
    at_ms, what = sign
    return f" (its last sign of life was {_APIS.get(what, what)} at {instant(at_ms)})"


def _rejected(rebalance: Rebalance, trigger: Change) -> str:
    return f"the assignment that leader {trigger.members[0]} sent could not be stored ({_error(trigger.line['error'])})"


def _error(code: int) -> str:
    return ErrorCode(code).name if code in _CODES else f"error {code}"


_CODES = frozenset(map(int, ErrorCode))


def _loaded(rebalance: Rebalance, trigger: Change) -> str:
    return "the coordinator that loaded the group found more members in it than group.max.size allows"


_TRIGGERS: dict[str, Callable[[Rebalance, Change], str]] = {
    "MemberJoined": _joined,
    "MemberRejoined": _rejoined,
    "MemberReplaced": _replaced,
    "MemberRemoved": _removed,
    "AssignmentRejected": _rejected,
    "GroupLoaded": _loaded,
}


# -- what came in the course of a rebalance ----------------------------------------------------------------------------


def _course(rebalance: Rebalance) -> list[str]:
    clauses = []
    if rebalance.delay_ms:
        clauses.append(f"first members were waited for {duration(rebalance.delay_ms)} or longer (group.initial.rebalance.delay.ms)")
    changes = rebalance.changes
    joined = _unique(changes, "MemberJoined")
    rejoined = [name for name in _unique(changes, "MemberRejoined") if name not in joined]
    if rejoined:
        last_ms = max(change.at_ms for change in changes if change.kind == "MemberRejoined" and change.members[0] in rejoined)
        clauses.append(f"{counted('member', rejoined)} rejoined {_within(last_ms - rebalance.started_ms)}")
    if joined:
        clauses.append(f"{counted('member', joined)} joined meanwhile")
    clauses += [_replacement(change) for change in changes if change.kind == "MemberReplaced"]
    clauses += [_meanwhile(change) for change in _gathered([change for change in changes if change.kind == "MemberRemoved"])]
    clauses += [f"{change.members[0]} leads now, because the leader did not rejoin" for change in changes if change.kind == "LeaderElected"]
    return clauses


def _unique(changes: list[Change], kind: str) -> list[str]:
    return list(dict.fromkeys(name for change in changes if change.kind == kind for name in change.members))


def _within(took_ms: int) -> str:
    return f"within {duration(took_ms)}" if took_ms else "at once"


def _replacement(change: Change) -> str:
    return f"static member {printable(change.line['group_instance_id'])} came back as {change.members[0]}"


def _gathered(removals: list[Change]) -> list[Change]:
    """Removals of the same reason and instant as one."""
    together: dict[tuple[Any, ...], Change] = {}
    for change in removals:
        key = (change.line["reason"], change.at_ms, change.line.get("detail"))
        if key in together:
            first = together[key]
            together[key] = Change(first.seq, first.at_ms, first.kind, [*first.members, *change.members], first.line, first.note)
        else:
            together[key] = change
    return list(together.values())


def _meanwhile(change: Change) -> str:
    return removal(change) + (" meanwhile" if change.line["reason"] == "left" else "")


# -- notes -------------------------------------------------------------------------------------------------------------


def told(note: Note) -> str:
    """A note as a sentence."""
    line, who = note.line, counted("member", note.members) if note.members else "a client"
    match note.kind:
        case "MemberReplaced":
            instance = printable(line["group_instance_id"])
            return (
                f"Static member {instance} came back as {note.members[0]} and keeps what {note.members[1]} had: no rebalance; "
                f"{note.members[1]} is fenced."
            )
        case "PendingMemberRemoved":
            return f"Member id {note.members[0]} was taken back before it joined ({printable(line['reason'])})."
        case "RequestRefused":
            return f"{who[0].upper()}{who[1:]} was refused {line.get('api', 'a request')}: {listed(line['errors'])}."
        case "GroupDeleted":
            return f"The group was deleted ({printable(line['reason'])})."
        case "GroupUnloaded":
            return "The coordinator gave the group up; parked requests were told so."
        case "GroupLoaded":
            return f"A coordinator loaded the group as {line['state']} in generation {line['generation']}; all sessions began anew."
        case kind:
            return f"{printable(kind)}."
