"""Each API for a user who has one single right, for every right that there is on what the requests
name: of each request the different answers, and which rights lead to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session, in_order, shortened
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import as_user, grant, new_user, revoke_all
from integration_tests.wire.scenarios.rights import PROBES, Names, Probe
from integration_tests.wire.transacting import await_transactions

_OPERATIONS: Final = {
    "topic": (
        "Read",
        "Write",
        "Create",
        "Delete",
        "Alter",
        "Describe",
        "DescribeConfigs",
        "AlterConfigs",
    ),
    "group": ("Read", "Delete", "Describe", "DescribeConfigs", "AlterConfigs"),
    "cluster": (
        "Create",
        "Alter",
        "Describe",
        "ClusterAction",
        "DescribeConfigs",
        "AlterConfigs",
        "IdempotentWrite",
    ),
    "transactional_id": ("Write", "Describe"),
}
"""What may be granted of each kind of resource."""
_NAMED: Final = {
    "topic": ("{t}", "{none}"),
    "group": ("{group}", "{none}"),
    "cluster": ("",),
    "transactional_id": ("{txn}", "{none}"),
}
_NOBODY = "ab" * 16


def _rights() -> Iterator[str]:
    yield ""
    for kind, operations in _OPERATIONS.items():
        for name in _NAMED[kind]:
            for operation in ("All", *operations):
                yield f"{operation} {kind} {name}".strip()


def _sweep(s: Session, probes: Sequence[Probe]) -> None:
    user = new_user(s, "u")
    name = topic(s, "t", 1)
    names = Names(name, topic_id(s, name), s.name("g"), s.name("x"), s.name("none"), user)
    await_transactions(s, names.txn)
    link = as_user(s, user)
    answers: list[dict[str, tuple[Plain, list[str]]]] = [{} for _ in probes]
    for right in _rights():
        if right:
            grant(s, user, right.format(**names._asdict()))
        for probe, seen in zip(probes, answers, strict=True):
            answer = _asked(s, link, probe, names)
            seen.setdefault(str(answer), (answer, []))[1].append(right or "none")
        if right:
            revoke_all(s, user)
    for probe, seen in zip(probes, answers, strict=True):
        s.note("sweep", asked=f"{probe.api} v{probe.version}")
        for answer, rights in seen.values():
            s.note("sweep", rights=rights, got=answer)


def _asked(s: Session, link: Link, probe: Probe, names: Names) -> Plain:
    """An answer as a transcript would show it; lists of entries have no order."""
    answer = dict(link.ask_quietly(probe.api, probe.version, **probe.fields(names)))
    only = probe.options.get("only")
    if probe.api == "ListConfigResources":
        only = "config_resources"
    if only:
        answer[only] = [each for each in answer[only] if s.nonce in str(each)]
    if probe.options.get("brief"):
        answer = shortened(answer)
    if probe.api == "DescribeLogDirs":
        answer["results"] = len(answer["results"])
    shown: Plain = in_order(s.names.value("", answer))
    return shown


def _more() -> list[Probe]:
    """APIs that `rights` has not, or not with all that decides."""

    def asked(api: str, version: int, **fields: object) -> Probe:
        return Probe(api, version, lambda n: _filled(fields, n), (), ())

    partition = {"partition_index": 0}
    by_id = [{"topic_id": "{id}", "partitions": [{"partition": 0, "leader_epoch": 0}]}]
    both = [{"topic_name": "{t}"}, {"topic_name": "{none}"}]
    markers: Plain = {
        "producer_id": 987654321,
        "producer_epoch": 0,
        "transaction_result": False,
        "coordinator_epoch": 0,
    }
    epochs = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]
    return [
        asked(
            "WriteTxnMarkers",
            1,
            markers=[{**markers, "topics": [{"name": "{none}", "partition_indexes": [0, 1]}]}],
        ),
        asked(
            "OffsetForLeaderEpoch",
            4,
            replica_id=-1,
            topics=[{"topic": name, "partitions": epochs} for name in ("{t}", "{none}")],
        ),
        *(
            asked("FindCoordinator", 6, key_type=kind, coordinator_keys=[key, "{none}"])
            for kind, key in ((0, "{group}"), (1, "{txn}"))
        ),
        asked("FindCoordinator", 6, key_type=2, coordinator_keys=["no key"]),
        asked(
            "AddPartitionsToTxn",
            5,
            transactions=[
                {
                    "transactional_id": "{txn}",
                    "producer_id": 987654321,
                    "producer_epoch": 0,
                    "verify_only": True,
                    "topics": [{"name": "{t}", "partitions": [0]}],
                }
            ],
        ),
        asked(
            "ConsumerGroupHeartbeat",
            1,
            group_id="{group}",
            member_id="m",
            member_epoch=7,
            subscribed_topic_names=["{t}", "{none}"],
        ),
        asked(
            "ShareGroupHeartbeat",
            1,
            group_id="{group}",
            member_id="m",
            member_epoch=7,
            subscribed_topic_names=["{t}", "{none}"],
        ),
        asked("ShareGroupDescribe", 1, group_ids=["{group}", "{none}"]),
        asked(
            "ShareFetch",
            2,
            group_id="{group}",
            member_id="m",
            share_session_epoch=3,
            topics=[{"topic_id": "{id}", "partitions": [partition]}],
        ),
        asked(
            "ShareAcknowledge",
            2,
            group_id="{group}",
            member_id="m",
            share_session_epoch=3,
            topics=[{"topic_id": "{id}", "partitions": [partition]}],
        ),
        *(
            asked("DescribeShareGroupOffsets", 1, groups=groups)
            for groups in (
                [
                    {"group_id": "{group}", "topics": [{"topic_name": "{t}", "partitions": [0]}]},
                    {"group_id": "{none}", "topics": [{"topic_name": "{t}", "partitions": [0]}]},
                ],
                [{"group_id": "{group}", "topics": None}],
            )
        ),
        asked(
            "AlterShareGroupOffsets",
            0,
            group_id="{group}",
            topics=[{**of, "partitions": [{**partition, "start_offset": 0}]} for of in both[1:]],
        ),
        asked("DeleteShareGroupOffsets", 0, group_id="{group}", topics=both),
        asked(
            "InitializeShareGroupState",
            0,
            group_id="{group}",
            topics=[
                {
                    "topic_id": of,
                    "partitions": [
                        {"partition": index, "state_epoch": -2, "start_offset": -1}
                        for index in (0, 1)
                    ],
                }
                for of in ("{id}", _NOBODY)
            ],
        ),
        asked("ReadShareGroupState", 0, group_id="{group}", topics=by_id),
        asked("ReadShareGroupStateSummary", 0, group_id="{group}", topics=by_id),
        asked(
            "WriteShareGroupState",
            0,
            group_id="{group}",
            topics=[
                {
                    "topic_id": "{id}",
                    "partitions": [
                        {"partition": 0, "state_epoch": 0, "leader_epoch": 0, "start_offset": 0}
                    ],
                }
            ],
        ),
        asked(
            "DeleteShareGroupState",
            0,
            group_id="{group}",
            topics=[{"topic_id": "{id}", "partitions": [{"partition": 0}]}],
        ),
        *(
            asked(
                "DescribeConfigs",
                4,
                resources=[
                    {
                        "resource_type": kind,
                        "resource_name": name,
                        "configuration_keys": [key],
                    }
                ],
            )
            for kind, name, key in (
                (2, "{t}", "cleanup.policy"),
                (2, "{none}", "cleanup.policy"),
                (4, "", "log.retention.ms"),
                (8, "1", "root"),
                (16, "{none}", "metrics"),
                (32, "{group}", "share.auto.offset.reset"),
            )
        ),
        *(
            asked(
                "IncrementalAlterConfigs",
                1,
                validate_only=True,
                resources=[{"resource_type": kind, "resource_name": name, "configs": []}],
            )
            for kind, name in ((2, "{none}"), (4, ""), (8, "1"), (16, "{none}"), (32, "{none}"))
        ),
        asked(
            "ListTransactions", 2, state_filters=["Dead"], producer_id_filters=[], duration_filter=-1
        ),
        asked("ListGroups", 5, states_filter=["Dead"]),
        asked("ListPartitionReassignments", 0, timeout_ms=5_000, topics=None),
        asked("ListConfigResources", 1, resource_types=[16]),
        asked(
            "AlterReplicaLogDirs",
            2,
            dirs=[{"path": "/nowhere", "topics": [{"name": "{none}", "partitions": [0]}]}],
        ),
        asked("DescribeDelegationToken", 3, owners=[]),
        asked("RenewDelegationToken", 2, hmac="00", renew_period_ms=-1),
        asked("ExpireDelegationToken", 2, hmac="00", expiry_time_period_ms=-1),
        asked("CreateTopics", 7, validate_only=True, timeout_ms=5_000, topics=[
            {"name": "{none}", "num_partitions": 1, "replication_factor": 1}
        ]),
    ]  # fmt: skip


def _filled(value: Any, names: Names) -> Any:
    """The same with names in place of `{t}` and the like."""
    if isinstance(value, dict):
        return {key: _filled(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, names) for each in value]
    if isinstance(value, str) and value.startswith("{"):
        return value.format(**names._asdict())
    return value


@scenario("security", since="4.4")
def groups(s: Session) -> None:
    """Classic groups and their offsets (REF-4 to REF-6)."""
    _sweep(s, [*PROBES["groups"](), *PROBES["offsets"]()])


@scenario("security", since="4.4")
def topics_and_records(s: Session) -> None:
    """Topics, records and transactions (REF-1 to REF-3, REF-11)."""
    _sweep(s, [*PROBES["topics"](), *PROBES["records"]()])


@scenario("security", since="4.4")
def the_cluster(s: Session) -> None:
    """Configurations and what concerns the whole cluster (REF-12, REF-13)."""
    _sweep(s, [*PROBES["configurations"](), *PROBES["the_cluster"]()])


@scenario("security", since="4.4")
def share_groups_and_brokers(s: Session) -> None:
    """Share groups, what brokers ask each other, and the rest."""
    _sweep(s, _more())
