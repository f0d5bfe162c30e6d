"""A real broker without containers: Kafka's own classes as a plain Java process on loopback.

The fallback where nothing can run a container. `integration_tests.java_kafka` runs one, or a
cluster of three, by hand.

Owns the process and its folder, and the archive of loaded classes that makes a start cheaper. The
jars are those of tools/kafka_jars.py.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from coordinator.testing.readiness import live_brokers
from tests.ports import kept_port
from tools import kafka_jars

READY_S = 600.0
STOP_S = 30.0
ARCHIVE_S = 300.0
LOG_TAIL = 6_000
_CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
_JVM = ("-Xms256m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_LOG4J = """appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
"""
_LATER_MS = str(24 * 3_600_000)
FOR_TESTS: Mapping[str, str] = {
    "log.initial.task.delay.ms": _LATER_MS,
    "share.coordinator.state.topic.prune.interval.ms": _LATER_MS,
    "metadata.max.idle.interval.ms": "0",
}
"""What every real broker of the tests is started with.

Scenarios produce records with time stamps of years ago. A broker would delete them by
`log.retention.ms` when it is 30 s old, and every five minutes from then on: in the midst of a
scenario. Every five minutes it deletes what share groups no longer need of their states' topic,
too. With the first two settings its first look comes a day later. The third keeps a controller
that has nothing to do from writing a record twice a second, half of what an idle broker costs."""
_ONE_BROKER: Mapping[str, object] = {
    "offsets.topic.num.partitions": 4,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
}


def archive_classes(version: str | None = None) -> None:
    """Make the archive of the classes that a broker of a release loads, unless it is there: a start
    takes half the processor time with it.

    Making it takes some twenty seconds, so that it pays for whoever starts many brokers. Raises
    NoJavaError, BrokerError.
    """
    place = _archive(version)
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    making = place.with_name(f"{place.name}-making-{os.getpid()}")
    broker = JavaBroker(options=(f"-XX:ArchiveClassesAtExit={making}",), version=version)
    try:
        broker.start()
        broker.halt(patience_s=ARCHIVE_S)
    finally:
        broker.stop()
    if making.exists():
        making.rename(place)


def _archive(version: str | None) -> Path:
    """Where the archive is: it fits one class path and one set of options."""
    made_of = hashlib.sha256("\0".join([kafka_jars.class_path(version), *_JVM]).encode())
    return kafka_jars.POM.parent / "target" / f"broker-{made_of.hexdigest()[:16]}.jsa"


class BrokerError(RuntimeError):
    """A broker that did not become ready: why, with the end of its log."""


class JavaBroker:
    """One Kafka at `bootstrap_servers`, with any broker configuration, for as long as a `with`
    lasts.

    `version` is its exact release, such as `4.2.2`; the reference unless given. `node` is its id;
    `voters` are the controllers of its cluster by node id, as `host:port`, itself among them: by
    default it is alone. `properties` are the JVM's own. Raises NoJavaError without Java or jars, BrokerError (with the log's end)
    when it does not become ready within `READY_S`.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        *,
        port: int | None = None,
        node: int = 1,
        voters: Mapping[int, str] | None = None,
        options: tuple[str, ...] = (),
        version: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._version = version
        self._properties = dict(properties or {})
        self._config = dict(config or {})
        self._fixed_port = port
        self._node = node
        self._voters = dict(voters or {})
        self._options = options
        self._home = Path()
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap_servers = ""

    @property
    def port(self) -> int:
        """Its port, once it was begun."""
        return int(self.bootstrap_servers.rpartition(":")[2])

    @property
    def running(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Format its storage, start it, wait until it answers."""
        try:
            self.begin()
            self.await_brokers({self._node})
        except BaseException:
            self.stop()
            raise
        return self

    def begin(self, version: str | None = None) -> None:
        """Format its storage if it is new, and start its process, on the same port as before; as
        another exact release if one is given. Does not wait."""
        self._version = version or self._version
        if self._home == Path():
            self._home = Path(tempfile.mkdtemp(prefix="kafka-"))
            port = self._fixed_port or kept_port()
            self.bootstrap_servers = f"127.0.0.1:{port}"
            self._write(port, self._voters or {self._node: f"127.0.0.1:{kept_port()}"})
            self._format()
        with (self._home / "log").open("ab") as log:
            command = [
                *self._java(*self._options),
                "kafka.Kafka",
                str(self._home / "server.properties"),
            ]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def await_brokers(self, ids: set[int]) -> None:
        """Wait until it knows these brokers, and no others, to be alive. Raises BrokerError."""
        end = time.monotonic() + READY_S
        while live_brokers("127.0.0.1", self.port) != ids:
            if self._process is None or self._process.poll() is not None:
                raise BrokerError(f"Kafka ended:\n{self.logs()[-LOG_TAIL:]}")
            if time.monotonic() > end:
                raise BrokerError(
                    f"Kafka is not ready after {READY_S:.0f} s:\n{self.logs()[-LOG_TAIL:]}"
                )
            time.sleep(0.05)

    def halt(self, number: signal.Signals = signal.SIGTERM, patience_s: float = STOP_S) -> None:
        """End the process, by a controlled shutdown or as SIGKILL does; what it has on disk
        stays."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            try:
                process.wait(patience_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def pause(self, paused: bool = True) -> None:
        """Let the process stand still (SIGSTOP), or go on (SIGCONT)."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def stop(self) -> None:
        """End the process and remove its folder."""
        if self._process is not None:
            self.pause(False)
        self.halt()
        if self._home != Path():
            shutil.rmtree(self._home, ignore_errors=True)

    def logs(self) -> str:
        """What the broker wrote until now."""
        path = self._home / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _write(self, port: int, voters: Mapping[int, str]) -> None:
        properties = {
            **(_ONE_BROKER if len(voters) == 1 else {}),
            "node.id": self._node,
            "process.roles": "broker,controller",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://{voters[self._node]}",
            "controller.quorum.voters": ",".join(
                f"{node}@{address}" for node, address in voters.items()
            ),
            "log.dirs": self._home / "data",
            **self._config,
        }
        (self._home / "server.properties").write_text(
            "".join(f"{name}={value}\n" for name, value in properties.items())
        )
        (self._home / "log4j2.properties").write_text(_LOG4J)

    def _java(self, *options: str) -> list[str]:
        archive = _archive(self._version)
        shared = options or ((f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ())
        given = {
            "log4j2.configurationFile": f"{self._home}/log4j2.properties",
            **self._properties,
        }
        of_jvm = [f"-D{name}={value}" for name, value in given.items()]
        classes = ("-cp", kafka_jars.class_path(self._version))
        return [kafka_jars.java(), *_JVM, *shared, *of_jvm, *classes]

    def _format(self) -> None:
        command = [
            *self._java(),
            "kafka.tools.StorageTool",
            "format",
            "-t",
            _CLUSTER_ID,
            "-c",
            str(self._home / "server.properties"),
        ]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise BrokerError(
                f"Kafka refuses its configuration:\n{(done.stdout + done.stderr)[-LOG_TAIL:]}"
            )
