"""Kafka's own administrators' tools on three brokers: partitions that move, leaders that are elected, what is under-replicated.

    python -m integration_tests.cluster.tools

plays the story on three plain Java brokers, twice, and keeps what the tools said (integration_tests/golden/cluster/tools.txt).
"""

from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from integration_tests.cluster.hosts import Hosts, real_cluster
from integration_tests.cluster.stage import WHOLE_S, Patient
from integration_tests.tools.runner import ToolJvm
from integration_tests.tools.transcript import Names

KEPT: Final = Path(__file__).resolve().parents[1] / "golden" / "cluster" / "tools.txt"
TOPIC: Final = "moved"
_DIRECTORY = re.compile(r'"/[^"]*"')


class Desk:
    """An administrator: runs tools, keeps what they say, and waits for what they begin."""

    def __init__(self, hosts: Hosts, jvm: ToolJvm, folder: Path) -> None:
        self.hosts = hosts
        self.lines: list[str] = []
        self._jvm = jvm
        self._folder = folder
        self._patient = Patient(hosts.bootstrap_servers.split(","))
        addresses = {address: f"BROKER{node}" for node, address in enumerate(hosts.bootstrap_servers.split(","), 1)}
        self._names = Names("no mark", hosts.bootstrap_servers, {str(folder): "FOLDER", **addresses})

    def close(self) -> None:
        """Hang up."""
        self._patient.close()

    def run(self, tool: str, *arguments: str, asked: int = 1) -> None:
        """Run a tool against a broker, and keep its output."""
        address = self.hosts.bootstrap_servers.split(",")[asked - 1]
        done = self._jvm.run(tool, ["--bootstrap-server", address, *arguments])
        self.lines.append(f"$ {tool} {' '.join(self._names.line(argument) for argument in arguments)}")
        self.lines += [_DIRECTORY.sub('"DIRECTORY"', line) for line in self._names.lines(done.output)]
        self.lines += [f"! {line}" for line in self._names.lines(done.errors)]
        if done.status:
            self.lines.append(f"= {done.status}")

    def plan(self, **replicas: list[int]) -> str:
        """A file that says where partitions are to go: p0=[1, 2]."""
        path = self._folder / f"plan{len(list(self._folder.iterdir()))}.json"
        rows = [{"topic": TOPIC, "partition": int(name[1:]), "replicas": ids} for name, ids in replicas.items()]
        path.write_text(json.dumps({"version": 1, "partitions": rows}))
        return str(path)

    def until(self, broker: int, index: int, *, alive: tuple[int, ...] = (1, 2, 3), **wanted: object) -> None:
        """Wait until a partition is as wanted, as a broker knows it."""
        def holds() -> bool:
            found = [one for one in self._patient.partitions(broker, TOPIC) if one["partition_index"] == index]
            same = bool(found) and all((set(found[0][k]) if isinstance(v, set) else found[0][k]) == v for k, v in wanted.items())
            return same and self._patient.alive(broker) == set(alive)

        _until(holds, f"{TOPIC}-{index} never came to {wanted}")


def _until(holds: Callable[[], bool], never: str) -> None:
    end = time.monotonic() + WHOLE_S
    while not holds():
        assert time.monotonic() < end, never
        time.sleep(0.05)


def story(desk: Desk) -> None:
    """A topic moves, is led by others, loses a broker and gets it back."""
    desk.run("kafka-topics", "--create", "--topic", TOPIC, "--replica-assignment", "1:2,2:3", "--config", "min.insync.replicas=2")
    desk.until(1, 1, isr_nodes={2, 3})
    desk.run("kafka-topics", "--describe", "--topic", TOPIC)
    there = desk.plan(p0=[3, 2], p1=[2, 1])
    desk.run("kafka-reassign-partitions", "--execute", "--reassignment-json-file", there)
    desk.until(1, 0, replica_nodes=[3, 2], isr_nodes={2, 3})
    desk.until(1, 1, replica_nodes=[2, 1], isr_nodes={1, 2})
    desk.run("kafka-reassign-partitions", "--verify", "--reassignment-json-file", there)
    desk.run("kafka-reassign-partitions", "--list")
    desk.run("kafka-leader-election", "--election-type", "preferred", "--topic", TOPIC, "--partition", "0")
    desk.run("kafka-leader-election", "--election-type", "preferred", "--topic", TOPIC, "--partition", "7")
    desk.run("kafka-leader-election", "--election-type", "unclean", "--topic", TOPIC, "--partition", "1")
    desk.run("kafka-topics", "--describe", "--topic", TOPIC)
    desk.hosts.crash_broker(3)
    desk.until(1, 0, alive=(1, 2), leader_id=2, isr_nodes={2})
    for which in ("under-replicated", "at-min-isr", "under-min-isr", "unavailable"):
        desk.run("kafka-topics", "--describe", "--topic", TOPIC, f"--{which}-partitions")
    desk.run("kafka-reassign-partitions", "--execute", "--reassignment-json-file", desk.plan(p0=[1, 3]))
    desk.hosts.start_broker(3)
    desk.until(1, 0, isr_nodes={2, 3})
    desk.run("kafka-leader-election", "--election-type", "preferred", "--topic", TOPIC, "--partition", "0")
    desk.run("kafka-topics", "--describe", "--topic", TOPIC, "--under-replicated-partitions")
    desk.run("kafka-reassign-partitions", "--execute", "--reassignment-json-file", desk.plan(p0=[1, 9]))
    desk.run("kafka-reassign-partitions", "--execute", "--reassignment-json-file", desk.plan(p0=[1, 1]))


def told(hosts: Hosts) -> list[str]:
    """What the tools say on these brokers. Raises NoJavaError."""
    jvm = ToolJvm()
    with tempfile.TemporaryDirectory(prefix="cluster-tools-") as folder:
        desk = Desk(hosts, jvm, Path(folder))
        try:
            story(desk)
        finally:
            desk.close()
            jvm.close()
    return desk.lines


def main() -> int:
    """Record."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # the Java processes end with this one
    found = []
    for _ in range(2):
        with real_cluster() as hosts:
            found.append(told(hosts))
    if found[0] != found[1]:
        print("it does not repeat", *(f"{one}\n{other}\n" for one, other in zip(*found, strict=False) if one != other), sep="\n")
        return 1
    KEPT.write_text("\n".join(found[0]) + "\n", encoding="utf-8")
    print(f"{len(found[0])} lines kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
