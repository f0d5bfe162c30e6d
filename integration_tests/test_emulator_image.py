"""The emulator's image as its users run it: who runs in it, when it is healthy, what it obeys, how
it ends, what it weighs.

Built on the local base, which can be had everywhere. Needs a Docker daemon: skipped with one line
without, a failure if REQUIRE_REAL_BROKER is set.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from coordinator.cli import main
from coordinator.testing.containers import ContainerError, EmulatorContainer
from tests.ports import kept_port
from tools.docker_build import ImageError, docker
from tools.emulator_base import LOCAL_BASE_TAG, build_base
from tools.emulator_image import build_emulator

IMAGE = "kafka-group-coordinator:tested"
WAIT_S = 30.0
MODULE_LIMIT_S = 900.0


@pytest.fixture(scope="module")
def image() -> str:
    """The image, built or found."""
    try:
        docker("version")
        build_base(LOCAL_BASE_TAG)
    except ImageError as error:
        if os.environ.get("REQUIRE_REAL_BROKER", "") not in ("", "0"):
            pytest.fail(f"REQUIRE_REAL_BROKER is set: {error}", pytrace=False)
        pytest.skip(f"no image of the emulator: {error}")
    build_emulator(IMAGE, LOCAL_BASE_TAG)
    return IMAGE


class Container:
    """A container of the image; `port` is where it is reached from here."""

    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self.port = port
        self.address = f"localhost:{port}"

    def inspect(self, what: str) -> Any:
        return json.loads(docker("inspect", "--format", "{{json " + what + "}}", self.name).stdout)

    def until_healthy(self) -> None:
        deadline = time.monotonic() + WAIT_S
        while (status := self.inspect(".State.Health.Status")) != "healthy":
            assert self.inspect(".State.Running"), docker("logs", self.name).stderr
            assert time.monotonic() < deadline, f"{status}: {self.inspect('.State.Health')}"
            time.sleep(0.1)


@contextmanager
def container(
    image: str, *flags: str, environment: dict[str, str] | None = None
) -> Iterator[Container]:
    """A running container, as locked up as can be, removed afterwards."""
    port = kept_port()
    variables = [
        part for name, value in (environment or {}).items() for part in ("--env", f"{name}={value}")
    ]
    locked_up = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    running = Container(f"coordinator-tested-{uuid4().hex[:8]}", port)
    try:
        docker(
            "run",
            "--detach",
            "--name",
            running.name,
            *locked_up,
            "--publish",
            f"127.0.0.1:{port}:9092",
            *variables,
            image,
            "--advertise",
            running.address,
            *flags,
        )
        yield running
    finally:
        with suppress(ImageError):
            docker("rm", "--force", "--volumes", running.name)


def test_serves_clients_outside_and_ends_gracefully(
    image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {
        "KAFKA_GROUP_MAX_SIZE": "7",
        "KAFKA_NODE_ID": "5",
        "KAFKA_HEAP_OPTS": "-Xmx1G",
        "COORDINATOR_TOPICS": "orders:3,payments",
    }
    with container(image, "--topic", "payments:2", environment=environment) as running:
        running.until_healthy()
        assert main(["health", f"127.0.0.1:{running.port}"]) == 0
        assert "healthy" in capsys.readouterr().out
        assert (
            docker(
                "exec", running.name, "python3", "-c", "import os; print(os.getuid(), os.getgid())"
            ).stdout
            == "10001 10001\n"
        )
        assert docker("exec", running.name, "coordinator", "--version").stdout.startswith(
            "coordinator "
        )

        admin = AdminClient({"bootstrap.servers": running.address})
        about = admin.list_topics(timeout=WAIT_S)
        assert {(broker.id, broker.host, broker.port) for broker in about.brokers.values()} == {
            (5, "localhost", running.port)
        }
        assert {
            name: len(topic.partitions) for name, topic in about.topics.items() if name[0] != "_"
        } == {"orders": 3, "payments": 2}
        (asked,) = admin.describe_configs([ConfigResource(ResourceType.BROKER, "5")]).values()
        assert asked.result(WAIT_S)["group.max.size"].value == "7"
        assert round_trip(running.address) == [b"first", b"second"]

        docker("stop", "--time", "30", running.name)
        assert running.inspect(".State.ExitCode") == 0  # 137 had it not heard SIGTERM
        logs = docker("logs", running.name)
        *_, ready, stopping = logs.stdout.splitlines()
        assert ready.startswith(f"ready: {running.address} control http://127.0.0.1:8080 token ")
        assert stopping == "stopping"
        assert logs.stderr == ""


def round_trip(address: str) -> list[bytes]:
    """What a member of a group reads of two records that were just written."""
    producer = confluent_kafka.Producer({"bootstrap.servers": address})
    for value in (b"first", b"second"):
        producer.produce("orders", value, partition=1)
    assert producer.flush(WAIT_S) == 0
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": address, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe(["orders"])
        values: list[bytes] = []
        while len(values) < 2:
            (record,) = consumer.consume(1, WAIT_S)
            assert record.error() is None
            values.append(record.value())
        return values
    finally:
        consumer.close()


def test_a_wrong_value_ends_with_status_2_and_says_which(image: str) -> None:
    done = docker("run", "--rm", "--env", "KAFKA_GROUP_MAX_SIZE=many", image, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("coordinator serve: error: KAFKA_GROUP_MAX_SIZE=many: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_container_that_does_not_answer_is_unhealthy(image: str) -> None:
    """The health check asks the port that KAFKA_LISTENERS names; here an option says otherwise, so
    nobody answers there."""
    with container(image, "--listen", "127.0.0.1:29092") as running:
        done = docker(
            "exec",
            running.name,
            "python3",
            "-m",
            "coordinator",
            "health",
            "--from-environment",
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr == "127.0.0.1:9092: cannot be reached: Connection refused\n"


def test_the_emulators_container_has_the_testing_kit(image: str) -> None:
    with EmulatorContainer({"orders": 2}, image=image) as kafka:
        group = kafka.group("billing")
        failed = kafka.fail("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS", group="billing", times=1)
        with kafka.peer("billing", topics=["orders"]) as peer:
            seen = group.wait(state="Stable", members=1, assigned="all")
            assert seen.members[0].client_id == peer.client_id
            assert failed.hits == 1
        group.wait(state="Empty")
        group.verify().single_owner()
        kafka.produce("orders", ["coffee"], partition=0)
        assert [row.value for row in kafka.records("orders")] == [b"coffee"]
        with pytest.raises(AttributeError, match="no attribute 'grup'"):
            kafka.grup  # noqa: B018


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "command", "passed"),
    [
        (
            "java",
            ("mvn", "--batch-mode", "test"),
            "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0",
        ),
        ("go", ("go", "test", "-count=1", "-v", "./..."), "--- PASS: TestAGroupReads"),
    ],
)
def test_modules_of_testcontainers_for_other_languages(
    image: str, language: str, command: tuple[str, ...], passed: str, tmp_path: Path
) -> None:
    """The test of each, on this image. Within a container Testcontainers takes the gateway for the
    machine of the daemon, which publishes on loopback."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    module = tmp_path / "module"
    source = Path(__file__).resolve().parents[1] / "examples" / f"testcontainers-{language}"
    shutil.copytree(source, module, ignore=shutil.ignore_patterns("target"))
    here = {"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1"}
    environment = here | os.environ | {"COORDINATOR_IMAGE": image}
    done = subprocess.run(
        command,
        cwd=module,
        env=environment,
        capture_output=True,
        text=True,
        timeout=MODULE_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert passed in done.stdout


def test_several_brokers_in_one_container(image: str) -> None:
    settings = {"default.replication.factor": 3}
    with EmulatorContainer(
        {"orders": 6}, settings, image=image, brokers=3, racks=["a", "b", "c"]
    ) as kafka:
        addresses = kafka.bootstrap_servers.split(",")
        assert len(addresses) == 3
        for address in addresses:
            metadata = AdminClient({"bootstrap.servers": address}).list_topics(timeout=WAIT_S)
            assert set(metadata.brokers) == {1, 2, 3}
            assert {f"{broker.host}:{broker.port}" for broker in metadata.brokers.values()} == set(
                addresses
            )
            assert all(
                len(partition.replicas) == 3
                for partition in metadata.topics["orders"].partitions.values()
            )
        with pytest.raises(ContainerError, match="node=2: the 3 brokers are one process"):
            kafka.stop_broker(2)
