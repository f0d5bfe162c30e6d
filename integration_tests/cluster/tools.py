"""Kafka's own administrators' tools on three brokers: partitions that move, leaders that are
elected, what is under-replicated.

    python -m integration_tests.cluster.tools

plays the story on three plain Java brokers, twice, and keeps what the tools said
(integration_tests/golden/cluster/tools.txt).
"""

from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

from coordinator.cli import main as coordinator
from integration_tests.cluster.hosts import Hosts, real_cluster
from integration_tests.cluster.stage import WHOLE_S, Patient
from integration_tests.cluster.tool_stories import REASSIGN, STORIES, TOPIC, Story
from integration_tests.tools.runner import Done, ToolJvm
from integration_tests.tools.transcript import Names
from integration_tests.wire.batches import batch
from integration_tests.wire.raw import Plain

KEPT: Final = Path(__file__).resolve().parents[1] / "golden" / "cluster" / "tools.txt"
_DIRECTORY = re.compile(r'"/[^"]*"')


class Desk:
    """An administrator: runs tools, keeps what they say, and waits for what they begin."""

    def __init__(self, hosts: Hosts, jvm: ToolJvm, folder: Path) -> None:
        self.hosts = hosts
        self.lines: list[str] = []
        self._jvm = jvm
        self._folder = folder
        self._patient = Patient(hosts.bootstrap_servers.split(","))
        addresses = {
            address: f"BROKER{node}"
            for node, address in enumerate(hosts.bootstrap_servers.split(","), 1)
        }
        self._names = Names(
            "no mark", hosts.bootstrap_servers, {str(folder): "FOLDER", **addresses}
        )

    def close(self) -> None:
        """Hang up."""
        self._patient.close()

    def run(self, tool: str, *arguments: str, asked: int = 1) -> None:
        """Run a tool against a broker, and keep its output."""
        address = self.hosts.bootstrap_servers.split(",")[asked - 1]
        self.keep(tool, arguments, self._jvm.run(tool, ["--bootstrap-server", address, *arguments]))

    def keep(self, tool: str, arguments: Sequence[str], done: Done) -> None:
        """Keep what a tool said."""
        self.lines.append(
            f"$ {tool} {' '.join(self._names.line(argument) for argument in arguments)}"
        )
        self.lines += [
            _DIRECTORY.sub('"DIRECTORY"', line) for line in self._names.lines(done.output)
        ]
        self.lines += [f"! {line}" for line in self._names.lines(done.errors)]
        if done.status:
            self.lines.append(f"= {done.status}")

    def quietly(self, tool: str, *arguments: str) -> str:
        """Run a tool and keep its call alone; what it printed."""
        done = self._jvm.run(
            tool, ["--bootstrap-server", self.hosts.bootstrap_servers.split(",")[0], *arguments]
        )
        self.lines.append(f"$ {tool} {' '.join(arguments)}")
        return "\n".join(self._names.lines(done.output))

    def until_said(self, text: str, tool: str, *arguments: str) -> None:
        """Run a tool at broker 3 until it says this, and keep nothing."""
        address = self.hosts.bootstrap_servers.split(",")[2]
        _until(
            lambda: text in self._jvm.run(tool, ["--bootstrap-server", address, *arguments]).output,
            f"{tool} never said {text}",
        )

    def file(self, content: object) -> str:
        """A file with this as JSON."""
        path = self._folder / f"plan{len(list(self._folder.iterdir()))}.json"
        path.write_text(json.dumps(content))
        return str(path)

    def plan(self, topic: str = TOPIC, **replicas: list[int]) -> str:
        """A file that says where partitions are to go: p0=[1, 2]."""
        rows = [
            {"topic": topic, "partition": int(name[1:]), "replicas": ids}
            for name, ids in replicas.items()
        ]
        return self.file({"version": 1, "partitions": rows})

    def produce(self, topic: str, broker: int, *values: bytes) -> None:
        """Write records to partition 0 at its leader, one in each batch, to that leader alone."""
        for value in values:
            topics: list[Plain] = [
                {"name": topic, "partition_data": [{"index": 0, "records": batch(value)}]}
            ]
            answer = self._patient.ask(
                broker,
                "Produce",
                9,
                transactional_id=None,
                acks=1,
                timeout_ms=10_000,
                topic_data=topics,
            )
            assert answer is not None
            assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0, answer

    def until(
        self,
        broker: int,
        index: int,
        *,
        topic: str = TOPIC,
        alive: tuple[int, ...] = (1, 2, 3),
        **wanted: object,
    ) -> None:
        """Wait until a partition is as wanted, as a broker knows it."""

        def holds() -> bool:
            found = [
                one
                for one in self._patient.partitions(broker, topic)
                if one["partition_index"] == index
            ]
            same = bool(found) and all(
                (set(found[0][k]) if isinstance(v, set) else found[0][k]) == v
                for k, v in wanted.items()
            )
            return same and self._patient.alive(broker) == set(alive)

        _until(holds, f"{topic}-{index} never came to {wanted}")


class OwnDesk(Desk):
    """An administrator who reassigns partitions with `coordinator reassign`."""

    def run(self, tool: str, *arguments: str, asked: int = 1) -> None:
        """Run a tool, ours in the place of kafka-reassign-partitions, and keep its output."""
        action = next(
            (
                each
                for each in ("generate", "execute", "verify", "list", "cancel")
                if f"--{each}" in arguments
            ),
            "",
        )
        if tool != REASSIGN or not action:
            super().run(tool, *arguments, asked=asked)
            return
        options = [each for each in arguments if each != f"--{action}"]
        with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
            try:
                status = coordinator(
                    [
                        "reassign",
                        action,
                        "--bootstrap-server",
                        self.hosts.bootstrap_servers,
                        *options,
                    ]
                )
            except SystemExit as left:  # options that argparse refuses
                status = int(left.code or 0)
        self.keep(tool, arguments, Done(status, output.getvalue(), errors.getvalue()))


def _until(holds: Callable[[], bool], never: str) -> None:
    end = time.monotonic() + WHOLE_S
    while not holds():
        assert time.monotonic() < end, never
        time.sleep(0.05)


def told(hosts: Hosts, kind: type[Desk] = Desk, stories: Sequence[Story] = STORIES) -> list[str]:
    """What the tools say on these brokers. Raises NoJavaError."""
    jvm = ToolJvm()
    with tempfile.TemporaryDirectory(prefix="cluster-tools-") as folder:
        desk = kind(hosts, jvm, Path(folder))
        try:
            for story in stories:
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
        print(
            "it does not repeat",
            *(f"{one}\n{other}\n" for one, other in zip(*found, strict=False) if one != other),
            sep="\n",
        )
        return 1
    KEPT.write_text("\n".join(found[0]) + "\n", encoding="utf-8")
    print(f"{len(found[0])} lines kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
