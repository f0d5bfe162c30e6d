"""Releases of Kafka as data: what each advertises, knows and does; how one is chosen."""

from __future__ import annotations

import re

import pytest

from coordinator import Emulator
from coordinator.base.errors import ErrorCode
from coordinator.base.releases import (
    BEHAVIOURS,
    NEWEST,
    RELEASES,
    Release,
    ReleaseError,
    release_named,
)
from coordinator.cli import main
from coordinator.event_log import read
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.server.apis import SERVED, apis_of
from coordinator.server.settings.broker_configs import (
    BrokerConfigs,
    ConfigError,
    broker_defs,
    feature_options,
)
from coordinator.server.settings.group_configs import group_defs, settable_defs
from coordinator.server.settings.topic_configs import topic_defs
from coordinator.server.storage.compression import Budget, Opened
from coordinator.server.storage.record_codec import survey_opened
from coordinator.server.storage.records import BatchRefused
from coordinator.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from coordinator.wire.messages.broker_registration import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from coordinator.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from coordinator.wire.messages.transactions import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from coordinator.wire.varints import put_varint
from tests.server.broker.driver import Client, Driver

OLD = RELEASES["4.3"]
THERE_ARE = "4.4, 4.3, 4.2, 4.1, 4.0, 3.9"


def ranges(client: Client, version: int) -> dict[int, tuple[int, int]]:
    answer = client.ask(
        ApiVersionsRequest(client_software_name="x", client_software_version="1"), version
    )
    assert isinstance(answer, ApiVersionsResponse)
    return {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}


class TestChosen:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("4.4", "4.4"),
            ("4.4.0", "4.4"),
            ("4.3", "4.3"),
            ("4.3.1", "4.3"),
            (" 4.3.0 ", "4.3"),
            ("4.2.2", "4.2"),
            ("4.0.2", "4.0"),
        ],
    )
    def test_by_its_name_with_or_without_a_patch_number(self, text: str, name: str) -> None:
        assert release_named(text).name == name

    @pytest.mark.parametrize("text", ["", "4", "5.0", "2.8", "4.3.x", "newest", None, 4.3])
    def test_what_is_none_is_told_which_there_are(self, text: object) -> None:
        with pytest.raises(ReleaseError) as told:
            release_named(text)
        assert (
            str(told.value) == f"{text!r}: there is no such release here; give one of {THERE_ARE}"
        )

    def test_an_embedded_one(self) -> None:
        with Emulator(kafka_version="4.3") as kafka:
            assert kafka.configs.release is OLD
        with pytest.raises(EmulatorError, match=r"kafka_version='4\.9': there is no such release"):
            Emulator(kafka_version="4.9")
        with pytest.raises(ConfigError, match=r"the configuration given is of Kafka 4\.4\.0"):
            Emulator(config=BrokerConfigs(), kafka_version="4.3")

    def test_the_log_says_which(self, tmp_path: object) -> None:
        path = f"{tmp_path}/run.jsonl"
        with Emulator(kafka_version="4.3", log=path):
            pass
        assert next(iter(read(path)))["kafka_version"] == "4.3.1"

    def test_on_the_command_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["serve", "--kafka-version", "4.9"]) == 2
        told = capsys.readouterr().err
        assert (
            f"--kafka-version: '4.9': there is no such release here; give one of {THERE_ARE}"
            in told
        )

    def test_a_configuration_of_another_release(self) -> None:
        with pytest.raises(ConfigError) as told:
            BrokerConfigs({"group.streams.assignors": "sticky"}, release=OLD)
        assert (
            str(told.value)
            == "group.streams.assignors is no broker configuration of Kafka 4.3.1: Kafka 4.4.0 has it"
        )


class TestTable:
    @pytest.mark.parametrize("release", RELEASES.values(), ids=str)
    def test_every_advertised_api_is_served(self, release: Release) -> None:
        served = apis_of(release)
        for key, (lowest, highest) in release.api_versions.items():
            api = served[key]
            assert api is not None, key
            assert key in SERVED
            assert (max(lowest, api.lowest), api.highest) == (api.lowest, highest)

    def test_versions_of_4_3(self) -> None:
        """V44-1."""
        differ = {
            key: (of, NEWEST.api_versions[key])
            for key, of in OLD.api_versions.items()
            if of != NEWEST.api_versions[key]
        }
        assert differ == {
            18: ((0, 4), (0, 5)),
            28: ((0, 5), (0, 6)),
            42: ((0, 2), (0, 3)),
            88: ((0, 0), (0, 1)),
            89: ((0, 0), (0, 1)),
        }
        assert set(NEWEST.api_versions) - set(OLD.api_versions) == {93, 94}

    def test_features(self) -> None:
        """V44-3."""
        levels = {
            release.name: [
                (of.lowest, of.highest, of.finalized)
                if (of := release.features.get(name)) is not None
                else None
                for name in (
                    "metadata.version",
                    "share.version",
                    "eligible.leader.replicas.version",
                )
            ]
            for release in RELEASES.values()
        }
        assert levels == {
            "4.4": [(7, 33, 33), (0, 2, 2), (0, 1, 1)],
            "4.3": [(7, 30, 30), (0, 1, 1), (0, 1, 1)],
            "4.2": [(7, 29, 29), (0, 1, 1), (0, 1, 1)],
            "4.1": [(7, 27, 27), (0, 1, 0), (0, 1, 1)],
            "4.0": [(7, 25, 25), None, (0, 1, 0)],
            "3.9": [(1, 21, 21), None, None],
        }

    def test_settings(self) -> None:
        """CFG-44-3: how many there are, as real brokers show them."""
        counts = {
            release.name: [
                len(defs(release)) for defs in (broker_defs, topic_defs, group_defs, settable_defs)
            ]
            for release in RELEASES.values()
        }
        assert counts == {
            "4.4": [350, 37, 21, 27],
            "4.3": [340, 33, 17, 17],
            "4.2": [321, 34, 11, 11],
            "4.1": [316, 33, 10, 10],
            "4.0": [289, 33, 6, 6],
            "3.9": [317, 36, 0, 0],
        }

    def test_the_newest_has_every_behaviour_and_the_oldest_none(self) -> None:
        assert all(NEWEST.has(behaviour) for behaviour in BEHAVIOURS)
        assert not any(RELEASES["3.9"].has(behaviour) for behaviour in BEHAVIOURS)
        assert {b for b in BEHAVIOURS if RELEASES["4.0"].has(b)} == {
            "CFG-40-1",
            "DSC-40-1",
            "LV-40-1",
            "OC-40-1",
            "SYNC-40-1",
        }
        assert {b for b in BEHAVIOURS if RELEASES["4.2"].has(b) and "-44-" in b} == {
            "K8-CLS-44-3",
            "K8-MIG-44-4",
            "REC-44-1",
            "REF-44-1",
            "SH-44-2",
        }, "they were brought to a patch release, and 4.3.1 has none"

    def test_a_setting_that_a_release_does_not_know_has_a_value_that_stands_for_it(self) -> None:
        """Before 4.3 a group is assigned anew at once."""
        configs = BrokerConfigs(release=RELEASES["4.2"])
        assert configs.get_int("group.consumer.assignment.interval.ms") == 0
        assert not configs.knows("group.consumer.assignment.interval.ms")
        assert configs.get_int("group.share.delivery.count.limit") == 5
        with pytest.raises(ConfigError, match=r"is no broker configuration of Kafka 4\.2\.2"):
            configs.set("group.consumer.assignment.interval.ms", "0")

    def test_a_setting_that_only_older_ones_know(self) -> None:
        name = "group.share.max.groups"
        assert BrokerConfigs({name: "7"}, release=RELEASES["4.0"]).get_int(name) == 7
        with pytest.raises(ConfigError, match=r"Kafka 4\.0\.2 has it"):
            BrokerConfigs({name: "7"})


class TestServed:
    @pytest.mark.parametrize(("release", "highest"), [(NEWEST, 5), (OLD, 4)], ids=str)
    def test_a_newer_api_versions_is_answered_in_version_0(
        self, release: Release, highest: int
    ) -> None:
        """V44-1."""
        client = Driver(release=release).client()
        client.send(
            ApiVersionsRequest(client_software_name="x", client_software_version="1"), highest
        )
        assert isinstance(client.answers()[0], ApiVersionsResponse)
        assert ranges(client, highest)[18] == (0, highest)

    @pytest.mark.parametrize(("release", "served"), [(NEWEST, True), (OLD, False)], ids=str)
    def test_newer_versions_close_the_connection(self, release: Release, served: bool) -> None:
        """V44-6, VER-16."""
        client = Driver(release=release).client()
        client.send(DeleteGroupsRequest(groups_names=["g"]), 3)
        if served:
            assert client.closed is None
        else:
            assert client.closed == "DeleteGroups v3: versions 0 to 2 are served"

    @pytest.mark.parametrize(
        ("cluster", "node", "error"),
        [
            (None, -1, ErrorCode.NONE),
            ("this", 1, ErrorCode.NONE),
            ("this", -1, ErrorCode.INVALID_REQUEST),
            (None, 1, ErrorCode.INVALID_REQUEST),
            ("x", 1, ErrorCode.REBOOTSTRAP_REQUIRED),
            ("this", 2, ErrorCode.REBOOTSTRAP_REQUIRED),
        ],
    )
    def test_the_cluster_that_a_client_means(
        self, cluster: str | None, node: int, error: ErrorCode
    ) -> None:
        """V44-4."""
        driver = Driver()
        client = driver.client()
        named = driver.broker.cluster.cluster_id if cluster == "this" else cluster
        answer = client.ask(
            ApiVersionsRequest(
                client_software_name="x",
                client_software_version="1",
                cluster_id=named,
                node_id=node,
            ),
            5,
        )
        assert isinstance(answer, ApiVersionsResponse)
        assert (answer.error_code, bool(answer.api_keys)) == (error, not error)
        assert client.closed is None

    def test_offsets_by_topic_id(self) -> None:
        """V44-5: unknown ids are refused one by one, a group that does not exist is 69, before 22."""
        driver = Driver(["orders:1"])
        client = driver.client()
        known = driver.broker.cluster.topics["orders"].id

        def commit(version: int, *ids: bytes) -> list[int]:
            row = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
            request = TxnOffsetCommitRequest(
                transactional_id="tx",
                group_id="g",
                generation_id_or_member_epoch=1,
                member_id="m",
                topics=[
                    TxnOffsetCommitRequestTopic(name="orders", topic_id=one, partitions=row)
                    for one in ids
                ],
            )
            answer = client.ask(request, version)
            assert isinstance(answer, TxnOffsetCommitResponse)
            return [row.error_code for topic in answer.topics for row in topic.partitions]

        assert commit(6, b"\xab" * 16) == [ErrorCode.UNKNOWN_TOPIC_ID]
        assert commit(6, b"\xab" * 16, known)[0] == ErrorCode.UNKNOWN_TOPIC_ID

    def test_partitions_by_the_thousand(self) -> None:
        """PART-44-1."""

        def codes(release: Release) -> list[int]:
            client = Driver(["a:1", "b:1"], release=release).client()
            topics = [
                CreatePartitionsTopic(name=name, count=count, assignments=None)
                for name, count in (("a", 10_002), ("b", 2))
            ]
            answer = client.ask(
                CreatePartitionsRequest(topics=topics, timeout_ms=1_000, validate_only=True), 3
            )
            assert isinstance(answer, CreatePartitionsResponse)
            return [row.error_code for row in answer.results]

        assert codes(NEWEST) == [ErrorCode.POLICY_VIOLATION, ErrorCode.POLICY_VIOLATION]
        assert codes(OLD) == [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE]

    @pytest.mark.parametrize(
        ("node", "error"),
        [(1, ErrorCode.INVALID_REQUEST), (2, ErrorCode.CONTROLLER_ID_NOT_REGISTERED)],
    )
    def test_controllers_unregistered(self, node: int, error: ErrorCode) -> None:
        answer = Driver().client().ask(UnregisterControllerRequest(controller_id=node), 0)
        assert isinstance(answer, UnregisterControllerResponse)
        assert answer.error_code == error


def beat(client: Client, member: str, epoch: int, **says: object) -> ConsumerGroupHeartbeatResponse:
    if epoch == 0:
        says = {
            "rebalance_timeout_ms": 5_000,
            "subscribed_topic_names": ["orders"],
            "topic_partitions": [],
            **says,
        }
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id=member,
        member_epoch=epoch,
        **says,  # type: ignore[arg-type]
    )
    answer = client.ask(request, 1)
    assert isinstance(answer, ConsumerGroupHeartbeatResponse)
    return answer


def epochs(client: Client) -> tuple[int, int]:
    answer = client.ask(ConsumerGroupDescribeRequest(group_ids=["g"]), 1)
    assert isinstance(answer, ConsumerGroupDescribeResponse)
    return answer.groups[0].group_epoch, answer.groups[0].assignment_epoch


@pytest.mark.parametrize(
    ("release", "left", "joined"), [(NEWEST, (3, 3), 4), (OLD, (3, 2), 2)], ids=str
)
def test_a_group_that_empties(release: Release, left: tuple[int, int], joined: int) -> None:
    """K8-EP-44-1: and who joins within the interval is given its partitions at once."""
    client = Driver(["orders:3"], release=release).client()
    assert beat(client, "a" * 22, 0).member_epoch == 2
    beat(client, "a" * 22, -1)
    assert epochs(client) == left
    assert beat(client, "b" * 22, 0).member_epoch == joined


@pytest.mark.parametrize(("release", "epoch"), [(NEWEST, 3), (OLD, 2)], ids=str)
def test_a_vote_for_another_assignor(release: Release, epoch: int) -> None:
    """K8-TGT-44-2: the default that is voted for is none, and the same vote again neither."""
    config = {"group.consumer.assignment.interval.ms": "0"}
    client = Driver(["orders:3"], config, release=release).client()
    member = "a" * 22
    assert beat(client, member, 0).member_epoch == 2
    assert beat(client, member, 2, server_assignor="uniform").member_epoch == 2
    assert beat(client, member, 2, server_assignor="range").member_epoch == epoch
    assert beat(client, member, epoch, server_assignor="range").member_epoch == epoch


def classic_join(client: Client, member: str, metadata: bytes) -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
    )
    answer = client.ask(request, 9)
    assert isinstance(answer, JoinGroupResponse)
    return answer


LYING = bytes.fromhex("00000000000900")
"""A subscription to nine topics that are not there."""


@pytest.mark.parametrize(
    ("release", "error"),
    [
        (NEWEST, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (OLD, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
    ids=str,
)
def test_a_classic_member_with_bytes_that_do_not_parse(release: Release, error: ErrorCode) -> None:
    """K8-CLS-44-3."""
    client = Driver(["orders:1"], release=release).client()
    beat(client, "a" * 22, 0)
    member = classic_join(client, "", LYING).member_id
    answer = classic_join(client, member, LYING)
    assert (answer.error_code, answer.member_id) == (error, "")


@pytest.mark.parametrize(
    ("release", "error"),
    [(NEWEST, ErrorCode.GROUP_ID_NOT_FOUND), (OLD, ErrorCode.UNKNOWN_SERVER_ERROR)],
    ids=str,
)
def test_an_upgrade_of_members_whose_bytes_do_not_parse(release: Release, error: ErrorCode) -> None:
    """K8-MIG-44-4, EXP-44-5: until then such a group lives."""
    client = Driver(["orders:1"], release=release).client()
    member = classic_join(client, "", LYING).member_id
    assert classic_join(client, member, LYING).error_code == ErrorCode.NONE
    assert beat(client, "a" * 22, 0).error_code == error


@pytest.mark.parametrize("size", [-1, 7])
def test_sizes_of_compressed_records(size: int) -> None:
    """REC-44-1: neither below zero nor above the largest; before 4.4 they are not looked at."""
    data = bytearray()
    put_varint(data, size)
    opened = Opened(bytes(data) + bytes.fromhex("000000010100"), True)
    survey_opened(opened, 1, Budget.for_request(1_000))
    with pytest.raises(BatchRefused):
        survey_opened(opened, 1, Budget.for_request(1_000), largest=6)


class TestFormatted:
    """Features at levels of one's own from the start, as `kafka-storage format --feature` sets
    them."""

    def test_a_cluster_begins_with_them(self) -> None:
        with Emulator(features={"share.version": 0, "metadata.version": 31}) as kafka:
            levels = kafka.broker.cluster.features
        assert levels["metadata.version"] == 31
        assert "share.version" not in levels
        assert levels["group.version"] == 1

    def test_every_broker_has_them(self) -> None:
        with Emulator(brokers=3, kafka_version="4.3", features={"group.version": 0}) as kafka:
            assert {
                broker.cluster.features.get("group.version") for broker in kafka.brokers.values()
            } == {None}

    def test_eligible_leader_replicas_bring_their_setting(self) -> None:
        """ELR-1."""
        name = "eligible.leader.replicas.version"
        with_them = BrokerConfigs(release=RELEASES["4.0"], features={name: 1})
        assert with_them.dynamic_default == {"min.insync.replicas": "1"}
        assert BrokerConfigs(features={name: 0}).dynamic_default == {}

    @pytest.mark.parametrize(
        ("features", "told"),
        [
            ({"share.version": 3}, "share.version=3: Kafka 4.4.0 has the levels 0 to 2"),
            ({"metadata.version": 1}, "metadata.version=1: Kafka 4.4.0 has the levels 7 to 33"),
            ({"nonsense": 1}, "nonsense is no feature of Kafka 4.4.0; those that it has: group"),
        ],
    )
    def test_a_level_that_there_is_not_is_refused(
        self, features: dict[str, int], told: str
    ) -> None:
        with pytest.raises(ConfigError, match=re.escape(told)):
            Emulator(features=features)

    def test_on_the_command_line(self) -> None:
        assert feature_options(["share.version=0", "group.version = 1"]) == {
            "share.version": 0,
            "group.version": 1,
        }
        with pytest.raises(ConfigError, match="write name=level, such as share"):
            feature_options(["share.version"])
