"""The client matrix on three brokers: a coordinator crashes and returns, a partition's leader stops and returns, all restart in turn.

Four unmodified client libraries, each with a cluster of its own; all are under way at once, and each test awaits its own. Judged is what
an application must be able to rely on: with acks=all and min.insync.replicas=2 every record that was acknowledged is consumed, and
what was committed stays so. Without Java and its libraries the Java consumer is skipped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

import pytest

from coordinator import Emulator
from coordinator.java_hash import coordinator_partition
from integration_tests.clients import java_agent
from integration_tests.clients.agents_running import Agent, Agents
from tools.kafka_jars import NoJavaError

LIBRARIES: Final = {"kafka-python": "range", "aiokafka": "roundrobin", "confluent": "range", "java": "range"}
TOPIC, PARTITIONS, GROUP = "orders", 3, "group"
SETTINGS: Final = {
    "broker.session.timeout.ms": 500, "controller.quorum.fetch.timeout.ms": 300, "default.replication.factor": 3, "min.insync.replicas": 2,
    "offsets.topic.num.partitions": 4, "replica.lag.time.max.ms": 1_000,
}  # fmt: skip
PATIENCE_S: Final = 120.0
"""For each thing that is awaited, on a busy machine."""
RECORDS: Final = 12


class Application:
    """One consumer and one producer of a library; records that were acknowledged are remembered, and those that came."""

    def __init__(self, agent: Agent, emulator: Emulator, library: str) -> None:
        self._agent = agent
        self._emulator = emulator
        self._changed = threading.Condition()
        self._number = 0
        self.acknowledged: set[str] = set()
        self.seen: set[str] = set()
        self.owned: set[tuple[str, int]] = set()
        self.odd: list[str] = []
        agent.join("member", self._heard)
        self.ask("create", config={
            "bootstrap.servers": emulator.bootstrap_servers, "group.id": GROUP, "client.id": library, "session.timeout.ms": 20_000,
            "heartbeat.interval.ms": 300, "max.poll.interval.ms": 300_000, "auto.offset.reset": "earliest", "enable.auto.commit": False,
            "metadata.max.age.ms": 1_000, "partition.assignment.strategy": LIBRARIES[library]})
        self.ask("subscribe", topics=[TOPIC])
        self.ask("poll", on=True)
        self._until(lambda: len(self.owned) == PARTITIONS, "its partitions")

    def _heard(self, line: dict[str, Any]) -> None:
        with self._changed:
            match line["event"]:
                case "records":
                    self.seen.update(value for _, _, _, value in line["records"])
                case "assigned":
                    self.owned |= {(topic, index) for topic, index in line["partitions"]}
                case "revoked" | "lost":
                    self.owned -= {(topic, index) for topic, index in line["partitions"]}
                case "odd" | "agent gone":
                    self.odd.append(str(line))
            self._changed.notify_all()

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: holds() or bool(self.odd), PATIENCE_S), f"never had {what}"
            assert self.odd == []

    def _reply(self, do: str, **what: Any) -> dict[str, Any]:
        came: Future[dict[str, Any]] = Future()
        self._agent.send(do, came.set_result, **what)
        return came.result(PATIENCE_S)

    def ask(self, do: str, **what: Any) -> Any:
        """A command that succeeds in the end: while leaders and coordinators move, clients are told to try again."""
        end = time.monotonic() + PATIENCE_S
        while True:
            reply = self._reply(do, member="member", **what)
            if "error" not in reply and "event" not in reply:
                return reply["result"]
            assert time.monotonic() < end, f"{do}: {reply}"
            time.sleep(0.05)

    def go_on(self) -> None:
        """Records go in and come out, and are committed."""
        for number in range(self._number, self._number + RECORDS):
            self._produce(f"record {number}", number % PARTITIONS)
        self._number += RECORDS
        self._until(lambda: self.acknowledged <= self.seen, f"{sorted(self.acknowledged - self.seen)}")
        self.ask("commit")

    def _produce(self, value: str, partition: int) -> None:
        end = time.monotonic() + PATIENCE_S
        while "error" in self._reply("produce", bootstrap=self._emulator.bootstrap_servers, records=[[TOPIC, partition, value, None]]):
            assert time.monotonic() < end, f"{value} was never acknowledged"
            time.sleep(0.05)
        self.acknowledged.add(value)

    def judge(self) -> None:
        """All that was acknowledged came, and all of it is committed."""
        assert self.acknowledged <= self.seen
        assert self.odd == []
        assert self.owned == {(TOPIC, index) for index in range(PARTITIONS)}
        places = [[TOPIC, index] for index in range(PARTITIONS)]
        committed, ends = self.ask("committed", partitions=places), self.ask("end_offsets", partitions=places)
        assert committed == ends, "everything was consumed and committed"
        assert sum(offset for _, _, offset in ends) >= len(self.acknowledged)

    def close(self) -> None:
        """The consumer closes."""
        self._reply("close", member="member")
        self._agent.leave("member")


def leader(emulator: Emulator, topic: str, index: int) -> int:
    """Who leads a partition, as a broker that runs knows."""
    def look() -> int:
        running = next(broker for node, broker in emulator.brokers.items() if emulator.is_running(node))
        partition = running.cluster.partition(topic, index)
        assert partition is not None
        return partition.leader

    return emulator.run(look)


def whole(emulator: Emulator) -> None:
    """Wait until every replica of the topic is in sync again."""
    def look() -> bool:
        topic = emulator.brokers[1].controller.cluster.topics[TOPIC]
        return all(len(partition.isr) == 3 for partition in topic.partitions)

    end = time.monotonic() + PATIENCE_S
    while not emulator.run(look):
        assert time.monotonic() < end, "a replica never came back"
        time.sleep(0.05)


def played(library: str, agents: Agents) -> None:
    """The three stories, one after the other."""
    with Emulator({TOPIC: PARTITIONS}, SETTINGS, brokers=3, racks=["a", "b", "c"]) as emulator:
        application = Application(agents.own(library), emulator, library)
        application.go_on()
        coordinator = leader(emulator, "__consumer_offsets", coordinator_partition(GROUP, 4))
        with emulator.stop_broker(coordinator, how="crash"):
            application.go_on()
            assert leader(emulator, "__consumer_offsets", coordinator_partition(GROUP, 4)) != coordinator
        whole(emulator)
        application.go_on()
        with emulator.stop_broker(leader(emulator, TOPIC, 0)):
            application.go_on()
        whole(emulator)
        application.go_on()
        for node in (1, 2, 3):
            with emulator.stop_broker(node):
                application.go_on()
            whole(emulator)
        application.go_on()
        application.judge()
        application.close()


@pytest.fixture(scope="module")
def plays(agents: Agents, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[None]]]:
    """What was selected, under way."""
    chosen = [
        str(item.callspec.params["library"]) for item in request.session.items
        if isinstance(item, pytest.Function) and item.module.__name__ == __name__ and hasattr(item, "callspec")]
    with ThreadPoolExecutor(len(LIBRARIES)) as pool:
        yield {library: pool.submit(played, library, agents) for library in chosen if library != "java" or not no_java()}


def no_java() -> str:
    """Why the Java consumer cannot play; empty if it can."""
    try:
        java_agent.command()
    except NoJavaError as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_no_record_and_no_commit_is_lost(library: str, plays: dict[str, Future[None]]) -> None:
    if library not in plays:
        pytest.skip(f"no Java consumer: {no_java()}")
    plays[library].result()
