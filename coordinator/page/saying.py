"""The text beside the cursor: for each line of a log one sentence of what happened and why, and
its decoded fields.

The sentences of requests, rebalances, notes and consumer groups are those of `coordinator explain`.
Texts from clients are made printable here; that they are never markup is the page's part. Depends
on the log alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..event_log.reader import Line
from ..explain.deeds import sentence_of
from ..explain.detail import sentence as step_sentence
from ..explain.notes import told
from ..explain.reassignments import Reassignments
from ..explain.rights import asked, why_refused
from ..explain.sentences import because, removal
from ..explain.share_story import in_full
from ..explain.words import duration, instant, listed, partitions, printable
from ..history.blobs import by_topic
from ..history.deeds import KINDS as DEEDS
from ..history.filed import among
from ..history.timeline import Timeline
from ..history.views import Change, GroupView, Note, Rebalance, Step


class Teller:
    """Sentences for some lines of a folded log. `lines`: those, and what they may answer."""

    def __init__(
        self, timeline: Timeline, lines: dict[int, Line], reassignments: Reassignments | None = None
    ) -> None:
        self._timeline = timeline
        self._lines = lines
        self._rebalances: dict[int, Rebalance] = {}
        self._notes: dict[int, Note] = {}
        self._moves: dict[int, list[str]] = {}
        for move in reassignments.all if reassignments is not None else ():
            for step in move.steps:
                self._moves.setdefault(step.seq, []).append(step.text)
        self.generations: dict[tuple[str, int], Rebalance] = {}
        """The way to each generation."""
        generations = {line["generation"] for line in lines.values() if "generation" in line}
        for group in timeline.groups.values():
            for entry in among(group.entries, lines.keys(), generations):
                if isinstance(entry, Rebalance):
                    self._rebalances[entry.seq] = entry
                    if entry.generation is not None:
                        self.generations[group.group, entry.generation] = entry
                else:
                    self._notes[entry.seq] = entry

    def sentence(self, line: Line) -> str:
        """The event in one sentence or two."""
        group = self._timeline.groups.get(line.get("group", ""))
        note = self._notes.get(line["seq"])
        if note is not None and (
            note.sentence
            or line["type"] in ("MemberReplaced", "GroupLoaded", "GroupUnloaded", "GroupDeleted")
        ):
            return told(note)
        match line["stream"]:
            case "wire":
                return self._wire(group, line, note)
            case "member":
                return _member(group, line)
            case "fault" if line["type"] in DEEDS:
                return told(note) if note is not None else sentence_of(line)
            case "fault":
                return _fault(line)
            case "cluster" if line["seq"] in self._moves and "partition" in line:
                said = "; ".join(self._moves[line["seq"]])
                return (
                    f"Reassignment of {printable(str(line['topic']))}-{line['partition']}: {said}."
                )
            case "share":
                return in_full(self._timeline.share_known, line) or _anything(line)
            case "group":
                tell = _GROUP.get(line["type"])
                if tell is not None:
                    return tell(self, group, line)
        return _anything(line)

    def _wire(self, group: GroupView | None, line: Line, note: Note | None) -> str:
        if line["type"] == "AuthorizationRefused":
            return f"{printable(line['principal'])} is refused {asked(line)}: {why_refused(line)}."
        if line["type"] not in ("RequestSeen", "RequestAnswered", "RequestRefused"):
            return _anything(line)
        name = group.name(line.get("member")) if group is not None else None
        said = step_sentence(Step(line["at_ms"], name, line, self._lines.get(line["cause"])))
        if note is not None and note.departed is not None:
            return told(note)
        if line["type"] == "RequestAnswered" and line["api"] == "join_group" and group is not None:
            started = self._generation(line)
            if started is not None:
                leads = started["leader"] == line.get("member")
                said += (
                    " It leads: the answer lists all members and their subscriptions, and it has to run the assignor."
                    if leads
                    else " It does not lead: its answer names the leader and lists no members."
                )
        return said

    def _generation(self, line: Line) -> Line | None:
        """The GenerationStarted that an answer to JoinGroup speaks of."""
        for seq in range(line["seq"] - 1, max(0, line["seq"] - 2000), -1):
            found = self._lines.get(seq)
            if (
                found is not None
                and found["type"] == "GenerationStarted"
                and found["group"] == line["group"]
            ):
                return found if found["generation"] == line.get("generation") else None
        return None

    # -- events of a group

    def _rebalance(self, group: GroupView | None, line: Line) -> str:
        rebalance = self._rebalances.get(line["seq"])
        why = because(rebalance) if rebalance is not None else printable(line["reason"])
        until = f" until {instant(line['deadline_ms'])} at the latest"
        if line["delay_ms"]:
            delay = f"{duration(line['delay_ms'])} (group.initial.rebalance.delay.ms)"
            return f"A rebalance begins because {why}; the first members are waited for {delay}, and longer if more come."
        waits = f"The coordinator waits for every member's JoinGroup{until}; members learn of it with their next heartbeat."
        return f"A rebalance begins because {why}. {waits}"

    def _started(self, group: GroupView | None, line: Line) -> str:
        names = [_name(group, member) for member in line["members"]]
        leader = _name(group, line["leader"])
        return (
            f"Generation {line['generation']} begins with {listed(names)}: all parked JoinGroups are answered. The coordinator assigns "
            f"nothing; leader {leader} is to run {printable(line['protocol_name'] or '?')} and to send the result with its SyncGroup."
        )

    def _stored(self, group: GroupView | None, line: Line) -> str:
        rebalance = self.generations.get((line["group"], line["generation"]))
        begun = f"The assignment that leader {_name(group, line['leader'])} sent is stored, and generation {line['generation']} is Stable"
        if rebalance is None or not rebalance.shares:
            return begun + "."
        given = [
            f"{share.name} has {partitions(share.partitions or {})}" for share in rebalance.shares
        ]
        return f"{begun}: {'; '.join(given)}."


def _name(group: GroupView | None, member_id: str | None) -> str:
    return (group.name(member_id) if group is not None else member_id) or "nobody"


def _pending(teller: Teller, group: GroupView | None, line: Line) -> str:
    return (
        f"The coordinator mints the member id {_name(group, line['member'])}. Its client has to join with it before "
        f"{instant(line['deadline_ms'])}; until then the id is pending, and no member (KIP-394)."
    )


def _joined(teller: Teller, group: GroupView | None, line: Line) -> str:
    return f"{_name(group, line['member'])} is a member now. Its JoinGroup is parked: it is answered when the join phase ends."


def _rejoined(teller: Teller, group: GroupView | None, line: Line) -> str:
    changed = (
        "with other protocols or metadata than before"
        if line["changed"]
        else "with the same protocols as before"
    )
    return f"{_name(group, line['member'])} joins again, {changed}. Its JoinGroup waits for the end of the join phase."


def _removed(teller: Teller, group: GroupView | None, line: Line) -> str:
    said = removal(
        Change(line["seq"], line["at_ms"], line["type"], [_name(group, line["member"])], line)
    )
    return f"{said[0].upper()}{said[1:]}: it is no member any more."


def _extended(teller: Teller, group: GroupView | None, line: Line) -> str:
    why = (
        "new members came during the initial delay"
        if line["type"] == "DelayExtended"
        else "nobody rejoined but static members stay"
    )
    return f"The join phase goes on until {instant(line['deadline_ms'])}, because {why}."


def _synced(teller: Teller, group: GroupView | None, line: Line) -> str:
    who = _name(group, line["member"])
    leads = group is not None and _name(group, line["member"]) == _leader_then(teller, line)
    if leads:
        return f"The leader {who} sent its SyncGroup: it carries the assignment of every member."
    if line["parked"]:
        return f"{who}'s SyncGroup is parked until the leader's arrives: it asks for what it is to have, and nobody has said yet."
    return f"{who}'s SyncGroup finds the assignment there, and is answered at once."


def _leader_then(teller: Teller, line: Line) -> str | None:
    found = teller.generations.get((line["group"], line["generation"]))
    return found.leader if found is not None else None


def _emptied(teller: Teller, group: GroupView | None, line: Line) -> str:
    return f"Nobody is left: the group is Empty, in generation {line['generation']}. An empty generation is a generation, too."


def _committed(teller: Teller, group: GroupView | None, line: Line) -> str:
    held = partitions(by_topic((row["topic"], [row["partition"]]) for row in line["offsets"]))
    return f"{_name(group, line.get('member')) if 'member' in line else 'Somebody'} committed offsets of {held}."


def _elected(teller: Teller, group: GroupView | None, line: Line) -> str:
    return f"{_name(group, line['member'])} leads from now on, because the leader did not rejoin."


def _created(teller: Teller, group: GroupView | None, line: Line) -> str:
    return "The group comes to be, Empty, with its first request."


_GROUP: Final[dict[str, Callable[[Teller, GroupView | None, Line], str]]] = {
    "GroupCreated": _created,
    "MemberPending": _pending,
    "MemberJoined": _joined,
    "MemberRejoined": _rejoined,
    "MemberRemoved": _removed,
    "RebalanceStarted": Teller._rebalance,
    "DelayExtended": _extended,
    "JoinPhaseExtended": _extended,
    "GenerationStarted": Teller._started,
    "MemberSynced": _synced,
    "GenerationStored": Teller._stored,
    "GroupEmptied": _emptied,
    "OffsetsCommitted": _committed,
    "LeaderElected": _elected,
}

_PROCESS: Final = {
    "MemberStarted": "{}'s process starts.",
    "MemberClosing": "{}'s application closes its consumer.",
    "MemberClosed": "{}'s process has ended.",
    "MemberCrashed": "{}'s process is killed. The coordinator does not know: the session still runs.",
    "ApplicationStalled": "{}'s application stops polling; its heartbeats go on.",
    "ApplicationResumed": "{}'s application polls again.",
    "MemberFailed": "{}'s application ends with an error.",
}


def _member(group: GroupView | None, line: Line) -> str:
    name = (
        _name(group, line["member"])
        if "member" in line
        else printable(str(line.get("client", "?")))
    )
    if line["type"] in _PROCESS:
        return _PROCESS[line["type"]].format(printable(str(line.get("client", name))))
    if "partitions" in line and line["type"].startswith("Partitions"):
        if not line["partitions"]:
            return f"{name}'s application is told: nothing new is {line['type'].removeprefix('Partitions').lower()}."
        return step_sentence(Step(line["at_ms"], name, line))
    return _anything(line)


def _fault(line: Line) -> str:
    if line["type"] == "FaultInjected":
        client, api = (printable(str(line.get(each, "?"))) for each in ("client", "api"))
        if line.get("action") == "observe":
            return f"{client} sends a {api}: a sign of life."
        return f"A fault meets {client}'s {api}: {printable(str(line['fault']))}."
    if line["type"] == "RunEnded":
        return "The run ends here."
    return _anything(line)


def _anything(line: Line) -> str:
    words = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in printable(line["type"])
    ).strip()
    own = {
        key: value
        for key, value in line.items()
        if key not in _ENVELOPE and isinstance(value, str | int) and value != ""
    }
    told_ = ", ".join(f"{key} {printable(str(value))}" for key, value in list(own.items())[:6])
    where = f"{printable(line['stream'])}: {words}"
    return f"{where[0].upper()}{where[1:]}{f' ({told_})' if told_ else ''}."


_ENVELOPE: Final = frozenset({"seq", "at_ms", "run", "stream", "type", "cause", "durable"})
