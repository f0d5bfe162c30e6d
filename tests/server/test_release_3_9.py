"""What 3.9 does otherwise than 4.0: the versions that went with it (KIP-896), and its coordinator of
groups, each by the id of its rule."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import RELEASES, Release
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.api_versions import ApiVersionsRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from coordinator.wire.messages.describe_groups import DescribeGroupsRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.server.broker.driver import Client, Driver

OLD, NEW = RELEASES["3.9"], RELEASES["4.0"]
SESSION_MS = 10_000


def client_of(release: Release, config: dict[str, str] | None = None) -> Client:
    return Driver(["orders:2"], config, release=release).client()


def join(client: Client, member: str = "", version: int = 3, **more: Any) -> Any:
    return client.ask(
        JoinGroupRequest(
            group_id="g",
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=member,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
            **more,
        ),
        version,
    )


def sync(client: Client, member: str, generation: int = 1) -> Any:
    return client.ask(
        SyncGroupRequest(
            group_id="g",
            generation_id=generation,
            member_id=member,
            assignments=[SyncGroupRequestAssignment(member_id=member, assignment=b"a")],
        ),
        3,
    )


def beat(client: Client, member: str, generation: int = 1) -> int:
    request = HeartbeatRequest(group_id="g", generation_id=generation, member_id=member)
    answer: Any = client.ask(request, 3)
    return int(answer.error_code)


def described(client: Client, **more: Any) -> Any:
    answer: Any = client.ask(DescribeGroupsRequest(groups=["g"], **more), 5)
    return answer.groups[0]


def commit(client: Client, version: int, generation: int = -1) -> int:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    request = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name="orders", partitions=[partition])],
    )
    answer: Any = client.ask(request, version)
    return int(answer.topics[0].partitions[0].error_code)


@pytest.mark.parametrize(("release", "assignment"), [(NEW, b"a"), (OLD, b"")], ids=str)
def test_assignments_of_a_group_that_rebalances(release: Release, assignment: bytes) -> None:
    """DSC-40-1."""
    client = client_of(release)
    member = join(client).member_id
    sync(client, member)
    assert described(client).members[0].member_assignment == b"a"
    client.driver.client().send(
        JoinGroupRequest(
            group_id="g",
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        ),
        3,
    )
    shown = described(client)
    assert shown.group_state == "PreparingRebalance"
    assert {row.member_id: row.member_assignment for row in shown.members}[member] == assignment


@pytest.mark.parametrize(("release", "operations"), [(NEW, 3400), (OLD, 328)], ids=str)
def test_what_may_be_done_with_a_group(release: Release, operations: int) -> None:
    """DSC-40-1: before 4.0 a group has no configuration."""
    client = client_of(release)
    join(client)
    shown = described(client, include_authorized_operations=True)
    assert shown.authorized_operations == operations
    assert described(client).authorized_operations == -(1 << 31)


@pytest.mark.parametrize(
    ("release", "error"),
    [(NEW, ErrorCode.GROUP_ID_NOT_FOUND), (OLD, ErrorCode.ILLEGAL_GENERATION)],
    ids=str,
)
def test_a_commit_to_a_group_that_there_is_not(release: Release, error: ErrorCode) -> None:
    """OC-40-1."""
    client = client_of(release)
    assert commit(client, 9, generation=3) == error
    assert commit(client, 8, generation=3) == ErrorCode.ILLEGAL_GENERATION
    assert commit(client, 9) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("release", "error"),
    [(NEW, ErrorCode.REBALANCE_IN_PROGRESS), (OLD, ErrorCode.NONE)],
    ids=str,
)
def test_a_pending_member_leaves_a_stable_group(release: Release, error: ErrorCode) -> None:
    """LV-40-1."""
    client = client_of(release)
    member = join(client).member_id
    sync(client, member)
    pending = join(client, version=4).member_id
    leave = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=pending)])
    answer: Any = client.ask(leave, 4)
    assert answer.members[0].error_code == ErrorCode.NONE
    assert beat(client, member) == error


@pytest.mark.parametrize(
    ("release", "error"),
    [(NEW, ErrorCode.UNKNOWN_MEMBER_ID), (OLD, ErrorCode.NONE)],
    ids=str,
)
def test_a_sync_in_a_stable_group(release: Release, error: ErrorCode) -> None:
    """SYNC-40-1: whether it renews the session."""
    client = client_of(release)
    member = join(client).member_id
    sync(client, member)
    client.driver.pass_time(SESSION_MS - 1_000)
    assert sync(client, member).error_code == ErrorCode.NONE
    client.driver.pass_time(2_000)
    assert beat(client, member) == error


@pytest.mark.parametrize(
    ("release", "error"),
    [(NEW, ErrorCode.NONE), (OLD, ErrorCode.INVALID_REQUEST)],
    ids=str,
)
def test_a_groups_configuration(release: Release, error: ErrorCode) -> None:
    """CFG-40-1."""
    change = AlterableConfig(name="consumer.session.timeout.ms", config_operation=0, value="50000")
    request = IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=32, resource_name="g", configs=[change])]
    )
    answer: Any = client_of(release).ask(request, 1)
    assert answer.responses[0].error_code == error
    if error:
        assert answer.responses[0].error_message == "Unknown resource type 32"


def test_requests_of_consumer_groups_are_refused() -> None:
    """Its coordinator is of the classic protocol, and so is what it advertises as a feature."""
    client = client_of(OLD)
    request = ConsumerGroupHeartbeatRequest(group_id="g", member_id="", member_epoch=0)
    answer: Any = client.ask(request, 0)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    told: Any = client.ask(
        ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3
    )
    assert {row.name: row.max_version_level for row in told.finalized_features} == {
        "metadata.version": 21
    }


class TestVersionsBefore40:
    """VER-40-1."""

    def test_offsets_of_zookeeper(self) -> None:
        client = client_of(OLD)
        assert commit(client, 0) == ErrorCode.UNSUPPORTED_VERSION
        assert commit(client, 1) == ErrorCode.NONE
        topics = [OffsetFetchRequestTopic(name="orders", partition_indexes=[0])]
        found = []
        for version in (0, 1):
            answer: Any = client.ask(OffsetFetchRequest(group_id="g", topics=topics), version)
            [row] = answer.topics[0].partitions
            found.append((row.error_code, row.committed_offset))
        assert found == [(ErrorCode.UNSUPPORTED_VERSION, -1), (ErrorCode.NONE, 5)]

    @pytest.mark.parametrize(
        ("timestamp", "most", "offsets"),
        [(-1, 1, [3]), (-1, 5, [3, 0]), (-2, 5, [0]), (-1, 0, [])],
    )
    def test_several_offsets_of_a_log(self, timestamp: int, most: int, offsets: list[int]) -> None:
        client = client_of(OLD)
        records = build_batch([b"a", b"b", b"c"], timestamp=1)
        data = [PartitionProduceData(index=0, records=records)]
        written = TopicProduceData(name="orders", partition_data=data)
        client.ask(ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[written]), 11)
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=most)
        topics = [ListOffsetsTopic(name="orders", partitions=[asked])]
        answer: Any = client.ask(ListOffsetsRequest(replica_id=-1, topics=topics), 0)
        assert answer.topics[0].partitions[0].old_style_offsets == offsets

    def test_no_value_is_called_a_default(self) -> None:
        resource = DescribeConfigsResource(
            resource_type=2, resource_name="orders", configuration_keys=["retention.ms"]
        )
        answer: Any = client_of(OLD).ask(DescribeConfigsRequest(resources=[resource]), 0)
        [entry] = answer.results[0].configs
        assert (entry.value, entry.is_default) == ("604800000", False)

    def test_later_releases_close_the_connection(self) -> None:
        client = client_of(NEW)
        client.send(DescribeConfigsRequest(resources=[]), 0)
        assert client.closed is not None
        assert "DescribeConfigs v0: versions 1 to 4 are served" in client.closed
