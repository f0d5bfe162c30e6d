"""Where share groups start, as tools see and set it. Expected values are what a Kafka 4.4.0 broker
answered."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import release_named
from coordinator.core.share_states.model import ShareStateKey
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from coordinator.wire.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
)
from tests.server.broker.driver import Client
from tests.server.broker.shares import ShareDriver, initialize

Seen = dict[int, tuple[int, int]]
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class Tool:
    """Who asks and sets."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def describe(self, group: str = "g", *indexes: int) -> Seen:
        """By partition: start and lag; no partitions named: all there are."""
        topics = [DescribeShareGroupOffsetsRequestTopic(topic_name="t", partitions=list(indexes))]
        asked = DescribeShareGroupOffsetsRequestGroup(
            group_id=group, topics=topics if indexes else None
        )
        answer = self.client.ask(DescribeShareGroupOffsetsRequest(groups=[asked]), 1)
        assert isinstance(answer, DescribeShareGroupOffsetsResponse)
        assert not answer.groups[0].error_code
        return {
            of.partition_index: (of.start_offset, of.lag)
            for topic in answer.groups[0].topics
            for of in topic.partitions
        }

    def alter(
        self, *rows: tuple[int, int], group: str = "g", topic: str = "t"
    ) -> AlterShareGroupOffsetsResponse:
        """Set (partition, offset) pairs."""
        partitions = [
            AlterShareGroupOffsetsRequestPartition(partition_index=index, start_offset=offset)
            for index, offset in rows
        ]
        of_topic = AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=partitions)
        answer = self.client.ask(
            AlterShareGroupOffsetsRequest(group_id=group, topics=[of_topic]), 0
        )
        assert isinstance(answer, AlterShareGroupOffsetsResponse)
        return answer

    def delete(self, group: str = "g", topic: str = "t") -> DeleteShareGroupOffsetsResponse:
        """Forget a topic."""
        topics = [DeleteShareGroupOffsetsRequestTopic(topic_name=topic)]
        answer = self.client.ask(DeleteShareGroupOffsetsRequest(group_id=group, topics=topics), 0)
        assert isinstance(answer, DeleteShareGroupOffsetsResponse)
        return answer

    def heartbeat(self, epoch: int, group: str = "g") -> int:
        """Of a member; its epoch afterwards."""
        answer = self.client.ask(
            ShareGroupHeartbeatRequest(
                group_id=group, member_id="m", member_epoch=epoch, subscribed_topic_names=["t"]
            ),
            1,
        )
        assert isinstance(answer, ShareGroupHeartbeatResponse)
        assert not answer.error_code
        return answer.member_epoch


@pytest.fixture
def driver() -> ShareDriver:
    driver = ShareDriver()
    driver.records(8)
    initialize(driver, group="other")
    return driver


@pytest.fixture
def tool(driver: ShareDriver) -> Tool:
    return Tool(driver.client("127.0.0.1:tool"))


def test_start_and_lag(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3: the lag leaves out what is done with above the start."""
    initialize(driver)
    assert tool.describe("g", 2, 0, 0) == {0: (-1, -1), 2: (-1, -1)}
    assert tool.describe("g", 7) == {7: (-1, -1)}
    assert tool.describe() == {}, "the group itself was never told"
    member = driver.member()
    member.fetch(0)
    member.said((1, 2, 1))
    assert tool.describe("g", 0) == {0: (0, 6)}
    member.said((0, 0, 1))
    assert tool.describe("g", 0) == {0: (0, 5)}, "what is stored: SH-OFF-1"


def test_an_offset_that_is_set(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3: it makes the group, the last of a partition counts, and members start there."""
    answer = tool.alter((0, 9), (0, 5), (7, 1))
    (rows,) = (of.partitions for of in answer.responses)
    assert [row.error_code for row in rows] == [0, 0, UNKNOWN]
    assert tool.describe() == {0: (5, 3)}
    assert driver.member().fetch(0) == {0: [(5, 7, 1)]}
    group = driver.broker.coordinator.groups["g"]
    assert group.share is not None
    assert (group.share.group_epoch, group.share.assignment_epoch) == (1, 1)
    tool.alter((0, -5))
    assert tool.describe() == {0: (-5, 13)}


def test_nothing_known_makes_no_group(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3; a negative partition fails the request, and makes it all the same, and so does a
    topic without partitions."""
    assert tool.alter((0, 1), topic="nope").responses[0].partitions[0].error_code == UNKNOWN
    assert "g" not in driver.broker.coordinator.groups
    refused = tool.alter((-1, 1))
    assert refused.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.error_message is not None
    assert refused.error_message.startswith("Initialize share group parameters has invalid part")
    assert "g" in driver.broker.coordinator.groups
    assert tool.describe() == {}
    assert not tool.alter(topic="nope", group="h").responses
    assert "h" not in driver.broker.coordinator.groups
    assert tool.alter(group="h").responses[0].partitions == []
    assert "h" in driver.broker.coordinator.groups


def test_topics_that_fail_their_group(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3: known topics without partitions or with a negative one; those that there are not
    fail nothing, and are told last, each entry by itself."""

    def described(group: str, *topics: tuple[str, list[int]]) -> tuple[int, list[Any]]:
        asked = DescribeShareGroupOffsetsRequestGroup(
            group_id=group,
            topics=[
                DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=partitions)
                for name, partitions in topics
            ],
        )
        answer = tool.client.ask(DescribeShareGroupOffsetsRequest(groups=[asked]), 1)
        assert isinstance(answer, DescribeShareGroupOffsetsResponse)
        row = answer.groups[0]
        return row.error_code, [
            (topic.topic_name, [of.partition_index for of in topic.partitions])
            for topic in row.topics
        ]

    assert described("g", ("t", [])) == (-1, [])
    assert described("g", ("nope", [3]), ("t", [-2])) == (-1, [])
    assert described("", ("t", [0])) == (-1, [])
    assert described("", ("nope", [5, 5])) == (0, [("nope", [5, 5])])
    assert described("g", ("nope", [1, -1]), ("t", [2, 0]), ("nope", [])) == (
        0,
        [("t", [0, 2]), ("nope", [1, -1]), ("nope", [])],
    )


def test_a_topic_that_is_forgotten(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3: its state is gone, the group stays."""
    tool.alter((0, 3), (1, 0))
    assert tool.delete(topic="nope").responses[0].error_code == UNKNOWN
    assert not tool.delete().responses[0].error_code
    assert tool.describe() == {}
    assert ShareStateKey("g", driver.t.id, 0) not in driver.broker.services.shares.states.states
    again = tool.delete().responses[0]
    assert (again.error_code, again.error_message) == (
        UNKNOWN,
        "There is no offset information to delete.",
    )


def test_what_cannot_be_forgotten_is_told_as_often_as_it_is_named(
    driver: ShareDriver, tool: Tool
) -> None:
    """SH-OFF-3: behind what is forgotten."""
    tool.alter((0, 3))
    topics = [
        DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in ("nope", "t", "nope")
    ]
    answer = tool.client.ask(DeleteShareGroupOffsetsRequest(group_id="g", topics=topics), 0)
    assert isinstance(answer, DeleteShareGroupOffsetsResponse)
    assert [(row.topic_name, row.error_code) for row in answer.responses] == [
        ("t", 0),
        ("nope", UNKNOWN),
        ("nope", UNKNOWN),
    ]


def test_groups_that_may_not_be_changed(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3: those with members, of another type, or that there are not."""
    assert tool.alter(group="").error_code == ErrorCode.INVALID_GROUP_ID
    assert tool.delete(group="").error_code == ErrorCode.INVALID_GROUP_ID
    assert tool.delete(group="none").error_message == "Group none not found."
    epoch = tool.heartbeat(0)
    assert tool.alter((0, 1)).error_code == ErrorCode.NON_EMPTY_GROUP
    assert tool.delete().error_code == ErrorCode.NON_EMPTY_GROUP
    assert set(tool.describe()) == {0, 1, 2}
    tool.heartbeat(-1)
    assert epoch
    assert not tool.alter((0, 1)).error_code


@pytest.mark.parametrize(("release", "new"), [("4.4", (0, 0)), ("4.3", (-1, -1))])
def test_a_topic_that_grows(
    driver: ShareDriver, tool: Tool, release: str, new: tuple[int, int]
) -> None:
    """SH-44-1: its new partitions are read from 0; so are those of a topic of which one has been
    set."""
    driver.broker.services.shares.grown_from_zero = release_named(release).has("SH-44-1")
    tool.alter((0, 3))
    tool.heartbeat(0)
    assert tool.describe() == {0: (3, 5), 1: new, 2: new}


def test_while_share_groups_are_off(driver: ShareDriver, tool: Tool) -> None:
    """SH-OFF-3, CF-1: unsupported."""
    driver.broker.cluster.set_feature("share.version", 0)
    assert tool.alter((0, 1)).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert tool.delete().error_code == ErrorCode.UNSUPPORTED_VERSION


def test_who_led_a_share_partition_that_has_no_start_yet() -> None:
    """SH-OFF-3: nothing was written, but somebody has read its state as leader."""
    driver = ShareDriver()
    initialize(driver)
    key = ShareStateKey("g", driver.t.id, 0)
    assert driver.broker.services.shares.states.initialize(key, 5, -1, 0).error is ErrorCode.NONE
    decision, _ = driver.broker.services.shares.states.read(key, 7, 0)
    assert decision.error is ErrorCode.NONE
    topics = [DescribeShareGroupOffsetsRequestTopic(topic_name="t", partitions=[0])]
    asked = DescribeShareGroupOffsetsRequestGroup(group_id="g", topics=topics)
    answer: Any = driver.client().ask(DescribeShareGroupOffsetsRequest(groups=[asked]), 1)
    [[row]] = [of.partitions for of in answer.groups[0].topics]
    assert (row.start_offset, row.leader_epoch, row.lag) == (-1, 7, -1)


def test_a_start_that_the_share_coordinator_refuses() -> None:
    """SH-ST-1: somebody has initialized the state under a higher epoch than the group's."""
    driver = ShareDriver()
    initialize(driver)
    key = ShareStateKey("g", driver.t.id, 0)
    driver.broker.services.shares.states.initialize(key, 9, -1, 0)
    [[row]] = [of.partitions for of in Tool(driver.client()).alter((0, 3)).responses]
    assert row.error_code == ErrorCode.FENCED_STATE_EPOCH
    assert row.error_message == (
        "Error in initialize state RPC. The coordinator rejected the request because the state epoch did not match."
    )
