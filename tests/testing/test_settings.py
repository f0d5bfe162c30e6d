"""What a test asks for: names become the variables that both images read, and what cannot be is
refused before Docker is asked."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import pytest

from coordinator.cli.serving.environment import config_name
from coordinator.server.settings.broker_configs import broker_defs
from coordinator.testing.containers import ContainerError, EmulatorContainer, RealKafka
from coordinator.testing.containers.settings import checked_config, checked_ports, variable


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("num.partitions", "KAFKA_NUM_PARTITIONS"),
        ("a.b_c", "KAFKA_A_B__C"),
        ("listener.name.my-own.x", "KAFKA_LISTENER_NAME_MY___OWN_X"),
    ],
)
def test_a_name_becomes_a_variable_as_kafkas_image_reads_it(name: str, expected: str) -> None:
    assert variable(name) == expected


def test_the_emulators_image_reads_every_variable_back() -> None:
    assert [config_name(variable(name)) for name in broker_defs()] == list(broker_defs())


def test_values_are_written_as_kafka_does() -> None:
    given = {
        "auto.create.topics.enable": False,
        "num.partitions": 3,
        "log.cleaner.min.cleanable.ratio": 1.5,
        "compression.type": "gzip",
    }
    assert list(checked_config(given).values()) == ["false", "3", "1.5", "gzip"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "NUM.PARTITIONS",
        "num partitions",
        "num..partitions",
        ".num",
        "num.partitions=3",
        "heap.opts",
    ],
)
def test_no_name_of_a_configuration(name: str) -> None:
    with pytest.raises(ContainerError, match="write it as Kafka does"):
        RealKafka(config={name: 1})


@pytest.mark.parametrize("value", [None, ["a"], "two\nlines"])
def test_no_value_of_a_configuration(value: object) -> None:
    with pytest.raises(ContainerError, match=r"config: num\.partitions "):
        RealKafka(config={"num.partitions": value})


@pytest.mark.parametrize(
    "name", ["listeners", "advertised.listeners", "node.id", "controller.quorum.voters"]
)
def test_what_the_class_decides_cannot_be_given(name: str) -> None:
    with pytest.raises(ContainerError, match=f"{name} follows from the other arguments"):
        RealKafka(config={name: "1"})


def test_an_unknown_name_is_logged_with_what_may_be_meant(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        RealKafka(
            config={
                "group.max.sise": 3,
                "group.max.size": 3,
                "listener.name.client.ssl.keystore.type": "PEM",
            }
        )
    assert [record.getMessage() for record in caplog.records] == [
        "config: group.max.sise is no broker configuration of Kafka 4.4.0, which passes over unknown names; is group.max.size meant?"
    ]


@pytest.mark.parametrize("brokers", [0, 2, 4, -1])
def test_one_broker_or_three(brokers: int) -> None:
    with pytest.raises(ContainerError, match=f"brokers={brokers}: give 1, or 3"):
        RealKafka(brokers)


def _environments(kafka: RealKafka) -> list[Mapping[str, str]]:
    return [kafka._environment(number, "localhost:1") for number in range(1, kafka.count + 1)]


def test_racks_and_settings_of_single_brokers() -> None:
    kafka = RealKafka(
        3,
        config={"num.partitions": 2},
        racks=["a", None, "c"],
        broker_config={2: {"num.partitions": 5}, 3: {"replica.lag.time.max.ms": 3_000}},
    )
    first, second, third = _environments(kafka)
    assert [one.get("KAFKA_BROKER_RACK") for one in (first, second, third)] == ["a", None, "c"]
    assert [one["KAFKA_NUM_PARTITIONS"] for one in (first, second, third)] == ["2", "5", "2"]
    assert [one.get("KAFKA_REPLICA_LAG_TIME_MAX_MS") for one in (first, second, third)] == [
        None,
        None,
        "3000",
    ]


@pytest.mark.parametrize("racks", [["a"], ["a", "b", "c", "d"], "abc"])
def test_a_rack_for_each_broker(racks: list[str]) -> None:
    with pytest.raises(ContainerError, match="give 3, one for each broker"):
        RealKafka(3, racks=racks)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({4: {}}, "there is no broker 4; the brokers are 1, 2, 3"),
        ({0: {}}, "there is no broker 0"),
        ({1: {"node.id": 7}}, "node.id follows from the other arguments"),
        ({1: {"Num": 1}}, "write it as Kafka does"),
    ],
)
def test_settings_of_brokers_that_cannot_be(given: dict[int, dict[str, object]], said: str) -> None:
    with pytest.raises(ContainerError, match=said):
        RealKafka(3, broker_config=given)


def test_ports() -> None:
    assert checked_ports(None, 3) is None
    assert checked_ports(9092, 1) == [9092]
    assert checked_ports([9092, 9093, 9094], 3) == [9092, 9093, 9094]


@pytest.mark.parametrize(
    ("ports", "brokers", "said"),
    [
        (9092, 3, "give 3 different ports"),
        ([9092, 9092, 9093], 3, "give 3 different ports"),
        ([1, 2], 1, "give 1 different port,"),
        (0, 1, "0 is no port"),
        (65_536, 1, "65536 is no port"),
    ],
)
def test_wrong_ports(ports: int | list[int], brokers: int, said: str) -> None:
    with pytest.raises(ContainerError, match=said):
        checked_ports(ports, brokers)


@pytest.mark.parametrize("limit", ["startup_timeout_s", "pull_timeout_s"])
def test_a_limit_must_be_positive(limit: str) -> None:
    with pytest.raises(ContainerError, match=f"{limit}=0: give a time limit in seconds above 0"):
        RealKafka(**{limit: 0})  # type: ignore[arg-type]


def test_the_emulators_brokers() -> None:
    with pytest.raises(ContainerError, match="brokers=0: give a whole number from 1 on"):
        EmulatorContainer(brokers=0)
    with pytest.raises(ContainerError, match=r"racks=\['a'\]: give 3, one for each broker"):
        EmulatorContainer(brokers=3, racks=["a"])
    with pytest.raises(ContainerError, match="port=65534: 3 brokers take the ports from it on"):
        EmulatorContainer(port=65_534, brokers=3)


def test_the_emulators_topics_and_configuration_are_judged_before_it_starts() -> None:
    with pytest.raises(
        ContainerError, match="topics: topic 'orders:x': write name or name:partitions"
    ):
        EmulatorContainer("orders:x")
    with pytest.raises(ContainerError, match=r"config: num\.partitons is no broker configuration"):
        EmulatorContainer(config={"num.partitons": 3})
    with pytest.raises(ContainerError, match=r"config: num\.partitions=x: Invalid value x"):
        EmulatorContainer(config={"num.partitions": "x"})
