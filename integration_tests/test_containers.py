"""`coordinator.testing.containers` on a real Docker daemon: one broker, three, the emulator's
image, and what goes wrong.

Each test has containers of its own, or the module's one broker. Nothing may be left over: every
test looks for what it started.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

import pytest
from docker.errors import ImageNotFound

from coordinator.testing.containers import (
    ContainerError,
    EmulatorContainer,
    ImageUnavailableError,
    RealKafka,
)
from coordinator.testing.containers.brokers import Brokers
from coordinator.testing.containers.daemon import RUN_LABEL, connect
from integration_tests.conftest import REQUIRED
from integration_tests.targets import real_broker_image, why_no_docker
from tools.images import EMULATOR_TAG

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # it reads its schemas in a way that Python is giving up
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.errors import GroupAuthorizationFailedError

T = TypeVar("T")

PATIENCE_S = 60
INTERRUPTED = """
import signal, sys
from coordinator.testing.containers import RealKafka
from coordinator.testing.containers.daemon import RUN_LABEL

class Announced(RealKafka):
    def _launch(self):
        print(self.labels[RUN_LABEL], flush=True)
        super()._launch()

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever our parent ignores
Announced(int(sys.argv[1]), image=sys.argv[2]).start()
"""


@pytest.fixture(scope="module")
def image() -> str:
    """The real broker's image, where Docker answers and has it."""
    reason = why_no_docker()
    found = None if reason else real_broker_image()
    return found or _none(
        reason
        or "no image of a real broker is here: pull apache/kafka:4.4.0, or run `make kafka-image`"
    )


@pytest.fixture(scope="module")
def emulator_image() -> str:
    """The emulator's image, where Docker answers and has it."""
    reason = why_no_docker()
    wanted = os.environ.get("COORDINATOR_IMAGE") or EMULATOR_TAG
    if reason:
        _none(reason)
    client = connect()
    try:
        client.client.images.get(wanted)
    except ImageNotFound:
        _none(f"the emulator's image {wanted} is not here: run `python -m tools.images emulator`")
    finally:
        client.client.close()
    return wanted


def _none(reason: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(f"REQUIRE_REAL_BROKER is set: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def broker(image: str) -> Iterator[RealKafka]:
    """One broker for all tests of this module that do it no harm."""
    with RealKafka(image=image) as kafka:
        yield kafka
    assert leftovers(kafka) == ([], [])


def leftovers(brokers: Brokers) -> tuple[list[str], list[str]]:
    """Containers and networks that carry the label of the latest start."""
    return labelled(brokers.labels[RUN_LABEL])


def labelled(run: str) -> tuple[list[str], list[str]]:
    client = connect()
    chosen = {"label": f"{RUN_LABEL}={run}"}
    try:
        containers = client.client.containers.list(all=True, ignore_removed=True, filters=chosen)
        return [one.id for one in containers], [
            one.id for one in client.client.networks.list(filters=chosen)
        ]
    finally:
        client.client.close()


def round_trip(clients: str | Mapping[str, Any], topic: str) -> None:
    """A record there, and back to a group named as the topic, which commits. `clients`: the
    brokers, or all settings of clients."""
    config = {"bootstrap_servers": clients} if isinstance(clients, str) else dict(clients)
    producer = KafkaProducer(**config)
    producer.send(topic, b"one coffee").get(timeout=PATIENCE_S)
    producer.close()
    consumer = KafkaConsumer(topic, group_id=topic, auto_offset_reset="earliest", **config)
    consumer.partitions_for_topic(
        topic
    )  # else it may learn its topic while it joins, and lose that join
    try:
        assert until(
            lambda: [record.value for records in consumer.poll(200).values() for record in records]
        ) == [b"one coffee"]
        consumer.commit()
    finally:
        consumer.close()


def until(found: Callable[[], T]) -> T:
    """What is found at last."""
    deadline = time.monotonic() + PATIENCE_S
    while not (result := found()):
        assert time.monotonic() < deadline, "nothing was found"
    return result


def coordinator_of(kafka: RealKafka, group: str, node: int) -> int:
    """The node that coordinates a group, by the tool of another."""
    options = ("--describe", "--state", "--group", group, "--timeout", str(PATIENCE_S * 1_000))
    lines = kafka.tool("kafka-consumer-groups", *options, node=node).splitlines()
    (line,) = [line for line in lines if line.startswith(group)]
    return int(line.split("(")[1].split(")")[0])


def test_one_broker_serves_clients_and_tools(broker: RealKafka) -> None:
    topic = uuid.uuid4().hex
    round_trip(broker.bootstrap_servers, topic)
    described = broker.tool("kafka-consumer-groups", "--describe", "--group", topic)
    assert [line.split()[:5] for line in described.splitlines() if line.startswith(topic)] == [
        [topic, topic, "0", "1", "1"]
    ]
    assert "Kafka Server started" in broker.logs()
    assert len(broker.logs(tail=2).splitlines()) == 2


def test_a_tool_that_fails_says_why(broker: RealKafka) -> None:
    with pytest.raises(
        ContainerError, match=r"kafka-no-such-tool --list: status 12\d in broker 1: .*no such file"
    ):
        broker.tool("kafka-no-such-tool", "--list")


def test_a_broker_comes_back_at_its_address_with_its_records(broker: RealKafka) -> None:
    topic = uuid.uuid4().hex
    before = broker.bootstrap_servers
    round_trip(before, topic)
    broker.stop_broker()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(before.rpartition(":")[2])), 1)
    broker.start_broker()
    assert broker.bootstrap_servers == before
    consumer = KafkaConsumer(topic, auto_offset_reset="earliest", bootstrap_servers=before)
    assert until(lambda: consumer.poll(200))
    consumer.close()


def test_three_brokers_survive_the_loss_of_a_coordinator(image: str) -> None:
    quick = {
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 500,
        "offsets.topic.num.partitions": 1,
    }
    with RealKafka(brokers=3, config=quick, image=image) as kafka:
        assert len(kafka.bootstrap_servers.split(",")) == 3
        group = uuid.uuid4().hex
        round_trip(kafka.bootstrap_servers, group)
        lost = coordinator_of(kafka, group, 1)
        kafka.kill_broker(lost)
        assert coordinator_of(kafka, group, lost % 3 + 1) != lost
        kafka.start_broker(lost)
        assert kafka.logs().count("--- broker ") == 3
    assert leftovers(kafka) == ([], [])


def test_the_emulators_image_serves_clients(emulator_image: str) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        with EmulatorContainer(
            {"orders": 12}, {"group.max.size": 2}, image=emulator_image
        ) as kafka:
            consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
            assert consumer.partitions_for_topic("orders") == set(range(12))
            consumer.close()
            round_trip(kafka.bootstrap_servers, "orders")
            1 / 0  # noqa: B018
    (note,) = caught.value.__notes__
    assert "group.max.size = 2" in kafka_line(note, "group.max.size")
    assert leftovers(kafka) == ([], [])


SECURED: Mapping[str, Any] = {
    "security": "SASL_SSL",
    "users": {"billing": "se cret"},
    "acls": [
        "User:billing may All topic orders",
        "User:billing may Read group orders",
        "User:billing may Create cluster",
    ],
}


def refused_elsewhere(config: Mapping[str, Any]) -> None:
    """Another group is refused to the same user."""
    consumer = KafkaConsumer("orders", group_id="others", **config)
    with pytest.raises(GroupAuthorizationFailedError):
        until(lambda: consumer.poll(200))
    consumer.close()


@pytest.mark.parametrize("kind", ["emulator", "real"])
def test_clients_log_in_over_tls_and_have_their_rights(
    kind: str, request: pytest.FixtureRequest
) -> None:
    kafka: EmulatorContainer | RealKafka
    if kind == "emulator":
        image = request.getfixturevalue("emulator_image")
        kafka = EmulatorContainer({"orders": 1}, image=image, **SECURED)
    else:
        kafka = RealKafka(image=request.getfixturevalue("image"), **SECURED)
    with kafka:
        config = kafka.client_config("kafka-python", user="billing")
        assert config["ssl_cafile"] and os.path.exists(config["ssl_cafile"])
        round_trip(config, "orders")
        refused_elsewhere(config)
    assert leftovers(kafka) == ([], [])


@pytest.mark.thorough
def test_clients_of_a_real_broker_are_known_by_their_certificates(image: str) -> None:
    """The throw-away authority's certificates are such as Java takes."""
    config = {
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=([a-z]+),OU=tests.*$/$1/,DEFAULT",
    }
    acls = SECURED["acls"]
    with RealKafka(image=image, security="SSL", config=config, acls=acls) as kafka:
        round_trip(kafka.client_config("kafka-python", user="billing"), "orders")


def kafka_line(text: str, sign: str) -> str:
    return next(line for line in text.splitlines() if sign in line)


def test_a_port_that_is_taken(image: str) -> None:
    with socket.create_server(("", 0)) as holder:
        port = holder.getsockname()[1]
        kafka = RealKafka(image=image, ports=port)
        with pytest.raises(ContainerError, match=f"port {port} of this machine is taken: free it"):
            kafka.start()
    assert leftovers(kafka) == ([], [])


def test_a_configuration_that_kafka_refuses(image: str) -> None:
    kafka = RealKafka(image=image, config={"num.partitions": "many"})
    with pytest.raises(ContainerError) as refusal:
        kafka.start()
    assert str(refusal.value) == (
        "broker 1 ended before it was ready, exit code 1: "
        "it refuses its configuration: Invalid value many for configuration num.partitions: Not a number of type INT"
    )
    assert "ConfigException" in refusal.value.__notes__[0]
    assert leftovers(kafka) == ([], [])


def test_a_broker_that_is_not_ready_in_time(image: str) -> None:
    kafka = RealKafka(image=image, startup_timeout_s=0.1)
    with pytest.raises(
        ContainerError, match=r"broker 1 at 127\.0\.0\.1:\d+ was not ready within 0\.1 s"
    ) as refusal:
        kafka.start()
    assert [note.splitlines()[0] for note in refusal.value.__notes__] == [
        "--- broker 1, last 50 lines of its log:"
    ]
    assert leftovers(kafka) == ([], [])


def test_an_image_that_nobody_has(image: str) -> None:
    kafka = RealKafka(image="local/no-such-image:0", pull_timeout_s=20)
    with pytest.raises(
        ImageUnavailableError,
        match="image local/no-such-image:0 is not on this machine and cannot be pulled",
    ):
        kafka.start()


@pytest.mark.parametrize("brokers", [pytest.param(1, marks=pytest.mark.thorough), 3])
def test_an_interrupted_start_leaves_nothing(brokers: int, image: str) -> None:
    """Ctrl-C as soon as the first container is there: others are still to be made."""
    command = [sys.executable, "-c", INTERRUPTED, str(brokers), image]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        run = process.stdout.readline().strip()
        assert run
        until(lambda: labelled(run)[0])
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert labelled(run) == ([], [])
