"""Answers of the coordinators of groups and of transactions that wait until what they tell is
replicated (META-1).

Owns which writes the request in hand made, and the answers that are held. Rules: an answer leaves
once the high watermark of each partition that its request wrote to has passed the write; when the
broker loses the partition it says NOT_COORDINATOR instead (ERR-6), after offsets.commit.timeout.ms
(transactions: their own timeout) COORDINATOR_NOT_AVAILABLE, which ERR-1 makes of a timeout: what
was written stays, and counts when it is replicated. Heartbeats and leaves that write nothing wait
for what was written before them, unless they are refused; a follower's SyncGroup waits for the
leader's. With one broker there is no gate. Does not depend on how writes are replicated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.refusals import REFUSABLE, refusal
from coordinator.core.groups.requests import RequestContext
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from coordinator.wire.messages.transactions import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
    EndTxnResponse,
    InitProducerIdResponse,
)

from ..cluster.model import CONSUMER_OFFSETS
from .call import Encoded
from .refusals import refused_whole

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.core.group_coordinator import GroupCoordinator
    from coordinator.wire.schema import Message

    from .call import Call

T = TypeVar("T")
Needs = Mapping[tuple[str, int], int]
"""Partition of __consumer_offsets or __transaction_state -> the offset behind what was written
there."""


_TELL_OF_EARLIER_WRITES = frozenset(
    {
        HeartbeatRequest,
        ConsumerGroupHeartbeatRequest,
        ShareGroupHeartbeatRequest,
        LeaveGroupRequest,
    }
)


def _waits_for_earlier_writes(message: Message, response: Message | Encoded) -> bool:
    """True if the answer of a request that wrote nothing waits for earlier writes to its group's
    partition, as in Kafka's coordinator every operation does that does not fail.
    REBALANCE_IN_PROGRESS is no failure of a heartbeat."""
    if type(message) not in _TELL_OF_EARLIER_WRITES:
        return False
    return getattr(response, "error_code", ErrorCode.NONE) in (
        ErrorCode.NONE,
        ErrorCode.REBALANCE_IN_PROGRESS,
    )


class _Held(NamedTuple):
    token: int
    response: Message | Encoded
    call: Call | None
    needs: Needs
    deadline_ms: int

    def told(self, error: ErrorCode) -> Message | Encoded:
        """The answer; with an error the refusal of its request, as far as its kind has a place for
        one."""
        if error and self.call is not None and type(self.call.message) in REFUSABLE:
            return refusal(self.call.message, RequestContext(self.call.version), error)
        if error and isinstance(self.response, SyncGroupResponse):
            return SyncGroupResponse(
                error_code=error
            )  # as a refused one: without the assignment (ERR-2)
        if error and isinstance(self.response, JoinGroupResponse):
            self.response.error_code = error
        elif error and self.call is not None and not isinstance(self.response, Encoded):
            return _refused(self.call, self.response, error)
        return self.response


def _refused(call: Call, response: Message, error: ErrorCode) -> Message:
    """A transaction coordinator's answer in place of one whose write failed; other answers
    stay."""
    match response:
        case InitProducerIdResponse() | EndTxnResponse() | AddOffsetsToTxnResponse():
            return refused_whole(call.message, call.version, error, None)
        case AddPartitionsToTxnResponse():
            results = [
                topic for one in response.results_by_transaction for topic in one.topic_results
            ]
            for topic in (*results, *response.results_by_topic_v3_and_below):
                for row in topic.results_by_partition:
                    row.partition_error_code = row.partition_error_code or error
    return response


class CommitGate:
    """The held answers of one broker. `timeout_ms`: how long a request's writes to a topic may
    take; `reached`: a partition's high watermark, `end` its log's end; `replicate`: let followers
    copy what they can now.

    `answer` answers a parked request; `failed` hears of each request whose writes were not
    replicated in time, once it is answered.
    """

    def __init__(
        self,
        *,
        answer: Callable[[int, Message | Encoded, int], None],
        timeout_ms: Callable[[str, Call | None], int],
        reached: Callable[[str, int], int],
        end: Callable[[str, int], int],
        replicate: Callable[[int], None],
        failed: Callable[[Message, int], None],
    ) -> None:
        self._answer = answer
        self._timeout_ms = timeout_ms
        self._reached = reached
        self._end = end
        self._replicate = replicate
        self._failed = failed
        self._written: dict[tuple[str, int], int] = {}
        self._held: list[_Held] = []

    @staticmethod
    def waits_for_its_writes(response: Message | Encoded, message: Message | None = None) -> bool:
        """True if an answer waits for what was written with it. `message`: its request, if that is
        the one in hand.

        A JoinGroup is answered when the join phase is over, whether or not the group that it
        founded is replicated; but a static member that replaces another waits (STA-2).
        """
        if not isinstance(response, JoinGroupResponse):
            return True
        return isinstance(message, JoinGroupRequest) and message.group_instance_id is not None

    def begin(self) -> None:
        """Another request is handled: earlier writes are not its own."""
        self._written.clear()

    def across(self, work: Slices[T]) -> Slices[T]:
        """Work in slices, between which other requests are handled: what it writes stays its
        own."""
        self.begin()
        try:
            next(work)
            while True:
                written = self._written
                self._written = {}
                now = yield
                self._written = written
                work.send(now)
        except StopIteration as end:
            value: T = end.value
            return value

    def note(self, topic: str, partition: int, end_offset: int) -> None:
        """Something was written to a partition."""
        self._written[topic, partition] = end_offset

    @property
    def has_written(self) -> bool:
        """Was something written that nobody has taken to be the request's in hand?"""
        return bool(self._written)

    def needs(self, now: int) -> Needs:
        """Writes of the request in hand that not every replica in sync has yet."""
        if not self._written:
            return {}
        self._replicate(now)
        self._written = {
            partition: end
            for partition, end in self._written.items()
            if self._reached(*partition) < end
        }
        return dict(self._written)

    def take(self, now: int) -> Needs:
        """`needs`, asked for the last time."""
        if not self._written:
            return {}
        needs = self.needs(now)
        self._written.clear()
        return needs

    def earlier(self, call: Call, response: Message | Encoded, groups: GroupCoordinator) -> Needs:
        """Writes the answer of a request that wrote nothing waits for, if for anything: all that
        stands in its group's partition.

        A SyncGroup waits for the assignments that it would be answered with: until they are
        replicated the group is in CompletingRebalance, where followers wait (SYNC-2, SYNC-3).
        """
        if isinstance(call.message, SyncGroupRequest):
            leader = self._leaders_sync(call)
            return (
                leader.needs
                if leader is not None and getattr(response, "error_code", None) == ErrorCode.NONE
                else {}
            )
        if not _waits_for_earlier_writes(call.message, response) or groups.is_loading:
            return {}
        partition = (CONSUMER_OFFSETS, groups.partition_for(call.message.group_id))  # type: ignore[attr-defined]
        end = self._end(*partition)
        if self._reached(*partition) >= end:
            return {}
        self._replicate(call.now)
        return {partition: end} if self._reached(*partition) < end else {}

    def _leaders_sync(self, call: Call | None) -> _Held | None:
        """The held SyncGroup that brought the assignments of the group that a SyncGroup names."""
        if call is None or not isinstance(call.message, SyncGroupRequest):
            return None
        group_id = call.message.group_id
        syncs = (
            held
            for held in self._held
            if held.call is not None and isinstance(held.call.message, SyncGroupRequest)
        )
        return next((held for held in syncs if held.call.message.group_id == group_id), None)  # type: ignore[union-attr]

    def hold(
        self, token: int, response: Message | Encoded, call: Call | None, needs: Needs, now: int
    ) -> None:
        """Keep an answer. `call`: its request, if it is the one in hand; None: it was parked
        before."""
        deadline_ms = now + min(self._timeout_ms(topic, call) for topic, _ in needs)
        leader = self._leaders_sync(call)
        if leader is not None:  # a follower hears of it when the leader does
            deadline_ms = min(deadline_ms, leader.deadline_ms)
        self._held.append(_Held(token, response, call, needs, deadline_ms))

    def advanced(self, now: int) -> None:
        """A high watermark rose: send what no longer waits, in order."""
        if self._held:
            self._release(
                lambda held: all(
                    self._reached(*partition) >= end for partition, end in held.needs.items()
                ),
                ErrorCode.NONE,
                now,
            )

    def lost(self, topic: str, partition: int | tuple[int, ...] | None, now: int) -> None:
        """The broker serves a partition no longer, or several (None: any of the topic)."""
        lost = partition if isinstance(partition, tuple | None) else (partition,)

        def is_lost(held: _Held) -> bool:
            return any(
                name == topic and (lost is None or index in lost) for name, index in held.needs
            )

        if self._held:
            self._release(is_lost, ErrorCode.NOT_COORDINATOR, now)

    @property
    def holds(self) -> bool:
        """Is there an answer that it holds?"""
        return bool(self._held)

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""
        return min([held.deadline_ms for held in self._held]) if self._held else None

    def tick(self, now: int) -> None:
        """Refuse what waited too long."""
        if self._held:
            self._release(
                lambda held: held.deadline_ms <= now, ErrorCode.COORDINATOR_NOT_AVAILABLE, now
            )

    def _release(self, which: Callable[[_Held], bool], error: ErrorCode, now: int) -> None:
        released = [held for held in self._held if which(held)]
        if released:
            self._held = [held for held in self._held if not any(held is gone for gone in released)]
            for held in released:
                self._answer(held.token, held.told(error), now)
                if error is ErrorCode.COORDINATOR_NOT_AVAILABLE and held.call is not None:
                    self._failed(held.call.message, now)
