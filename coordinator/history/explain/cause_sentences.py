"""Sentences about a rebalance: its cause, its course, and the members that stood still. Wording
only: the facts come from `world/timeline.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import (
    AssignmentRejected,
    GroupLoaded,
    LeaderElected,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    PendingMemberRemoved,
    Removal,
)

from ..world.blobs import Partitions, both
from ..world.lost_time.partitions import Lost
from ..world.lost_time.rebalances import Cost
from ..world.views import Awaited, Change, Pause, Rebalance, Share
from .connect import config_change
from .formatting import counted, duration, instant, listed, partitions, printable
from .verb_sentences import went_through

_APIS = {
    "join_group": "its JoinGroup",
    "sync_group": "its SyncGroup",
    "offset_commit": "an offset commit",
    "heartbeat": "a heartbeat",
}


def why(rebalance: Rebalance) -> str:
    """Return one sentence: the cause of this rebalance, the changes in its course, and its
    outcome."""
    begun = (
        f"Generation {rebalance.generation} began"
        if rebalance.generation is not None
        else "A rebalance began"
    )
    if rebalance.outcome == "empty":
        begun = f"The group became empty in generation {rebalance.generation}"
    clauses = [f"{begun} because {because(rebalance)}", *_course(rebalance)]
    ending = _ENDINGS.get(rebalance.outcome, "")
    return "; ".join([*clauses, *([ending] if ending else [])]) + "."


_ENDINGS = {
    "interrupted": "it was never Stable, because the next rebalance came first",
    "lost": "it did not end, because the coordinator unloaded the group",
    "joining": "it has not ended: the join phase goes on where the log stops",
    "syncing": "it is not Stable yet: the sync phase goes on where the log stops",
}


def because(rebalance: Rebalance) -> str:
    """Return the cause of a rebalance, as the clause after "because"."""
    tell = _TRIGGERS.get(rebalance.trigger.kind)
    return printable(rebalance.reason) if tell is None else tell(rebalance, rebalance.trigger)


def _joined(rebalance: Rebalance, trigger: Change) -> str:
    member = counted("member", trigger.members)
    if rebalance.state_before != "Empty":
        return f"{member} joined"
    return f"{member} joined the empty group"


def _rejoined(rebalance: Rebalance, trigger: Change) -> str:
    """Return the clause for a member that rejoined, with the reason in its JoinGroup, if there
    is one (KIP-800)."""
    said = trigger.note.get("said")
    return _joined_again(trigger) + (f' (saying "{printable(said)}")' if said else "")


def _joined_again(trigger: Change) -> str:
    note, who = (
        trigger.note,
        f"{'leader' if trigger.note.get('leads') else 'member'} {trigger.members[0]}",
    )
    if note.get("grown"):
        topics = listed(
            [
                f"topic {printable(topic)} grew to {count} partitions"
                for topic, count in note["grown"]
            ]
        )
        return f"{topics} and {who}, which saw it, asked to join again"
    if note.get("topics_added") or note.get("topics_dropped"):
        changes = [f"added {topic}" for topic in note.get("topics_added", ())] + [
            f"dropped {topic}" for topic in note.get("topics_dropped", ())
        ]
        return f"{who} changed its subscription ({printable(', '.join(changes))})"
    if note.get("config_offsets"):
        return f"{who} {config_change(note['config_offsets'])} and joined again"
    if note.get("given_up"):
        return (
            f"{who} revoked {partitions(note['given_up'])} and joined again, "
            "so that other members can get them (cooperative rebalancing)"
        )
    event = trigger.line.event
    if isinstance(event, MemberRejoined) and event.changed:
        what = f" ({listed(note['changed'])})" if note.get("changed") else ""
        return f"{who} joined again with changed metadata{what}"
    return f"{who} asked to join again with the same subscription, as a leader does to assign partitions anew"


def _replaced(rebalance: Rebalance, trigger: Change) -> str:
    return f"{_replacement(trigger)}, which fenced {trigger.note['replaced']}"


def _removed(rebalance: Rebalance, trigger: Change) -> str:
    return removal(trigger)


def removal(change: Change) -> str:
    """Return the removal of a member and its reason: "member a expired after 6 s of silence (its
    last sign of life was ...)"."""
    who, event = counted("member", change.members), change.line.event
    assert isinstance(event, MemberRemoved)
    detail = event.detail
    match event.reason:
        case Removal.LEFT:
            return f"{who} left" + (f' (saying "{printable(detail)}")' if detail else "")
        case Removal.SESSION_EXPIRED if detail == Removal.ENDED_BY_HAND:
            return f"{who} expired: {detail}"
        case Removal.SESSION_EXPIRED:
            return f"{who} expired after {_silence(detail)} of silence{_last_sign(change)}{_trouble(change)}"
        case Removal.NEVER_JOINED:
            return f"{who} expired: its first join was not completed within {_silence(detail)}"
        case Removal.DID_NOT_REJOIN:
            return f"{who} did not rejoin in time and {_were(change)} removed"
        case Removal.DID_NOT_SYNC:
            return f"{who} did not send SyncGroup in time and {_were(change)} removed"
        case Removal.GROUP_FULL:
            return f"{who} found the group full (group.max.size) and {_were(change)} removed"
        case reason:
            return f"{who} {_were(change)} removed ({printable(reason)})"


def _trouble(change: Change) -> str:
    """Return the clause about the known trouble of a member that expired (paused, cut off, ...),
    or ""."""
    clause = went_through(change.note.get("trouble"))
    return f": {clause}" if clause else ""


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
    closed_ms = change.note.get("closed_ms")
    closed = f"; its connection closed at {instant(closed_ms)}" if closed_ms is not None else ""
    said = f" (its last sign of life was {_APIS.get(what, what)} at {instant(at_ms)}{closed})"
    return said.replace("its ", "their ") if len(change.members) > 1 else said


def _rejected(rebalance: Rebalance, trigger: Change) -> str:
    event = trigger.line.event
    assert isinstance(event, AssignmentRejected)
    return f"the assignment that leader {trigger.members[0]} sent could not be stored ({_error(event.error)})"


def _error(code: int) -> str:
    return ErrorCode(code).name if code in _CODES else f"error {code}"


_CODES = frozenset(map(int, ErrorCode))


def _loaded(rebalance: Rebalance, trigger: Change) -> str:
    return (
        "the coordinator that loaded the group found more members in it than group.max.size allows"
    )


_TRIGGERS: Final[dict[type, Callable[[Rebalance, Change], str]]] = {
    MemberJoined: _joined,
    MemberRejoined: _rejoined,
    MemberReplaced: _replaced,
    MemberRemoved: _removed,
    AssignmentRejected: _rejected,
    GroupLoaded: _loaded,
}


# -- what came in the course of a rebalance


def _course(rebalance: Rebalance) -> list[str]:
    clauses = []
    if rebalance.delay_ms:
        clauses.append(
            f"first members were waited for {duration(rebalance.delay_ms)} or longer (group.initial.rebalance.delay.ms)"
        )
    changes = rebalance.changes
    joined = _unique(changes, MemberJoined)
    new = frozenset(joined)  # there may be thousands
    rejoined = [name for name in _unique(changes, MemberRejoined) if name not in new]
    if rejoined:
        last_ms = max(
            change.at_ms
            for change in changes
            if change.kind is MemberRejoined and change.members[0] not in new
        )
        clauses.append(
            f"{counted('member', rejoined)} rejoined {_within(last_ms - rebalance.started_ms)}{_last_of(rebalance, rejoined)}"
        )
    if joined:
        clauses.append(f"{counted('member', joined)} joined meanwhile")
    clauses += [_replacement(change) for change in changes if change.kind is MemberReplaced]
    clauses += [
        _meanwhile(change)
        for change in _gathered([change for change in changes if change.kind is MemberRemoved])
    ]
    clauses += [
        f"{change.members[0]} is the new leader, because the former one did not rejoin"
        for change in changes
        if change.kind is LeaderElected
    ]
    if rebalance.awaited is not None and rebalance.generation_ms is not None:
        clauses += _wait(rebalance.awaited, rebalance.generation_ms - rebalance.started_ms)
    if (
        rebalance.stored_ms is not None
        and rebalance.stored_ms - (rebalance.generation_ms or 0) >= _WORTH_TELLING_MS
    ):
        took = duration(rebalance.stored_ms - (rebalance.generation_ms or 0))
        clauses.append(
            f"the sync phase waited {took} for the assignment, which leader {rebalance.leader} sends with its SyncGroup"
        )
    return clauses


def _last_of(rebalance: Rebalance, rejoined: list[str]) -> str:
    """Return the member that the join phase waited for last, if the phase ended when it
    rejoined."""
    awaited = rebalance.awaited
    if (
        awaited is None
        or awaited.kind is not MemberRejoined
        or awaited.members[0] not in rejoined
        or len(rejoined) < 2
    ):
        return ""
    alone = (
        ""
        if awaited.before_ms is None
        else f", {duration((rebalance.generation_ms or 0) - awaited.before_ms)} after the one before"
    )
    return f" ({awaited.members[0]} was awaited last{alone})"


def _wait(awaited: Awaited, length_ms: int) -> list[str]:
    """Return the clause about a join phase that was prolonged by an absent member or member id;
    empty if it ended with a JoinGroup."""
    name = listed(awaited.members[:3])
    waited, reason = f"the join phase waited {duration(length_ms)}", awaited.reason
    if awaited.kind is PendingMemberRemoved:
        if reason == Removal.LEFT:
            return [f"{waited}, until the client of member id {name} left"]
        return [f"{waited} for member id {name}, which was assigned and did not join (MID-6)"]
    if awaited.kind is not MemberRemoved:
        return []
    match reason:
        case Removal.SESSION_EXPIRED:
            return [f"{waited}, until the session of {name} expired"]
        case Removal.DID_NOT_REJOIN:
            return [
                f"the join phase lasted {duration(length_ms)}, the whole rebalance timeout (REB-4)"
            ]
        case Removal.LEFT:
            return [f"{waited}, until {name} left"]
        case _:
            return []


def _unique(changes: list[Change], kind: type) -> list[str]:
    return list(
        dict.fromkeys(name for change in changes if change.kind is kind for name in change.members)
    )


def _within(took_ms: int) -> str:
    return f"within {duration(took_ms)}" if took_ms else "at once"


def _replacement(change: Change) -> str:
    event = change.line.event
    assert isinstance(event, MemberReplaced)
    return f"static member {printable(event.group_instance_id)} came back as {change.members[0]}"


def _gathered(removals: list[Change]) -> list[Change]:
    """Merge removals with the same reason and instant into one change."""
    together: dict[tuple[Any, ...], Change] = {}
    for change in removals:
        event: MemberRemoved = change.line.event
        key = (event.reason, change.at_ms, event.detail)
        if key in together:
            first = together[key]
            together[key] = Change(
                first.seq,
                first.at_ms,
                first.kind,
                [*first.members, *change.members],
                first.line,
                first.note,
            )
        else:
            together[key] = change
    return list(together.values())


def _meanwhile(change: Change) -> str:
    event: MemberRemoved = change.line.event
    return removal(change) + (" meanwhile" if event.reason == Removal.LEFT else "")


# -- who stood still


INFERRED = "an eager member stops from its JoinGroup until its SyncGroup is answered, a cooperative one never stops with what it keeps"


def stood_still(rebalance: Rebalance) -> str:
    """Return the members that stood still and for how long, in one clause; "" if none did."""
    clauses = []
    for share in rebalance.shares:
        if share.pause is not None and share.pause.to_ms is not None:
            clauses.append(f"{share.name} for {duration(share.pause.to_ms - share.pause.from_ms)}")
        elif share.pause is not None:
            clauses.append(f"{share.name} since {instant(share.pause.from_ms)}")
    more = [f"{len(clauses) - _MOST_CLAIMS} more"] if len(clauses) > _MOST_CLAIMS else []
    return f"stood still: {listed([*clauses[:_MOST_CLAIMS], *more])}" if clauses else ""


def rebalance_protocol(rebalance: Rebalance) -> str:
    """Return "eager", "cooperative", or both if members differ; "" if no member has a consumer's
    assignment."""
    kinds = {share.cooperative for share in rebalance.shares if share.partitions is not None}
    return " and ".join(
        [*(["eager"] if False in kinds else []), *(["cooperative"] if True in kinds else [])]
    )


def standing_still(share: Share) -> list[str]:
    """Return the times at which a member stood still on its way to a generation, in short
    clauses."""
    pause, clauses = share.pause, []
    if pause is not None and pause.to_ms is None:
        clauses.append(f"stands still since {instant(pause.from_ms)}{_by_whom(pause)}")
    elif pause is not None and pause.to_ms is not None:
        span = f"from {instant(pause.from_ms)} to {instant(pause.to_ms)}"
        clauses.append(
            f"stood still for {duration(pause.to_ms - pause.from_ms)}, {span}{_by_whom(pause)}"
        )
    if share.cooperative and share.kept and share.partitions:
        whole = share.kept == share.partitions and not share.revoked
        clauses.append("never stopped" if whole else f"never stopped with {partitions(share.kept)}")
    return clauses


def _by_whom(pause: Pause) -> str:
    if pause.known:
        return ", as the member logged"
    if pause.learned_ms is None or pause.from_ms - pause.learned_ms < _WORTH_TELLING_MS:
        return ""
    return f" at least: it had learned of the rebalance {duration(pause.from_ms - pause.learned_ms)} before its JoinGroup"


_WORTH_TELLING_MS = 100


def not_consumed(cost: Cost) -> str:
    """Return the partitions that no member processed because of a rebalance, and for how long; ""
    if somebody always did."""
    least_ms, most_ms = cost.lost
    if not most_ms:
        return ""
    if not least_ms:
        return f"cost: up to {most_ms / 1000:.3f} partition-seconds {_SILENT}"
    longest = f"for {duration(cost.longest_ms)}" + ("" if cost.alike else " at most")
    which = partitions(cost.partitions)
    told = f"cost: {which} not consumed {longest}, {least_ms / 1000:.3f} partition-seconds in all"
    return told if least_ms == most_ms else f"{told}; up to {most_ms / 1000:.3f} {_SILENT}"


def lost_in_all(lost: Lost) -> str:
    """Return for how long no member processed a group's partitions; "" if somebody always did."""
    least_ms, most_ms = lost
    if not most_ms:
        return ""
    least, most = f"{least_ms / 1000:.3f}", f"{most_ms / 1000:.3f}"
    how_long = most if least == most else f"{least} to {most}"
    silent = "" if least == most else f" ({_UNCERTAIN})"
    return f"lost {how_long} partition-seconds: nobody worked on partitions that it reads{silent}"


_SILENT: Final = "if members that expired did nothing from their last sign of life on"
_UNCERTAIN: Final = (
    "members that expired may have stopped at any time after their last sign of life"
)


def claims_told(rebalance: Rebalance) -> str:
    """Return which members keep partitions because their JoinGroup claims them, if the assignor
    looks at claims; "" if it does not, or no member claimed any."""
    shares = [share for share in rebalance.shares if share.claimed is not None]
    if not any(share.claimed for share in shares):
        return ""
    newest = max(share.claimed_generation for share in shares if share.claimed)
    bytes_of = "user data" if rebalance.assignor == "sticky" else "owned partitions"
    clauses = [_claim(share, newest, bytes_of) for share in shares[:_MOST_CLAIMS] if share.claimed]
    nothing = [share.name for share in shares[:_MOST_CLAIMS] if not share.claimed]
    clauses += [f"{listed(nothing)} claimed nothing"] if nothing else []
    more = f"; and {len(shares) - _MOST_CLAIMS} more" if len(shares) > _MOST_CLAIMS else ""
    return f"{printable(rebalance.assignor or '')} leaves in place what a JoinGroup's {bytes_of} claim: {'; '.join(clauses)}{more}"


_MOST_CLAIMS = 8


def _claim(share: Share, newest: int, bytes_of: str) -> str:
    claimed, generation = share.claimed or {}, share.claimed_generation
    since = f" of generation {generation}" if generation >= 0 else ""
    old = ", older than another claim" if generation < newest else ""
    return f"{share.name} claimed {partitions(claimed)}{since}{old}, and {_kept(claimed, both(claimed, share.partitions or {}))}"


def _kept(claimed: Partitions, kept: Partitions) -> str:
    if kept == claimed:
        return "keeps all of it"
    return f"keeps {partitions(kept)}" if kept else "keeps none of it"
