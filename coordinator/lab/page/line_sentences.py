"""The text beside the cursor: for each line of a log one sentence about what happened and why, and
its decoded fields.

Sentences about requests, rebalances, notes and consumer groups are those of `coordinator
explain`. Texts from clients are made printable here; the page must not treat them as markup.
Reads the log alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.events.faults import FaultInjected, RunEnded
from coordinator.events.groups import (
    DelayExtended,
    GenerationStarted,
    GenerationStored,
    GroupCreated,
    GroupDeleted,
    GroupEmptied,
    GroupLoaded,
    GroupUnloaded,
    JoinPhaseExtended,
    LeaderElected,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    OffsetsCommitted,
    RebalanceStarted,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from coordinator.events.wire import (
    AuthorizationRefused,
    RequestAnswered,
    RequestRefused,
    RequestSeen,
)
from coordinator.history.explain.cause_sentences import because, removal
from coordinator.history.explain.detail import sentence as step_sentence
from coordinator.history.explain.formatting import duration, instant, listed, partitions, printable
from coordinator.history.explain.notes import told
from coordinator.history.explain.reassignments import Reassignments
from coordinator.history.explain.rights import asked, why_refused
from coordinator.history.explain.share_story import in_full
from coordinator.history.explain.verb_sentences import sentence_of
from coordinator.history.world.blobs import by_topic
from coordinator.history.world.packed_stories import among
from coordinator.history.world.timeline import Timeline
from coordinator.history.world.verb_notes import KINDS as DEEDS
from coordinator.history.world.views import Change, GroupView, Note, Rebalance, Step

_BY_NOTE: Final = (MemberReplaced, GroupLoaded, GroupUnloaded, GroupDeleted)
_ANSWERED_WITHIN: Final = 2000
"""Highest number of lines between a generation's beginning and the responses to its JoinGroups."""
_PROCESS: Final[Mapping[type, str]] = {
    MemberStarted: "{}'s process starts.",
    MemberClosing: "{}'s application closes its consumer.",
    MemberClosed: "{}'s process has ended.",
    MemberCrashed: "{}'s process is killed. The coordinator does not know: the session still runs.",
    ApplicationStalled: "{}'s application stops polling; its heartbeats go on.",
    ApplicationResumed: "{}'s application polls again.",
    MemberFailed: "{}'s application ends with an error.",
}
_NOTHING_NEW: Final[Mapping[type, str]] = {
    PartitionsAssigned: "assigned",
    PartitionsRevoked: "revoked",
    PartitionsLost: "lost",
}


class Teller(Reader):
    """Makes sentences for some lines of a folded log. `lines`: these, and the lines that they
    refer to."""

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
        """The rebalance that led to each generation."""
        generations = {line.generation for line in lines.values() if line.generation is not None}
        for group in timeline.groups.values():
            for entry in among(group.entries, lines.keys(), generations):
                if isinstance(entry, Rebalance):
                    self._rebalances[entry.seq] = entry
                    if entry.generation is not None:
                        self.generations[group.group, entry.generation] = entry
                else:
                    self._notes[entry.seq] = entry

    def sentence(self, line: Line) -> str:
        """Return what happened in one or two sentences."""
        note = self._notes.get(line.seq)
        if note is not None and (note.sentence or line.kind in _BY_NOTE):
            return told(note)
        if line.stream == "fault" and line.kind in DEEDS:
            return told(note) if note is not None else sentence_of(line)
        if line.stream == "cluster" and line.seq in self._moves and line.partition is not None:
            said = "; ".join(self._moves[line.seq])
            return f"Reassignment of {printable(str(line.topic))}-{line.partition}: {said}."
        if line.stream == "share":
            return in_full(self._timeline.share_known, line) or _anything(line)
        sentence = self.see(line)
        if isinstance(sentence, str):
            return sentence
        return sentence_of(line) if line.kind in DEEDS else _anything(line)

    def _group(self, line: Line) -> GroupView | None:
        return self._timeline.groups.get(line.group or "")

    def _name(self, line: Line, member_id: str | None) -> str:
        """Return the short name of a member of the line's group."""
        group = self._group(line)
        return (group.name(member_id) if group is not None else member_id) or "nobody"

    # -- requests

    @on(AuthorizationRefused)
    def _forbidden(self, line: Line, event: AuthorizationRefused) -> str:
        return f"{printable(event.principal)} is refused {asked(event.api)}: {why_refused(event)}."

    @on(RequestSeen, RequestAnswered, RequestRefused)
    def _request(self, line: Line, event: RequestSeen | RequestAnswered | RequestRefused) -> str:
        group, note = self._group(line), self._notes.get(line.seq)
        name = group.name(line.member) if group is not None else None
        seen = None if line.cause is None else self._lines.get(line.cause)
        if note is not None and note.departed is not None:
            return told(note)
        said = step_sentence(Step(line.at_ms, name, line, seen))
        if isinstance(event, RequestAnswered) and event.api == "join_group" and group is not None:
            started = self._generation(line)
            if started is not None:
                leads = started.leader == line.member
                said += (
                    " It leads: the answer lists all members and their subscriptions, and it has to run the assignor."
                    if leads
                    else " It does not lead: its answer names the leader and lists no members."
                )
        return said

    def _generation(self, line: Line) -> GenerationStarted | None:
        """Return the GenerationStarted that a JoinGroup response belongs to, or None."""
        for seq in range(line.seq - 1, max(0, line.seq - _ANSWERED_WITHIN), -1):
            found = self._lines.get(seq)
            if found is not None and found.kind is GenerationStarted and found.group == line.group:
                event: GenerationStarted = found.event
                return event if event.generation == line.generation else None
        return None

    # -- events of a group

    @on(GroupCreated)
    def _created(self, line: Line, _: GroupCreated) -> str:
        return "The group is created, Empty, by its first request."

    @on(MemberPending)
    def _pending(self, line: Line, event: MemberPending) -> str:
        return (
            f"The coordinator assigns the member id {self._name(line, event.member_id)}. Its client has to join with it before "
            f"{instant(event.deadline_ms)}; until then the id is pending and belongs to no member (KIP-394)."
        )

    @on(MemberJoined)
    def _joined(self, line: Line, event: MemberJoined) -> str:
        return f"{self._name(line, event.member_id)} is a member now. Its JoinGroup is parked: it is answered when the join phase ends."

    @on(MemberRejoined)
    def _rejoined(self, line: Line, event: MemberRejoined) -> str:
        changed = (
            "with other protocols or metadata than before"
            if event.changed
            else "with the same protocols as before"
        )
        return f"{self._name(line, event.member_id)} joins again, {changed}. Its JoinGroup waits for the end of the join phase."

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> str:
        who = [self._name(line, event.member_id)]
        said = removal(Change(line.seq, line.at_ms, line.kind, who, line))
        return f"{said[0].upper()}{said[1:]}: it is no longer a member."

    @on(RebalanceStarted)
    def _rebalance(self, line: Line, event: RebalanceStarted) -> str:
        rebalance = self._rebalances.get(line.seq)
        why = because(rebalance) if rebalance is not None else printable(event.reason)
        until = f" until {instant(event.deadline_ms)} at the latest"
        if event.delay_ms:
            delay = f"{duration(event.delay_ms)} (group.initial.rebalance.delay.ms)"
            return f"A rebalance begins because {why}; the coordinator waits {delay} for first members, and longer if more join."
        waits = f"The coordinator waits for every member's JoinGroup{until}; members learn of it with their next heartbeat."
        return f"A rebalance begins because {why}. {waits}"

    @on(DelayExtended, JoinPhaseExtended)
    def _extended(self, line: Line, event: DelayExtended | JoinPhaseExtended) -> str:
        why = (
            "new members came during the initial delay"
            if isinstance(event, DelayExtended)
            else "no member rejoined, and static members stay"
        )
        return f"The join phase goes on until {instant(event.deadline_ms)}, because {why}."

    @on(GenerationStarted)
    def _started(self, line: Line, event: GenerationStarted) -> str:
        names = [self._name(line, member) for member in event.members]
        leader = self._name(line, event.leader)
        return (
            f"Generation {event.generation} begins with {listed(names)}: all parked JoinGroups are answered. The coordinator assigns "
            f"nothing; leader {leader} runs {printable(event.protocol_name or '?')} and sends the result with its SyncGroup."
        )

    @on(MemberSynced)
    def _synced(self, line: Line, event: MemberSynced) -> str:
        who = self._name(line, event.member_id)
        rebalance = self.generations.get((line.group or "", line.generation or 0))
        if self._group(line) is not None and rebalance is not None and who == rebalance.leader:
            return (
                f"The leader {who} sent its SyncGroup: it carries the assignment of every member."
            )
        if event.parked:
            return (
                f"{who}'s SyncGroup is parked until the leader's SyncGroup brings the assignment."
            )
        return (
            f"{who}'s SyncGroup is answered immediately, because the assignment is there already."
        )

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> str:
        rebalance = self.generations.get((line.group or "", event.generation))
        begun = f"The assignment that leader {self._name(line, event.leader)} sent is stored, and generation {event.generation} is Stable"
        if rebalance is None or not rebalance.shares:
            return begun + "."
        given = [
            f"{share.name} has {partitions(share.partitions or {})}" for share in rebalance.shares
        ]
        return f"{begun}: {'; '.join(given)}."

    @on(GroupEmptied)
    def _emptied(self, line: Line, event: GroupEmptied) -> str:
        return f"No member is left: the group is Empty, in generation {event.generation}. An empty generation counts as a generation, too."

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> str:
        held = partitions(by_topic((row.topic, [row.partition]) for row in event.offsets))
        who = (
            "A client outside of the group"
            if line.member is None
            else self._name(line, line.member)
        )
        return f"{who} committed offsets of {held}."

    @on(LeaderElected)
    def _elected(self, line: Line, event: LeaderElected) -> str:
        return f"{self._name(line, event.member_id)} is the leader from now on, because the former leader did not rejoin."

    # -- words of members, and faults

    @on(*_PROCESS)
    def _process(
        self,
        line: Line,
        event: MemberStarted
        | MemberClosing
        | MemberClosed
        | MemberCrashed
        | ApplicationStalled
        | ApplicationResumed
        | MemberFailed,
    ) -> str:
        return _PROCESS[line.kind].format(printable(event.client))

    @on(PartitionsAssigned, PartitionsRevoked, PartitionsLost)
    def _listener(
        self, line: Line, event: PartitionsAssigned | PartitionsRevoked | PartitionsLost
    ) -> str:
        name = printable(event.client) if line.member is None else self._name(line, line.member)
        if not event.partitions:
            return f"{name}'s rebalance listener is called without partitions: nothing new is {_NOTHING_NEW[line.kind]}."
        return step_sentence(Step(line.at_ms, name, line))

    @on(FaultInjected)
    def _injected(self, line: Line, event: FaultInjected) -> str:
        client, api = printable(event.client), printable(event.api)
        if event.action == "observe":
            return f"{client} sends a {api}: a sign of life."
        return f"A fault meets {client}'s {api}: {printable(event.fault)}."

    @on(RunEnded)
    def _ended(self, line: Line, _: RunEnded) -> str:
        return "The run ends here."


def _anything(line: Line) -> str:
    words = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in printable(line.name)
    ).strip()
    own = {
        key: value
        for key, value in line.plain.items()
        if key not in _ENVELOPE and isinstance(value, str | int) and value != ""
    }
    told_ = ", ".join(f"{key} {printable(str(value))}" for key, value in list(own.items())[:6])
    where = f"{printable(line.stream)}: {words}"
    return f"{where[0].upper()}{where[1:]}{f' ({told_})' if told_ else ''}."


_ENVELOPE: Final = frozenset({"seq", "at_ms", "run", "stream", "type", "cause", "durable"})
