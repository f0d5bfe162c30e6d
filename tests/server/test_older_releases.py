"""What releases before 4.3 do otherwise, and those before 4.2 and 4.1, each by the id of its rule."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import NEWEST, RELEASES, Release
from coordinator.core.share_states.decide import Asked, Decision, Written, decide_write
from coordinator.core.share_states.model import ShareState, ShareStateKey
from coordinator.events.share_states import ShareStateUpdated
from coordinator.server.settings.broker_configs import broker_defs
from coordinator.wire.messages.broker_registration import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from coordinator.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from coordinator.wire.messages.consumer_group_heartbeat import TopicPartitions
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from coordinator.wire.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from tests.base.test_releases import beat, classic_join
from tests.server.broker.driver import Client, Driver

SINCE, BEFORE = RELEASES["4.3"], RELEASES["4.2"]
A, B = "a" * 22, "b" * 22
BOTH = pytest.mark.parametrize("release", [SINCE, BEFORE], ids=str)
SUBSCRIPTION = bytes.fromhex("0000000000010006" + b"orders".hex() + "ffffffff")


def orders(release: Release) -> Client:
    """A client of a broker of the release with a topic of four partitions, without an interval
    between assignments."""
    config = {"group.consumer.assignment.interval.ms": "0"} if release is SINCE else {}
    return Driver(["orders:4"], config, release=release).client()


def described(client: Client) -> dict[str, list[int]]:
    """What each member of the group is shown to have, of the only topic."""
    answer = client.ask(ConsumerGroupDescribeRequest(group_ids=["g"]), 1)
    assert isinstance(answer, ConsumerGroupDescribeResponse)
    return {
        member.member_id: [p for of in member.assignment.topic_partitions for p in of.partitions]
        for member in answer.groups[0].members
    }


def owned(client: Client, *partitions: int) -> list[TopicPartitions]:
    """Partitions of the only topic, as a heartbeat names them."""
    topic = client.driver.broker.cluster.topics["orders"]
    return [TopicPartitions(topic_id=topic.id, partitions=list(partitions))]


@pytest.mark.parametrize(("release", "epoch"), [(SINCE, 2), (BEFORE, 1)], ids=str)
def test_the_first_epoch_of_a_group(release: Release, epoch: int) -> None:
    """K8-HB-43-1: of share groups, too."""
    client = orders(release)
    assert beat(client, A, 0).member_epoch == epoch
    assert beat(client, A, epoch, topic_partitions=owned(client, 0, 1, 2, 3)).member_epoch == epoch
    shared = client.ask(
        ShareGroupHeartbeatRequest(
            group_id="s", member_id=A, member_epoch=0, subscribed_topic_names=["orders"]
        ),
        1,
    )
    assert isinstance(shared, ShareGroupHeartbeatResponse)
    assert shared.member_epoch == epoch


@pytest.mark.parametrize(("release", "shown"), [(SINCE, [0, 1, 2, 3]), (BEFORE, [0, 1])], ids=str)
def test_partitions_that_are_to_be_revoked(release: Release, shown: list[int]) -> None:
    """K8-DSC-43-1: they are shown as their owner's."""
    client = orders(release)
    epoch = beat(client, A, 0).member_epoch
    beat(client, A, epoch, topic_partitions=owned(client, 0, 1, 2, 3))
    beat(client, B, 0)
    beat(client, A, epoch)
    assert described(client) == {A: shown, B: []}


def commit(client: Client, epoch: int, partition: int) -> int:
    partitions = [OffsetCommitRequestPartition(partition_index=partition, committed_offset=5)]
    request = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=epoch,
        member_id=A,
        topics=[OffsetCommitRequestTopic(name="orders", partitions=partitions)],
    )
    answer = client.ask(request, 9)
    assert isinstance(answer, OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


@pytest.mark.parametrize(
    ("release", "error"),
    [(SINCE, ErrorCode.NONE), (BEFORE, ErrorCode.STALE_MEMBER_EPOCH)],
    ids=str,
)
def test_a_commit_with_an_epoch_that_the_member_had(release: Release, error: ErrorCode) -> None:
    """K8-OFF-43-1, KIP-1251."""
    client = orders(release)
    first = beat(client, A, 0).member_epoch
    beat(client, B, 0)
    second = beat(client, A, first, topic_partitions=owned(client, 0, 1)).member_epoch
    assert second == first + 1
    assert commit(client, second, 0) == ErrorCode.NONE
    assert commit(client, first, 0) == error
    assert commit(client, first, 3) == ErrorCode.STALE_MEMBER_EPOCH


@pytest.mark.parametrize(
    ("release", "error"),
    [(SINCE, ErrorCode.NONE), (BEFORE, ErrorCode.REBALANCE_IN_PROGRESS)],
    ids=str,
)
def test_a_classic_member_while_the_group_is_to_be_assigned(
    release: Release, error: ErrorCode
) -> None:
    """K8-CLS-43-5: it is told to rejoin when there is a target; before 4.3 as soon as the epoch
    rose."""
    client = orders(release)
    beat(client, A, 0)
    beat(client, B, 0)
    classic = classic_join(client, "", SUBSCRIPTION).member_id
    joined = classic_join(client, classic, SUBSCRIPTION)
    assert joined.error_code == ErrorCode.NONE
    beat(client, B, -1)
    request = HeartbeatRequest(
        group_id="g", generation_id=joined.generation_id, member_id=joined.member_id
    )
    answer = client.ask(request, 4)
    assert isinstance(answer, HeartbeatResponse)
    assert answer.error_code == error


@pytest.mark.parametrize(
    ("release", "synonyms", "given"),
    [
        (SINCE, ["group.consumer.session.timeout.ms"], 2),
        (BEFORE, ["consumer.session.timeout.ms"], 1),
    ],
    ids=str,
)
def test_where_a_groups_setting_comes_from(
    release: Release, synonyms: list[str], given: int
) -> None:
    """CFG-43-1: from the broker's setting; before 4.3 defaults have the group's own name, and are
    not told beside a value of the group."""
    client = orders(release)
    name = "consumer.session.timeout.ms"

    def told() -> list[str]:
        asked = DescribeConfigsResource(
            resource_type=32, resource_name="g", configuration_keys=[name]
        )
        answer = client.ask(DescribeConfigsRequest(resources=[asked], include_synonyms=True), 4)
        assert isinstance(answer, DescribeConfigsResponse)
        return [of.name for of in answer.results[0].configs[0].synonyms]

    assert told() == synonyms
    assert alter(client, 32, "g", name, "50000").error_code == ErrorCode.NONE
    assert len(told()) == given


def alter(
    client: Client, kind: int, resource: str, name: str, value: str
) -> AlterConfigsResourceResponse:
    configs = [AlterableConfig(name=name, config_operation=0, value=value)]
    changed = AlterConfigsResource(resource_type=kind, resource_name=resource, configs=configs)
    answer = client.ask(IncrementalAlterConfigsRequest(resources=[changed]), 1)
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return answer.responses[0]


@pytest.mark.parametrize(
    ("release", "names"),
    [(SINCE, "[auto.create.topics.enable]"), (BEFORE, "Set(auto.create.topics.enable)")],
    ids=str,
)
def test_settings_that_do_not_change_at_run_time(release: Release, names: str) -> None:
    """CFG-43-2: how they are told."""
    refused = alter(orders(release), 4, "1", "auto.create.topics.enable", "false")
    assert refused.error_code == ErrorCode.INVALID_REQUEST
    assert refused.error_message == f"Cannot update these configs dynamically: {names}"


@BOTH
def test_too_few_brokers_for_a_topic(release: Release) -> None:
    """PLACE-43-1: before 4.3 no log directory can be cordoned."""
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=2)
    answer = orders(release).ask(CreateTopicsRequest(topics=[topic]), 7)
    assert isinstance(answer, CreateTopicsResponse)
    text = answer.topics[0].error_message
    assert text is not None
    assert text.startswith("Unable to replicate the partition 2 time(s)")
    assert ("cordoned" in text) == (release is SINCE)


LATER, EARLIER = RELEASES["4.2"], RELEASES["4.1"]


def quick(release: Release, **config: str) -> Client:
    """A client of a broker with a topic of four partitions, without an interval between
    assignments."""
    interval = "group.consumer.assignment.interval.ms"
    known = {interval: "0"} if interval in broker_defs(release) else {}
    return Driver(["orders:4"], {**known, **config}, release=release).client()


@pytest.mark.parametrize(
    ("release", "error"),
    [(LATER, ErrorCode.NONE), (EARLIER, ErrorCode.FENCED_MEMBER_EPOCH)],
    ids=str,
)
def test_a_member_that_joins_again(release: Release, error: ErrorCode) -> None:
    """K8-EP-42-1: right after it joined it may anywhere."""
    client = quick(release)
    epoch = beat(client, A, 0).member_epoch
    assert beat(client, A, 0).error_code == ErrorCode.NONE
    beat(client, B, 0)
    assert beat(client, A, epoch, topic_partitions=owned(client, 0, 1)).member_epoch == epoch + 1
    assert beat(client, A, 0).error_code == error


@pytest.mark.parametrize(("release", "further"), [(LATER, 0), (EARLIER, 1)], ids=str)
def test_a_member_that_has_to_revoke_again(release: Release, further: int) -> None:
    """K8-REC-42-1: it stays at its epoch."""
    client = quick(release)
    epoch = beat(client, A, 0).member_epoch
    beat(client, B, 0)
    assert beat(client, A, epoch, topic_partitions=owned(client, 0, 1, 2, 3)).member_epoch == epoch
    beat(client, "c" * 22, 0)
    beat(client, "d" * 22, 0)
    answer = beat(client, A, epoch, topic_partitions=owned(client, 0, 1))
    assert answer.assignment is not None
    assert [list(of.partitions) for of in answer.assignment.topic_partitions] == [[0]]
    assert answer.member_epoch == epoch + further


@pytest.mark.parametrize(
    ("release", "error"),
    [(LATER, ErrorCode.INCONSISTENT_GROUP_PROTOCOL), (EARLIER, ErrorCode.MEMBER_ID_REQUIRED)],
    ids=str,
)
def test_a_classic_member_while_migration_is_disabled(release: Release, error: ErrorCode) -> None:
    """K8-MIG-42-1."""
    client = quick(release, **{"group.consumer.migration.policy": "disabled"})
    beat(client, A, 0)
    assert classic_join(client, "", SUBSCRIPTION).error_code == error


@pytest.mark.parametrize(
    ("release", "value", "told"),
    [
        (LATER, "delete,", "Configuration 'cleanup.policy' values must not be empty."),
        (
            EARLIER,
            "delete,",
            "Invalid value  for configuration cleanup.policy: String must be one of: compact, delete",
        ),
        (
            EARLIER,
            "delete,nope",
            "Invalid value nope for configuration cleanup.policy: String must be one of: compact, delete",
        ),
    ],
    ids=str,
)
def test_values_of_lists(release: Release, value: str, told: str) -> None:
    """CFG-42-1."""
    refused = alter(quick(release), 2, "orders", "cleanup.policy", value)
    assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_CONFIG, told)


@pytest.mark.parametrize(
    ("release", "text"),
    [(EARLIER, "Broker ID 7 is not currently registered"), (RELEASES["4.0"], "")],
    ids=str,
)
def test_a_broker_that_is_not_registered(release: Release, text: str) -> None:
    """BRK-41-1."""
    answer = quick(release).ask(UnregisterBrokerRequest(broker_id=7), 0)
    assert isinstance(answer, UnregisterBrokerResponse)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert answer.error_message == text


def share_fetch(
    client: Client, group: str | None, topic_id: bytes = b"?" * 16, *, partitions: int = 1
) -> int:
    """The error of a fetch that begins a session."""
    named = [FetchPartition(partition_index=index) for index in range(partitions)]
    topics = [FetchTopic(topic_id=topic_id, partitions=named)]
    request = ShareFetchRequest(group_id=group, member_id=A, share_session_epoch=0, topics=topics)
    answer = client.ask(request, 1)
    assert isinstance(answer, ShareFetchResponse)
    return answer.error_code


@pytest.mark.parametrize(
    ("release", "error"),
    [(SINCE, ErrorCode.INVALID_REQUEST), (BEFORE, ErrorCode.UNKNOWN_SERVER_ERROR)],
    ids=str,
)
def test_a_share_fetch_of_no_group(release: Release, error: ErrorCode) -> None:
    """SH-43-1."""
    assert share_fetch(orders(release), None) == error


@pytest.mark.parametrize(
    ("release", "error"),
    [
        (NEWEST, ErrorCode.NONE),
        (SINCE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (BEFORE, ErrorCode.NONE),
    ],
    ids=str,
)
def test_a_share_session_that_begins_with_an_unknown_topic(
    release: Release, error: ErrorCode
) -> None:
    """SH-44-2: 4.3.1 fails as a whole, 4.2.2 does not."""
    assert share_fetch(quick(release), "s") == error


def test_a_share_session_that_begins_with_no_partition_of_an_unknown_topic() -> None:
    """SH-44-2: 4.3.1 does not fail for a topic of which no partition is named."""
    assert share_fetch(quick(SINCE), "s", partitions=0) == ErrorCode.NONE


def written(state_epoch: int, leader_epoch: int, start: int, count: int) -> Decision:
    stored = ShareState()
    stored.state_epoch, stored.leader_epoch, stored.fencing_epoch = 4, 2, 2
    stored.start_offset, stored.complete_count = 12, 3
    said = Written(state_epoch, leader_epoch, start, count, ())
    return decide_write(stored, Asked(b"t" * 16, 0, True, 0, 5, as_given=True), said)


def test_states_are_stored_as_they_are_written() -> None:
    """SH-44-3: before 4.4 negative epochs are none given, starts go back, and counts follow."""
    assert written(-1, -1, 11, 5).error == ErrorCode.NONE
    back = written(4, 2, 11, 5).event
    assert isinstance(back, ShareStateUpdated)
    assert (back.start_offset, back.complete_count) == (11, 5)
    kept = written(4, 2, -1, 7).event
    assert isinstance(kept, ShareStateUpdated)
    assert (kept.start_offset, kept.complete_count) == (12, 7)
    fenced = written(3, 2, 11, 5)
    assert fenced.error == ErrorCode.FENCED_STATE_EPOCH
    assert fenced.message.startswith("The share coordinator rejected the request")


@pytest.mark.parametrize(
    ("release", "error"), [(NEWEST, ErrorCode.INVALID_REQUEST), (SINCE, ErrorCode.NONE)], ids=str
)
def test_a_state_that_begins_at_a_negative_epoch(release: Release, error: ErrorCode) -> None:
    """SH-44-3."""
    client = quick(release)
    topic = client.driver.broker.cluster.topics["orders"]
    assert share_fetch(client, "s", topic.id) == ErrorCode.NONE, "the topic of the states is there"
    states = client.driver.broker.services.shares.states
    assert states.initialize(ShareStateKey("s", topic.id, 0), -1, 1, 0).error == error
