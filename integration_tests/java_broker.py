"""A real broker without containers: Kafka's own classes as a plain Java process on loopback.

The fallback where nothing can run a container, and the quick loop when comparing by hand:

    python -m integration_tests.java_broker [--port N] [name=value ...]

Owns the process and its folder. The jars are those of tools/kafka_jars.py.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from coordinator.testing.readiness import free_port, live_brokers
from tools import kafka_jars

READY_S = 90.0
STOP_S = 30.0
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
_ONE_BROKER: Mapping[str, object] = {
    "node.id": 1,
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "offsets.topic.num.partitions": 4,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
}


class BrokerError(RuntimeError):
    """A broker that did not become ready: why, with the end of its log."""


class JavaBroker:
    """One Kafka 4.3.1 at `bootstrap_servers`, with any broker configuration, for as long as a `with` lasts.

    Raises NoJavaError without Java or jars, BrokerError (with the log's end) when it does not become ready within `READY_S`.
    """

    def __init__(self, config: Mapping[str, object] | None = None, *, port: int | None = None) -> None:
        self._config = dict(config or {})
        self._fixed_port = port
        self._home = Path()
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap_servers = ""

    def start(self) -> Self:
        """Format its storage, start it, wait until it answers."""
        port, controller = self._fixed_port or free_port(), free_port()
        self._home = Path(tempfile.mkdtemp(prefix="kafka-"))
        self.bootstrap_servers = f"127.0.0.1:{port}"
        self._write(port, controller)
        try:
            self._run(port)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the process and remove its folder."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._home != Path():
            shutil.rmtree(self._home, ignore_errors=True)

    def logs(self) -> str:
        """What the broker wrote until now."""
        path = self._home / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _write(self, port: int, controller: int) -> None:
        properties = {
            **_ONE_BROKER,
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "log.dirs": self._home / "data",
            **self._config,
        }
        (self._home / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        (self._home / "log4j2.properties").write_text(_LOG4J)

    def _run(self, port: int) -> None:
        base = [kafka_jars.java(), *_JVM, f"-Dlog4j2.configurationFile={self._home}/log4j2.properties", "-cp", kafka_jars.class_path()]
        properties = str(self._home / "server.properties")
        form = subprocess.run(
            [*base, "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", properties], check=False, capture_output=True, text=True
        )  # fmt: skip
        if form.returncode:
            raise BrokerError(f"Kafka refuses its configuration:\n{(form.stdout + form.stderr)[-LOG_TAIL:]}")
        with (self._home / "log").open("wb") as log:
            self._process = subprocess.Popen([*base, "kafka.Kafka", properties], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + READY_S
        while not live_brokers("127.0.0.1", port):
            if self._process.poll() is not None:
                raise BrokerError(f"Kafka ended with status {self._process.returncode}:\n{self.logs()[-LOG_TAIL:]}")
            if time.monotonic() > end:
                raise BrokerError(f"Kafka is not ready after {READY_S:.0f} s:\n{self.logs()[-LOG_TAIL:]}")
            time.sleep(0.05)


def main(arguments: list[str] | None = None) -> int:
    """Run a broker until it is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m integration_tests.java_broker", description="A real Kafka 4.3.1 until Ctrl-C.")
    parser.add_argument("--port", type=int)
    parser.add_argument("config", nargs="*", metavar="name=value")
    options = parser.parse_args(arguments)
    wrong = [entry for entry in options.config if "=" not in entry]
    if wrong:
        parser.error(f"{wrong[0]!r} is no broker configuration: give name=value, such as group.max.size=2")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the Java process ends too
    config = dict(entry.split("=", 1) for entry in options.config)
    try:
        with JavaBroker({"group.initial.rebalance.delay.ms": 0, **config}, port=options.port) as broker:
            print(f"ready: {broker.bootstrap_servers}", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except (kafka_jars.NoJavaError, BrokerError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
