"""What administrators ask of one unsecured broker. Codes and texts as Kafka 4.4.0 answered them;
more cases are recorded scenarios."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.server.handlers.log_dirs import LOG_DIR
from coordinator.server.requests.call import NoRequest
from coordinator.wire.messages import acls, client_quotas, log_dirs, reassignments
from coordinator.wire.messages.client_quotas import ComponentData
from coordinator.wire.messages.log_dirs import DescribableLogDirTopic
from coordinator.wire.messages.quorum import (
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from coordinator.wire.messages.reassignments import TopicPartitions
from coordinator.wire.messages.scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
    UserName,
)
from coordinator.wire.messages.update_features import FeatureUpdateKey
from tests.server.broker.admin import Admin

NOT_HERE = "This server does not host this topic-partition."
CANNOT_DOWNGRADE = "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."


class TestElectLeaders:
    def elect(self, admin: Admin, version: int = 2, **fields: Any) -> Any:
        return admin.ask(43, version, **({"timeout_ms": 1000} | fields))

    @pytest.mark.parametrize("version", [0, 1, 2])
    def test_not_needed_or_unknown(self, version: int) -> None:
        asked = [
            TopicPartitions(topic="a", partitions=[0, 7]),
            TopicPartitions(topic="nope", partitions=[0]),
        ]
        answer = self.elect(Admin("a"), version, topic_partitions=asked)
        assert answer.error_code == 0
        assert [
            (r.topic, [(p.partition_id, p.error_code, p.error_message) for p in r.partition_result])
            for r in answer.replica_election_results
        ] == [
            (
                "a",
                [
                    (0, 84, "Leader election not needed for topic partition."),
                    (7, 3, "No such partition as a-7"),
                ],
            ),
            ("nope", [(0, 3, "No such topic as nope")]),
        ]

    def test_of_all_topics_only_the_names(self) -> None:
        results = self.elect(Admin("a", "b"), topic_partitions=None).replica_election_results
        assert [(r.topic, r.partition_result) for r in results] == [
            ("__consumer_offsets", []),
            ("a", []),
            ("b", []),
        ]

    @pytest.mark.parametrize(
        ("kind", "timeout_ms", "code", "why"),
        [(7, 1000, 42, "Unknown election type 7"), (0, 0, 7, None), (7, -1, 7, None)],
    )
    def test_refused_whole(self, kind: int, timeout_ms: int, code: int, why: str | None) -> None:
        asked = [TopicPartitions(topic="a", partitions=[0])]
        answer = self.elect(
            Admin("a"), election_type=kind, topic_partitions=asked, timeout_ms=timeout_ms
        )
        part = answer.replica_election_results[0].partition_result[0]
        assert (answer.error_code, part.error_code, part.error_message) == (code, code, why)
        assert (
            self.elect(
                Admin("a"), election_type=kind, topic_partitions=None, timeout_ms=timeout_ms
            ).replica_election_results
            == []
        )
        assert (
            self.elect(
                Admin("a"), election_type=kind, topic_partitions=[], timeout_ms=timeout_ms
            ).error_code
            == 0
        )


class TestReassignments:
    def reassign(
        self,
        admin: Admin,
        name: str,
        *parts: tuple[int, list[int] | None],
        version: int = 1,
        **fields: Any,
    ) -> list[Any]:
        partitions = [
            reassignments.ReassignablePartition(partition_index=i, replicas=r) for i, r in parts
        ]
        topics = [reassignments.ReassignableTopic(name=name, partitions=partitions)]
        answer = admin.ask(45, version, **({"topics": topics, "timeout_ms": 1000} | fields))
        return [
            answer.error_code,
            *((p.error_code, p.error_message) for p in answer.responses[0].partitions),
        ]

    def test_where_it_is_unknown_or_not_under_way(self) -> None:
        """REASN-4"""
        admin = Admin("a:2")
        assert self.reassign(admin, "a", (0, [1]), (1, None), (7, [1])) == [
            0,
            (0, None),
            (85, None),
            (3, "Unable to find partition a:7."),
        ]
        assert self.reassign(admin, "nope", (0, [1]), version=0) == [
            0,
            (3, "Unable to find a topic named nope."),
        ]

    @pytest.mark.parametrize(
        ("target", "why"),
        [
            ([], "The manual partition assignment includes an empty replica list."),
            ([1, 1], "The manual partition assignment includes the broker 1 more than once."),
            (
                [8, 7],
                "The manual partition assignment includes broker 7, but no such broker is registered.",
            ),
        ],
    )
    def test_targets_that_cannot_be(self, target: list[int], why: str) -> None:
        assert self.reassign(Admin("a"), "a", (0, target)) == [0, (39, why)]

    def test_no_time(self) -> None:
        assert self.reassign(Admin("a"), "a", (0, [1]), (7, [9]), timeout_ms=0) == [
            7,
            (7, None),
            (7, None),
        ]

    @pytest.mark.parametrize("version", [0, 1])
    def test_nothing_asked(self, version: int) -> None:
        answer = Admin().ask(45, version, topics=[], timeout_ms=0)
        assert (answer.error_code, answer.error_message, answer.responses) == (0, "", [])

    def test_none_is_listed(self) -> None:
        """REASN-5"""
        answer = Admin("a").ask(46, 0, topics=None)
        assert (answer.error_code, answer.error_message, answer.topics) == (0, None, [])


class TestLogDirs:
    def described(self, admin: Admin, topics: Any, version: int = 5) -> Any:
        [result] = admin.ask(35, version, topics=topics).results
        return result

    def test_the_size_of_the_volume_can_be_set(self) -> None:
        admin = Admin("a:1")
        admin.broker.configs.set("log.dir.volume.usable.bytes", "7")
        result = self.described(admin, None)
        assert (result.total_bytes, result.usable_bytes) == (100 << 30, 7)

    def test_partitions_once_and_only_those_that_are(self) -> None:
        admin = Admin("a:2")
        asked = [
            DescribableLogDirTopic(topic="a", partitions=[1, 7, 1]),
            DescribableLogDirTopic(topic="nope", partitions=[0]),
            DescribableLogDirTopic(topic="a", partitions=[0]),
        ]
        for version in range(1, 6):
            result = self.described(admin, asked, version)
            assert (result.error_code, result.log_dir, result.total_bytes, result.usable_bytes) == (
                0,
                LOG_DIR,
                *((100 << 30, 50 << 30) if version >= 4 else (-1, -1)),
            )
            assert [
                (t.name, [(p.partition_index, p.partition_size) for p in t.partitions])
                for t in result.topics
            ] == [("a", [(1, 0), (0, 0)])]

    def test_none_and_all(self) -> None:
        admin = Admin("a")
        assert self.described(admin, []).topics == []
        assert [t.name for t in self.described(admin, None).topics] == ["__consumer_offsets", "a"]

    def move(
        self, admin: Admin, *dirs: tuple[str, str, list[int]]
    ) -> list[tuple[str, list[tuple[int, int]]]]:
        asked = [
            log_dirs.AlterReplicaLogDir(
                path=path,
                topics=[log_dirs.AlterReplicaLogDirTopic(name=name, partitions=indexes)],
            )
            for path, name, indexes in dirs
        ]
        return [
            (r.topic_name, [(p.partition_index, p.error_code) for p in r.partitions])
            for r in admin.ask(34, 2, dirs=asked).results
        ]

    def test_moved_nowhere(self) -> None:
        admin = Admin("a")
        assert self.move(admin, (LOG_DIR, "a", [0, 7]), (LOG_DIR, "nope", [0])) == [
            ("a", [(0, 0), (7, 3)]),
            ("nope", [(0, 3)]),
        ]
        assert self.move(admin, ("/elsewhere", "a", [0, 7])) == [("a", [(0, 57), (7, 57)])]
        assert self.move(admin, (LOG_DIR, "a", [0]), ("", "a", [0])) == [("a", [(0, 57)])]
        assert self.move(admin, ("", "a", [0]), (LOG_DIR, "a", [0])) == [("a", [(0, 0)])]


class TestQuorum:
    def ask(self, admin: Admin, version: int, *topics: tuple[str, list[int]]) -> Any:
        return admin.ask(
            55,
            version,
            topics=[
                DescribeQuorumRequestTopicData(
                    topic_name=name,
                    partitions=[
                        DescribeQuorumRequestPartitionData(partition_index=index)
                        for index in indexes
                    ],
                )
                for name, indexes in topics
            ],
        )

    @pytest.mark.parametrize("version", [0, 1, 2])
    def test_one_controller_leads(self, version: int) -> None:
        answer = self.ask(Admin("a"), version, ("__cluster_metadata", [0]))
        [part] = answer.topics[0].partitions
        assert (
            part.error_code,
            part.leader_id,
            [voter.replica_id for voter in part.current_voters],
            part.observers,
        ) == (0, 1, [1], [])
        assert part.high_watermark == part.current_voters[0].log_end_offset > 0
        assert [
            (n.node_id, [(each.host, each.port) for each in n.listeners]) for n in answer.nodes
        ] == ([(1, [("127.0.0.1", 9092)])] if version == 2 else [])

    @pytest.mark.parametrize(
        "asked",
        [[("a", [0])], [("__cluster_metadata", [0, 1])], [("__cluster_metadata", [0]), ("a", [0])]],
    )
    def test_all_else_is_unknown(self, asked: list[tuple[str, list[int]]]) -> None:
        answer = self.ask(Admin("a"), 2, *asked)
        assert answer.error_code == 0
        assert {(p.error_code, p.error_message) for t in answer.topics for p in t.partitions} == {
            (3, NOT_HERE)
        }
        assert answer.nodes == []

    def test_nothing_asked(self) -> None:
        assert self.ask(Admin(), 2).topics == []


def test_brokers_unregistered() -> None:
    admin = Admin()
    answer = admin.ask(64, 0, broker_id=7)
    assert (answer.error_code, answer.error_message) == (
        102,
        "Broker ID 7 is not currently registered",
    )
    assert admin.ask(64, 0, broker_id=1).error_code == 0
    assert list(admin.cluster.brokers) == [1]


class TestFeatures:
    def update(
        self, name: str, level: int, kind: int = 1, version: int = 1
    ) -> tuple[int, str | None]:
        how: dict[str, Any] = {"upgrade_type": kind} if version else {"allow_downgrade": kind != 1}
        answer = Admin().ask(
            57,
            version,
            feature_updates=[FeatureUpdateKey(feature=name, max_version_level=level, **how)],
        )
        return answer.error_code, (answer.error_message or "").removeprefix(
            "The update failed for all features since the following feature had an error: "
        )

    def test_nothing_asked(self) -> None:
        for version in (0, 1, 2):
            answer = Admin().ask(57, version, feature_updates=[])
            assert (answer.error_code, answer.error_message, answer.results) == (0, None, [])

    def test_the_level_they_have(self) -> None:
        levels = {"metadata.version": 33, "kraft.version": 0}
        asked = [
            FeatureUpdateKey(feature=name, max_version_level=level)
            for name, level in levels.items()
        ]
        answer = Admin().ask(57, 1, feature_updates=asked)
        assert [(r.feature, r.error_code, r.error_message) for r in answer.results] == [
            ("metadata.version", 0, "NONE"),
            ("kraft.version", 0, "NONE"),
        ]
        assert Admin().ask(57, 2, feature_updates=asked).error_code == 0

    def test_which_error_is_told(self) -> None:
        """HM-3: features are looked at as a HashMap has their names; of one that is named twice the
        last counts."""
        nope, group = (
            FeatureUpdateKey(feature=name, max_version_level=9)
            for name in ("nope", "group.version")
        )
        for asked in ([nope, group], [group, nope]):
            answer = Admin().ask(57, 2, feature_updates=asked)
            assert "feature group.version. Local controller" in answer.error_message
        answer = Admin().ask(
            57, 2, feature_updates=[nope, FeatureUpdateKey(feature="nope", max_version_level=0)]
        )
        assert answer.error_message.endswith("Feature nope not found.")

    @pytest.mark.parametrize(
        ("name", "level", "kind", "why"),
        [
            ("nope", -1, 9, "The controller does not support the given upgrade type."),
            ("nope", -1, 1, "A feature version cannot be less than 0."),
            ("nope", 1, 1, "Local controller 1 does not support this feature."),
            ("nope", 0, 1, "Feature nope not found."),
            ("metadata.version", 34, 1, "Local controller 1 only supports versions 7-33"),
            ("metadata.version", 0, 2, "Local controller 1 only supports versions 7-33"),
            ("metadata.version", 29, 1, CANNOT_DOWNGRADE),
            ("kraft.version", 1, 2, "Can't downgrade to a newer version."),
            ("kraft.version", 1, 1, "The emulator serves level 0 and cannot change it."),
        ],
    )
    def test_refused(self, name: str, level: int, kind: int, why: str) -> None:
        assert self.update(name, level, kind) == (
            95,
            f"Invalid update version {level} for feature {name}. {why}",
        )

    @pytest.mark.parametrize(
        ("level", "kind", "why"),
        [
            (
                29,
                2,
                "Refusing to perform the requested downgrade because it might delete metadata information.",
            ),
            (7, 3, "Unsafe metadata downgrade is not supported in this version."),
        ],
    )
    def test_no_downgrade_of_the_metadata(self, level: int, kind: int, why: str) -> None:
        assert self.update("metadata.version", level, kind) == (
            95,
            f"Unsupported metadata.version downgrade from 33 to {level}. {why}",
        )

    def test_v0_says_whether_a_downgrade_may_be(self) -> None:
        assert "Can't downgrade the version" in (self.update("metadata.version", 29, 1, 0)[1] or "")
        assert "might delete metadata" in (self.update("metadata.version", 29, 2, 0)[1] or "")


class TestNoSecurity:
    def test_no_authorizer(self) -> None:
        admin = Admin()
        told = {"operation": 1, "permission_type": 1}
        described = admin.ask(29, 3, resource_type_filter=1, pattern_type_filter=1, **told)
        assert (described.error_code, described.error_message, described.resources) == (
            54,
            "No Authorizer is configured on the broker",
            [],
        )
        rule = acls.AclCreation(
            resource_type=2,
            resource_name="t",
            principal="User:a",
            host="*",
            operation=3,
            permission_type=3,
        )
        created = admin.ask(30, 3, creations=[rule, rule]).results
        assert [(r.error_code, r.error_message) for r in created] == [
            (54, "No Authorizer is configured.")
        ] * 2
        every = acls.DeleteAclsFilter(resource_type_filter=1, pattern_type_filter=1, **told)
        deleted = admin.ask(31, 3, filters=[every]).filter_results
        assert [(r.error_code, r.error_message, r.matching_acls) for r in deleted] == [
            (54, "No Authorizer is configured.", [])
        ]

    @pytest.mark.parametrize(
        ("key", "fields"),
        [
            (29, {"resource_type_filter": 2, "operation": 0, "permission_type": 1}),
            (
                30,
                {"creations": [acls.AclCreation(resource_type=0, operation=3, permission_type=3)]},
            ),
            (
                31,
                {
                    "filters": [
                        acls.DeleteAclsFilter(
                            resource_type_filter=1,
                            pattern_type_filter=0,
                            operation=1,
                            permission_type=1,
                        )
                    ]
                },
            ),
        ],
    )
    def test_unknown_elements_are_no_request(self, key: int, fields: dict[str, Any]) -> None:
        with pytest.raises(NoRequest, match="UNKNOWN elements"):
            Admin().ask(key, 3, **fields)

    def test_no_delegation_tokens(self) -> None:
        admin = Admin()
        assert admin.ask(41, 3, owners=None).error_code == 64
        for key in (39, 40):
            answer = admin.ask(key, 2, hmac=b"x")
            assert (answer.error_code, answer.expiry_timestamp_ms) == (64, -1)

    @pytest.mark.parametrize(
        ("kind", "name", "code", "owner"),
        [
            ("User", "x", 64, ("User", "x")),
            ("", "x", 64, ("", "x")),
            (None, "x", -1, ("User", "ANONYMOUS")),
            ("User", None, 64, ("User", "ANONYMOUS")),
            (None, None, 64, ("User", "ANONYMOUS")),
        ],
    )
    def test_a_refused_token_names_its_owner(
        self, kind: str | None, name: str | None, code: int, owner: tuple[str, str]
    ) -> None:
        answer = Admin().ask(
            38,
            3,
            owner_principal_type=kind,
            owner_principal_name=name,
            renewers=[],
            max_lifetime_ms=-1,
        )
        assert (answer.error_code, (answer.principal_type, answer.principal_name)) == (code, owner)
        assert (answer.token_requester_principal_type, answer.token_requester_principal_name) == (
            "User",
            "ANONYMOUS",
        )
        assert (answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms) == (
            -1,
            -1,
            -1,
        )

    def test_no_sasl(self) -> None:
        admin = Admin()
        handshake = admin.ask(17, 1, mechanism="PLAIN")
        assert (handshake.error_code, handshake.mechanisms) == (34, [])
        answer = admin.ask(36, 2, auth_bytes=b"x")
        assert (answer.error_code, answer.error_message) == (
            34,
            "SaslAuthenticate request received after successful authentication",
        )


class TestQuotas:
    def set(
        self, admin: Admin, *entries: client_quotas.AlterClientQuotasRequestEntryData
    ) -> list[tuple[int, str | None]]:
        return [
            (e.error_code, e.error_message) for e in admin.ask(49, 1, entries=list(entries)).entries
        ]

    def entry(
        self, user: str, *ops: tuple[str, float, bool]
    ) -> client_quotas.AlterClientQuotasRequestEntryData:
        return client_quotas.AlterClientQuotasRequestEntryData(
            entity=[client_quotas.EntityData(entity_type="user", entity_name=user)],
            ops=[
                client_quotas.OpData(key=key, value=value, remove=remove)
                for key, value, remove in ops
            ],
        )

    def found(self, admin: Admin) -> list[Any]:
        answer = admin.ask(
            48, 1, components=[ComponentData(entity_type="user", match_type=2, match=None)]
        )
        assert (answer.error_code, answer.error_message) == (0, "")
        return [
            (
                [(p.entity_type, p.entity_name) for p in e.entity],
                [(v.key, v.value) for v in e.values],
            )
            for e in answer.entries
        ]

    def test_each_entity_by_itself(self) -> None:
        admin = Admin()
        rate = ("producer_byte_rate", 5.0, False)
        assert self.set(admin, self.entry("a", rate), self.entry("b", ("nope", 1, False))) == [
            (0, None),
            (42, "Invalid configuration key nope"),
        ]
        assert self.found(admin) == [([("user", "a")], [("producer_byte_rate", 5)])]
        assert self.set(admin, self.entry("a", ("producer_byte_rate", 0, True))) == [(0, None)]
        assert self.found(admin) == []

    def test_an_entity_twice_is_done_once_and_a_key_twice_never(self) -> None:
        admin = Admin()
        rate, other = ("producer_byte_rate", 5.0, False), ("producer_byte_rate", 6.0, False)
        twice = (42, "Ignoring duplicate entity ClientQuotaEntity(entries={user=a})")
        assert self.set(admin, self.entry("a", rate), self.entry("a", other)) == [twice]
        assert self.set(admin, self.entry("a", other, other)) == [twice]
        assert self.found(admin) == [([("user", "a")], [("producer_byte_rate", 5)])]

    def test_a_bad_question(self) -> None:
        answer = Admin().ask(
            48, 0, components=[ComponentData(entity_type="nope", match_type=0, match="x")]
        )
        assert (answer.error_code, answer.error_message, answer.entries) == (
            35,
            "Unsupported entity type nope",
            None,
        )


def test_scram_credentials() -> None:
    admin = Admin()
    upsertion = ScramCredentialUpsertion(
        name="u", mechanism=1, iterations=4096, salt=b"s", salted_password=b"p"
    )
    altered = admin.ask(51, 0, deletions=[], upsertions=[upsertion]).results
    assert [(r.user, r.error_code, r.error_message) for r in altered] == [("u", 0, None)]
    for users in (None, [], [UserName(name="u")]):
        [result] = admin.ask(50, 0, users=users).results
        assert (result.user, result.error_code, result.error_message) == ("u", 0, "")
        assert [(c.mechanism, c.iterations) for c in result.credential_infos] == [(1, 4096)]
    results = admin.ask(
        50, 0, users=[UserName(name="u"), UserName(name="x"), UserName(name="u")]
    ).results
    assert {r.user: (r.error_code, r.error_message) for r in results} == {
        "u": (
            92,
            "Cannot describe SCRAM credentials for the same user twice in a single request: u",
        ),
        "x": (91, "Attempt to describe a user credential that does not exist: x"),
    }
    refused = admin.ask(
        51, 0, deletions=[ScramCredentialDeletion(name="u", mechanism=9)], upsertions=[]
    ).results
    assert [(r.user, r.error_code, r.error_message) for r in refused] == [
        ("u", 33, "Unknown SCRAM mechanism")
    ]


class TestConfigResources:
    def listed(self, admin: Admin, version: int = 1, *kinds: int) -> list[tuple[str, int]]:
        answer = admin.ask(74, version, **({"resource_types": list(kinds)} if version else {}))
        assert answer.error_code == 0
        return [(r.resource_name, r.resource_type) for r in answer.config_resources]

    def test_topics_and_brokers_always_and_others_while_something_is_set(self) -> None:
        admin = Admin("a")
        always = [("1", 8), ("1", 4), ("__consumer_offsets", 2), ("a", 2)]
        assert self.listed(admin) == always
        admin.cluster.group_configs.update(g={"consumer.session.timeout.ms": "50000"}, none={})
        admin.cluster.client_metrics.update(m={"interval.ms": "100"}, none={})
        assert self.listed(admin) == [("g", 32), ("m", 16), *always]
        assert self.listed(admin, 0) == [("m", 16)]
        assert self.listed(admin, 1, 2, 2) == [("__consumer_offsets", 2), ("a", 2)]

    def test_unknown_types(self) -> None:
        answer = Admin("a").ask(74, 1, resource_types=[2, 99])
        assert (answer.error_code, answer.config_resources) == (35, [])
