"""Brokers in containers, on a daemon that fails as it is told: what a test sees, and that nothing
is left over."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from testcontainers.core.config import testcontainers_config

from coordinator.base.installing import lacks
from coordinator.testing.containers import (
    IMAGE_JVM,
    QUICK_JVM,
    ContainerError,
    EmulatorContainer,
    ImageUnavailableError,
    RealKafka,
)
from coordinator.testing.containers import brokers as brokers_module
from coordinator.testing.readiness import live_brokers
from tests.testing.fake_docker import FakeDocker, fake_docker

IMAGE = "a/kafka:1"


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDocker]:
    """A daemon that has IMAGE, and at the end no container and no network."""
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)
    for name in ("KAFKA_IMAGE", "COORDINATOR_IMAGE", "TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    with fake_docker() as (fake, address):
        monkeypatch.setenv("DOCKER_HOST", address)
        yield fake
        assert fake.containers == {}
        assert fake.networks == {}


def failure(broker: RealKafka | EmulatorContainer) -> ContainerError:
    with pytest.raises(ContainerError) as caught:
        broker.start()
    return caught.value


def test_the_broker_is_at_its_address(docker: FakeDocker) -> None:
    with RealKafka(image=IMAGE) as kafka:
        assert (
            kafka.bootstrap_servers
            == kafka.get_bootstrap_server()
            == f"127.0.0.1:{docker.created[0].port}"
        )
        assert live_brokers("127.0.0.1", docker.created[0].port, 60.0) == {1}
        assert kafka.logs() == "a line of the log\n"
        assert kafka.container().image == IMAGE


def test_the_environment_of_one_broker(docker: FakeDocker) -> None:
    with RealKafka(image=IMAGE, config={"num.partitions": 3, "offsets.topic.num.partitions": 7}):
        (container,) = docker.created
    assert container.environment == {
        "CLUSTER_ID": "4L6g3nShT-eMCtK--X86sw",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://127.0.0.1:{container.port},BROKER://localhost:9093",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9094",
        "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
        "KAFKA_INTER_BROKER_LISTENER_NAME": "BROKER",
        "KAFKA_JVM_PERFORMANCE_OPTS": QUICK_JVM,
        "KAFKA_LISTENERS": "PLAINTEXT://:9092,BROKER://:9093,CONTROLLER://:9094",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "KAFKA_LOG_DIRS": "/tmp/kraft-combined-logs",
        "KAFKA_NODE_ID": "1",
        "KAFKA_NUM_PARTITIONS": "3",
        "KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS": "7",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR": "1",
        "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    }


def test_the_images_own_jvm(docker: FakeDocker) -> None:
    with RealKafka(image=IMAGE, jvm=IMAGE_JVM):
        assert "KAFKA_JVM_PERFORMANCE_OPTS" not in docker.created[0].environment


def test_the_emulators_environment(docker: FakeDocker) -> None:
    with EmulatorContainer(["orders:12", "payments"], {"group.max.size": 2}, image=IMAGE):
        (container,) = docker.created
    environment = dict(container.environment)
    assert len(environment.pop("COORDINATOR_CONTROL_TOKEN")) >= 32, "one that nobody can guess"
    assert environment == {
        "COORDINATOR_CONTROL_ADVERTISE": "127.0.0.1",
        "COORDINATOR_TOPICS": "orders:12,payments",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://127.0.0.1:{container.port}",
        "KAFKA_GROUP_MAX_SIZE": "2",
        "KAFKA_LISTENERS": "PLAINTEXT://0.0.0.0:9092",
    }


@pytest.mark.parametrize("kind", [RealKafka, EmulatorContainer])
def test_the_image_is_chosen_by_argument_then_by_environment(
    kind: type[RealKafka | EmulatorContainer], docker: FakeDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = {RealKafka: "apache/kafka:4.4.0", EmulatorContainer: "kafka-group-coordinator:"}[kind]
    assert kind().image.startswith(default)
    monkeypatch.setenv(
        {RealKafka: "KAFKA_IMAGE", EmulatorContainer: "COORDINATOR_IMAGE"}[kind], "b/kafka:2"
    )
    assert kind().image == "b/kafka:2"
    assert kind(image=IMAGE).image == IMAGE


def test_a_broker_stays_at_its_address(docker: FakeDocker) -> None:
    with RealKafka(image=IMAGE) as kafka:
        before = kafka.bootstrap_servers
        kafka.stop_broker()
        kafka.start_broker()
        kafka.kill_broker()
        kafka.start_broker()
        kafka.pause_broker()
        assert docker.created[0].status == "paused"
        kafka.unpause_broker()
        assert kafka.bootstrap_servers == before
        assert len(docker.created) == 1


def test_there_is_no_such_broker(docker: FakeDocker) -> None:
    with RealKafka(image=IMAGE) as kafka:
        with pytest.raises(ContainerError, match="node=2: there is no such broker; nodes are 1"):
            kafka.kill_broker(2)


def test_it_may_start_again_but_not_twice(docker: FakeDocker) -> None:
    kafka = RealKafka(image=IMAGE)
    with kafka:
        assert "runs already" in str(failure(kafka))
    with kafka:
        pass
    kafka.stop()


def test_an_exception_that_leaves_carries_the_ends_of_the_logs(docker: FakeDocker) -> None:
    docker.log = "".join(f"line {n}\n" for n in range(100))
    with pytest.raises(ZeroDivisionError) as caught:
        with RealKafka(image=IMAGE):
            1 / 0  # noqa: B018
    (note,) = caught.value.__notes__
    assert note.startswith("--- broker 1, last 50 lines of its log:\nline 50\nline 51")
    assert note.endswith("line 99")


def test_no_image(docker: FakeDocker) -> None:
    error = failure(RealKafka(image="b/kafka"))
    assert isinstance(error, ImageUnavailableError)
    assert str(error) == (
        "image b/kafka is not on this machine and cannot be pulled (pull access denied): see that its name is right, pull it where there "
        "is a network (`docker pull b/kafka`), or build the local one in a checkout of this project (`python -m tools.images kafka`) "
        "and set KAFKA_IMAGE=local/kafka:4.4.0"
    )
    assert "python -m tools.images emulator" in str(failure(EmulatorContainer(image="b/emulator")))


def test_a_pull_that_fails_half_way(docker: FakeDocker) -> None:
    docker.pull = 200, [{"status": "Downloading"}, {"error": "unexpected EOF"}]
    assert "cannot be pulled (unexpected EOF)" in str(failure(RealKafka(image="b/kafka:2")))


def test_a_pull_has_a_time_limit(docker: FakeDocker) -> None:
    docker.pull = 200, [{"status": "Downloading"}]
    docker.pull_stalls = True
    error = failure(RealKafka(image="b/kafka:2", pull_timeout_s=0.2))
    assert "cannot be pulled (not done within 0.2 s; a larger pull_timeout_s allows more)" in str(
        error
    )


def test_a_fixed_port_that_is_taken(docker: FakeDocker) -> None:
    docker.refuse_start = [
        (500, {"message": "Bind for 0.0.0.0:9092 failed: port is already allocated"})
    ]
    assert str(failure(RealKafka(image=IMAGE, ports=9092))).startswith(
        "port 9092 of this machine is taken: free it"
    )


def test_a_free_port_that_somebody_else_was_quicker_to_take(docker: FakeDocker) -> None:
    docker.refuse_start = [
        (500, {"message": "listen tcp4 0.0.0.0:1: bind: address already in use"})
    ] * 2
    with RealKafka(image=IMAGE) as kafka:
        assert len(docker.created) == 3
        assert len(docker.containers) == 1
        assert kafka.bootstrap_servers == f"127.0.0.1:{docker.created[-1].port}"


def test_no_port_to_be_had(docker: FakeDocker) -> None:
    docker.refuse_start = [(500, {"message": "port is already allocated"})] * 5
    assert "no free port of this machine: 5 were taken by somebody else" in str(
        failure(RealKafka(image=IMAGE))
    )


def test_an_old_port_that_is_taken_meanwhile(docker: FakeDocker) -> None:
    with RealKafka(image=IMAGE) as kafka:
        kafka.stop_broker()
        docker.refuse_start = [(500, {"message": "port is already allocated"})]
        with pytest.raises(
            ContainerError, match=f"port {docker.created[0].port} of this machine is taken"
        ):
            kafka.start_broker()


def test_whatever_else_docker_refuses(docker: FakeDocker) -> None:
    docker.refuse_start = [(500, {"message": "no space left on device"})]
    assert (
        str(failure(RealKafka(image=IMAGE)))
        == "Docker could not start a container of image a/kafka:1: no space left on device"
    )


@pytest.mark.parametrize(
    ("code", "said"), [(1, "exit code 1: "), (137, "exit code 137 (out of memory): ")]
)
def test_a_broker_that_ends_at_once(code: int, said: str, docker: FakeDocker) -> None:
    docker.ends_at_once = code
    docker.log = (
        "ConfigException: Invalid value x for configuration num.partitions\n\tat Kafka.main\n"
    )
    error = failure(RealKafka(image=IMAGE))
    reason = "it refuses its configuration: Invalid value x for configuration num.partitions"
    assert str(error) == f"broker 1 ended before it was ready, {said}{reason}"
    assert error.__notes__ == [f"--- broker 1, last 50 lines of its log:\n{docker.log.rstrip()}"]


def test_a_broker_that_never_becomes_ready(docker: FakeDocker) -> None:
    docker.alive = False
    error = failure(EmulatorContainer(image=IMAGE, startup_timeout_s=0.2))
    assert "was not ready within 0.2 s; a slow machine needs a larger startup_timeout_s" in str(
        error
    )
    assert str(error).endswith("what stands out there: a line of the log")
    assert error.__notes__ == ["--- emulator 1, last 50 lines of its log:\na line of the log"]


def test_three_brokers_that_do_not_find_each_other(docker: FakeDocker) -> None:
    """Each is up, and knows only itself: the cluster is not."""
    error = failure(RealKafka(3, image=IMAGE, startup_timeout_s=0.2))
    assert "broker 1 at 127.0.0.1:" in str(error)
    assert len(error.__notes__) == 3
    voters = "1@kafka1:9094,2@kafka2:9094,3@kafka3:9094"
    assert [one.environment["KAFKA_CONTROLLER_QUORUM_VOTERS"] for one in docker.created] == [
        voters
    ] * 3
    assert not any(
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR" in one.environment for one in docker.created
    )


def test_an_interrupt_while_containers_are_made(
    docker: FakeDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of three is being made."""
    prepare = brokers_module.Brokers._prepare

    def interrupted(self: RealKafka, number: int, *rest: object) -> object:
        if number == 2:
            raise KeyboardInterrupt
        return prepare(self, number, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(brokers_module.Brokers, "_prepare", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        RealKafka(3, image=IMAGE).start()
    assert len(docker.created) == 1
    assert not hasattr(caught.value, "__notes__")


def test_a_removal_that_fails_hides_nothing(docker: FakeDocker) -> None:
    kafka = RealKafka(image=IMAGE)
    with pytest.raises(ZeroDivisionError) as caught:
        with kafka:
            docker.refuse_removal = True
            1 / 0  # noqa: B018
    assert (
        "Docker could not remove what was started; by hand: docker ps -aq --filter"
        in caught.value.__notes__[1]
    )
    assert "the disk is tired" in caught.value.__notes__[1]
    docker.refuse_removal = False
    kafka.stop()


def test_the_reaper_is_off_only_where_its_image_cannot_be_had(
    docker: FakeDocker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", False)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            with RealKafka(image=IMAGE):
                pass
    assert testcontainers_config.ryuk_disabled
    own = [record for record in caplog.records if record.name.startswith("coordinator")]
    assert [record.getMessage().partition(",")[0] for record in own] == [
        "Testcontainers' reaper is off"
    ]


def test_a_reaper_that_does_not_start_is_said(
    docker: FakeDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", False)
    docker.images.add(testcontainers_config.ryuk_image)
    docker.refuse_start = [(500, {"message": "not here"})]
    assert "TESTCONTAINERS_RYUK_DISABLED=true does without it" in str(
        failure(RealKafka(image=IMAGE))
    )
    docker.containers.clear()  # the reaper's own


@pytest.mark.parametrize("missing", ["docker", "testcontainers"])
def test_without_the_extra(missing: str, project_root: Path) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import coordinator.testing\n"
        "try:\n    import coordinator.testing.containers\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project_root, capture_output=True, text=True, check=True
    )
    assert (
        done.stdout
        == f"{lacks('coordinator.testing.containers needs Testcontainers', 'testcontainers')}\n"
    )
