"""The script of the demo: three consumers join, one leaves, one is killed, the topic grows. It
is told while it happens, then judged. Processes are in `processes.py`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from coordinator.events.groups import OffsetsCommitted
from coordinator.events.line import Line
from coordinator.events.reader import Parser
from coordinator.history.explain.narrator import Narrator
from coordinator.history.world.views import GroupView

from . import judges
from .judges import Finding
from .processes import SERVER, Company, PlayerError, start_server

TOPIC, GROUP = "orders", "demo"
PARTITIONS, MORE_PARTITIONS = 12, 16
_PATIENCE_S = 60.0
_TURN_S = 0.05
_SCENE_S = 1.5
"""Seconds that each scene lasts, so that a reader can follow and records flow."""
_INDENT = " " * 12


class Play:
    """One performance. `perform` plays it; after that, `lines` and `company.reports` have what
    the judges read."""

    def __init__(self, company: Company, log: Path, say: Callable[[str], None] = print) -> None:
        self.company = company
        self.log = log
        self.lines: list[Line] = []
        self._say = say
        self._narrator = Narrator()
        self._parser = Parser(str(log))
        self._tail: Iterator[str] = iter(())
        self._committed: dict[int, int] = {}

    def perform(self) -> None:
        """Perform all scenes. Raises PlayerError if something does not come about."""
        self._announce(
            f"The server starts, with topic {TOPIC} of {PARTITIONS} partitions. So does a producer, which writes all along."
        )
        address = start_server(self.company, TOPIC, PARTITIONS, self.log)
        self._tail = _tail(self.log)
        self.company.start(
            "producer", "coordinator.lab.demo.producer", "--bootstrap", address, "--topic", TOPIC
        )
        self._wait(
            "the first records",
            lambda: any(report.type == "produced" for report in self.company.reports),
        )
        self._join(1, "kafka-python", "consumer_kafka_python", address)
        self._join(2, "aiokafka", "consumer_aiokafka", address)
        self._join(3, "confluent-kafka", "consumer_confluent", address)
        self._announce(
            "The aiokafka consumer leaves in good order: it says goodbye, so the others need not wait for it."
        )
        generation = self._group().generation
        self.company.stop("aiokafka")
        self._stable("two members after one left", 2, generation)
        self._announce(
            "The confluent-kafka consumer is killed, without a goodbye: only silence tells, after its session timeout of 6 s."
        )
        generation = self._group().generation
        self.company.kill("confluent-kafka")
        self._stable("one member after the killed one expired", 1, generation)
        self._join(2, "aiokafka", "consumer_aiokafka", address, again=True)
        self._announce(
            f"The topic grows to {MORE_PARTITIONS} partitions. The leader sees it when it refreshes its metadata, within 2 s."
        )
        _grow(address)
        self._wait(
            f"{MORE_PARTITIONS} partitions assigned", lambda: self._assigned() == MORE_PARTITIONS
        )
        self._scene()
        self._finish()

    # -- scenes

    def _join(
        self, members: int, name: str, module: str, address: str, again: bool = False
    ) -> None:
        self._announce(f"A{'nother' if again else ''} consumer starts that is written with {name}.")
        generation = self._group().generation if members > 1 else 0
        name = f"{name}-again" if again else name
        self.company.start(
            name,
            f"coordinator.lab.demo.{module}",
            "--bootstrap",
            address,
            "--topic",
            TOPIC,
            "--group",
            GROUP,
        )
        self._stable(f"{name} in the group", members, generation)

    def _stable(self, what: str, members: int, after: int) -> None:
        """Wait until the group is Stable with this number of members, and all have partitions."""

        def reached() -> bool:
            group = self._narrator.timeline.groups.get(GROUP)
            if group is None or group.state != "Stable" or group.generation <= after:
                return False
            return len(group.members) == members and bool(self._assigned())

        self._wait(what, reached)
        self._scene()

    def _finish(self) -> None:
        self._announce(
            "The producer stops; once everything is consumed and committed, the consumers leave and the server stops."
        )
        self.company.stop("producer")
        self._wait("the producer's end", lambda: not self.company.players["producer"].running)
        self.company.players["producer"].wait()
        self._wait("every record committed", self._all_committed)
        for name in ("kafka-python", "aiokafka-again"):
            self.company.stop(name)
        self._wait("an empty group", lambda: self._group().state == "Empty")
        for name in ("kafka-python", "aiokafka", "aiokafka-again"):
            if self.company.players[name].wait() != 0:
                raise PlayerError(
                    f"{name} did not end well; see {self.company.players[name].complaints}"
                )
        self.company.stop(SERVER)
        status = self.company.players[SERVER].wait()
        self._pump()
        if status != 0:
            raise PlayerError(
                f"the server ended with status {status}; see {self.company.players[SERVER].complaints}"
            )

    # -- looking

    def _group(self) -> GroupView:
        return self._narrator.timeline.groups[GROUP]

    def _assigned(self) -> int:
        """Return the number of partitions that the members own."""
        return sum(
            len((member.assignment or {}).get(TOPIC, ()))
            for member in self._group().members.values()
        )

    def _all_committed(self) -> bool:
        ends: dict[int, int] = {}
        for report in self.company.reports:
            if report.type == "produced":
                for partition, (_, last) in report.fields["spans"].items():
                    ends[int(partition)] = last + 1
        return all(self._committed.get(partition, 0) >= end for partition, end in ends.items())

    # -- going on

    def _announce(self, text: str) -> None:
        self._say("")
        self._say(f"{_INDENT}# {text}")

    def _scene(self) -> None:
        end = time.monotonic() + _SCENE_S
        while time.monotonic() < end:
            self._turn()

    def _wait(self, what: str, reached: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not reached():
            if time.monotonic() > end:
                raise PlayerError(
                    f"waited {_PATIENCE_S:.0f} s for {what}, in vain; the log may tell why: coordinator explain {self.log}"
                )
            self._turn()

    def _turn(self) -> None:
        time.sleep(_TURN_S)
        self._pump()
        self.company.listen()

    def _pump(self) -> None:
        """Print the explanation of new lines of the log."""
        for text in self._tail:
            if not text:
                break
            line = self._parser.parse(text)
            if line is None:
                continue
            self.lines.append(line)
            if line.kind is OffsetsCommitted:
                committed: OffsetsCommitted = line.event
                self._committed |= {of.partition: of.offset for of in committed.offsets}
            for told in self._narrator.tell(line):
                self._say(told)


def _tail(path: Path) -> Iterator[str]:
    """Yield whole lines as they are written to a file; "" when there is none at the moment."""
    with path.open(encoding="ascii") as file:
        text = ""
        while True:
            text += file.readline()
            if text.endswith("\n"):
                yield text
                text = ""
            else:
                yield ""


def _grow(address: str) -> None:
    """Add partitions to the topic, by the admin API."""
    from confluent_kafka.admin import AdminClient, NewPartitions

    admin = AdminClient({"bootstrap.servers": address, "client.id": "operator"})
    for future in admin.create_partitions([NewPartitions(TOPIC, MORE_PARTITIONS)]).values():
        future.result(timeout=_PATIENCE_S)


def run(folder: Path, log: Path, say: Callable[[str], None] = print) -> bool:
    """Perform and judge; return True if all is well."""
    findings: list[Finding] = []
    trouble = ""
    with Company(folder) as company:
        play = Play(company, log, say)
        try:
            play.perform()
            findings = judges.judge(TOPIC, play.lines, company.reports)
        except PlayerError as error:
            trouble = str(error)
    say("")
    for finding in findings:
        for line in judges.shown(finding):
            say(line)
    well = not trouble and not any(finding.faults for finding in findings)
    if well:
        generations = play.lines[-1].generation or 0
        say(
            f"PASSED: three client libraries, one group, {generations} generations, nothing lost and nothing shared. Log: {log}"
        )
    else:
        say(f"FAILED: {trouble or 'a judge found fault, see above'}. Log: {log}")
    sys.stdout.flush()
    return well
