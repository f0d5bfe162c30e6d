"""Judges requests: each is answered at most once, none stays unanswered while its member lives,
and a refused request changes nothing."""

from __future__ import annotations

from typing import Final

from coordinator.events.data import ConnectionClosed, ConnectionOpened
from coordinator.events.faults import FaultInjected, SnapshotRestored
from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    AssignmentRejected,
    GenerationStarted,
    GenerationStored,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    PendingMemberRemoved,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
)
from coordinator.events.groups.offsets import OffsetsCommitted, OffsetsPending
from coordinator.events.handlers import on
from coordinator.events.members import MemberStarted
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen
from coordinator.verbs.brokers import StartBroker, StopBroker

from .base import NEVER, Judge, Line

_OF_GROUPS: Final = frozenset(
    {"join_group", "sync_group", "leave_group", "offset_commit", "offset_fetch"}
)
_FENCED: Final = frozenset(
    {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH"}
)
"""Errors after which no offset was committed."""
_JOIN: Final = ("join_group",)
_SYNC: Final = ("sync_group",)
_PARKED: Final = _JOIN + _SYNC
WITHIN_MS: Final = 60_000
"""Longest time in ms for a response: it waits until the request's write is replicated, at most
offsets.commit.timeout.ms (5 s)."""


class AnsweredOnce(Judge):
    """Judges that no request is answered twice, and that none for which its client still waits
    stays unanswered. `within_ms`: longest time for a response."""

    name = "answered_once"
    promise = (
        "a request is answered at most once, and only after it was received. While its connection is open and its broker runs, a "
        "group member's request is answered in time (judged where connections are logged): a JoinGroup that waits for the others "
        "when the generation begins, a SyncGroup when the assignment is stored. A LeaveGroup that is answered without an error "
        "removes its member, unless a former coordinator of a group that was loaded elsewhere answered it. A commit that is "
        "refused because of the member id or the generation changes no offset. An acknowledged commit is stored, if the log "
        "contains its member's own events"
    )
    needs = frozenset({"wire"})
    timed = True
    goes_on = True

    def __init__(self, within_ms: int = WITHIN_MS) -> None:
        super().__init__()
        self._within_ms = within_ms
        self._open: set[int] = set()
        self._answered: set[int] = set()
        self._changed: set[int] = set()
        """Unanswered requests that have changed offsets or removed a member."""
        self._leaves: dict[int, Line] = {}
        self._commits: dict[int, RequestSeen] = {}
        self._loaded: set[str] = set()
        self._members: set[str] = set()
        """The clients that log their own lines: they commit nothing but offsets."""
        self._connected: set[str] = set()
        self._waits: dict[int, tuple[Line, RequestSeen]] = {}
        """Unanswered requests of groups that came over an open connection."""
        self._due: dict[int, int] = {}
        """The instant by which each request that waits for no other member must be answered."""
        self._parked: dict[str, dict[tuple[str, str], int]] = {}
        """For each group the requests that wait for other members, by member and kind."""

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        self._open.add(line.seq)
        if event.api == "leave_group" and line.member:
            self._leaves[line.seq] = line
        elif event.api == "offset_commit" and event.client in self._members:
            self._commits[line.seq] = event
        if event.api in _OF_GROUPS and event.peer in self._connected:
            self._waits[line.seq] = line, event
            self._expect(line.seq, line.at_ms)

    @on(RequestAnswered, RequestRefused)
    def _answer(self, line: Line, event: RequestAnswered | RequestRefused) -> None:
        cause = line.cause
        if cause is None:
            return
        if cause in self._answered:
            self.blame(line, f"the {event.api} of line {cause} was answered before")
        elif cause not in self._open:
            self.blame(line, f"line {cause} is no request that could be answered")
        self._open.discard(cause)
        self._answered.add(cause)
        self._forget([cause])
        changed, leaves, commit = (
            cause in self._changed,
            self._leaves.pop(cause, None),
            self._commits.pop(cause, None),
        )
        self._changed.discard(cause)
        errors = event.errors if isinstance(event, RequestRefused) else ()
        if changed and leaves is None and len(errors) == 1 and errors[0] in _FENCED:
            self.blame(
                line,
                f"the {event.api} of line {cause} was refused with {errors[0]}, but has changed offsets",
            )
        if leaves is not None and not (changed or errors or leaves.group in self._loaded):
            self.blame(
                line,
                f"{leaves.member} was answered that it left group {leaves.group}, but no member was removed",
            )
        if commit is not None and not (changed or errors):
            self.blame(
                line,
                f"the commit of {commit.client}, line {cause}, was acknowledged, but is not stored",
            )

    @on(
        OffsetsCommitted,
        OffsetsPending,
        PendingMemberRemoved,
        ConsumerMemberRemoved,
        ConsumerGroupDowngraded,
    )
    def _has_changed(self, line: Line, _: object) -> None:
        if line.cause in self._open:
            self._changed.add(line.cause)

    @on(MemberStarted)
    def _started(self, _: Line, event: MemberStarted) -> None:
        self._members.add(event.client)

    @on(ConnectionOpened)
    def _opened(self, _: Line, event: ConnectionOpened) -> None:
        self._connected.add(event.peer)

    @on(ConnectionClosed)
    def _closed(self, _: Line, event: ConnectionClosed) -> None:
        self._connected.discard(event.peer)
        self._forget(
            [seq for seq, (_, request) in self._waits.items() if request.peer == event.peer]
        )

    @on(FaultInjected)
    def _met_a_fault(self, line: Line, _: FaultInjected) -> None:
        if line.cause is not None:
            self._forget([line.cause])

    @on(StopBroker, StartBroker, SnapshotRestored)
    def _nobody_answers(self, _: Line, __: StopBroker | StartBroker | SnapshotRestored) -> None:
        """A broker that is paused or stopped answers nothing."""
        self._forget(list(self._waits))
        self._parked.clear()

    @on(MemberJoined, MemberRejoined, MemberReplaced, MemberSynced)
    def _asked(
        self, line: Line, event: MemberJoined | MemberRejoined | MemberReplaced | MemberSynced
    ) -> None:
        group, cause = line.group or "", line.cause
        if isinstance(event, MemberReplaced):
            self._let_go(group, line.at_ms, _PARKED, {event.replaced})
        at_once = isinstance(event, MemberReplaced | MemberSynced) and not event.parked
        if cause is not None and cause in self._waits and not at_once:
            parked = self._parked.setdefault(group, {})
            key = event.member_id, self._waits[cause][1].api
            self._forget([parked[key]] if key in parked else [])  # its client has asked again
            parked[key] = cause
            self._due.pop(cause, None)

    @on(GenerationStarted)
    def _began(self, line: Line, event: GenerationStarted) -> None:
        self._let_go(line.group or "", line.at_ms, _JOIN, set(event.members))

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        members = {member.member_id for member in event.members}
        self._let_go(line.group or "", line.at_ms, _SYNC, members)

    @on(RebalanceStarted, AssignmentRejected)
    def _syncs_end(self, line: Line, _: RebalanceStarted | AssignmentRejected) -> None:
        self._let_go(line.group or "", line.at_ms, _SYNC, None)

    @on(GroupUnloaded)
    def _unloaded(self, line: Line, _: GroupUnloaded) -> None:
        self._let_go(line.group or "", line.at_ms, _PARKED, None)

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> None:
        self._has_changed(line, event)
        parked = self._parked.get(line.group or "", {})
        self._forget([parked.pop(key) for key in list(parked) if key[0] == event.member_id])

    @on(GroupDeleted, GroupLoaded, ConsumerGroupUpgraded)
    def _gone(self, line: Line, _: GroupDeleted | GroupLoaded | ConsumerGroupUpgraded) -> None:
        self._loaded.add(line.group or "")
        self._forget(list(self._parked.pop(line.group or "", {}).values()))

    def _let_go(
        self, group: str, at_ms: int, kinds: tuple[str, ...], members: set[str] | None
    ) -> None:
        """Expect an answer within the tolerance for each parked request of the given kinds from
        these members (None: all)."""
        parked = self._parked.get(group, {})
        for key in [
            key for key in parked if key[1] in kinds and (members is None or key[0] in members)
        ]:
            self._expect(parked.pop(key), at_ms)

    def _expect(self, seq: int, at_ms: int) -> None:
        if seq in self._waits:
            self._due[seq] = at_ms + self._within_ms
            self.due_ms = min(self.due_ms, self._due[seq] + 1)

    def _forget(self, requests: list[int]) -> None:
        for seq in requests:
            self._waits.pop(seq, None)
            self._due.pop(seq, None)

    def passed(self, now_ms: int) -> None:
        for seq in [seq for seq, due in self._due.items() if due < now_ms]:
            line, request = self._waits[seq]
            self.blame(
                line,
                f"the {request.api} of {request.client} is not answered at {now_ms} ms, although it waits for no other member",
            )
            self._forget([seq])
        self.due_ms = min(self._due.values(), default=NEVER - 1) + 1
