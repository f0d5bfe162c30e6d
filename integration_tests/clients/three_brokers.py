"""The client matrix on three brokers: a coordinator crashes, a leader stops and returns, all
restart in turn; two members a library.

    python -m integration_tests.clients.three_brokers [--runs 3] [library ...]

plays it on three plain Java brokers, every second time with busy processes beside them, and keeps
what all runs show of each library (integration_tests/golden/three_brokers). Judged on the way is
what an application must be able to rely on: with acks=all and min.insync.replicas=2 every record
that was acknowledged is consumed, and what was committed stays so. What an application sees is the
transcript: calls of the rebalance listeners, and how far the story was. It is compared in its
normal form (`normal`): a rebalance that gives every member what it had is Kafka's own freedom. All
libraries live on one cluster, each with a topic and a group of its own.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from integration_tests.clients.agents_running import Agent, Agents
from integration_tests.clients.compare import Undetermined, stable
from integration_tests.clients.golden import Golden, load, save
from integration_tests.clients.record import busy
from integration_tests.clients.stage import Transcript
from integration_tests.cluster.hosts import Hosts, real_cluster
from integration_tests.cluster.stage import (
    Patient,
    coordinator_partition,
    lay_out,
    leader_of,
    whole,
)

HOME: Final = Path(__file__).resolve().parents[1] / "golden" / "three_brokers"
STORY: Final = "brokers go and come back"
LIBRARIES: Final = {
    "kafka-python": "range",
    "aiokafka": "roundrobin",
    "confluent": "range",
    "java": "range",
}
REPLICAS: Final = ([3, 1, 2], [1, 2, 3], [2, 3, 1])
COORDINATOR: Final = 3
PATIENCE_S: Final = 180.0
"""For each thing that is awaited, on a busy machine."""
RECORDS: Final = 6


class Application:
    """Two consumers and a producer of a library; records that were acknowledged are remembered, and
    those that came."""

    def __init__(self, agent: Agent, hosts: Hosts, library: str, mark: str) -> None:
        self.transcript: Transcript = {}
        self._agent = agent
        self._bootstrap = hosts.bootstrap_servers
        self._library = library
        self._topic = f"{library}-orders-{mark}"
        self._group = next(
            name
            for name in (f"{library}-{mark}-{number}" for number in range(100))
            if leader_of(coordinator_partition(name)) == COORDINATOR
        )
        self._changed = threading.Condition()
        self._number = 0
        self._acknowledged: set[str] = set()
        self._seen: set[str] = set()
        self._owned: dict[str, set[int]] = {}
        self._odd: list[str] = []
        self._make_topic()

    def _make_topic(self) -> None:
        patient = Patient(self._bootstrap.split(","))
        assignments = [
            {"partition_index": index, "broker_ids": replicas}
            for index, replicas in enumerate(REPLICAS)
        ]
        topic = {
            "name": self._topic,
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": assignments,
            "configs": [{"name": "min.insync.replicas", "value": "2"}],
        }
        try:
            patient.ask(
                1, "CreateTopics", 7, topics=[topic], timeout_ms=10_000, validate_only=False
            )
            end = time.monotonic() + PATIENCE_S
            while not all(
                len(patient.partitions(broker, self._topic)) == len(REPLICAS)
                for broker in (1, 2, 3)
            ):
                assert time.monotonic() < end, f"{self._topic} was never made"
                time.sleep(0.05)
        finally:
            patient.close()

    # -- what is heard and asked

    def _heard(self, member: str, line: dict[str, Any]) -> None:
        with self._changed:
            event = line["event"]
            if event == "records":
                self._seen.update(value for _, _, _, value in line["records"])
            elif event in ("assigned", "revoked", "lost"):
                partitions = {index for _, index in line["partitions"]}
                owned = self._owned[member]
                self._owned[member] = (
                    owned | partitions if event == "assigned" else owned - partitions
                )
                self.transcript[member].append(
                    f"{event} {' '.join(f'orders-{index}' for index in sorted(partitions)) or '-'}"
                )
            elif event in ("odd", "agent gone"):
                self._odd.append(str(line))
            self._changed.notify_all()

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        with self._changed:
            came = self._changed.wait_for(lambda: holds() or bool(self._odd), PATIENCE_S)
            assert self._odd == []
            assert came, f"{self._library} never had {what}: {self._owned}"

    def _reply(self, do: str, **what: Any) -> dict[str, Any]:
        came: Future[dict[str, Any]] = Future()
        self._agent.send(do, came.set_result, **what)
        return came.result(PATIENCE_S)

    def _ask(self, do: str, member: str, **what: Any) -> Any:
        """A command that succeeds in the end: while leaders and coordinators move, clients are told
        to try again."""
        end = time.monotonic() + PATIENCE_S
        while True:
            reply = self._reply(do, member=member, **what)
            if "error" not in reply and "event" not in reply:
                return reply["result"]
            if (
                reply.get("error") == "_NO_OFFSET"
            ):  # librdkafka's: nothing was consumed since the last commit, or the last rebalance
                return None
            assert time.monotonic() < end, f"{self._library}, {do}: {reply}"
            time.sleep(0.05)

    # -- the story's parts

    def enter(self, member: str) -> None:
        """A consumer joins; every member has partitions afterwards, and every partition a
        member."""
        self.transcript[member] = []
        self._owned[member] = set()
        self._agent.join(member, lambda line: self._heard(member, line))
        self._ask(
            "create",
            member,
            config={
                "bootstrap.servers": self._bootstrap,
                "group.id": self._group,
                "client.id": member,
                "session.timeout.ms": 300_000,
                "heartbeat.interval.ms": 300,
                "max.poll.interval.ms": 600_000,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "metadata.max.age.ms": 1_000,
                "partition.assignment.strategy": LIBRARIES[self._library],
            },
        )
        self._ask("subscribe", member, topics=[self._topic])
        self._ask("poll", member, on=True)
        self._until(self._shared, "its partitions")

    def _shared(self) -> bool:
        owned = list(self._owned.values())
        return all(owned) and sum(map(len, owned)) == len(set().union(*owned)) == len(REPLICAS)

    def go_on(self, after: str) -> None:
        """Records go in and come out, and are committed: nothing that was acknowledged is missing,
        nothing that was committed either."""
        for number in range(self._number, self._number + RECORDS):
            self._produce(f"record {number}", number % len(REPLICAS))
        self._number += RECORDS
        self._until(lambda: self._acknowledged <= self._seen, "every record")
        self._until(self._shared, "its partitions")
        places = [[self._topic, index] for index in range(len(REPLICAS))]
        end = time.monotonic() + PATIENCE_S
        while True:  # a record that was sent twice comes twice
            for member in self._owned:
                self._ask("commit", member)
            first = next(iter(self._owned))
            ends = self._ask("end_offsets", first, partitions=places)
            if self._ask("committed", first, partitions=places) == ends and sum(
                row[2] for row in ends
            ) >= len(self._acknowledged):
                break
            assert time.monotonic() < end, (
                f"{self._library}: what was consumed is not committed after {after}"
            )
        for steps in self.transcript.values():
            steps.append(f"committed all, {after}")

    def _produce(self, value: str, partition: int) -> None:
        end = time.monotonic() + PATIENCE_S
        while "error" in self._reply(
            "produce", bootstrap=self._bootstrap, records=[[self._topic, partition, value, None]]
        ):
            assert time.monotonic() < end, f"{self._library}: {value} was never acknowledged"
            time.sleep(0.05)
        self._acknowledged.add(value)

    def leave(self, member: str) -> None:
        """A consumer closes; the others have its partitions afterwards."""
        self._reply("close", member=member)
        self._agent.leave(member)
        del self._owned[member]
        if self._owned:
            self._until(self._shared, "the partitions of who left")


def story(
    hosts: Hosts,
    agents: Agents,
    libraries: Iterable[str],
    mark: str,
    seen: dict[str, Transcript] | None = None,
) -> dict[str, Transcript]:
    """The three stories, one after the other, with all libraries at once; what each one's members
    saw. `seen`: is given that as it grows. Raises AssertionError, and TimeoutError for a client
    that does not answer."""
    seen = {} if seen is None else seen
    addresses = hosts.bootstrap_servers.split(",")
    lay_out(addresses)
    libraries = list(libraries)
    with ThreadPoolExecutor(len(libraries)) as pool:

        def each(do: Callable[[Application], None]) -> None:
            for done in [pool.submit(do, one) for one in applications]:
                done.result()

        def gone(node: int, how: str, end: Callable[[int], None]) -> None:
            end(node)
            each(lambda one: one.go_on(f"{how} {node}"))
            hosts.start_broker(node)
            whole(addresses)
            each(lambda one: one.go_on(f"{node} is back"))

        applications = list(
            pool.map(
                lambda library: Application(agents.own(library), hosts, library, mark), libraries
            )
        )
        seen.update(
            (library, one.transcript) for library, one in zip(libraries, applications, strict=True)
        )
        for member in ("A", "B"):
            each(lambda one, member=member: one.enter(member))  # type: ignore[misc]
            each(lambda one, member=member: one.go_on(f"{member} is there"))  # type: ignore[misc]
        gone(COORDINATOR, "crashed", hosts.crash_broker)
        for node in (REPLICAS[1][0], 2, 3):
            gone(node, "stopped", hosts.stop_broker)
        each(lambda one: one.leave("B"))
        each(lambda one: one.go_on("B left"))
        each(lambda one: one.leave("A"))
    return seen


def record(hosts: Hosts, libraries: list[str], runs: int) -> int:
    """Play it so often on real brokers, and keep what all runs show; how many libraries were
    refused."""
    played = []
    with Agents() as agents:
        for number in range(runs):
            begun = time.monotonic()
            with busy(os.cpu_count() or 1 if number % 2 else 0):
                played.append(story(hosts, agents, libraries, f"run{number}"))
            print(f"run {number + 1} of {runs}: {time.monotonic() - begun:.0f} s", flush=True)
    golden: Golden = load(HOME)
    refused = 0
    for library in libraries:
        try:
            golden[library, STORY] = stable([run[library] for run in played])
        except Undetermined as reason:
            refused += 1
            print(f"refused: {library}: {reason}")
    save(golden, HOME)
    return refused


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.clients.three_brokers",
        description="Record the clients of real brokers.",
    )
    parser.add_argument("--runs", type=int, default=3, help="how often it is played (3)")
    parser.add_argument("libraries", nargs="*", help=f"some of {', '.join(LIBRARIES)} (all)")
    options = parser.parse_intermixed_args(arguments)
    unknown = set(options.libraries) - set(LIBRARIES)
    if unknown or options.runs < 1:
        parser.error(
            f"{', '.join(sorted(unknown)) or options.runs}: play one of {', '.join(LIBRARIES)} at least once"
        )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # the Java processes end with this one
    with real_cluster() as hosts:
        return 1 if record(hosts, options.libraries or list(LIBRARIES), options.runs) else 0


if __name__ == "__main__":
    sys.exit(main())
