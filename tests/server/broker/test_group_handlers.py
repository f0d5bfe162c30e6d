"""What the broker adds to the group coordinator: topics and ids, merged answers, addresses,
features.

Expected values are what a Kafka 4.4.0 broker answered to the same requests.
"""

from __future__ import annotations

import pytest

from coordinator.base.releases import NEWEST
from coordinator.server import apis
from coordinator.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from coordinator.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.join_group import JoinGroupResponse
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from coordinator.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from coordinator.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.server.broker.driver import Client, Driver, join, new_member

UNKNOWN_ID = b"\x11" * 16
ZERO_ID = bytes(16)


@pytest.fixture
def driver() -> Driver:
    return Driver(["t1:3", "t2:3"])


@pytest.fixture
def client(driver: Driver) -> Client:
    return driver.client()


def commit(
    client: Client,
    version: int,
    *topics: tuple[str | bytes, list[int]],
    group: str = "g",
    generation: int = -1,
    member: str = "",
) -> OffsetCommitResponse:
    answer = client.ask(
        OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[
                OffsetCommitRequestTopic(
                    name=name if isinstance(name, str) else "",
                    topic_id=name if isinstance(name, bytes) else ZERO_ID,
                    partitions=[
                        OffsetCommitRequestPartition(partition_index=index, committed_offset=5)
                        for index in partitions
                    ],
                )
                for name, partitions in topics
            ],
        ),
        version,
    )
    assert isinstance(answer, OffsetCommitResponse)
    return answer


def by_name(
    answer: OffsetCommitResponse | OffsetDeleteResponse,
) -> list[tuple[str, list[tuple[int, int]]]]:
    return [
        (topic.name, [(p.partition_index, p.error_code) for p in topic.partitions])
        for topic in answer.topics
    ]


def by_id(answer: OffsetCommitResponse) -> list[tuple[bytes, list[tuple[int, int]]]]:
    return [
        (topic.topic_id, [(p.partition_index, p.error_code) for p in topic.partitions])
        for topic in answer.topics
    ]


class TestOffsetCommit:
    def test_refused_partitions_stand_first_and_topics_in_the_order_of_their_first_refusal(
        self, client: Client
    ) -> None:
        """OC-6"""
        answer = commit(
            client, 9, ("nope", [0, 1]), ("t1", [0, 9, 1, -1]), ("nope2", [0]), ("t2", [1])
        )
        assert by_name(answer) == [
            ("nope", [(0, 3), (1, 3)]),
            ("t1", [(9, 3), (-1, 3), (0, 0), (1, 0)]),
            ("nope2", [(0, 3)]),
            ("t2", [(1, 0)]),
        ]

    def test_doubled_topics_stay_apart_when_nothing_was_refused(self, client: Client) -> None:
        answer = commit(client, 9, ("t1", [0, 0]), ("t1", [0]))
        assert by_name(answer) == [("t1", [(0, 0), (0, 0)]), ("t1", [(0, 0)])]

    def test_doubled_topics_are_merged_when_something_was(self, client: Client) -> None:
        answer = commit(client, 9, ("t1", [9, 0]), ("t2", [9]), ("t1", [1, 8]))
        assert by_name(answer) == [("t1", [(9, 3), (8, 3), (0, 0), (1, 0)]), ("t2", [(9, 3)])]

    def test_the_coordinator_is_not_asked_when_nothing_is_left(self, client: Client) -> None:
        """OC-6: so a bad generation is not reported."""
        assert by_name(
            commit(client, 9, ("nope", [0]), generation=4, member="x", group="unknown")
        ) == [("nope", [(0, 3)])]
        assert by_name(commit(client, 9, generation=4, member="x", group="unknown")) == []
        assert by_name(commit(client, 9, ("t1", []), ("nope", []))) == [("nope", [])]

    def test_a_commit_of_nothing_makes_no_group(self, driver: Driver, client: Client) -> None:
        """OC-6, in every version."""
        for version in (2, 9, 10):
            assert by_name(commit(client, version, member="x", group="unknown")) == []
        assert "unknown" not in driver.broker.coordinator.groups

    def test_a_group_error_stands_on_every_partition_that_was_left(self, client: Client) -> None:
        """OC-4"""
        answer = commit(
            client, 9, ("nope", [0]), ("t1", [0, 7]), generation=4, member="x", group="unknown"
        )
        assert by_name(answer) == [("nope", [(0, 3)]), ("t1", [(7, 3), (0, 69)])]
        answer = commit(client, 8, ("t1", [0, 7, 1]), generation=4, member="x", group="unknown")
        assert by_name(answer) == [("t1", [(7, 3), (0, 22), (1, 22)])]

    def test_topic_ids(self, driver: Driver, client: Client) -> None:
        """KIP-848 v10: an id nobody knows gets 100, and so does the zero id."""
        t1, t2 = (driver.broker.cluster.topics[name].id for name in ("t1", "t2"))
        answer = commit(
            client, 10, (UNKNOWN_ID, [0, 1]), (t1, [0, 9, 1]), (ZERO_ID, [0]), (t2, [1])
        )
        assert by_id(answer) == [
            (UNKNOWN_ID, [(0, 100), (1, 100)]),
            (t1, [(9, 3), (0, 0), (1, 0)]),
            (ZERO_ID, [(0, 100)]),
            (t2, [(1, 0)]),
        ]
        assert by_id(commit(client, 10, (t2, [0]), (t1, [2]))) == [(t2, [(0, 0)]), (t1, [(2, 0)])]
        assert by_id(commit(client, 10, (UNKNOWN_ID, []), (ZERO_ID, []))) == [
            (UNKNOWN_ID, []),
            (ZERO_ID, []),
        ]
        assert by_id(commit(client, 10, (UNKNOWN_ID, [0]), (UNKNOWN_ID, [0]))) == [
            (UNKNOWN_ID, [(0, 100), (0, 100)])
        ]


class TestOffsetFetch:
    def fetch(
        self, client: Client, *groups: tuple[str, list[tuple[bytes, list[int]]] | None]
    ) -> OffsetFetchResponse:
        answer = client.ask(
            OffsetFetchRequest(
                groups=[
                    OffsetFetchRequestGroup(
                        group_id=group,
                        topics=None
                        if topics is None
                        else [
                            OffsetFetchRequestTopics(topic_id=t, partition_indexes=p)
                            for t, p in topics
                        ],
                    )
                    for group, topics in groups
                ]
            ),
            10,
        )
        assert isinstance(answer, OffsetFetchResponse)
        return answer

    def test_topic_ids(self, driver: Driver, client: Client) -> None:
        """KIP-848 v10, OF-9: groups in order; unknown ids after the known, 100 on each
        partition."""
        t1, t2 = (driver.broker.cluster.topics[name].id for name in ("t1", "t2"))
        commit(client, 10, (t1, [0, 1]), (t2, [1]))
        answer = self.fetch(
            client,
            ("g", [(UNKNOWN_ID, [0]), (t1, [0, 9]), (ZERO_ID, [1]), (t2, [1])]),
            ("unknown", None),
            ("g", None),
            ("other", [(UNKNOWN_ID, [0])]),
            ("g", [(UNKNOWN_ID, [0]), (UNKNOWN_ID, [])]),
        )
        seen = [
            (
                group.group_id,
                group.error_code,
                {
                    t.topic_id: [
                        (p.partition_index, p.committed_offset, p.error_code) for p in t.partitions
                    ]
                    for t in group.topics
                },
            )
            for group in answer.groups
        ]
        assert seen[0] == (
            "g",
            0,
            {
                t1: [(0, 5, 0), (9, -1, 0)],
                t2: [(1, 5, 0)],
                UNKNOWN_ID: [(0, -1, 100)],
                ZERO_ID: [(1, -1, 100)],
            },
        )
        assert [topic.topic_id for topic in answer.groups[0].topics] == [
            t1,
            t2,
            UNKNOWN_ID,
            ZERO_ID,
        ]
        assert seen[1] == ("unknown", 0, {})
        assert seen[2] == ("g", 0, {t1: [(0, 5, 0), (1, 5, 0)], t2: [(1, 5, 0)]})
        assert seen[3] == ("other", 0, {UNKNOWN_ID: [(0, -1, 100)]})
        assert [len(topic.partitions) for topic in answer.groups[4].topics] == [1, 0]

    def test_a_deleted_topic_has_no_offsets(self, driver: Driver, client: Client) -> None:
        """EXP-7"""
        commit(client, 9, ("t1", [0]))
        from coordinator.wire.messages.topics import DeleteTopicsRequest

        client.ask(DeleteTopicsRequest(topic_names=["t1"], timeout_ms=1000), 5)
        assert self.fetch(client, ("g", None)).groups[0].topics == []


class TestOffsetDelete:
    def delete(
        self, client: Client, group: str, *topics: tuple[str, list[int]]
    ) -> tuple[int, list[tuple[str, list[tuple[int, int]]]]]:
        answer = client.ask(
            OffsetDeleteRequest(
                group_id=group,
                topics=[
                    OffsetDeleteRequestTopic(
                        name=name,
                        partitions=[
                            OffsetDeleteRequestPartition(partition_index=i) for i in partitions
                        ],
                    )
                    for name, partitions in topics
                ],
            ),
            0,
        )
        assert isinstance(answer, OffsetDeleteResponse)
        return answer.error_code, by_name(answer)

    def test_merge(self, client: Client) -> None:
        """OD-3"""
        commit(client, 9, ("t1", [0, 1]))
        assert self.delete(client, "g", ("nope", [0, 1]), ("t1", [0, 9, 1]), ("nope2", [0])) == (
            0,
            [("nope", [(0, 3), (1, 3)]), ("t1", [(9, 3), (0, 0), (1, 0)]), ("nope2", [(0, 3)])],
        )
        assert self.delete(client, "g", ("t1", [0, 9, 1]), ("t2", [7]), ("t1", [2])) == (
            0,
            [("t1", [(9, 3), (0, 0), (1, 0), (2, 0)]), ("t2", [(7, 3)])],
        )
        assert self.delete(client, "g", ("t1", [])) == (0, [])
        assert self.delete(client, "g", ("nope", [])) == (0, [("nope", [])])

    def test_a_top_level_error_stands_alone_and_the_coordinator_is_always_asked(
        self, client: Client
    ) -> None:
        """OD-1, OD-3 (as 4.4.0): 69 also when nothing is left to delete."""
        assert self.delete(client, "unknown", ("nope", [0])) == (69, [])
        assert self.delete(client, "unknown", ("nope", [0]), ("t1", [0, 9])) == (69, [])
        assert self.delete(client, "unknown") == (69, [])
        assert self.delete(client, "", ("nope", [0])) == (24, [])


MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)


class TestFindCoordinator:
    def find(
        self, client: Client, version: int, key_type: int = 0, *keys: str
    ) -> FindCoordinatorResponse:
        answer = client.ask(
            FindCoordinatorRequest(
                key=keys[0] if keys else "", key_type=key_type, coordinator_keys=list(keys)
            ),
            version,
        )
        assert isinstance(answer, FindCoordinatorResponse)
        return answer

    @pytest.mark.parametrize("version", range(4))
    @pytest.mark.parametrize("key", ["g", ""])
    def test_one_key(self, client: Client, version: int, key: str) -> None:
        """FC-4, FC-5: any group id has a coordinator, the empty one too."""
        answer = self.find(client, version, 0, key)
        assert (answer.error_code, answer.node_id, answer.host, answer.port) == (
            0,
            1,
            "127.0.0.1",
            9092,
        )
        assert answer.error_message == ("NONE" if version else "")

    @pytest.mark.parametrize("version", [4, 5, 6])
    def test_batch(self, client: Client, version: int) -> None:
        """KIP-699, FC-4: doubled keys are answered twice, no keys with no rows."""
        answer = self.find(client, version, 0, "g", "h", "g")
        assert answer.coordinators == [
            Coordinator(key=key, node_id=1, host="127.0.0.1", port=9092) for key in ("g", "h", "g")
        ]
        assert self.find(client, version).coordinators == []

    @pytest.mark.parametrize(
        ("version", "message"), [(1, MALFORMED), (3, MALFORMED), (4, ""), (5, "")]
    )
    def test_share_groups_before_v6(self, client: Client, version: int, message: str) -> None:
        """FC-1"""
        answer = self.find(client, version, 2, "g")
        row = answer.coordinators[0] if version >= 4 else answer
        assert (row.error_code, row.node_id, row.host, row.port, row.error_message) == (
            42,
            -1,
            "",
            -1,
            message,
        )

    @pytest.mark.parametrize("version", range(1, 7))
    def test_unknown_key_type(self, client: Client, version: int) -> None:
        """FC-1"""
        answer = self.find(client, version, 5, "g")
        row = answer.coordinators[0] if version >= 4 else answer
        assert (row.error_code, row.node_id, row.error_message) == (42, -1, MALFORMED)

    def test_share_keys_in_v6(self, client: Client) -> None:
        answer = self.find(client, 6, 2, "g:4L6g3nShT-eMCtK--X86sw:0", "g:x:1", "g")
        assert [(row.error_code, row.error_message) for row in answer.coordinators] == [
            (0, ""),
            (42, ""),
            (42, ""),
        ]

    def test_a_partition_without_leader_or_address_has_no_coordinator(
        self, driver: Driver, client: Client
    ) -> None:
        """FC-3"""
        driver.broker.cluster.brokers[1].endpoints.clear()
        answer = self.find(client, 3, 0, "g")
        assert (answer.error_code, answer.error_message, answer.node_id) == (
            15,
            "The coordinator is not available.",
            -1,
        )
        row = self.find(client, 4, 0, "g").coordinators[0]
        assert (row.error_code, row.error_message) == (15, "")


KAFKA_4_4_0 = {
    0: (0, 13),
    1: (4, 18),
    2: (1, 11),
    3: (0, 13),
    8: (2, 10),
    9: (1, 10),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 6),
    16: (0, 5),
    17: (0, 1),
    18: (0, 5),
    19: (2, 7),
    20: (1, 6),
    21: (0, 2),
    22: (0, 5),
    23: (2, 4),
    24: (0, 5),
    25: (0, 4),
    26: (0, 5),
    27: (1, 2),
    28: (0, 6),
    29: (1, 3),
    30: (1, 3),
    31: (1, 3),
    32: (1, 4),
    33: (0, 2),
    34: (1, 2),
    35: (1, 5),
    36: (0, 2),
    37: (0, 3),
    38: (1, 3),
    39: (1, 2),
    40: (1, 2),
    41: (1, 3),
    42: (0, 3),
    43: (0, 2),
    44: (0, 1),
    45: (0, 1),
    46: (0, 0),
    47: (0, 0),
    48: (0, 1),
    49: (0, 1),
    50: (0, 0),
    51: (0, 0),
    55: (0, 2),
    57: (0, 2),
    60: (0, 2),
    61: (0, 0),
    64: (0, 0),
    65: (0, 0),
    66: (0, 2),
    68: (0, 1),
    69: (0, 1),
    74: (0, 1),
    75: (0, 0),
    76: (1, 1),
    77: (1, 1),
    78: (1, 2),
    79: (1, 2),
    80: (0, 1),
    81: (0, 0),
    83: (0, 0),
    84: (0, 0),
    85: (0, 1),
    86: (0, 0),
    87: (0, 1),
    88: (0, 1),
    89: (0, 1),
    90: (0, 1),
    91: (0, 0),
    92: (0, 0),
    93: (0, 0),
    94: (0, 0),
}
"""What a stock broker advertises."""


class TestApiVersions:
    def ask(
        self, client: Client, version: int, name: str = "x", software: str = "1"
    ) -> ApiVersionsResponse:
        answer = client.ask(
            ApiVersionsRequest(client_software_name=name, client_software_version=software), version
        )
        assert isinstance(answer, ApiVersionsResponse)
        return answer

    def test_ranges_are_those_of_4_4_0(self, client: Client) -> None:
        answer = self.ask(client, 4)
        ranges = {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}
        assert ranges == KAFKA_4_4_0

    @pytest.mark.parametrize("key", apis.SERVED)
    def test_what_is_advertised_is_served(self, key: int) -> None:
        ready = apis.apis_of(NEWEST)[key]
        assert ready is not None
        assert callable(ready.handle)
        assert (ready.lowest, ready.highest) == ((3, 13) if key == 0 else NEWEST.api_versions[key])

    def test_features_are_those_that_are_served(self, client: Client) -> None:
        """KIP-584: level 0 is not named among the finalised; up to v3 features that may be 0 are
        not named at all."""
        answer = self.ask(client, 4)
        assert {
            row.name: (row.min_version, row.max_version) for row in answer.supported_features
        } == {
            "group.version": (0, 1),
            "kraft.version": (0, 1),
            "metadata.version": (7, 33),
            "share.version": (0, 2),
            "streams.version": (0, 1),
            "transaction.version": (0, 2),
            "eligible.leader.replicas.version": (0, 1),
        }
        assert {row.name: row.max_version_level for row in answer.finalized_features} == {
            "eligible.leader.replicas.version": 1,
            "group.version": 1,
            "metadata.version": 33,
            "share.version": 2,
            "transaction.version": 2,
        }
        assert [row.name for row in self.ask(client, 3).supported_features] == ["metadata.version"]

    @pytest.mark.parametrize(
        ("name", "version"),
        [("", "1"), ("x", ""), ("-x", "1"), ("x y", "1"), ("x-", "1"), ("a.b", "1_0")],
    )
    def test_bad_software(self, client: Client, name: str, version: str) -> None:
        """KIP-511: 42 and nothing else."""
        assert self.ask(client, 4, name, version) == ApiVersionsResponse(error_code=42)

    @pytest.mark.parametrize("version", range(6))
    def test_every_version(self, client: Client, version: int) -> None:
        answer = self.ask(client, version)
        assert answer.error_code == 0
        assert len(answer.api_keys) == len(apis.SERVED)


def test_member_ids_are_the_client_id_and_a_uuid(client: Client) -> None:
    """MID-1"""
    member = new_member(client)
    client_id, _, tail = member.partition("-")
    assert client_id == "test"
    assert [len(part) for part in tail.split("-")] == [8, 4, 4, 4, 12]
    assert tail[14] == "4"
    assert tail[19] in "89ab"


def test_a_configuration_changed_at_run_time_is_in_force_for_the_next_request(
    driver: Driver, client: Client
) -> None:
    from coordinator.wire.messages.join_group import JoinGroupResponse

    driver.broker.configs.replace_dynamic(
        {"group.max.session.timeout.ms": "9000"}, for_all_brokers=False
    )
    answer = client.ask(join(), 9)
    assert isinstance(answer, JoinGroupResponse)
    assert answer.error_code == 26


@pytest.mark.parametrize("by_topic", [False, True])
def test_how_large_a_generation_may_be_is_configured(by_topic: bool) -> None:
    """ERR-2: message.max.bytes of the broker, or max.message.bytes of __consumer_offsets, bounds
    what a leader may hand in."""
    driver = Driver(config={"message.max.bytes": "9000" if by_topic else "2000"})
    client = driver.client()

    def hand_in(size: int) -> int:
        client.send(join(member=member), 9)
        driver.settle()
        driver.pass_time(3_000)
        [joined] = client.answers()
        assert isinstance(joined, JoinGroupResponse)
        told = client.ask(
            SyncGroupRequest(
                group_id="g",
                generation_id=joined.generation_id,
                member_id=member,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[SyncGroupRequestAssignment(member_id=member, assignment=bytes(size))],
            ),
            5,
        )
        assert isinstance(told, SyncGroupResponse)
        return told.error_code

    member = new_member(client)
    if by_topic:
        limit = AlterableConfig(name="max.message.bytes", config_operation=0, value="2000")
        client.ask(
            IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=2, resource_name="__consumer_offsets", configs=[limit]
                    )
                ]
            ),
            1,
        )
    assert (hand_in(2_000), hand_in(1_600)) == (-1, 0)
