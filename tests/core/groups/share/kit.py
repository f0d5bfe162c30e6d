"""Share groups (KIP-932) in virtual time: a world whose clients speak ShareGroupHeartbeat, topics that
can change, and a share coordinator that answers when it is told to.

w = ShareWorld(jobs=3)
w.hello("a", "jobs")             # joins with epoch 0; nothing is initialised yet
w.initialize()                   # the share coordinator makes the state of what it was asked for
w.beat("a")
w.owned("a") == {"jobs": [0, 1, 2]}
"""

from __future__ import annotations

from typing import Any

from assignors.errors import AssignorError
from assignors.server_side import GroupSpec, Plan, SimpleAssignor
from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import Outcome
from coordinator.core.groups.consumer.environment import GroupSettings
from coordinator.core.groups.share.environment import ShareEnvironment
from coordinator.core.groups.share.model import ShareMembership
from coordinator.core.groups.share.requests import Initialization
from coordinator.server.environments.consumer import Assigning
from coordinator.wire.messages.share_group_describe import DescribedGroup, ShareGroupDescribeRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.core.groups.callers import Call
from tests.core.groups.consumer.kit import FakeTopics
from tests.events.kit import LoggedWorld


class MayFail:
    """The `simple` assignor, which fails while it is told to."""

    name = "simple"

    def __init__(self) -> None:
        self.failing = ""

    def assign(self, spec: GroupSpec) -> Plan:
        """A target for the group."""
        if self.failing:
            raise AssignorError(self.failing)
        return SimpleAssignor().assign(spec)


class ShareWorld(LoggedWorld):
    """A logged world with share groups. `interval_ms`: the assignment interval, 0 unless the test is
    about it; `manual`: the share coordinator answers by `initialize` alone, not at once."""

    def __init__(
        self,
        *,
        interval_ms: int = 0,
        session_ms: int = 45_000,
        max_size: int = 200,
        manual: bool = False,
        **sizes: int,
    ) -> None:
        super().__init__()
        self.topics = FakeTopics(sizes)
        self.assignor = MayFail()
        self.manual = manual
        self.asked: list[Initialization] = []
        self.config.share = ShareEnvironment(
            topics=self.topics,
            make_assignor=lambda: Assigning(self.assignor),
            settings=lambda group: GroupSettings(session_ms, 5_000, interval_ms),
            max_size=max_size,
        )
        self.epochs: dict[str, int] = {}
        self.given: dict[str, dict[bytes, list[int]]] = {}

    def _take(self, outcome: Outcome) -> None:
        super()._take(outcome)
        self.asked += outcome.share_states
        if not self.manual:
            self.initialize()

    def initialize(self, error: ErrorCode = ErrorCode.NONE) -> None:
        """Let the share coordinator answer everything that it was asked."""
        asked, self.asked = self.asked, []
        for one in asked:
            self._take(self.coordinator.share_state_answered(one, error, self.now))

    def beat(self, who: str, **fields: Any) -> Call:
        """A heartbeat with the epoch that the client was told last; nothing else unless given."""
        names = {"member_id": who, "member_epoch": self.epochs.get(who, 0), **fields}
        call = self.ask(who, ShareGroupHeartbeatRequest(group_id=self.group_id, **names), 1)
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
        return self.beat(who, **{"subscribed_topic_names": list(topics), **fields})

    def ask_as(self, client: str, member: str, *topics: str) -> Call:
        """A join of a member whose client has another name."""
        request = ShareGroupHeartbeatRequest(
            group_id=self.group_id, member_id=member, subscribed_topic_names=list(topics)
        )
        return self.ask(client, request, 1)

    def bye(self, who: str) -> Call:
        """Leave."""
        return self.beat(who, member_epoch=-1)

    def owned(self, who: str) -> dict[str, list[int]]:
        """What a client was given last, by name."""
        return {self.topics.topic_name(t) or "?": sorted(p) for t, p in self.given[who].items()}

    @property
    def sharers(self) -> ShareMembership:
        """The membership of the group."""
        membership = self.whole.share
        assert membership is not None
        return membership

    @property
    def epochs_of_group(self) -> tuple[int, int]:
        """Group epoch and assignment epoch."""
        return self.sharers.group_epoch, self.sharers.assignment_epoch

    def state_of(self) -> str:
        """The group's state."""
        return str(self.whole.state)

    def describe_sharers(self, *groups: str, **other: Any) -> list[DescribedGroup]:
        """Groups as ShareGroupDescribe shows them; this one if none is named."""
        request = ShareGroupDescribeRequest(group_ids=list(groups or (self.group_id,)), **other)
        rows: list[DescribedGroup] = self.ask("admin", request, 1).reply.groups
        return rows


def error_of(call: Call) -> ErrorCode:
    """The error that a call was answered with."""
    return ErrorCode(call.error)
