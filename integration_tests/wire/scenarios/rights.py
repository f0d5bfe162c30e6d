"""Each API for a user without any right, with a wrong one, and with the right one (ACL-*, REF-*)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from integration_tests.wire.batches import batch
from integration_tests.wire.consumers import Consumer
from integration_tests.wire.consumers import topics as numbered_topics
from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import as_user, found, grant, new_user, revoke_all, rule
from integration_tests.wire.sharing import ACCEPT, Shared, Sharer
from integration_tests.wire.transacting import await_transactions

ZERO = "0" * 32


class Names(NamedTuple):
    """What a run's requests are about."""

    t: str
    id: str
    group: str
    txn: str
    none: str
    user: str


class Probe(NamedTuple):
    """A request, the rights that it needs, and some that are of no use to it."""

    api: str
    version: int
    fields: Callable[[Names], Plain]
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    options: Plain = MappingProxyType({})  # type: ignore[assignment]


def _play(s: Session, probes: Sequence[Probe]) -> None:
    user = new_user(s, "u")
    name = topic(s, "t", 1)
    names = Names(name, topic_id(s, name), s.name("g"), s.name("x"), s.name("none"), user)
    await_transactions(s, names.txn)
    link = as_user(s, user)
    for probe in probes:
        for rights in ((), probe.wrong, probe.right):
            rights = tuple(right.format(**names._asdict()) for right in rights)
            if rights:
                grant(s, user, *rights)
            link.ask(probe.api, probe.version, **probe.options, **probe.fields(names))
            if rights:
                revoke_all(s, user)


GROUP = "Read group {group}"
NO_GROUP = ("Read topic {group}", "Delete group {t}")


def _member(n: Names) -> Plain:
    return {"group_id": n.group, "generation_id": 1, "member_id": "m", "group_instance_id": None}


def _of_groups() -> list[Probe]:
    join = {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "member_id": "",
        "group_instance_id": None,
        "protocol_type": "consumer",
        "protocols": [],
        "reason": None,
    }
    return [
        *(
            Probe("JoinGroup", v, lambda n: {"group_id": n.group, **join}, (GROUP,), NO_GROUP)
            for v in (2, 9)
        ),
        *(
            Probe(
                "SyncGroup",
                v,
                lambda n: {
                    **_member(n),
                    "protocol_type": "consumer",
                    "protocol_name": "range",
                    "assignments": [],
                },
                (GROUP,),
                NO_GROUP,
            )
            for v in (3, 5)
        ),
        Probe("Heartbeat", 4, _member, (GROUP,), NO_GROUP),
        Probe(
            "LeaveGroup", 2, lambda n: {"group_id": n.group, "member_id": "m"}, (GROUP,), NO_GROUP
        ),
        Probe(
            "LeaveGroup",
            5,
            lambda n: {
                "group_id": n.group,
                "members": [{"member_id": "m", "group_instance_id": None, "reason": None}],
            },
            (GROUP,),
            NO_GROUP,
        ),
        *(
            Probe(
                "DescribeGroups",
                v,
                lambda n: {"groups": [n.group, n.none], "include_authorized_operations": True},
                ("Describe group {group}",),
                ("Describe topic {group}",),
            )
            for v in (4, 6)
        ),
        Probe(
            "ConsumerGroupDescribe",
            1,
            lambda n: {"group_ids": [n.group, n.none], "include_authorized_operations": True},
            ("Describe group {group}",),
            ("Describe topic {group}",),
        ),
        *(
            Probe(
                "DeleteGroups",
                v,
                lambda n: {"groups_names": [n.group, n.none]},
                ("Delete group {group}",),
                ("Read group {group}",),
            )
            for v in (2, 3)
        ),
        *(
            Probe(
                "FindCoordinator",
                3,
                lambda n, k=kind, key=key: {"key": getattr(n, key), "key_type": k},  # type: ignore[misc]
                (right,),
                ("Describe topic {group}",),
            )
            for kind, key, right in (
                (0, "group", "Describe group {group}"),
                (1, "txn", "Describe transactional_id {txn}"),
            )
        ),
        *(
            Probe(
                "FindCoordinator",
                v,
                lambda n, k=kind, key=key: {  # type: ignore[misc]
                    "coordinator_keys": [getattr(n, key), n.none],
                    "key_type": k,
                },
                (right,),
                ("Describe topic {group}",),
            )
            for v in (4, 6)
            for kind, key, right in (
                (0, "group", "Describe group {group}"),
                (1, "txn", "Describe transactional_id {txn}"),
            )
        ),
    ]


@scenario("security")
def groups(s: Session) -> None:
    """JoinGroup to LeaveGroup want Read of the group; to describe it Describe, to delete it
    Delete."""
    _play(s, _of_groups())


def _of_offsets() -> list[Probe]:
    wrong = ("Describe group {group}", "Describe topic {t}")

    def commit(n: Names) -> Plain:
        rows = [
            {
                "partition_index": 0,
                "committed_offset": 1,
                "committed_leader_epoch": -1,
                "committed_metadata": "",
            }
        ]
        return {
            "group_id": n.group,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "group_instance_id": None,
            "topics": [{"name": n.t, "partitions": rows}, {"name": n.none, "partitions": rows}],
        }

    return [
        Probe("OffsetCommit", 8, commit, ("Read group {group}",), wrong),
        Probe("OffsetCommit", 8, commit, ("Read group {group}", "Read topic {t}"), wrong),
        *(
            Probe(
                "OffsetFetch",
                v,
                lambda n: {
                    "group_id": n.group,
                    "topics": [
                        {"name": n.t, "partition_indexes": [0]},
                        {"name": n.none, "partition_indexes": [0]},
                    ],
                    "require_stable": False,
                },
                ("Describe group {group}", "Describe topic {t}"),
                ("Describe group {group}",),
            )
            for v in (1, 2, 7)
        ),
        Probe(
            "OffsetFetch",
            7,
            lambda n: {"group_id": n.group, "topics": None, "require_stable": False},
            ("Describe group {group}", "Describe topic {t}"),
            ("Describe group {group}",),
        ),
        *(
            Probe(
                "OffsetFetch",
                v,
                lambda n: {
                    "groups": [
                        {
                            "group_id": n.group,
                            "member_id": None,
                            "member_epoch": -1,
                            "topics": [{"name": n.t, "partition_indexes": [0]}],
                        },
                        {
                            "group_id": n.none,
                            "member_id": None,
                            "member_epoch": -1,
                            "topics": None,
                        },
                    ],
                    "require_stable": False,
                },
                ("Describe group {group}", "Describe topic {t}"),
                ("Describe group {group}",),
            )
            for v in (8, 9)
        ),
        Probe(
            "OffsetDelete",
            0,
            lambda n: {
                "group_id": n.group,
                "topics": [
                    {"name": n.t, "partitions": [{"partition_index": 0}]},
                    {"name": n.none, "partitions": [{"partition_index": 0}]},
                ],
            },
            ("Delete group {group}", "Read topic {t}"),
            ("Delete group {group}",),
        ),
    ]


@scenario("security")
def offsets(s: Session) -> None:
    """Committing wants Read of the group and of the topics, fetching Describe of both, deleting
    Delete of the group and Read of the topics."""
    _play(s, _of_offsets())


def _of_topics() -> list[Probe]:

    def metadata(n: Names) -> Plain:
        return {
            "topics": [{"topic_id": ZERO, "name": n.t}, {"topic_id": ZERO, "name": n.none}],
            "allow_auto_topic_creation": False,
            "include_cluster_authorized_operations": True,
            "include_topic_authorized_operations": True,
        }

    def created(n: Names) -> Plain:
        return {
            "topics": [
                {
                    "name": name,
                    "num_partitions": 1,
                    "replication_factor": 1,
                    "assignments": [],
                    "configs": [],
                }
                for name in (n.none, "bad name")
            ],
            "timeout_ms": 30_000,
            "validate_only": True,
        }

    describe, wrong = ("Describe topic {t}",), ("DescribeConfigs topic {t}",)
    offsets_of = lambda n: {  # noqa: E731
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [
            {
                "name": name,
                "partitions": [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}],
            }
            for name in (n.t, n.none)
        ],
    }
    return [
        *(Probe("Metadata", v, metadata, describe, wrong) for v in (4, 9, 10)),
        Probe(
            "Metadata",
            12,
            lambda n: (
                metadata(n)
                | {
                    "topics": [
                        {"topic_id": n.id, "name": None},
                        {"topic_id": "ab" * 16, "name": None},
                    ]
                }
            ),
            describe,
            wrong,
        ),
        Probe(
            "Metadata",
            9,
            lambda n: metadata(n) | {"topics": None},
            describe,
            wrong,
            {"only": "topics"},
        ),
        Probe(
            "DescribeTopicPartitions",
            0,
            lambda n: {
                "topics": [{"name": n.t}, {"name": n.none}],
                "response_partition_limit": 10,
                "cursor": None,
            },
            describe,
            wrong,
            {"shuffled": "topics"},
        ),
        Probe("ListOffsets", 5, offsets_of, describe, wrong),
        Probe(
            "OffsetForLeaderEpoch",
            3,
            lambda n: {
                "replica_id": -1,
                "topics": [
                    {
                        "topic": name,
                        "partitions": [
                            {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}
                        ],
                    }
                    for name in (n.t, n.none)
                ],
            },
            describe,
            wrong,
        ),
        *(
            Probe(
                "CreateTopics",
                v,
                created,
                ("Create topic {none}",),
                ("Describe topic {none}", "Alter topic {none}"),
                {"brief": True, "shuffled": "topics"},
            )
            for v in (4, 5, 7)
        ),
        Probe(
            "CreateTopics",
            7,
            created,
            ("Create cluster", "DescribeConfigs topic {none}"),
            ("Alter cluster",),
            {"brief": True, "shuffled": "topics"},
        ),
        Probe(
            "CreatePartitions",
            3,
            lambda n: {
                "topics": [
                    {"name": name, "count": 2, "assignments": None} for name in (n.t, n.none)
                ],
                "timeout_ms": 30_000,
                "validate_only": True,
            },
            ("Alter topic {t}",),
            ("Create topic {t}",),
            {"shuffled": "results"},
        ),
        Probe(
            "DeleteRecords",
            2,
            lambda n: {
                "topics": [
                    {"name": name, "partitions": [{"partition_index": 0, "offset": 0}]}
                    for name in (n.t, n.none)
                ],
                "timeout_ms": 30_000,
            },
            ("Delete topic {t}",),
            ("Read topic {t}",),
            {"shuffled": "topics"},
        ),
        Probe(
            "DescribeProducers",
            0,
            lambda n: {
                "topics": [{"name": name, "partition_indexes": [0]} for name in (n.t, n.none)]
            },
            ("Read topic {t}",),
            describe,
            {"shuffled": "topics"},
        ),
        Probe(
            "DeleteTopics",
            5,
            lambda n: {"topic_names": [n.none], "timeout_ms": 30_000},
            ("Delete topic {none}",),
            ("Describe topic {none}",),
        ),
        *(
            Probe(
                "DeleteTopics",
                6,
                lambda n, i=topic_id: {  # type: ignore[misc]
                    "topics": [{"name": None, "topic_id": i or n.id}],
                    "timeout_ms": 30_000,
                },
                ("Describe topic {t}",),
                ("Read topic {none}",),
            )
            for topic_id in ("", "ab" * 16)
        ),
    ]


@scenario("security")
def topics(s: Session) -> None:
    """Metadata and its kin want Describe, changes Create, Alter, Delete; by id what is hidden is
    told from what there is not (ACL-1, ACL-2, REF-11)."""
    _play(s, _of_topics())


def _of_records() -> list[Probe]:

    def produce(n: Names, transactional_id: str | None = None) -> Plain:
        rows = [{"index": 0, "records": batch(b"v")}]
        return {
            "transactional_id": transactional_id,
            "acks": -1,
            "timeout_ms": 30_000,
            "topic_data": [
                {"name": n.t, "partition_data": rows},
                {"name": n.none, "partition_data": rows},
            ],
        }

    def fetch(n: Names) -> Plain:
        return {
            "replica_id": -1,
            "max_wait_ms": 100,
            "min_bytes": 1,
            "max_bytes": 100_000,
            "isolation_level": 0,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [
                {
                    "topic": name,
                    "partitions": [
                        {
                            "partition": 0,
                            "current_leader_epoch": -1,
                            "fetch_offset": 0,
                            "last_fetched_epoch": -1,
                            "log_start_offset": -1,
                            "partition_max_bytes": 10_000,
                        }
                    ],
                }
                for name in (n.t, n.none)
            ],
            "forgotten_topics_data": [],
            "rack_id": "",
        }

    def init(n: Names) -> Plain:
        return {
            "transactional_id": None,
            "transaction_timeout_ms": 60_000,
            "producer_id": -1,
            "producer_epoch": -1,
        }

    return [
        Probe(
            "Produce",
            9,
            produce,
            ("Write topic {t}",),
            ("Read topic {t}",),
            {"shuffled": "responses"},
        ),
        Probe(
            "Produce",
            9,
            lambda n: produce(n, n.txn),
            ("Write transactional_id {txn}",),
            ("Write topic {t}",),
            {"shuffled": "responses"},
        ),
        Probe(
            "Fetch",
            12,
            fetch,
            ("Read topic {t}",),
            ("Describe topic {t}",),
            {"shuffled": "responses"},
        ),
        Probe(
            "Fetch",
            12,
            lambda n: fetch(n) | {"replica_id": 1},
            ("Describe cluster",),
            ("Read topic {t}",),
            {"shuffled": "responses"},
        ),
        Probe("InitProducerId", 4, init, ("IdempotentWrite cluster",), ("Read topic {t}",)),
        Probe("InitProducerId", 4, init, ("Write topic {t}",), ("Write group {t}",)),
        Probe("InitProducerId", 4, init, ("Write topic zz prefixed",), ("Alter topic {t}",)),
        Probe(
            "InitProducerId",
            4,
            init,
            ("All topic {t}",),
            ("Write topic {t}", "Write topic * denied"),
        ),
        Probe(
            "InitProducerId",
            4,
            lambda n: init(n) | {"transactional_id": n.txn},
            ("Describe transactional_id {txn}",),
            ("IdempotentWrite cluster",),
        ),
        Probe(
            "EndTxn",
            3,
            lambda n: {
                "transactional_id": n.txn,
                "producer_id": 987654321,
                "producer_epoch": 0,
                "committed": True,
            },
            ("Write transactional_id {txn}",),
            ("Describe transactional_id {txn}",),
        ),
        Probe(
            "AddOffsetsToTxn",
            3,
            lambda n: {
                "transactional_id": n.txn,
                "producer_id": 987654321,
                "producer_epoch": 0,
                "group_id": n.group,
            },
            ("Write transactional_id {txn}", "Read group {group}"),
            ("Write transactional_id {txn}",),
        ),
        Probe(
            "AddPartitionsToTxn",
            3,
            lambda n: {
                "v3_and_below_transactional_id": n.txn,
                "v3_and_below_producer_id": 987654321,
                "v3_and_below_producer_epoch": 0,
                "v3_and_below_topics": [
                    {"name": n.t, "partitions": [0]},
                    {"name": n.none, "partitions": [0]},
                ],
            },
            ("Write transactional_id {txn}", "Write topic {t}"),
            ("Write topic {t}",),
            {"shuffled": "results_by_topic_v3_and_below"},
        ),
        Probe(
            "TxnOffsetCommit",
            3,
            lambda n: {
                "transactional_id": n.txn,
                "group_id": n.group,
                "producer_id": 987654321,
                "producer_epoch": 0,
                "generation_id_or_member_epoch": -1,
                "member_id": "",
                "group_instance_id": None,
                "topics": [
                    {
                        "name": name,
                        "partitions": [
                            {
                                "partition_index": 0,
                                "committed_offset": 1,
                                "committed_leader_epoch": -1,
                                "committed_metadata": "",
                            }
                        ],
                    }
                    for name in (n.t, n.none)
                ],
            },
            ("Write transactional_id {txn}", "Read group {group}"),
            ("Write transactional_id {txn}", "Read topic {t}"),
            {"shuffled": "topics"},
        ),
        Probe(
            "DescribeTransactions",
            0,
            lambda n: {"transactional_ids": [n.txn, n.none]},
            ("Describe transactional_id {txn}",),
            ("Describe topic {txn}",),
            {"shuffled": "transaction_states"},
        ),
        Probe(
            "WriteTxnMarkers",
            1,
            lambda n: {
                "markers": [
                    {
                        "producer_id": 987654321,
                        "producer_epoch": 0,
                        "transaction_result": True,
                        "topics": [{"name": n.none, "partition_indexes": [0]}],
                        "coordinator_epoch": 0,
                    }
                ]
            },
            ("ClusterAction cluster",),
            ("Describe cluster", "Write topic {none}"),
        ),
    ]


@scenario("security")
def records(s: Session) -> None:
    """Produce wants Write, Fetch Read, each for its topics; a transaction Write of its id."""
    _play(s, _of_records())


def _of_configurations() -> list[Probe]:

    def described(n: Names) -> Plain:
        return {
            "resources": [
                {
                    "resource_type": kind,
                    "resource_name": name,
                    "configuration_keys": ["max.message.bytes"],
                }
                for kind, name in ((2, n.t), (4, "1"), (8, "1"), (16, n.none), (32, n.group))
            ],
            "include_synonyms": False,
            "include_documentation": False,
        }

    def altered(n: Names) -> Plain:
        return {
            "resources": [
                {"resource_type": kind, "resource_name": name, "configs": []}
                for kind, name in ((2, n.t), (4, "1"), (16, n.none), (32, n.group))
            ],
            "validate_only": True,
        }

    shuffled = {"shuffled": "responses"}
    return [
        Probe(
            "DescribeConfigs",
            4,
            described,
            ("DescribeConfigs cluster", "DescribeConfigs group {group}"),
            ("DescribeConfigs topic {t}", "Describe cluster"),
            {"shuffled": "results"},
        ),
        Probe(
            "IncrementalAlterConfigs",
            1,
            altered,
            ("AlterConfigs cluster", "AlterConfigs group {group}"),
            ("AlterConfigs topic {t}", "Alter cluster"),
            shuffled,
        ),
        Probe(
            "AlterConfigs",
            2,
            lambda n: altered(n) | {"resources": altered(n)["resources"][:1]},
            ("AlterConfigs topic {t}",),
            ("Alter topic {t}",),
            shuffled,
        ),
    ]


@scenario("security")
def configurations(s: Session) -> None:
    """By the kind of resource: topics, groups, all else by the cluster (REF-12)."""
    _play(s, _of_configurations())


def _of_the_cluster() -> list[Probe]:
    describe, alter = ("Describe cluster",), ("Alter cluster",)
    partition = [{"topic": "none", "partitions": [0, 1]}]
    return [
        Probe(
            "DescribeCluster",
            2,
            lambda _: {
                "include_cluster_authorized_operations": True,
                "endpoint_type": 1,
                "include_fenced_brokers": False,
            },
            describe,
            ("Describe topic {t}",),
        ),
        *(
            Probe(
                "DescribeAcls", v, lambda n: found("nobody"), describe, ("DescribeConfigs cluster",)
            )
            for v in (1, 3)
        ),
        Probe(
            "CreateAcls",
            3,
            lambda n: {"creations": [rule("nobody", "Read topic x", resource_name="")] * 2},
            alter,
            describe,
        ),
        Probe("DeleteAcls", 3, lambda n: {"filters": [found("nobody")] * 2}, alter, describe),
        Probe(
            "ElectLeaders",
            2,
            lambda n: {"election_type": 0, "topic_partitions": partition, "timeout_ms": 30_000},
            alter,
            describe,
        ),
        Probe(
            "AlterPartitionReassignments",
            1,
            lambda n: {
                "timeout_ms": 30_000,
                "allow_replication_factor_change": True,
                "topics": [
                    {"name": n.none, "partitions": [{"partition_index": 0, "replicas": [1]}]}
                ],
            },
            alter,
            describe,
        ),
        Probe(
            "ListPartitionReassignments",
            0,
            lambda n: {"timeout_ms": 30_000, "topics": None},
            describe,
            ("Alter topic {t}",),
        ),
        Probe(
            "DescribeClientQuotas",
            1,
            lambda n: {
                "components": [{"entity_type": "user", "match_type": 0, "match": n.none}],
                "strict": False,
            },
            ("DescribeConfigs cluster",),
            describe,
        ),
        Probe(
            "AlterClientQuotas",
            1,
            lambda n: {
                "entries": [
                    {"entity": [{"entity_type": "user", "entity_name": n.none}], "ops": []}
                ],
                "validate_only": True,
            },
            ("AlterConfigs cluster",),
            alter,
        ),
        Probe(
            "DescribeUserScramCredentials",
            0,
            lambda n: {"users": [{"name": n.none}]},
            describe,
            ("DescribeConfigs cluster",),
        ),
        Probe(
            "AlterUserScramCredentials",
            0,
            lambda n: {
                "deletions": [{"name": n.none, "mechanism": 1}, {"name": n.t, "mechanism": 1}],
                "upsertions": [],
            },
            alter,
            describe,
            {"shuffled": "results"},
        ),
        Probe(
            "AlterReplicaLogDirs",
            2,
            lambda n: {
                "dirs": [{"path": "/nowhere", "topics": [{"name": n.none, "partitions": [0, 1]}]}]
            },
            alter,
            describe,
            {"shuffled": "results"},
        ),
        *(
            Probe(
                "DescribeLogDirs",
                v,
                lambda n: {"topics": [{"topic": n.none, "partitions": [0]}]},
                ("Describe topic {t}",),
                ("DescribeConfigs cluster",),
            )
            for v in (1, 2, 3, 5)
        ),
        Probe(
            "UpdateFeatures",
            1,
            lambda n: {
                "timeout_ms": 30_000,
                "feature_updates": [
                    {"feature": "group.version", "max_version_level": 1, "upgrade_type": 1}
                ],
                "validate_only": True,
            },
            alter,
            describe,
        ),
        Probe("UnregisterBroker", 0, lambda n: {"broker_id": 77}, alter, describe),
        Probe(
            "ListConfigResources",
            1,
            lambda n: {"resource_types": [32]},
            ("Describe topic {t}",),
            describe,
        ),
        Probe(
            "DescribeQuorum",
            2,
            lambda n: {"topics": [{"topic_name": "x", "partitions": [{"partition_index": 0}]}]},
            ("Describe topic {t}",),
            ("AlterConfigs cluster",),
        ),
    ]


@scenario("security")
def the_cluster(s: Session) -> None:
    """What concerns the whole cluster: 31, each where the API has room for it (REF-13)."""
    _play(s, _of_the_cluster())


@scenario("security")
def consumer_groups(s: Session) -> None:
    """A heartbeat of KIP-848 wants Read of the group and Describe of all topics that it names
    (REF-6)."""
    user, name = new_user(s, "u"), topic(s, "t", 1)
    group = s.name("g")
    link = as_user(s, user)

    def beat(**other: Any) -> Plain:
        return link.ask(
            "ConsumerGroupHeartbeat",
            1,
            **{
                "group_id": group,
                "member_id": "m" * 22,
                "member_epoch": 0,
                "instance_id": None,
                "rack_id": None,
                "rebalance_timeout_ms": 10_000,
                "subscribed_topic_names": [name],
                "subscribed_topic_regex": None,
                "server_assignor": None,
                "topic_partitions": [],
                **other,
            },
        )

    def described() -> None:
        link.ask("ConsumerGroupDescribe", 1, group_ids=[group], include_authorized_operations=True)

    beat()
    grant(s, user, f"Read group {group}")
    beat()
    grant(s, user, f"Read group {group}", f"Describe topic {name}")
    beat(subscribed_topic_names=[name, s.name("none")])
    epoch = beat()["member_epoch"]
    described()
    revoke_all(s, user)
    grant(s, user, f"Read group {group}")
    beat(member_epoch=epoch, subscribed_topic_names=None, topic_partitions=None)
    described()
    revoke_all(s, user)
    beat(member_epoch=epoch, subscribed_topic_names=None, topic_partitions=None)
    described()


@scenario("security")
def lists(s: Session) -> None:
    """Lists leave out what may not be described (REF-5)."""
    user = new_user(s, "u")
    mine, other = s.name("g"), s.name("h")
    stage = s.stage()
    for group in (mine, other):
        stage.ask_quietly(
            "OffsetCommit",
            8,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            group_instance_id=None,
            topics=[
                {
                    "name": topic(s, "t", 1),
                    "partitions": [
                        {
                            "partition_index": 0,
                            "committed_offset": 1,
                            "committed_leader_epoch": -1,
                            "committed_metadata": "",
                        }
                    ],
                }
            ],
        )
    link = as_user(s, user)
    for rights in ((), (f"Describe group {mine}",), ("Describe cluster",)):
        if rights:
            grant(s, user, *rights)
        link.ask("ListGroups", 5, only="groups", states_filter=[], types_filter=[])
        link.ask("DescribeGroups", 6, groups=[other], include_authorized_operations=False)
        link.ask(
            "ListTransactions",
            1,
            only="transaction_states",
            state_filters=[],
            producer_id_filters=[],
            duration_filter=-1,
        )
        if rights:
            revoke_all(s, user)


@scenario("security")
def regexes(s: Session) -> None:
    """A regular expression finds what the member may describe whose heartbeat has it matched. Others
    with the same one get that, and no more; rights that come or go meanwhile are not noticed, until
    it is matched again (REF-7)."""
    alice, bob = new_user(s, "alice"), new_user(s, "bob")
    t, u = numbered_topics(s, 1, 1)
    group, regex = s.name("g"), f"t[0-9]-{s.nonce}"
    grant(s, alice, f"Read group {group}", f"Describe topic {t}", f"Read topic {t}")
    grant(s, bob, f"Read group {group}", f"Read topic {u}")
    of_alice, of_bob = as_user(s, alice, "a"), as_user(s, bob, "b")
    a = Consumer(s, "a", group, link=of_alice)
    a.join(subscribed_topic_regex=regex)
    s.wait(1_500)
    a.beat()
    a.ack()
    b = Consumer(s, "b", group, link=of_bob)
    b.join(subscribed_topic_regex=regex)
    b.beat()
    b.leave()
    grant(s, alice, f"Describe topic {u}")
    s.wait(1_500)
    a.beat()
    a.leave()
    a.join(subscribed_topic_regex=regex)
    s.wait(1_500)
    a.beat()
    a.ack()
    revoke_all(s, alice)
    grant(s, alice, f"Read group {group}", f"Describe topic {u}")
    s.wait(1_500)
    a.beat()
    a.beat(subscribed_topic_regex=f"t.*-{s.nonce}")
    a.leave()


@scenario("security", since="4.3")
def share_groups_described(s: Session) -> None:
    """Describe of each group, beside others that may not be described."""
    probe = Probe(
        "ShareGroupDescribe",
        1,
        lambda n: {"group_ids": [n.group, n.none], "include_authorized_operations": True},
        ("Describe group {group}",),
        ("Describe topic {group}",),
    )
    _play(s, [probe, probe._replace(right=("Describe group {none}",))])


@scenario("security", since="4.2")
def share_sessions(s: Session) -> None:
    """What a share session remembers is judged anew with each fetch, and so are acknowledgements
    (REF-10): of a topic that may be read no longer neither comes anything nor is anything taken."""
    alice = new_user(s, "alice")
    shared = Shared(s, 3)
    group = f"Read group {shared.group}"
    grant(s, alice, group, f"Read topic {shared.topic}")
    a = Sharer(shared, "a", as_user(s, alice, "a"))
    a.begin(0, max_records=2, batch_size=2, share_acquire_mode=1)
    revoke_all(s, alice)
    grant(s, alice, group)
    a.fetch()
    a.fetch(acks=((0, 0, ACCEPT),))
    a.acknowledge((0, 0, ACCEPT))
    a.fetch(forgotten_topics_data=[{"topic_id": shared.id, "partitions": [0]}])
    a.fetch(0)
    grant(s, alice, f"Read topic {shared.topic}")
    a.fetch(acks=((0, 0, ACCEPT),))
    revoke_all(s, alice)
    grant(s, alice, group)
    a.begin(0, max_wait_ms=0)
    a.acknowledge((1, 1, ACCEPT))
    revoke_all(s, alice)
    a.fetch()
    a.acknowledge((1, 1, ACCEPT))
    grant(s, alice, group)
    a.close((1, 1, ACCEPT))


PROBES: Final[dict[str, Callable[[], list[Probe]]]] = {
    "groups": _of_groups,
    "offsets": _of_offsets,
    "topics": _of_topics,
    "records": _of_records,
    "configurations": _of_configurations,
    "the_cluster": _of_the_cluster,
}
"""All probes, by what they are about."""
