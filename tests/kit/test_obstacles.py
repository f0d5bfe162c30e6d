"""What stands in the way of a group is said wherever somebody asks why nothing happens: by waits that
ended in vain, by `explain`, in the failure report and by the control port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.waiting import WaitTimeoutError

_STRATEGY = "partition.assignment.strategy"
PATIENCE_S = 120.0


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 4}, remember=10_000, seed=5) as running:
        yield running


@pytest.fixture
def cluster() -> Iterator[Emulator]:
    settings = {"broker.session.timeout.ms": 300, "default.replication.factor": 1}
    with Emulator({"orders": 3}, settings, brokers=3, remember=10_000, seed=3) as running:
        yield running


def in_vain(kafka: Emulator, group: str = "billing", **words: Any) -> str:
    with pytest.raises(WaitTimeoutError) as told:
        kafka.group(group).wait(**words, timeout=0.02)
    return str(told.value)


def wait_for_refusals(kafka: Emulator, count: int) -> None:
    errors = ["INCONSISTENT_GROUP_PROTOCOL"]
    kafka.wait_for(
        "RequestRefused", group="billing", count=count, since=0, timeout=PATIENCE_S, errors=errors
    )


def test_assignors_that_do_not_fit(kafka: Emulator) -> None:
    config = {_STRATEGY: "sticky", "client.id": "app"}
    with kafka.peer("billing", ["orders"], config=config) as first:
        first.wait_stable()
        assert kafka.obstacles("billing") == []
        late = {_STRATEGY: "range", "client.id": "late"}
        with kafka.peer("billing", ["orders"], config=late, keep_going=True):
            wait_for_refusals(kafka, 3)
            told = in_vain(kafka, members=2)
            assert "Client late was refused JoinGroup" in told
            assert "it offers range; member app-" in told
            assert "Client late was refused JoinGroup" in kafka.story()


def test_a_refusal_stands_until_the_client_has_gone_on(kafka: Emulator) -> None:
    config = {_STRATEGY: "sticky", "client.id": "app"}
    late = {_STRATEGY: "range", "client.id": "late"}
    with kafka.peer("billing", ["orders"], config=config) as first:
        first.wait_stable()
        second = kafka.peer("billing", ["orders"], config=late, keep_going=True)
        wait_for_refusals(kafka, 1)
        assert "Client late" in "".join(kafka.obstacles("billing"))
    second.wait_stable(members=1)
    assert kafka.obstacles("billing") == []
    second.stop()


def test_a_broker_that_is_paused_and_a_link_that_is_cut(cluster: Emulator) -> None:
    with cluster.stop_broker(3, how="pause"), cluster.cut_link(1, 2):
        told = in_vain(cluster, members=1)
        assert "broker 3 stops (pause), and no StartBroker has come since." in told
        assert "no traffic passes between brokers 1 and 2, and no HealLink has come since." in told
    assert cluster.obstacles() == []


def test_a_client_that_is_cut_off(cluster: Emulator) -> None:
    with cluster.cut_client("app", 2):
        told = in_vain(cluster, members=1)
        assert "no traffic passes between client app and broker 2, and no HealClient" in told
    assert cluster.obstacles() == []


def test_a_pace_counts_until_it_is_changed_back(cluster: Emulator) -> None:
    with cluster.slow_broker(2, 500):
        (told,) = cluster.obstacles()
        assert "every answer of broker 2 takes 500 ms longer" in told
        assert "it has not been changed since" in told
    assert cluster.obstacles() == []


def test_members_that_a_rebalance_waits_for_are_named(kafka: Emulator) -> None:
    with kafka.peer("billing", ["orders"], config={"client.id": "a"}) as first:
        first.wait_stable()
        first.pause()
        with kafka.peer("billing", ["orders"], config={"client.id": "b"}) as second:
            kafka.group("billing").wait(state="PreparingRebalance")
            (told,) = kafka.group("billing").obstacles()
            assert "Group billing has been PreparingRebalance since" in told
            assert "1 of 2 members has joined; a-" in told
            assert "has not (its last request in the log is from" in told
            assert told in in_vain(kafka, state="Stable")
            assert "in the way at the end, at" in kafka.explain("billing")
            first.resume()
            second.wait_stable(members=2)
            assert "in the way" not in kafka.explain("billing")


def test_an_epoch_that_a_consumer_group_waits_for(kafka: Emulator) -> None:
    with kafka.peer("billing", ["orders"], protocol="consumer", config={"client.id": "a"}) as first:
        kafka.group("billing").wait(state="Stable", members=1, assigned="all")
        first.pause()
        with kafka.peer("billing", ["orders"], protocol="consumer", config={"client.id": "b"}):
            kafka.group("billing").wait(state="Reconciling", members=2)
            told = " ".join(kafka.group("billing").obstacles())
            assert "Group billing is Reconciling towards epoch" in told
            assert "at member epoch" in told
            first.resume()
            kafka.group("billing").wait(state="Stable", members=2)
            assert kafka.group("billing").obstacles() == []


def test_a_wrong_password_and_a_missing_right() -> None:
    kafka_python = pytest.importorskip("kafka")
    acls = ["User:alice may Read topic orders"]
    with Emulator(
        {"orders": 1},
        security="SASL_PLAINTEXT",
        users={"alice": "right"},
        acls=acls,
        remember=10_000,
    ) as kafka:

        def consumer(password: str, group: str | None) -> Any:
            return kafka_python.KafkaConsumer(
                "orders",
                bootstrap_servers=kafka.bootstrap_servers,
                group_id=group,
                client_id="app",
                security_protocol="SASL_PLAINTEXT",
                sasl_mechanism="PLAIN",
                sasl_plain_username="alice",
                sasl_plain_password=password,
                bootstrap_timeout_ms=1_000,
            )

        with pytest.raises(kafka_python.errors.KafkaError):
            consumer("wrong", None)
        told = in_vain(kafka, members=1)
        assert "User:alice at 127.0.0.1 could not log in by PLAIN" in told
        assert "no client is connected" not in told
        assert "could not log in by PLAIN" in kafka.explain("billing")

        logged_in = consumer("right", None)
        assert not any("could not log in" in each for each in kafka.obstacles())
        logged_in.close()
        refused = consumer("right", "billing")
        with pytest.raises(kafka_python.errors.GroupAuthorizationFailedError):
            refused.poll(timeout_ms=int(PATIENCE_S * 1_000))
        refused.close()
        told = in_vain(kafka, members=1)
        assert "(client app) was refused FindCoordinator" in told
        assert "no ACL allows User:alice Describe on group billing" in told
        kafka.grant("User:alice may Read group billing")
        assert not any("no ACL allows" in each for each in kafka.obstacles())


def test_a_client_without_tls_is_told_by_the_wait() -> None:
    import socket

    with Emulator({"orders": 1}, security="SSL", remember=10_000) as kafka:
        host, port = kafka.bootstrap_servers.split(":")
        with socket.create_connection((host, int(port))) as plain:
            plain.sendall(b"\x00\x00\x00\x10\x00\x12\x00\x00\x00\x00\x00\x01\x00\x03appxxx")
            plain.settimeout(PATIENCE_S)
            while plain.recv(100):
                pass
        kafka.wait_for("ConnectionRefused", since=0, timeout=PATIENCE_S)
        told = in_vain(kafka, members=1)
        assert "no client is connected" not in told
        assert "Connections from a client at 127.0.0.1 were closed" in told
