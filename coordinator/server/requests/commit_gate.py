"""Commit gate: answers of group and transaction coordinators that wait until their writes are
replicated (META-1).

Owns the writes of the current request and the held answers. An answer is sent once the high
watermark of each partition that its request wrote to has passed the write. If the broker loses
the partition, the answer is NOT_COORDINATOR (ERR-6); after offsets.commit.timeout.ms
(transactions have their own timeout) COORDINATOR_NOT_AVAILABLE (ERR-1), although the write stays
and counts once it is replicated. Heartbeats and LeaveGroups that write nothing wait for earlier
writes, unless refused; a follower's SyncGroup waits for the leader's. A single broker has no
gate. Does not know how writes are replicated.
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
    """Return True if the answer of a request without writes waits for earlier writes to its group's
    partition, as every successful operation of Kafka's coordinator does. REBALANCE_IN_PROGRESS
    counts as success of a heartbeat.
    """
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
        """Return the answer, or with an error the refusal of its request, if its API has a place
        for the error.
        """
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
    """Return a transaction coordinator's response with the error of its failed write; other
    responses are returned unchanged.
    """
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
    """The held answers of one broker.

    `timeout_ms`: how long a request's writes to a topic may take; `reached`: a partition's high
    watermark, `end`: its log end offset; `replicate`: lets followers copy what they can now.
    `answer` answers a parked request; `failed` is called for each request whose writes were not
    replicated in time, after its answer.
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
        """Return True if an answer waits for the writes made with it. `message`: its request, if
        that is the current one.

        A JoinGroup is answered when the join phase ends, whether or not the new group is
        replicated; but a static member that replaces another waits (STA-2).
        """
        if not isinstance(response, JoinGroupResponse):
            return True
        return isinstance(message, JoinGroupRequest) and message.group_instance_id is not None

    def begin(self) -> None:
        """Start another request: earlier writes do not belong to it."""
        self._written.clear()

    def across(self, work: Slices[T]) -> Slices[T]:
        """Run work in slices and keep its writes apart from those of requests handled in between."""
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
        """Record a write to a partition."""
        self._written[topic, partition] = end_offset

    @property
    def has_written(self) -> bool:
        """True if there is a write that no request has claimed yet."""
        return bool(self._written)

    def needs(self, now: int) -> Needs:
        """Return the current request's writes that are not replicated to the ISR yet."""
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
        """Like `needs`, and forget the writes."""
        if not self._written:
            return {}
        needs = self.needs(now)
        self._written.clear()
        return needs

    def earlier(self, call: Call, response: Message | Encoded, groups: GroupCoordinator) -> Needs:
        """Return the earlier writes that the answer of a request without writes waits for: all in
        its group's partition.

        A SyncGroup waits for the assignments that it returns: until they are replicated the
        group is in CompletingRebalance, where followers wait (SYNC-2, SYNC-3).
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
        """Return the held SyncGroup with which the leader sent the assignments of a SyncGroup's
        group.
        """
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
        """Hold an answer. `call`: its request, or None if that was parked before."""
        deadline_ms = now + min(self._timeout_ms(topic, call) for topic, _ in needs)
        leader = self._leaders_sync(call)
        if leader is not None:  # a follower hears of it when the leader does
            deadline_ms = min(deadline_ms, leader.deadline_ms)
        self._held.append(_Held(token, response, call, needs, deadline_ms))

    def advanced(self, now: int) -> None:
        """Send the answers, in order, whose writes are replicated now that a high watermark rose."""
        if self._held:
            self._release(
                lambda held: all(
                    self._reached(*partition) >= end for partition, end in held.needs.items()
                ),
                ErrorCode.NONE,
                now,
            )

    def lost(self, topic: str, partition: int | tuple[int, ...] | None, now: int) -> None:
        """Refuse the held answers of partitions that the broker no longer serves. `partition` None:
        any partition of the topic.
        """
        lost = partition if isinstance(partition, tuple | None) else (partition,)

        def is_lost(held: _Held) -> bool:
            return any(
                name == topic and (lost is None or index in lost) for name, index in held.needs
            )

        if self._held:
            self._release(is_lost, ErrorCode.NOT_COORDINATOR, now)

    @property
    def holds(self) -> bool:
        """True if any answer is held."""
        return bool(self._held)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None if no answer is held."""
        return min([held.deadline_ms for held in self._held]) if self._held else None

    def tick(self, now: int) -> None:
        """Refuse the held answers whose timeout is over."""
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
