"""Runs Kafka's command-line tools: many in one JVM, or one as a process of its own.

Owns the JVMs (`java/ToolRunner.java`, compiled at first use into java/target, which git ignores)
and the time a tool may take. A tool that hangs costs its JVM: it is killed, and the next tool gets
another one. Does not depend on what a tool does.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Timer
from typing import NamedTuple

from tools import kafka_jars

_HOME = Path(__file__).parent / "java"
_SOURCE = _HOME / "ToolRunner.java"
_JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xmx256m",
    "-Duser.timezone=UTC",
    "-Duser.language=en",
    "-Duser.country=US",
)
_QUIET = f"-Dlog4j2.configurationFile={_HOME / 'log4j2-quiet.properties'}"
PATIENCE_S = 120.0
"""How long one tool may take: far beyond what any takes on a busy machine."""

HUNG = -1
"""The status of a tool that did not end."""

_T = "org.apache.kafka.tools."
MAINS = {
    "kafka-acls": _T + "AclCommand",
    "kafka-broker-api-versions": _T + "BrokerApiVersionsCommand",
    "kafka-client-metrics": _T + "ClientMetricsCommand",
    "kafka-cluster": _T + "ClusterTool",
    "kafka-configs": "org.apache.kafka.tools.ConfigCommand",
    "kafka-console-consumer": _T + "consumer.ConsoleConsumer",
    "kafka-console-producer": _T + "ConsoleProducer",
    "kafka-console-share-consumer": _T + "consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": _T + "consumer.group.ConsumerGroupCommand",
    "kafka-delegation-tokens": _T + "DelegationTokenCommand",
    "kafka-delete-records": _T + "DeleteRecordsCommand",
    "kafka-features": _T + "FeatureCommand",
    "kafka-get-offsets": _T + "GetOffsetShell",
    "kafka-groups": _T + "GroupsCommand",
    "kafka-leader-election": _T + "LeaderElectionCommand",
    "kafka-log-dirs": _T + "LogDirsCommand",
    "kafka-metadata-quorum": _T + "MetadataQuorumCommand",
    "kafka-reassign-partitions": _T + "reassign.ReassignPartitionsCommand",
    "kafka-share-groups": _T + "consumer.group.ShareGroupCommand",
    "kafka-topics": _T + "TopicCommand",
    "kafka-transactions": _T + "TransactionsCommand",
}
"""The tools' main classes, by the names of their scripts (without `.sh`)."""


class Done(NamedTuple):
    """What a tool left: its exit status (`HUNG` if it never ended) and what it wrote."""

    status: int
    output: str
    errors: str


class ToolJvm:
    """A JVM that runs one tool after another. Not for several threads at once."""

    def __init__(self) -> None:
        """Start nothing yet, but compile the runner. Raises NoJavaError."""
        self._jars = kafka_jars.jars()
        jars = kafka_jars.class_path()
        self._class_path = f"{kafka_jars.compiled(jars, _SOURCE)}{os.pathsep}{jars}"
        self._java = kafka_jars.java()
        self._process: subprocess.Popen[str] | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    def run(
        self,
        tool: str,
        arguments: Sequence[str],
        given: str = "",
        *,
        patience_s: float = PATIENCE_S,
    ) -> Done:
        """Run a tool of `MAINS`; `given` is its standard input. One that has not ended after
        `patience_s` is killed with its JVM."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(patience_s, process.kill)
        timer.start()
        try:
            process.stdin.write(
                json.dumps({"main": MAINS[tool], "arguments": list(arguments), "input": given})
                + "\n"
            )
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            self.close()
            return Done(HUNG, "", f"did not end within {patience_s:g} s")
        reply = json.loads(line)
        return Done(reply["status"], reply["output"], reply["errors"])

    def close(self) -> None:
        """End the JVM, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _start(self) -> subprocess.Popen[str]:
        (jar,) = self._jars.glob("kafka-tools-[0-9]*.jar")
        self._scratch = tempfile.TemporaryDirectory(
            prefix="kafka-tools-"
        )  # codecs unpack their libraries there
        command = [
            self._java,
            *_JVM,
            _QUIET,
            f"-Djava.io.tmpdir={self._scratch.name}",
            "-cp",
            self._class_path,
            "ToolRunner",
            str(jar),
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        return self._process


class ToolJvms:
    """Several JVMs: each takes one tool at a time, so that stories may run side by side."""

    def __init__(self, count: int = 2) -> None:
        """Raises NoJavaError."""
        self._all = [ToolJvm() for _ in range(count)]
        self._free: SimpleQueue[ToolJvm] = SimpleQueue()
        for jvm in self._all:
            self._free.put(jvm)

    def run(self, tool: str, arguments: Sequence[str], given: str = "") -> Done:
        """`ToolJvm.run` on whichever JVM is free next."""
        jvm = self._free.get()
        try:
            return jvm.run(tool, arguments, given)
        finally:
            self._free.put(jvm)

    def close(self) -> None:
        """End all of them."""
        for jvm in self._all:
            jvm.close()


@contextmanager
def tool_jvms(count: int = 2) -> Iterator[ToolJvms]:
    """JVMs for a while. Raises NoJavaError."""
    jvms = ToolJvms(count)
    try:
        yield jvms
    finally:
        jvms.close()


def run_process(tool: str, arguments: Sequence[str], given: str = "") -> Done:
    """Run a tool as its script does: a process of its own. Raises NoJavaError."""
    command = [
        kafka_jars.java(),
        *_JVM,
        _QUIET,
        "-cp",
        kafka_jars.class_path(),
        MAINS[tool],
        *arguments,
    ]
    try:
        done = subprocess.run(
            command,
            check=False,
            input=given,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return Done(HUNG, "", f"did not end within {PATIENCE_S:g} s")
    return Done(done.returncode, done.stdout, done.stderr)
