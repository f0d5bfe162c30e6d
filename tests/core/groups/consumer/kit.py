"""Consumer groups (KIP-848) in virtual time: a world whose clients speak ConsumerGroupHeartbeat,
and topics that can change.

w = ConsumerWorld(orders=4)
a = w.hello("a", "orders")       # joins with epoch 0
w.ack("a")                       # reports to own what it was given
w.owned("a") == {"orders": [0, 1, 2, 3]}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from assignors.errors import AssignorError
from assignors.server_side import GroupSpec, Member, RangeAssignor, ServerAssignor, UniformAssignor
from coordinator.base.errors import ErrorCode
from coordinator.core.groups.consumer.environment import (
    AssignmentInput,
    AssignorFailed,
    Environment,
    GroupSettings,
    PatternRefused,
)
from coordinator.core.groups.consumer.model import ConsumerMembership
from coordinator.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    DescribedGroup,
)
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from tests.core.groups.callers import Call
from tests.events.kit import LoggedWorld


class FakeTopics:
    """Topics of a cluster that a test changes at will. The id of a topic is its name, filled up to
    16 bytes."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        self.made: dict[str, int] = dict.fromkeys(sizes, 0)
        self.version = 0
        self.created = len(sizes)

    def set(self, name: str, size: int | None) -> None:
        """Create, grow or (None) delete a topic; one that is made anew has another id."""
        self.version += 1
        if size is None:
            del self.sizes[name]
            self.made[name] += 1
            return
        if name not in self.sizes:
            self.created += 1
            self.made.setdefault(name, 0)
        self.sizes[name] = size

    def topic_id(self, name: str) -> bytes | None:
        """A topic's id."""
        return (
            f"{self.made[name]:02}{name}".encode().ljust(16, b"_") if name in self.sizes else None
        )

    def topic_name(self, topic_id: bytes) -> str | None:
        """The name of a topic that is there."""
        name = topic_id[2:].rstrip(b"_").decode()
        return name if self.topic_id(name) == topic_id else None

    def partition_count(self, topic_id: bytes) -> int:
        """How many partitions."""
        name = self.topic_name(topic_id)
        assert name is not None
        return self.sizes[name]

    def fingerprint(self, name: str) -> bytes:
        """What tells a change."""
        return (
            b""
            if name not in self.sizes
            else f"{self.made[name]} {name} {self.sizes[name]}".encode()
        )

    def names(self) -> Collection[str]:
        """All topics."""
        return list(self.sizes)


class Injected:
    """A server-side assignor behind the groups' own interface."""

    def __init__(self, assignor: ServerAssignor) -> None:
        self.name = assignor.name
        self.assignor = assignor

    def assign(self, wanted: AssignmentInput) -> Mapping[str, Mapping[bytes, Sequence[int]]]:
        """Targets by member id."""
        members = {
            m: Member(
                topics=of.topics,
                assignment=of.assignment,
                instance_id=of.instance_id,
                unresolved=of.unresolved,
            )
            for m, of in wanted.members.items()
        }
        try:
            return self.assignor.assign(
                GroupSpec(
                    members=members,
                    partitions=wanted.partitions,
                    homogeneous=wanted.homogeneous,
                    assigned=wanted.assigned,
                )
            )
        except AssignorError as failure:
            raise AssignorFailed(str(failure)) from failure


class FakePattern:
    """A stand-in for RE2J's. `instructions`: what each of them says that a match costs."""

    instructions = 1

    def __init__(self, text: str) -> None:
        self.matches = re.compile(text).fullmatch


def fullmatch(text: str) -> FakePattern:
    """Make one."""
    try:
        return FakePattern(text)
    except re.error as error:
        raise PatternRefused(str(error)) from None


class ConsumerWorld(LoggedWorld):
    """A logged world with consumer groups. `interval_ms`: the assignment interval, 0 unless the
    test is about it."""

    def __init__(
        self,
        *,
        interval_ms: int = 0,
        session_ms: int = 45_000,
        settings: Mapping[str, Any] | None = None,
        **sizes: int,
    ) -> None:
        super().__init__()
        self.topics = FakeTopics(sizes)
        self.failing: str | None = None
        assignors = {
            assignor.name: Injected(assignor) for assignor in (UniformAssignor(), RangeAssignor())
        }
        self.environment = Environment(
            topics=self.topics,
            make_assignors=lambda: assignors,
            compile_pattern=fullmatch,
            settings=lambda group: GroupSettings(session_ms, 5_000, interval_ms),
            **(settings or {}),
        )
        self.config.consumer = self.environment
        self.epochs: dict[str, int] = {}
        self.given: dict[str, dict[bytes, list[int]]] = {}
        self.instances: dict[str, str] = {}

    def beat(self, who: str, *, version: int = 1, **fields: Any) -> Call:
        """A heartbeat with the epoch that the client was told last; nothing else unless given."""
        names = {
            "member_id": who,
            "member_epoch": self.epochs.get(who, 0),
            "instance_id": self.instances.get(who),
            **fields,
        }
        call = self.ask(
            who, ConsumerGroupHeartbeatRequest(group_id=self.group_id, **names), version
        )
        if call.ok:
            self.epochs[who] = call.member_epoch
            if call.assignment is not None:
                self.given[who] = {
                    of.topic_id: list(of.partitions) for of in call.assignment.topic_partitions
                }
        return call

    def hello(self, who: str, *topics: str, **fields: Any) -> Call:
        """Join with epoch 0."""
        self.epochs[who] = 0
        self.given[who] = {}
        base: dict[str, Any] = {
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_names": list(topics),
            "topic_partitions": [],
        }
        return self.beat(who, **{**base, **fields})

    def ack(self, who: str, **fields: Any) -> Call:
        """Report to own exactly what was given last."""
        return self.beat(who, topic_partitions=self.listed(who), **fields)

    def listed(self, who: str) -> list[TopicPartitions]:
        """What was given last, as a request lists it."""
        return [
            TopicPartitions(topic_id=t, partitions=p) for t, p in self.given.get(who, {}).items()
        ]

    def bye(self, who: str, epoch: int = -1) -> Call:
        """Leave for good, or for a while with -2."""
        return self.beat(who, member_epoch=epoch)

    def owned(self, who: str) -> dict[str, list[int]]:
        """What a client was given last, by name."""
        return {self.topics.topic_name(t) or "?": sorted(p) for t, p in self.given[who].items()}

    def until_stable(self, *who: str) -> None:
        """Let these members acknowledge until nothing changes."""
        for _ in range(10 * len(who)):
            if str(self.whole.state) == "Stable":
                return
            for name in who:
                self.ack(name)
        raise AssertionError(f"{self.whole} does not become Stable")

    @property
    def consumers(self) -> ConsumerMembership:
        """The membership of the group."""
        membership = self.whole.consumer
        assert membership is not None
        return membership

    def describe_consumers(self, version: int = 1) -> DescribedGroup:
        """The group as ConsumerGroupDescribe shows it."""
        row: DescribedGroup = self.ask(
            "admin", ConsumerGroupDescribeRequest(group_ids=[self.group_id]), version
        ).reply.groups[0]
        return row


def error_of(call: Call) -> ErrorCode:
    """The error that a call was answered with."""
    return ErrorCode(call.error)
