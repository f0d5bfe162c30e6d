"""Verbs that cannot be carried out: each is refused at once, says what there is, and changes
nothing."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.cluster import (
    CreatePartitions,
    CreateTopic,
    CutLink,
    DeleteTopic,
    FenceBroker,
    HealLink,
    MoveCoordinator,
    MoveLeader,
    ReassignPartition,
    SlowFollower,
    SlowLoad,
    StartBroker,
    StopBroker,
    UnfenceBroker,
    Verb,
    from_plain,
)
from coordinator.kit.emulator.options import EmulatorError
from coordinator.server.cluster_runtime import ClusterError
from tests.log_judge import registrations
from tests.server.brokers.desk import Cluster

BROKERS = "the brokers are 1, 2, 3"


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (StopBroker(3), "broker 3 is stopped, not running; running are 1, 2"),
        (StopBroker(3, "crash"), "broker 3 is stopped already; running are 1, 2"),
        (StopBroker(9), f"there is no broker 9: {BROKERS}"),
        (
            StopBroker(1, "kill"),
            "how='kill': a broker is stopped by one of controlled, crash, pause",
        ),  # type: ignore[arg-type]
        (StartBroker(1), "broker 1 is running, not stopped; stopped are 3"),
        (StartBroker(0), f"there is no broker 0: {BROKERS}"),
        (
            MoveLeader("orders", 0, 3),
            "broker 3 cannot lead orders-0: in sync are 1; fenced brokers lead nothing",
        ),
        (MoveLeader("orders", 0, 9), f"there is no broker 9: {BROKERS}"),
        (MoveLeader("orders", 7, 1), "there is no partition orders-7: orders has 2 partitions"),
        (
            MoveLeader("nope", 0, 1),
            "there is no partition nope-0: topics are __consumer_offsets, orders",
        ),
        (
            MoveCoordinator("g", 3),
            "broker 3 cannot lead __consumer_offsets-3: in sync are 1; fenced brokers lead nothing",
        ),
        (MoveCoordinator("g", 7), f"there is no broker 7: {BROKERS}"),
        (
            ReassignPartition("nope", 0),
            "there is no partition nope-0: topics are __consumer_offsets, orders",
        ),
        (
            ReassignPartition("orders", 0, None),
            "orders-0 does not move: there is nothing to cancel",
        ),
        (
            ReassignPartition("orders", 0, (1, 9)),
            (
                "orders-0 cannot move to 1, 9: The manual partition assignment includes broker 9, but no such broker is registered."
            ),
        ),
        (
            CreateTopic("orders"),
            "topic orders cannot be made: TOPIC_ALREADY_EXISTS: Topic 'orders' already exists.",
        ),
        (
            CreateTopic("new", 0),
            "topic new cannot be made: INVALID_PARTITIONS: Number of partitions was set to an invalid non-positive value.",
        ),
        (
            CreatePartitions("orders", 2),
            "topic orders cannot have 2 partitions: INVALID_PARTITIONS: Topic already has 2 partition(s).",
        ),
        (CreatePartitions("nope", 2), "there is no topic 'nope'; there are: orders"),
        (DeleteTopic("nope"), "there is no topic 'nope'; there are: orders"),
        (FenceBroker(2), "broker 2 is fenced on purpose already; so are 2"),
        (FenceBroker(3), "broker 3 is stopped, not running; running are 1, 2"),
        (FenceBroker(5), f"there is no broker 5: {BROKERS}"),
        (UnfenceBroker(1), "broker 1 is not fenced on purpose; those that are: 2"),
        (UnfenceBroker(8), f"there is no broker 8: {BROKERS}"),
        (CutLink(1, 1), "a link joins two brokers, 1 was given twice"),
        (CutLink(1, 5), f"there is no broker 5: {BROKERS}"),
        (CutLink(1, 3), "the link between the brokers 1 and 3 is cut"),
        (HealLink(1, 2), "the link between the brokers 1 and 2 is not cut"),
        (SlowFollower(7), f"there is no broker 7: {BROKERS}"),
        (
            SlowFollower(1, -1),
            "delay_ms=-1, bytes_per_second=None: neither can be negative, and a rate is above 0",
        ),
        (
            SlowFollower(1, 0, 0),
            "delay_ms=0, bytes_per_second=0: neither can be negative, and a rate is above 0",
        ),
        (SlowLoad(4, 5), f"there is no broker 4: {BROKERS}"),
    ],
)
def test_what_cannot_be_done(verb: Verb, why: str) -> None:
    cluster = Cluster()
    cluster.do(StopBroker(3))
    cluster.do(FenceBroker(2))
    cluster.do(CutLink(1, 3))
    lines, before = len(list(cluster.log.events())), registrations(cluster.truth)
    with pytest.raises(ClusterError) as refused:
        cluster.do(verb)
    assert str(refused.value) == why
    assert len(list(cluster.log.events())) == lines
    assert registrations(cluster.truth) == before


def test_without_a_majority_nothing_is_moved() -> None:
    cluster = Cluster()
    cluster.do(StopBroker(2, "crash"))
    cluster.do(StopBroker(3, "crash"))
    for verb in (MoveLeader("orders", 0, 1), FenceBroker(1), ReassignPartition("orders", 0, (2,))):
        with pytest.raises(
            ClusterError,
            match="no controller can decide: a majority of the brokers must run, running are 1",
        ):
            cluster.do(verb)


@pytest.mark.parametrize(
    ("plain", "why"),
    [
        ({}, "None is no verb: they are StopBroker, StartBroker,"),
        ({"verb": "Stop"}, "'Stop' is no verb: they are"),
        ({"verb": 5}, "5 is no verb: they are"),
        ({"verb": "StopBroker"}, "StopBroker: broker is missing: it needs broker"),
        (
            {"verb": "StopBroker", "broker": 1, "why": 2},
            "StopBroker has no field why: it has broker, how",
        ),
        (
            {"verb": "StopBroker", "broker": "two"},
            "StopBroker: broker is 'two'; give a whole number",
        ),
        ({"verb": "StopBroker", "broker": True}, "StopBroker: broker is True; give a whole number"),
        ({"verb": "StopBroker", "broker": 1, "how": 3}, "StopBroker: how is 3; give a text"),
        (
            {"verb": "SlowFollower", "broker": 1, "delay_ms": "x"},
            "SlowFollower: delay_ms is 'x'; give a whole number",
        ),
        (
            {"verb": "SlowFollower", "broker": 1, "bytes_per_second": 1.5},
            "SlowFollower: bytes_per_second is 1.5; give a whole number",
        ),
        (
            {"verb": "ReassignPartition", "topic": "orders", "partition": 0, "replicas": 3},
            (
                "ReassignPartition: replicas is 3; give a list of brokers, preferred leader first, such as [2, 3]"
            ),
        ),
        (
            {"verb": "ReassignPartition", "topic": "orders", "partition": 0, "replicas": [1, "2"]},
            ("ReassignPartition: replicas is [1, '2']; give"),
        ),
        (
            {"verb": "CutClient", "client_id": 5, "broker": 1},
            "CutClient: client_id is 5; give a text",
        ),
    ],
)
def test_what_is_no_verb(plain: dict[str, Any], why: str) -> None:
    with pytest.raises(ClusterError) as refused:
        from_plain(plain)
    assert str(refused.value).startswith(why)


def test_one_broker_can_be_stopped_and_started_only() -> None:
    with Emulator() as kafka:
        with pytest.raises(ClusterError, match="there is one broker only, which can be stopped"):
            kafka.move_coordinator("billing", to=1)
        with pytest.raises(ClusterError, match="there is no broker 2: the broker is 1"):
            kafka.stop_broker(2)
        with pytest.raises(ClusterError, match="broker 1 is running, not stopped"):
            kafka.start_broker(1)
        with pytest.raises(ClusterError, match="a broker is stopped by one of controlled, crash"):
            kafka.stop_broker(1, how="softly")  # type: ignore[arg-type]
        with kafka.stop_broker(1), pytest.raises(ClusterError, match="is stopped, not running"):
            kafka.stop_broker(1, how="pause")


def test_several_brokers_have_no_only_one() -> None:
    with Emulator(brokers=2) as kafka:
        for name in ("broker", "coordinator"):
            with pytest.raises(
                EmulatorError,
                match=r"there are several brokers \(1, 2\): say which one is meant, as brokers\[1\]",
            ):
                getattr(kafka, name)
