"""Settings from the environment: what counts, what is accepted and left, what is refused, and which
address a client is told."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.cli import UsageError, main
from coordinator.cli.serving.environment import config_name, read
from coordinator.wire.framing import frame, parse_response_header, request_header
from coordinator.wire.messages import response_type
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.metadata import DescribeClusterRequest, MetadataRequest
from coordinator.wire.schema import Message, Request

# A single node as the documentation of the apache/kafka image starts it, with what people add.
APACHE_COMPOSE = {
    "CLUSTER_ID": "MkU3OEVBNTcwNTJENDM2Qk",
    "KAFKA_NODE_ID": "3",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_LISTENERS": "PLAINTEXT_HOST://0.0.0.0:9092,CONTROLLER://broker:29093,PLAINTEXT://broker:19092",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT_HOST://localhost:9092,PLAINTEXT://broker:19092",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "3@broker:29093",
    "KAFKA_INTER_BROKER_LISTENER_NAME": "PLAINTEXT",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    "KAFKA_LOG_DIRS": "/tmp/kraft-combined-logs",
    "KAFKA_NUM_PARTITIONS": "3",
    "KAFKA_HEAP_OPTS": "-Xmx512M",
    "KAFKA_OPTS": "-Dx=y",
    "KAFKA_JVM_PERFORMANCE_OPTS": "-XX:+UseG1GC",
    "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN",
    "KAFKA_LOG4J_LOGGERS": "kafka.controller=WARN",
}


def test_a_compose_file_for_apache_kafka_works_with_the_name_changed() -> None:
    settings = read({**APACHE_COMPOSE, "PATH": "/bin"}, allow_remote=True)
    assert settings.listen == ["PLAINTEXT_HOST://0.0.0.0:9092", "PLAINTEXT://broker:19092"]
    assert settings.advertise == ["PLAINTEXT_HOST://localhost:9092", "PLAINTEXT://broker:19092"]
    assert (settings.node_id, settings.cluster_id) == (3, "MkU3OEVBNTcwNTJENDM2Qk")
    assert settings.configs["num.partitions"] == "3"
    assert settings.warnings == []


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("KAFKA_GROUP_MAX_SIZE", "group.max.size"),
        ("KAFKA_A__B_C", "a_b.c"),
        ("KAFKA_A___B_C", "a-b.c"),
    ],
)
def test_names(variable: str, name: str) -> None:
    assert config_name(variable) == name


def test_unknown_settings_are_ignored_with_one_line_each() -> None:
    settings = read(
        {"KAFKA_NUM_PARTITION": "3", "KAFKA_ZOOKEEPER_CONNECT": "z:1", "COORDINATOR_TOPIC": "a"}
    )
    assert settings.configs == {}
    ours, near, far = settings.warnings
    assert "COORDINATOR_TOPIC " in ours
    assert "did you mean COORDINATOR_TOPICS?" in ours
    assert "KAFKA_NUM_PARTITION: " in near
    assert "did you mean KAFKA_NUM_PARTITIONS?" in near
    assert "KAFKA_ZOOKEEPER_CONNECT: zookeeper.connect is no broker configuration" in far


def test_several_nodes_are_warned_of() -> None:
    (warning,) = read({"KAFKA_CONTROLLER_QUORUM_VOTERS": "1@a:1,2@b:1"}).warnings
    assert "KAFKA_CONTROLLER_QUORUM_VOTERS" in warning
    assert "a cluster of its own" in warning


def test_our_own_variables() -> None:
    settings = read(
        {
            "COORDINATOR_TOPICS": "orders:12, payments",
            "COORDINATOR_LOG": "/x",
            "COORDINATOR_SEED": "7",
            "COORDINATOR_KAFKA_DEFAULTS": "True",
            "COORDINATOR_LOG_TOPIC": "events",
            "COORDINATOR_LOG_BOOTSTRAP": "other:9092",
        }
    )
    assert settings.topics == ["orders:12", "payments"]
    assert (settings.log, settings.seed, settings.kafka_defaults) == ("/x", 7, True)
    assert (settings.log_topic, settings.log_bootstrap) == ("events", "other:9092")
    several = read({"COORDINATOR_BROKERS": "3", "COORDINATOR_RACKS": "a,b,c"})
    assert (several.brokers, several.racks) == (3, "a,b,c")
    acls = read({"COORDINATOR_ACLS": "User:a may Read topic t\n\n User:a may Read group g"}).acls
    assert acls == ["User:a may Read topic t", "User:a may Read group g"]
    with pytest.raises(UsageError, match="COORDINATOR_ACLS: 'a may Read': 'a' is no principal"):
        read({"COORDINATOR_ACLS": "a may Read"})
    names = (
        "COORDINATOR_ACLS",
        "COORDINATOR_BROKERS",
        "COORDINATOR_RACKS",
        "COORDINATOR_TOPICS",
        "COORDINATOR_LOG",
        "COORDINATOR_SEED",
        "COORDINATOR_KAFKA_DEFAULTS",
        "COORDINATOR_LOG_TOPIC",
        "COORDINATOR_LOG_BOOTSTRAP",
        "CLUSTER_ID",
    )
    assert read(dict.fromkeys(names, "")) == read({})


@pytest.mark.parametrize(
    ("environment", "remote", "listen", "advertise"),
    [
        ({}, True, ["PLAINTEXT://0.0.0.0:9092"], ["PLAINTEXT://localhost:9092"]),
        ({}, False, ["PLAINTEXT://127.0.0.1:9092"], []),
        (
            {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://h:1"},
            True,
            ["PLAINTEXT://0.0.0.0:9092"],
            ["PLAINTEXT://h:1"],
        ),
        ({"KAFKA_LISTENERS": "PLAINTEXT://h:1"}, True, ["PLAINTEXT://h:1"], []),
        (
            {"KAFKA_LISTENERS": "PLAINTEXT://:1"},
            True,
            ["PLAINTEXT://:1"],
            [f"PLAINTEXT://{socket.gethostname()}:1"],
        ),
        (
            {
                "KAFKA_LISTENERS": "PLAINTEXT://h:1,RAFT://h:2",
                "KAFKA_CONTROLLER_LISTENER_NAMES": "raft",
                "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://i:1,RAFT://i:2",
            },
            True,
            ["PLAINTEXT://h:1"],
            ["PLAINTEXT://i:1"],
        ),
    ],
)
def test_listeners(
    environment: dict[str, str], remote: bool, listen: list[str], advertise: list[str]
) -> None:
    settings = read(environment, allow_remote=remote)
    assert (settings.listen, settings.advertise) == (listen, advertise)


def test_options_take_the_place_of_variables() -> None:
    wildcard = {"KAFKA_LISTENERS": "PLAINTEXT://0.0.0.0:9092"}
    settings = read(wildcard, advertise=["here:1"], allow_remote=True)
    assert (settings.listen, settings.advertise) == (
        ["PLAINTEXT://0.0.0.0:9092"],
        ["PLAINTEXT://here:1"],
    )
    settings = read(
        {**wildcard, "KAFKA_ADVERTISED_LISTENERS": "X://nonsense"}, listen=["X://127.0.0.1:1"]
    )
    assert (settings.listen, settings.advertise) == (["X://127.0.0.1:1"], [])


_MAP = "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (
            {"KAFKA_GROUP_MAX_SIZE": "many"},
            ["KAFKA_GROUP_MAX_SIZE=many", "group.max.size", "Not a number of type INT"],
        ),
        ({"KAFKA_GROUP_MAX_SIZE": "0"}, ["KAFKA_GROUP_MAX_SIZE=0", "at least 1"]),
        ({"KAFKA_NODE_ID": "one"}, ["KAFKA_NODE_ID=one", "whole number"]),
        ({"KAFKA_NODE_ID": "-1"}, ["KAFKA_NODE_ID=-1", "from 0"]),
        ({"KAFKA_NODE_ID": "1", "KAFKA_BROKER_ID": "2"}, ["KAFKA_BROKER_ID=2", "KAFKA_NODE_ID=1"]),
        (
            {"KAFKA_PROCESS_ROLES": "controller"},
            ["KAFKA_PROCESS_ROLES=controller", "broker,controller"],
        ),
        ({"KAFKA_LISTENERS": "9092"}, ["KAFKA_LISTENERS", "'9092'", "such as 127.0.0.1:9092"]),
        ({"KAFKA_LISTENERS": "CONTROLLER://:9093"}, ["KAFKA_LISTENERS", "no listener is left"]),
        (
            {"KAFKA_LISTENERS": "PLAINTEXT://0.0.0.0:9092"},
            ["KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:9092"],
        ),
        (
            {"KAFKA_ADVERTISED_LISTENERS": "OUTSIDE://h:1"},
            ["KAFKA_ADVERTISED_LISTENERS", "OUTSIDE://h:1", "are PLAINTEXT"],
        ),
        (
            {"KAFKA_LISTENERS": "IN://h:1", _MAP: "IN:TLS"},
            [_MAP, "the listener IN", "TLS", "one of PLAINTEXT, SSL"],
        ),
        ({"KAFKA_LISTENERS": "IN://h:1"}, [_MAP, "add IN:PLAINTEXT"]),
        ({_MAP: "PLAINTEXT"}, [_MAP, "'PLAINTEXT' is no pair"]),
        ({"COORDINATOR_TOPICS": "orders:0"}, ["COORDINATOR_TOPICS", "orders", "from 1"]),
        ({"COORDINATOR_TOPICS": "a,a"}, ["COORDINATOR_TOPICS", "given twice"]),
        ({"COORDINATOR_BROKERS": "three"}, ["COORDINATOR_BROKERS=three", "whole number"]),
        ({"COORDINATOR_SEED": "x"}, ["COORDINATOR_SEED=x", "whole number"]),
        (
            {"COORDINATOR_KAFKA_DEFAULTS": "yes"},
            ["COORDINATOR_KAFKA_DEFAULTS=yes", "true", "false"],
        ),
    ],
)
def test_what_is_refused(environment: dict[str, str], words: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        read(environment, allow_remote=True)
    for word in words:
        assert word in str(refused.value)


@contextmanager
def serving(
    environment: dict[str, str], *options: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`serve --from-environment` in a process of its own; what it printed until it was ready."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("KAFKA_", "COORDINATOR_", "CLUSTER_ID"))
    }
    command = [sys.executable, "-m", "coordinator", "serve", "--from-environment", *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**clean, **environment},
    ) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("ready: "):
                    break
            yield "".join(lines), process
        finally:
            process.kill()


def test_options_win_over_the_environment() -> None:
    environment = {
        "KAFKA_LISTENERS": "PLAINTEXT://127.0.0.1:0",
        "KAFKA_NODE_ID": "5",
        "KAFKA_NUM_PARTITIONS": "3",
        "KAFKA_GROUP_MAX_SIZE": "9",
        "COORDINATOR_TOPICS": "orders:12,payments",
        "COORDINATOR_SEED": "7",
        "CLUSTER_ID": "of-the-environment",
        "KAFKA_NONSENSE": "1",
    }
    options = (
        "--node-id",
        "6",
        "--config",
        "num.partitions=4",
        "--topic",
        "orders:2",
        "--seed",
        "8",
        "--cluster-id",
        "mine",
    )
    with serving(environment, *options) as (said, process):
        process.terminate()
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == (
            "coordinator serve: warning: KAFKA_NONSENSE: nonsense is no broker configuration of Kafka 4.4.0, and ignored\n"
        )
    assert "cluster mine, node 6, seed 8\n" in said
    assert "* num.partitions = 4 (Kafka: 1)\n" in said
    assert "* group.max.size = 9 (Kafka: 2147483647)\n" in said
    assert "topics: payments:4, orders:2\n" in said


def test_without_the_option_the_environment_does_not_count() -> None:
    command = [
        sys.executable,
        "-m",
        "coordinator",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--loop",
        "asyncio",
    ]
    environment = {**os.environ, "KAFKA_NUM_PARTITIONS": "many"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert any(line.startswith("ready: ") for line in process.stdout)
        process.terminate()
        assert process.wait(60) == 0


def test_a_wrong_value_ends_with_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KAFKA_GROUP_MAX_SIZE", "many")
    assert main(["serve", "--from-environment", "--loop", "asyncio"]) == 2
    assert capsys.readouterr().err.startswith(
        "coordinator serve: error: KAFKA_GROUP_MAX_SIZE=many: "
    )
    monkeypatch.setenv("KAFKA_GROUP_MAX_SIZE", "5")
    monkeypatch.setenv("KAFKA_GROUP_MAX_SESSION_TIMEOUT_MS", "1")
    assert main(["serve", "--from-environment", "--loop", "asyncio"]) == 2
    assert (
        "error: configuration: group.min.session.timeout.ms=6000 must not be above"
        in capsys.readouterr().err
    )


def test_the_logs_topic_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COORDINATOR_LOG_BOOTSTRAP", "nowhere")
    assert main(["serve", "--from-environment", "--loop", "asyncio"]) == 2
    said = capsys.readouterr().err
    assert (
        "--log-bootstrap or COORDINATOR_LOG_BOOTSTRAP: of which topic? Give --log-topic or COORDINATOR_LOG_TOPIC"
        in said
    )
    assert main(["serve", "--from-environment", "--loop", "asyncio", "--log-topic", "events"]) == 2
    assert "COORDINATOR_LOG_BOOTSTRAP: 'nowhere' is no address" in capsys.readouterr().err
    with serving({"COORDINATOR_LOG_TOPIC": "events", "COORDINATOR_TOPICS": "orders:2"}) as (
        told,
        process,
    ):
        process.terminate()
        assert process.wait(60) == 0
    assert (
        "topics: orders:2, events:1\n" in told
        and "event log: also in topic events of this emulator\n" in told
    )


@pytest.mark.parametrize(
    ("request_", "version", "told"),
    [
        (
            MetadataRequest(topics=None),
            12,
            lambda answer: [(node.host, node.port) for node in answer.brokers],
        ),
        (
            DescribeClusterRequest(),
            1,
            lambda answer: [(node.host, node.port) for node in answer.brokers],
        ),
        (FindCoordinatorRequest(key="g"), 3, lambda answer: [(answer.host, answer.port)]),
        (
            FindCoordinatorRequest(coordinator_keys=["g"]),
            4,
            lambda answer: [(node.host, node.port) for node in answer.coordinators],
        ),
    ],
    ids=["Metadata", "DescribeCluster", "FindCoordinator-3", "FindCoordinator-4"],
)
def test_a_client_is_told_the_address_of_the_listener_it_came_by(
    request_: Request, version: int, told: Callable[[Any], list[tuple[str, int]]]
) -> None:
    """Inside and outside, as in a compose file."""
    settings = read(
        {
            "KAFKA_LISTENERS": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
            "KAFKA_ADVERTISED_LISTENERS": "INSIDE://kafka:29092,OUTSIDE://localhost:9092",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        }
    )
    with Emulator(listen=settings.listen, advertise=settings.advertise) as kafka:
        inside, outside = ((endpoint.host, endpoint.port) for endpoint in kafka.server.endpoints)
        assert told(ask(inside, request_, version)) == [("kafka", 29092)]
        assert told(ask(outside, request_, version)) == [("localhost", 9092)]


def ask(address: tuple[str, int], request: Request, version: int) -> Message:
    with (
        socket.create_connection(address, timeout=60) as connection,
        connection.makefile("rb") as answers,
    ):
        connection.sendall(
            frame(
                request_header(type(request).api_key, version, 1, "peer"), request.encode(version)
            )
        )
        data = answers.read(int.from_bytes(answers.read(4), "big"))
    _, at = parse_response_header(data, request.api_key, version)
    return response_type(request.api_key).decode(version, data, at)


@pytest.mark.parametrize(
    ("environ", "option", "told"),
    [
        ({"COORDINATOR_KAFKA_VERSION": "9"}, None, "COORDINATOR_KAFKA_VERSION: '9'"),
        ({"COORDINATOR_KAFKA_VERSION": "4.3"}, "9", "--kafka-version: '9'"),
    ],
)
def test_a_release_that_there_is_none_of(
    environ: dict[str, str], option: str | None, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        read(environ, kafka_version=option)


def test_a_release_and_its_configurations() -> None:
    """What another release has is ignored, as Kafka ignores what it does not know."""
    settings = read(
        {"COORDINATOR_KAFKA_VERSION": "4.3.1", "KAFKA_GROUP_STREAMS_ASSIGNORS": "sticky"}
    )
    assert settings.kafka_version == "4.3.1"
    assert settings.configs == {}
    assert "is no broker configuration of Kafka 4.3.1, and ignored" in settings.warnings[0]
