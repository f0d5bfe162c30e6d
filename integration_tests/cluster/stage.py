"""What a scenario of several brokers acts on: brokers by id, topics with given replicas, and the
ends of what was begun.

Rules: internal topics stand where every cluster has them alike (`lay_out`), so that a group's
coordinator is known; a scenario waits for what it does to be seen by every broker that is alive;
after it the cluster is made whole again. Judges nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from integration_tests.cluster.hosts import Hosts
from integration_tests.wire.batches import batch
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.people import java_hash
from integration_tests.wire.raw import Closed, Plain, RawConnection, Silent
from integration_tests.wire.recorder import Link, Session

BROKERS: Final = (1, 2, 3)
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
SHARE_STATES: Final = "__share_group_state"
"""Made by the first scenario that needs it."""
INTERNAL_PARTITIONS: Final = 4
_NO_GROUP, _NO_TRANSACTION = 69, 105
WHOLE_S: Final = 120.0
"""How long it may take until a cluster is whole."""
_LOOK_S: Final = 0.05

PARTITION: Final = (
    "leader_id",
    "leader_epoch",
    "replica_nodes",
    "isr_nodes",
    "eligible_leader_replicas",
    "last_known_elr",
    "offline_replicas",
)
"""What is shown of a partition."""


def leader_of(partition: int) -> int:
    """The broker that leads a partition of an internal topic on every cluster that was laid out."""
    return partition % len(BROKERS) + 1


def replicas_of(partition: int) -> list[int]:
    """Its replicas."""
    first = leader_of(partition)
    return [(first - 1 + step) % len(BROKERS) + 1 for step in range(len(BROKERS))]


class Patient:
    """Asks brokers without leaving steps, over connections of its own that are made anew when they
    break."""

    def __init__(self, addresses: list[str]) -> None:
        self._addresses = addresses
        self._connections: dict[int, RawConnection] = {}

    def ask(self, broker: int, api: str, version: int, **fields: Any) -> Plain | None:
        """The answer; None if there is none."""
        try:
            if broker not in self._connections:
                self._connections[broker] = RawConnection(self._addresses[broker - 1], TableCodec())
            self._connections[broker].send(api, version, fields)
            return self._connections[broker].receive(3_000)[1]
        except (Closed, Silent, OSError):
            self.forget(broker)
            return None

    def forget(self, broker: int) -> None:
        """Hang up."""
        connection = self._connections.pop(broker, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Hang up everywhere."""
        for broker in list(self._connections):
            self.forget(broker)

    def partitions(self, broker: int, topic: str) -> list[Plain]:
        """A topic's partitions as a broker knows them; none if it knows no such topic, or does not
        answer."""
        answer = self.ask(
            broker,
            "DescribeTopicPartitions",
            0,
            topics=[{"name": topic}],
            response_partition_limit=100,
            cursor=None,
        )
        return list(answer["topics"][0]["partitions"]) if answer else []

    def alive(self, broker: int) -> set[int]:
        """The brokers that a broker believes to be alive."""
        answer = self.ask(broker, "Metadata", 12, topics=[])
        return {entry["node_id"] for entry in answer["brokers"]} if answer else set()


def await_true(holds: Callable[[], bool], never: str, limit_s: float = WHOLE_S) -> None:
    """Wait until something holds. Raises AssertionError, which says what never did."""
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(never)
        time.sleep(_LOOK_S)


def whole(addresses: list[str]) -> None:
    """Wait until all brokers know each other, every replica is in sync, every preferred leader
    leads, and internal topics are served where they were laid out. Raises AssertionError."""
    patient = Patient(addresses)
    try:
        await_true(
            lambda: all(patient.alive(broker) == set(BROKERS) for broker in BROKERS),
            "the brokers never found each other",
        )
        await_true(lambda: _placed(patient), "internal topics never came to their places")
        await_true(
            lambda: all(_is_whole(patient, broker) for broker in BROKERS),
            "the cluster never became whole",
        )
        await_true(lambda: _coordinated(patient), "the coordinators never served")
        await_true(
            lambda: all(_has_ids(patient, broker) for broker in BROKERS),
            "the brokers never had producer ids",
        )
    finally:
        patient.close()


def _placed(patient: Patient) -> bool:
    """Is each partition of the internal topics where `replicas_of` says? Those that are not are
    moved."""
    for topic in (OFFSETS, TRANSACTIONS, SHARE_STATES):
        found = {p["partition_index"]: p["replica_nodes"] for p in patient.partitions(1, topic)}
        entries = [
            {"partition_index": i, "replicas": replicas_of(i)}
            for i in found
            if found[i] != replicas_of(i)
        ]
        if entries:
            patient.ask(
                1,
                "AlterPartitionReassignments",
                0,
                topics=[{"name": topic, "partitions": entries}],
                timeout_ms=10_000,
            )
            return False
    return True


def _is_whole(patient: Patient, broker: int) -> bool:
    answer = patient.ask(broker, "Metadata", 12, topics=None)
    if answer is None:
        return False
    partitions = [partition for topic in answer["topics"] for partition in topic["partitions"]]
    in_sync = all(set(p["replica_nodes"]) == set(p["isr_nodes"]) for p in partitions)
    led = all(p["leader_id"] == p["replica_nodes"][0] for p in partitions)
    if in_sync and not led:
        patient.ask(
            broker, "ElectLeaders", 2, election_type=0, topic_partitions=None, timeout_ms=5_000
        )
    return in_sync and led


def _coordinated(patient: Patient) -> bool:
    """Does each coordinator serve each of its partitions?"""
    for coordinator in BROKERS:
        names = [
            str(number)
            for number in range(60)
            if leader_of(coordinator_partition(str(number))) == coordinator
        ]
        groups = patient.ask(coordinator, "DescribeGroups", 6, groups=names)
        transactions = patient.ask(coordinator, "DescribeTransactions", 0, transactional_ids=names)
        if groups is None or any(
            group["error_code"] not in (0, _NO_GROUP) for group in groups["groups"]
        ):
            return False
        if transactions is None or any(
            one["error_code"] not in (0, _NO_TRANSACTION)
            for one in transactions["transaction_states"]
        ):
            return False
    return True


def _has_ids(patient: Patient, broker: int) -> bool:
    """Has it a block of producer ids? A broker asks for its first one when it is asked for an
    id."""
    answer = patient.ask(
        broker, "InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1_000
    )
    return answer is not None and answer["error_code"] == 0


def coordinator_partition(name: str) -> int:
    """The partition of an internal topic that a group or a transactional id belongs to."""
    number = java_hash(name)
    return (number if number < 1 << 31 else (1 << 32) - number) % INTERNAL_PARTITIONS


def lay_out(addresses: list[str]) -> None:
    """Have both internal topics made and laid out."""
    patient = Patient(addresses)
    try:
        for topic, key_type in ((OFFSETS, 0), (TRANSACTIONS, 1)):

            def made(topic: str = topic, key_type: int = key_type) -> bool:
                patient.ask(1, "FindCoordinator", 4, key_type=key_type, coordinator_keys=["any"])
                return len(patient.partitions(1, topic)) == INTERNAL_PARTITIONS

            await_true(made, f"{topic} was never made")
        whole(addresses)
    finally:
        patient.close()


class Cluster:
    """Three brokers for one scenario; everything that is done to them leaves a step."""

    def __init__(self, s: Session, hosts: Hosts) -> None:
        self.s = s
        self.hosts = hosts
        self.down: set[int] = set()
        self.paused: set[int] = set()
        self._links: dict[int, Link] = {}
        self._patient = Patient(s.addresses)
        self._topics: list[str] = []

    # -- asking
    # ------------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> list[int]:
        """The brokers that answer."""
        return [broker for broker in BROKERS if broker not in self.down | self.paused]

    def at(self, broker: int) -> Link:
        """A connection to a broker, its name in the transcript `at` and the broker's id."""
        if broker not in self._links:
            self._links[broker] = self.s.connect(f"at{broker}", "raw", broker)
        return self._links[broker]

    def connect(self, name: str, broker: int) -> Link:
        """Another connection to a broker."""
        return self.s.connect(name, name, broker)

    def quietly(self, api: str, version: int, broker: int = 0, **fields: Any) -> Plain:
        """Ask a broker, by default the first that is alive, without a step. A broker that does not
        answer is asked again."""
        answer: Plain | None = None

        def asked() -> bool:
            nonlocal answer
            answer = self._patient.ask(broker or self.alive[0], api, version, **fields)
            return answer is not None

        self.s.until(asked, f"no answer to {api} v{version}")
        assert answer is not None
        return answer

    # -- names
    # -------------------------------------------------------------------------------------------------------

    def name(self, label: str, coordinator: int) -> str:
        """A group or transactional id that this broker coordinates on a cluster that was laid
        out."""
        for attempt in range(200):
            name = f"{label}~{attempt}-{self.s.nonce}"  # the transcript shows the label
            if leader_of(coordinator_partition(name)) == coordinator:
                return name
        raise AssertionError(f"no name for broker {coordinator}")

    def topic(self, label: str, *replicas: list[int], **configs: str) -> str:
        """Make a topic with these replicas, a list for each partition, and wait until every broker
        that is alive knows it."""
        name = self.s.name(label)
        self._topics.append(name)
        assignments = [
            {"partition_index": index, "broker_ids": ids} for index, ids in enumerate(replicas)
        ]
        settings = [
            {"name": key.replace("_", "."), "value": value} for key, value in configs.items()
        ]
        topic = {
            "name": name,
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": assignments,
            "configs": settings,
        }
        answer = self.quietly(
            "CreateTopics", 7, topics=[topic], timeout_ms=10_000, validate_only=False
        )
        assert answer["topics"][0]["error_code"] == 0, answer

        def known() -> bool:
            return all(
                len(self._patient.partitions(broker, name)) == len(replicas)
                for broker in self.alive
            )

        self.s.until(known, f"{label} was never known everywhere")
        self.s.until(lambda: self._serving(name, len(replicas)), f"{label} was never served")
        return name

    def _serving(self, name: str, partitions: int) -> bool:
        for partition in self._patient.partitions(self.alive[0], name)[:partitions]:
            if partition["leader_id"] in self.alive:
                entry = {"partition_index": partition["partition_index"], "timestamp": -2}
                answer = self._patient.ask(
                    partition["leader_id"],
                    "ListOffsets",
                    7,
                    replica_id=-1,
                    topics=[{"name": name, "partitions": [entry]}],
                )
                if answer is None or answer["topics"][0]["partitions"][0]["error_code"]:
                    return False
        return True

    def topic_id(self, name: str) -> str:
        """A topic's id."""
        return str(
            self.quietly("Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False)[
                "topics"
            ][0]["topic_id"]
        )

    # -- partitions
    # --------------------------------------------------------------------------------------------------

    def partition(self, name: str, index: int = 0, broker: int = 0) -> dict[str, Any]:
        """A partition as a broker knows it; empty if it knows no such one."""
        for partition in self._patient.partitions(broker or self.alive[0], name):
            if partition["partition_index"] == index:
                return {key: partition[key] for key in PARTITION}
        return {}

    def show(self, *names: str, index: int = 0) -> None:
        """Put partitions into the transcript, once every broker that is alive knows them alike."""
        for name in names:
            self.s.until(
                lambda name=name: self._agreed(name, index),  # type: ignore[misc]
                f"{self.s.names.text(name)} is not known alike",
            )
            self.s.say(f"{self.s.names.text(name)}-{index}", self.partition(name, index))

    def _agreed(self, name: str, index: int) -> bool:
        views = [self.partition(name, index, broker) for broker in self.alive]
        return all(view == views[0] for view in views)

    def until(self, name: str, index: int = 0, **wanted: Any) -> None:
        """Wait until every broker that is alive knows this of a partition: leader_id=2,
        isr_nodes={1, 2}, ..."""

        def as_wanted(broker: int) -> bool:
            found = self.partition(name, index, broker)
            return bool(found) and all(_same(found[key], value) for key, value in wanted.items())

        self.s.until(
            lambda: all(as_wanted(broker) for broker in self.alive),
            f"{self.s.names.text(name)} never came to {wanted}",
        )

    def produce(
        self,
        name: str,
        *values: bytes,
        broker: int,
        index: int = 0,
        acks: int = -1,
        version: int = 12,
        **kind: Any,
    ) -> Plain:
        """Produce values to a partition at a broker, and its answer."""
        data = {"index": index, "records": batch(*values, **kind)}
        topics = [{"name": name, "partition_data": [data]}]
        return self.at(broker).ask(
            "Produce", version, acks=acks, timeout_ms=10_000, topic_data=topics
        )

    def committed_at(self, name: str, broker: int, high_watermark: int, start: int = 0) -> None:
        """Wait until a follower knows this high watermark: it learns of one with the fetch after
        the one that raised it. The log begins at `start`."""
        topic_id = self.topic_id(name)

        def knows() -> bool:
            partition = {"partition": 0, "fetch_offset": start, "partition_max_bytes": 1 << 20}
            topics = [{"topic_id": topic_id, "partitions": [partition]}]
            answer = self.quietly(
                "Fetch",
                17,
                broker,
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=1 << 20,
                session_epoch=-1,
                topics=topics,
            )
            return bool(answer["responses"][0]["partitions"][0]["high_watermark"] == high_watermark)

        self.s.until(knows, f"{broker} never knew the high watermark {high_watermark}")

    def lead(self, name: str, index: int, to: int) -> None:
        """Let another replica lead a partition, without a step: replicas in another order, then an
        election."""
        replicas = self.partition(name, index)["replica_nodes"]
        ordered = [to, *(replica for replica in replicas if replica != to)]
        entry = {"partition_index": index, "replicas": ordered}
        self.quietly(
            "AlterPartitionReassignments",
            0,
            topics=[{"name": name, "partitions": [entry]}],
            timeout_ms=10_000,
        )
        self.until(name, index, replica_nodes=ordered)
        election: Plain = {
            "election_type": 0,
            "topic_partitions": [{"topic": name, "partitions": [index]}],
            "timeout_ms": 10_000,
        }
        self.s.until(
            lambda: self._led(name, index, to, election),
            f"{self.s.names.text(name)}-{index} was never led by {to}",
        )
        self.until(name, index, leader_id=to)

    def _led(self, name: str, index: int, by: int, election: Plain) -> bool:
        """Does this broker lead? Else it is elected, which is refused for as long as it is not in
        sync."""
        if self.partition(name, index)["leader_id"] != by:
            self.quietly("ElectLeaders", 2, **election)
        return bool(self.partition(name, index)["leader_id"] == by)

    # -- what is done to brokers
    # -------------------------------------------------------------------------------------

    def crash(self, broker: int, *, noticed: bool = True) -> None:
        """kill -9, and wait until the others know, unless there is no majority to notice."""
        self._end("crashed", broker, self.hosts.crash_broker, noticed=noticed)

    def stop(self, broker: int) -> None:
        """A controlled shutdown, and wait until the others know."""
        self._end("stopped", broker, self.hosts.stop_broker)

    def pause(self, *brokers: int) -> None:
        """Let them stand still, and wait until the others know; of two nobody is told, for a
        majority would be needed."""
        self.paused.update(brokers)
        self.s.steps += [{"paused": broker} for broker in brokers]
        self.hosts.pause_brokers(*brokers)
        if len(brokers) == 1:
            self._known_alive()

    def resume(self, *brokers: int) -> None:
        """Let them go on, and wait until all know."""
        for broker in brokers:
            self.hosts.resume_broker(broker)
            self.paused.discard(broker)
            self.s.steps.append({"resumed": broker})
            self._patient.forget(broker)
        self._known_alive()

    def start(self, broker: int) -> None:
        """Start it again, and wait until all know."""
        self.s.steps.append({"started": broker})
        self.hosts.start_broker(broker)
        self.down.discard(broker)
        self._known_alive()

    def _end(
        self, how: str, broker: int, end: Callable[[int], None], *, noticed: bool = True
    ) -> None:
        self.down.add(broker)
        self._links.pop(broker, None)
        self._patient.forget(broker)
        self.s.steps.append({how: broker})
        end(broker)
        if noticed:
            self._known_alive()

    def _known_alive(self) -> None:
        def known() -> bool:
            return all(self._patient.alive(broker) == set(self.alive) for broker in self.alive)

        self.s.until(known, f"brokers {self.alive} never knew that only they are alive")

    # -- the end
    # -----------------------------------------------------------------------------------------------------

    def make_whole(self) -> None:
        """Bring everything back that was done to the cluster, and remove the scenario's topics.
        Raises AssertionError."""
        self.s.deadline = math.inf
        for broker in list(self.paused):
            self.hosts.resume_broker(broker)
        for broker in list(self.down):
            self.hosts.start_broker(broker)
        await_true(
            lambda: all(self._patient.alive(broker) == set(BROKERS) for broker in BROKERS),
            "the brokers never found each other",
        )
        await_true(self._removed, "topics stayed")
        self._patient.close()
        whole(self.s.addresses)

    def _removed(self) -> bool:
        """Are the scenario's topics gone? Those that are not are deleted, which is refused while
        nobody is the controller."""
        left = [
            topic
            for topic in dict.fromkeys(self._topics)
            if any(self._patient.partitions(broker, topic) for broker in BROKERS)
        ]
        if left:
            self._patient.ask(1, "DeleteTopics", 4, topic_names=left, timeout_ms=10_000)
        return not left


def _same(found: Any, wanted: Any) -> bool:
    return set(found) == wanted if isinstance(wanted, set) else bool(found == wanted)


def rows(answer: Plain, *path: str) -> Iterable[Plain]:
    """The items of lists inside lists of an answer."""
    items: list[Plain] = [answer]
    for key in path:
        items = [entry for item in items for entry in item[key]]
    return items
