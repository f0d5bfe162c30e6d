"""The coverage of a swarm: events, refusals, faults, and conditions that must occur sometimes.

A swarm that never moves a coordinator during a rebalance proves nothing about that. Has the list
of what must occur, and reads the event log alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from coordinator.events.faults import (
    FaultInjected,
    MemberHealed,
    MemberResumed,
    RequestFaultBegan,
    RequestFaultEnded,
)
from coordinator.events.groups import (
    DelayExtended,
    GenerationStarted,
    GenerationStored,
    GroupDeleted,
    GroupEmptied,
    GroupLoaded,
    GroupUnloaded,
    LeaderElected,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingMemberRemoved,
    PendingOffsetsEnded,
    RebalanceStarted,
    Removal,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.members import (
    AcknowledgementsEnded,
    MemberCrashed,
    MemberFailed,
    PartitionsLost,
    ProducerFailed,
    RecordsPolled,
    TransactionEnded,
)
from coordinator.events.share_partitions import (
    AcknowledgedRange,
    DeadLettersWritten,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsReleased,
    SharePartitionOpened,
)
from coordinator.events.transactions import TransactionCompleted, TransactionPrepared
from coordinator.events.wire import RequestRefused
from coordinator.history.judges.timers import (
    JOIN,
    PENDING,
    REVOCATION,
    SYNC,
    TRANSACTION,
    Timers,
)
from coordinator.history.world.groups.classic_groups import COMPLETING, PREPARING, ClassicGroups
from coordinator.verbs import ROWS
from coordinator.verbs.members import CutMember, PauseMember

from ...named import client_of

SOMETIMES: Final = (
    "a coordinator moved during a join phase",
    "a coordinator moved during a sync phase",
    "a coordinator moved while its group was Stable",
    "a coordinator moved while its group was Empty",
    "a commit was accepted during a join phase",
    "a process was killed during a join phase",
    "a process was killed during a sync phase",
    "a static member came back",
    "a static member came back during a rebalance",
    "a member left because it did not poll",
    "a session ran out",
    "a session of a consumer group ran out",
    "a member did not rejoin in time",
    "offsets expired",
    "a group came back before its offsets expired",
    "a leader went during a rebalance",
    "partitions were lost",
    "a group became empty",
    "a record was given again",
    "a transaction was aborted",
    "a transaction was aborted because time ran out",
    "another coordinator ended a transaction",
    "a producer was fenced",
    "a pipeline's transaction failed",
    "a lock of a share group ended",
    "a share partition moved with records in flight",
    "a record of a share group was delivered again",
    "a record of a share group was given up",
    "a dead letter was written",
    "an acknowledgement came too late",
)
"""Conditions that a large swarm has to meet."""

_SHARE_SESSION: Final = "session of a share group"
TIMERS: Final = (JOIN, SYNC, PENDING, REVOCATION, TRANSACTION, _SHARE_SESSION)
"""Each of these has to run out sometimes, and to be over before: only then has a judge seen it from
both sides."""
_RUNS_OUT: Final = "ran out"
_IN_TIME: Final = "was over in time"
_LOOKS_MS: Final = 10_000

EVENTS: Final[tuple[type, ...]] = (
    MemberJoined,
    MemberRejoined,
    MemberReplaced,
    MemberRemoved,
    MemberPending,
    PendingMemberRemoved,
    LeaderElected,
    RebalanceStarted,
    DelayExtended,
    GenerationStarted,
    GroupEmptied,
    MemberSynced,
    GenerationStored,
    OffsetsCommitted,
    OffsetsPending,
    PendingOffsetsEnded,
    GroupUnloaded,
    GroupLoaded,
    TransactionPrepared,
    TransactionCompleted,
)
FAULTS: Final = (
    *(kind for row in ROWS.values() if row.drawn for kind in row.lines),
    *(kind.__name__ for kind in (RequestFaultBegan, RequestFaultEnded, FaultInjected)),
)
REFUSALS: Final = (
    "JoinGroup MEMBER_ID_REQUIRED",
    "JoinGroup UNKNOWN_MEMBER_ID",
    "JoinGroup FENCED_INSTANCE_ID",
    "JoinGroup NOT_COORDINATOR",
    "SyncGroup REBALANCE_IN_PROGRESS",
    "SyncGroup UNKNOWN_MEMBER_ID",
    "SyncGroup FENCED_INSTANCE_ID",
    "SyncGroup NOT_COORDINATOR",
    "SyncGroup GROUP_AUTHORIZATION_FAILED",
    "Heartbeat REBALANCE_IN_PROGRESS",
    "Heartbeat UNKNOWN_MEMBER_ID",
    "Heartbeat ILLEGAL_GENERATION",
    "Heartbeat FENCED_INSTANCE_ID",
    "Heartbeat NOT_COORDINATOR",
    "Heartbeat GROUP_AUTHORIZATION_FAILED",
    "ConsumerGroupHeartbeat UNKNOWN_MEMBER_ID",
    "ConsumerGroupHeartbeat UNRELEASED_INSTANCE_ID",
    "ConsumerGroupHeartbeat NOT_COORDINATOR",
    "ConsumerGroupHeartbeat GROUP_AUTHORIZATION_FAILED",
    "OffsetCommit UNKNOWN_MEMBER_ID",
    "OffsetCommit ILLEGAL_GENERATION",
    "OffsetCommit FENCED_INSTANCE_ID",
    "OffsetCommit NOT_COORDINATOR",
    "OffsetCommit UNKNOWN_TOPIC_OR_PARTITION",
    "OffsetCommit GROUP_AUTHORIZATION_FAILED",
    "OffsetCommit TOPIC_AUTHORIZATION_FAILED",
    "OffsetFetch NOT_COORDINATOR",
    "OffsetFetch TOPIC_AUTHORIZATION_FAILED",
    "AddPartitionsToTxn NOT_COORDINATOR",
    "AddPartitionsToTxn PRODUCER_FENCED",
    "AddPartitionsToTxn TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "EndTxn PRODUCER_FENCED",
    "ShareGroupHeartbeat NOT_COORDINATOR",
    "ShareGroupHeartbeat GROUP_AUTHORIZATION_FAILED",
    "ShareFetch NOT_LEADER_OR_FOLLOWER",
    "ShareFetch INVALID_SHARE_SESSION_EPOCH",
    "ShareFetch SHARE_SESSION_NOT_FOUND",
    "ShareFetch GROUP_AUTHORIZATION_FAILED",
)
"""Errors that brokers find by themselves, not those of injected answers."""


_OF_BROKERS: Final = frozenset({"group", "transaction", "coordinator"})
_PHASES: Final = {PREPARING: "join", COMPLETING: "sync"}
_CALL_OFF: Final = frozenset({GroupUnloaded, GroupDeleted, GroupLoaded})
"""With these nothing is over: whoever loads the group begins anew."""
_LOST: Final = frozenset({"Archiving", "Archived"})


class Coverage(Reader):
    """The things reached, and how often."""

    def __init__(self) -> None:
        self.reached: Counter[str] = Counter()
        self._classic = ClassicGroups()
        self._groups: dict[str, str] = {}
        self._given: dict[tuple[str, str, int], int] = {}
        self._timers = Timers(_LOOKS_MS)
        self._share_members: dict[str, str] = {}
        """The ids of members of share groups, by client."""
        self._silent: dict[str, str] = {}
        """Of those that are paused or cut off."""
        self._decided_by: dict[str, int | None] = {}
        """The coordinator that decided how each transaction is to end."""
        self._unused: set[str] = set()
        """Groups that are Empty and may have offsets."""

    def see(self, line: Line) -> None:
        """Look at a line of a log."""
        if line.stream in _OF_BROKERS:
            self.reached[f"event {line.name}"] += 1
        elif line.stream == "fault":
            self.reached[f"fault {line.name}"] += 1
        elif line.stream == "member" and line.group is not None:
            self._groups[client_of(line) or ""] = line.group
        super().see(line)
        self._classic.see(line)
        if line.kind in Timers.handlers:
            self._timer(line)

    def _timer(self, line: Line) -> None:
        """Note the timers that end with this line, and whether they were over."""
        timers = self._timers
        before = dict(timers.due)
        timers.see(line)
        for key, due in before.items():
            if timers.due.get(key) is not due and line.kind not in _CALL_OFF:
                self._over(key[0], line.at_ms >= due.line.at_ms + due.timeout_ms)

    def _over(self, timer: str, ran_out: bool) -> None:
        self.reached[f"timer {timer} {_RUNS_OUT if ran_out else _IN_TIME}"] += 1

    def _some(self, what: str) -> None:
        self.reached[f"sometimes {what}"] += 1

    def _phase(self, group: str | None) -> str:
        """Return the phase of the rebalance that a group is in, or ""."""
        return _PHASES.get(self._classic.get(group or "").state, "")

    @on(RequestRefused)
    def _refused(self, _: Line, event: RequestRefused) -> None:
        api = "".join(word.capitalize() for word in event.api.split("_"))
        for error in event.errors:
            self.reached[f"refusal {api} {error}"] += 1

    # -- groups

    @on(GroupEmptied)
    def _emptied(self, line: Line, _: GroupEmptied) -> None:
        self._some("a group became empty")
        self._unused.add(line.group or "")

    @on(GroupLoaded)
    def _loaded(self, line: Line, event: GroupLoaded) -> None:
        phase = self._phase(line.group)
        when = f"during a {phase} phase" if phase else f"while its group was {event.state}"
        self._some(f"a coordinator moved {when}")

    @on(OffsetsCommitted)
    def _committed(self, line: Line, _: OffsetsCommitted) -> None:
        if self._phase(line.group) == "join":
            self._some("a commit was accepted during a join phase")

    @on(OffsetsRemoved)
    def _offsets_removed(self, line: Line, event: OffsetsRemoved) -> None:
        if event.reason == "expired":
            self._some("offsets expired")
            self._unused.discard(line.group or "")

    @on(MemberJoined)
    def _joined(self, line: Line, _: MemberJoined) -> None:
        if line.group in self._unused:
            self._some("a group came back before its offsets expired")
            self._unused.discard(line.group)

    @on(MemberReplaced)
    def _replaced(self, line: Line, _: MemberReplaced) -> None:
        self._some("a static member came back")
        if self._phase(line.group):
            self._some("a static member came back during a rebalance")

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> None:
        if event.reason == Removal.SESSION_EXPIRED:
            self._some("a session ran out")
        if event.reason == Removal.DID_NOT_REJOIN:
            self._some("a member did not rejoin in time")
        if "max.poll.interval" in (event.detail or ""):
            self._some("a member left because it did not poll")
        leader = self._classic.get(line.group or "").leader
        if self._phase(line.group) and event.member_id == leader:
            self._some("a leader went during a rebalance")

    @on(ConsumerMemberRemoved)
    def _consumer_removed(self, _: Line, event: ConsumerMemberRemoved) -> None:
        if event.reason == Removal.SESSION_EXPIRED:
            self._some("a session of a consumer group ran out")

    @on(TransactionCompleted)
    def _completed(self, line: Line, event: TransactionCompleted) -> None:
        if self._decided_by.pop(event.transactional_id, line.broker) != line.broker:
            self._some("another coordinator ended a transaction")

    @on(TransactionPrepared)
    def _prepared(self, line: Line, event: TransactionPrepared) -> None:
        self._decided_by[event.transactional_id] = line.broker
        if not event.committed:
            self._some("a transaction was aborted")
            if event.reason.startswith("not ended within"):
                self._some("a transaction was aborted because time ran out")

    # -- share groups

    @on(PauseMember)
    def _paused(self, _: Line, event: PauseMember) -> None:
        self._falls_silent(event.member)

    @on(CutMember)
    def _cut(self, _: Line, event: CutMember) -> None:
        if event.broker is None and event.direction != "from_broker":
            self._falls_silent(event.member)

    def _falls_silent(self, client: str) -> None:
        if client in self._share_members:
            self._silent[client] = self._share_members[client]

    @on(MemberResumed, MemberHealed)
    def _goes_on(self, _: Line, event: MemberResumed | MemberHealed) -> None:
        """End the silence of a share group's member that goes on before its session has ended."""
        member = self._silent.pop(event.client, None)
        if member is not None and member == self._share_members.get(event.client):
            self._over(_SHARE_SESSION, ran_out=False)

    @on(ShareMemberSubscribed)
    def _subscribed(self, _: Line, event: ShareMemberSubscribed) -> None:
        self._share_members[event.client_id] = event.member_id

    @on(ShareMemberRemoved)
    def _share_removed(self, _: Line, event: ShareMemberRemoved) -> None:
        self._share_members = {
            client: member
            for client, member in self._share_members.items()
            if member != event.member_id
        }
        if event.reason == Removal.SESSION_EXPIRED:
            self._over(_SHARE_SESSION, ran_out=True)

    @on(RecordsReleased)
    def _released(self, _: Line, event: RecordsReleased) -> None:
        if event.reason == "the lock ended":
            self._some("a lock of a share group ended")
        self._given_up(event.records)

    @on(RecordsAcknowledged)
    def _acknowledged(self, _: Line, event: RecordsAcknowledged) -> None:
        self._given_up(event.records)

    def _given_up(self, records: Iterable[RecordRange | AcknowledgedRange]) -> None:
        if any(of.state in _LOST for of in records):
            self._some("a record of a share group was given up")

    @on(SharePartitionOpened)
    def _opened(self, _: Line, event: SharePartitionOpened) -> None:
        if event.records:
            self._some("a share partition moved with records in flight")

    @on(DeadLettersWritten)
    def _dead_letters(self, _: Line, event: DeadLettersWritten) -> None:
        self._some("a dead letter was written")

    @on(RecordsAcquired)
    def _acquired(self, _: Line, event: RecordsAcquired) -> None:
        if any(of.delivery_count > 1 for of in event.records):
            self._some("a record of a share group was delivered again")

    @on(AcknowledgementsEnded)
    def _acknowledgements_ended(self, _: Line, event: AcknowledgementsEnded) -> None:
        if event.failed == "INVALID_RECORD_STATE":
            self._some("an acknowledgement came too late")

    # -- what members tell

    @on(MemberCrashed)
    def _crashed(self, _: Line, event: MemberCrashed) -> None:
        phase = self._phase(self._groups.get(event.client))
        if phase:
            self._some(f"a process was killed during a {phase} phase")

    @on(PartitionsLost)
    def _lost(self, _: Line, event: PartitionsLost) -> None:
        self._some("partitions were lost")

    @on(RecordsPolled)
    def _polled(self, line: Line, event: RecordsPolled) -> None:
        key = (line.group or "", line.topic or "", line.partition or 0)
        if event.ranges[0][0] < self._given.get(key, 0):
            self._some("a record was given again")
        self._given[key] = max(self._given.get(key, 0), event.ranges[-1][1] + 1)

    @on(TransactionEnded)
    def _transaction_ended(self, line: Line, event: TransactionEnded) -> None:
        if event.failed and line.group is not None:
            self._some("a pipeline's transaction failed")

    @on(MemberFailed, ProducerFailed)
    def _failed(self, _: Line, event: MemberFailed | ProducerFailed) -> None:
        if "FENCED" in event.why or "PRODUCER_EPOCH" in event.why:
            self._some("a producer was fenced")


def expected() -> list[str]:
    """Return everything that a large swarm has to reach."""
    return [
        *(f"event {kind.__name__}" for kind in EVENTS),
        *(f"fault {kind}" for kind in FAULTS),
        *(f"refusal {each}" for each in REFUSALS),
        *(f"sometimes {what}" for what in SOMETIMES),
        *(f"timer {timer} {side}" for timer in TIMERS for side in (_RUNS_OUT, _IN_TIME)),
    ]
