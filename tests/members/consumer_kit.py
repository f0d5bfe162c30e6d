"""`ConsumerSolo`: one member of the consumer protocol in virtual time, and a coordinator that says
what the test says.

s = ConsumerSolo()
s.enter("orders-0 orders-1")                  # found, joined at epoch 2, taken over, acknowledged
s.advance(5000); s.beaten(3, "orders-0")      # the next heartbeat, and its answer: an epoch and, if given, an assignment
"""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.members import ConsumerMember
from coordinator.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest
from tests.members.kit import Solo, topic_id, tps

INTERVAL_MS = 5000


def rows(names: str) -> list[TopicPartitions]:
    """Partitions as heartbeats carry them."""
    topics: dict[str, list[int]] = {}
    for topic, number in tps(names):
        topics.setdefault(topic, []).append(number)
    return [
        TopicPartitions(topic_id=topic_id(topic), partitions=numbers)
        for topic, numbers in topics.items()
    ]


class ConsumerSolo(Solo):
    """One member; the test speaks for the coordinator."""

    def __init__(self, topics: Any = ("orders",), **options: Any) -> None:
        super().__init__(topics, group_protocol="consumer", **options)

    @property
    def consumer(self) -> ConsumerMember:
        """The member."""
        assert isinstance(self.member, ConsumerMember)
        return self.member

    @property
    def heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        """The heartbeat that waits for its answer."""
        request: ConsumerGroupHeartbeatRequest = self.sent(ConsumerGroupHeartbeatRequest)
        return request

    def is_beating(self) -> bool:
        """Does one wait?"""
        return self.waiting(ConsumerGroupHeartbeatRequest) is not None

    def beaten(
        self, epoch: int, names: str | None = None, *, interval_ms: int = INTERVAL_MS
    ) -> None:
        """Answer it well; `names` "" assigns nothing, None says nothing of the assignment."""
        assignment = None if names is None else Assignment(topic_partitions=rows(names))
        self.answer(
            ConsumerGroupHeartbeatResponse(
                member_id="m1",
                member_epoch=epoch,
                heartbeat_interval_ms=interval_ms,
                assignment=assignment,
            )
        )

    def refused(self, error: ErrorCode) -> None:
        """Answer it with an error."""
        self.answer(ConsumerGroupHeartbeatResponse(error_code=error, error_message="why"))

    def begin(self) -> None:
        """Up to the first heartbeat: metadata and coordinator are known."""
        self.turn()
        if self.questions:
            self.tell()
        if self.waiting(FindCoordinatorRequest):
            self.find()

    def acknowledged(self, epoch: int) -> None:
        """Answer the heartbeat that acknowledges, and tell the committed offsets if they are asked
        for: there are none."""
        self.beaten(epoch)
        if self.waiting(OffsetFetchRequest):
            self.offsets()

    def enter(self, names: str = "orders-0 orders-1", *, epoch: int = 2, **positions: int) -> None:
        """Into the group, with these partitions."""
        self.begin()
        self.beaten(epoch, names)
        self.beaten(epoch)
        if self.waiting(OffsetFetchRequest):
            self.offsets(**positions)
        assert self.member.settled, self.member.state
