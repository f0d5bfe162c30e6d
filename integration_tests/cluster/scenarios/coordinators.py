"""Coordinators that move, stop or crash, with groups in each state and with transactions on their
way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Closed, Plain, Silent
from integration_tests.wire.recorder import Link

Gone = Callable[[Cluster], None]
"""What happens to broker 3, which coordinates the groups."""

TRANSACTIONAL = 16


class Member:
    """A member on a connection to broker 3."""

    def __init__(self, c: Cluster, label: str, group: str, broker: int = 3) -> None:
        self.c = c
        self.group = group
        self.link: Link = c.connect(label, broker)
        self.label = label
        self.member_id = ""
        self.generation = -1

    def send_join(self) -> None:
        """JoinGroup; is left parked."""
        self.link.send(
            "JoinGroup",
            9,
            group_id=self.group,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=120_000,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=protocols("range"),
        )

    def take_join(self) -> Plain:
        """Its answer."""
        answer = self.link.expect()
        if answer["error_code"] in (0, 79):
            self.member_id = answer["member_id"]
        self.generation = answer["generation_id"] if answer["error_code"] == 0 else self.generation
        return answer

    def enter(self) -> None:
        """Join up to where the request is parked, or answered."""
        self.send_join()
        self.take_join()
        self.send_join()

    def send_sync(self, assignments: dict[str, str] | None = None) -> None:
        """SyncGroup; is left parked."""
        listed = [
            {"member_id": member, "assignment": given}
            for member, given in (assignments or {}).items()
        ]
        self.link.send(
            "SyncGroup",
            5,
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=listed,
        )

    def heartbeat(self, broker: int) -> Plain:
        """A heartbeat at some broker."""
        return self.c.at(broker).ask(
            "Heartbeat",
            4,
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
        )

    def ended(self) -> None:
        """What comes of the parked request: its answer, or the end of the connection."""
        try:
            label, answer = self.link.connection.receive()
        except Closed:
            self.c.s.note(self.label, closed=True)
        except Silent:
            self.c.s.note(self.label, silent=True)
        else:
            self.c.s.note(
                self.label,
                got=f"{label.api} v{label.version}",
                fields=self.c.s.names.value("", answer),
            )


def _state(c: Cluster, group: str, broker: int) -> Plain:
    return dict(c.quietly("DescribeGroups", 6, broker, groups=[group])["groups"][0])


def _settled(c: Cluster, group: str, label: str, broker: int) -> Member:
    """The only member of a Stable group, with a committed offset."""
    member = Member(c, label, group, broker)
    member.enter()
    member.take_join()
    member.send_sync({member.member_id: "0a"})
    member.link.expect()
    return member


def _groups(c: Cluster, name: str) -> dict[str, list[Member]]:
    """A group in each state, all coordinated by broker 3; whose last member waits for an answer in
    `preparing` and `completing`."""
    members: dict[str, list[Member]] = {}
    for state in ("stable", "preparing", "completing", "pending", "empty", "first"):
        group = c.name(state, 3)
        members[state] = []
        topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 7}]}]
        if state == "first":
            one = Member(c, f"{state}-a", group)
            one.enter()
            one.take_join()
            members[state] = [one]
            continue
        if state == "empty":
            c.at(3).ask(
                "OffsetCommit",
                9,
                group_id=group,
                generation_id_or_member_epoch=-1,
                member_id="",
                topics=topics,
            )
            continue
        one = _settled(c, group, f"{state}-a", 3)
        c.at(3).ask(
            "OffsetCommit",
            9,
            group_id=group,
            generation_id_or_member_epoch=1,
            member_id=one.member_id,
            topics=topics,
        )
        members[state] = [one]
        if state == "stable":
            continue
        other = Member(c, f"{state}-b", group)
        members[state].append(other)
        other.send_join()
        other.take_join()
        if state == "pending":
            continue
        other.send_join()
        c.s.until(
            lambda group=group: _state(c, group, 3)["group_state"] == "PreparingRebalance",  # type: ignore[misc]
            "no rebalance began",
        )
        if state == "completing":
            one.send_join()
            one.take_join()
            other.take_join()
            other.send_sync()
            other.link.silent()
    return members


def _fail_over(c: Cluster, gone: Gone) -> None:
    """Groups in each state lose their coordinator; what parked requests are told, and what the next
    coordinator knows."""
    name = c.topic("t", [1, 2])
    groups = _groups(c, name)
    named = {
        state: members[0].group if members else c.name(state, 3)
        for state, members in groups.items()
    }
    gone(c)
    for state in ("preparing", "completing"):
        groups[state][1].ended()
    coordinator = 0

    def found() -> bool:
        nonlocal coordinator
        answers = c.quietly(
            "FindCoordinator", 4, 1, key_type=0, coordinator_keys=list(named.values())
        )["coordinators"]
        coordinator = answers[0]["node_id"]
        if not all(entry["error_code"] == 0 and entry["node_id"] in (1, 2) for entry in answers):
            return False
        states = [
            _state(c, group, entry["node_id"])
            for group, entry in zip(named.values(), answers, strict=True)
        ]
        return all(state["error_code"] in (0, 69) for state in states)

    c.s.until(found, "nobody else coordinates the groups")
    c.s.say("the next coordinator", coordinator)
    for state, group in named.items():
        c.at(coordinator).ask("DescribeGroups", 6, groups=[group])
        c.at(coordinator).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
        for member in groups[state]:
            member.heartbeat(coordinator)


def _move(c: Cluster) -> None:
    for index in range(4):
        if c.partition(OFFSETS, index)["leader_id"] == 3:
            c.lead(OFFSETS, index, 1)
    c.s.steps.append({"moved": "the groups of 3 to 1"})


@scenario
def a_coordinator_moves(c: Cluster) -> None:
    """ERR-7, REB-10: parked requests are told NOT_COORDINATOR; the next one has the last generation
    that was synced."""
    _fail_over(c, _move)


@scenario
def a_coordinator_shuts_down(c: Cluster) -> None:
    """ERR-7: as when it moves, before its connections are closed."""
    _fail_over(c, lambda c: c.stop(3))


@scenario
def a_coordinator_crashes(c: Cluster) -> None:
    """ERR-7: connections are closed; the next one has the last generation that was synced."""
    _fail_over(c, lambda c: c.crash(3))


@scenario
def a_coordinator_comes_back(c: Cluster) -> None:
    """Offsets committed at the one are read at the other, there and back."""
    name, group = c.topic("t", [1, 2], [1, 2]), c.name("g", 3)

    def commit(broker: int, partition: int, offset: int) -> None:
        topics = [
            {
                "name": name,
                "partitions": [{"partition_index": partition, "committed_offset": offset}],
            }
        ]
        c.at(broker).ask(
            "OffsetCommit",
            9,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=topics,
        )

    commit(3, 0, 5)
    c.crash(3)
    c.s.until(lambda: _state(c, group, 1)["error_code"] == 0, "1 never coordinated the group")
    c.at(1).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    commit(1, 1, 6)
    c.start(3)
    for index in range(4):
        c.until(OFFSETS, index, isr_nodes={1, 2, 3})
    for index in (2,):
        c.lead(OFFSETS, index, 3)
    c.s.until(lambda: _state(c, group, 3)["error_code"] == 0, "3 never coordinated the group again")
    c.at(3).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    c.at(1).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    c.at(1).ask("Heartbeat", 4, group_id=group, generation_id=1, member_id="m")


# -- transactions
# -------------------------------------------------------------------------------------------------------------


class Transactor:
    """A transactional producer coordinated by broker 3."""

    def __init__(self, c: Cluster, label: str) -> None:
        self.c = c
        self.name = c.name(label, 3)
        self.who: Plain = {}

    def init(self, broker: int = 3, timeout_ms: int = 600_000) -> Plain:
        """InitProducerId."""
        answer = self.c.at(broker).ask(
            "InitProducerId", 4, transactional_id=self.name, transaction_timeout_ms=timeout_ms
        )
        if answer["error_code"] == 0:
            self.who = {
                "transactional_id": self.name,
                "producer_id": answer["producer_id"],
                "producer_epoch": answer["producer_epoch"],
            }
        return answer

    def write(self, topic: str, leader: int, broker: int = 3) -> None:
        """Add partition 0 of a topic, and produce a record to it."""
        self.add(topic, broker)
        records = batch(
            b"t",
            producer=Producer(self.who["producer_id"], self.who["producer_epoch"], 0),
            attributes=TRANSACTIONAL,
        )
        topics: list[Any] = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
        self.c.at(leader).ask(
            "Produce", 9, transactional_id=self.name, acks=-1, timeout_ms=10_000, topic_data=topics
        )

    def add(self, topic: str, broker: int) -> Plain:
        """AddPartitionsToTxn of partition 0 of a topic."""
        old = {f"v3_and_below_{key}": value for key, value in self.who.items()}
        return self.c.at(broker).ask(
            "AddPartitionsToTxn", 3, **old, v3_and_below_topics=[{"name": topic, "partitions": [0]}]
        )

    def end(self, broker: int, committed: bool = True) -> Plain:
        """EndTxn."""
        return self.c.at(broker).ask("EndTxn", 3, **self.who, committed=committed)

    def state(self, broker: int) -> Plain:
        """What a broker says of it; without a step."""
        return dict(
            self.c.quietly("DescribeTransactions", 0, broker, transactional_ids=[self.name])[
                "transaction_states"
            ][0]
        )

    def describe(self, broker: int) -> None:
        """DescribeTransactions."""
        self.c.at(broker).ask("DescribeTransactions", 0, transactional_ids=[self.name])


def _transactions_fail_over(c: Cluster, gone: Gone) -> None:
    """Transactional ids without a transaction, with an open one and with a finished one lose their
    coordinator."""
    name = c.topic("t", [1, 2])
    idle, ongoing, done = (Transactor(c, label) for label in ("idle", "open", "done"))
    for one in (idle, ongoing, done):
        one.init()
    ongoing.write(name, 1)
    done.write(name, 1)
    done.end(3)
    c.s.until(
        lambda: done.state(3)["transaction_state"] == "CompleteCommit",
        "the transaction never ended",
    )
    gone(c)
    c.s.until(lambda: not ongoing.state(1)["error_code"], "1 never coordinated the transactions")
    for one in (idle, ongoing, done):
        one.describe(1)
    ongoing.add(name, 1)
    ongoing.end(1)
    c.s.until(
        lambda: ongoing.state(1)["transaction_state"] == "CompleteCommit",
        "the transaction never ended",
    )
    ongoing.describe(1)
    idle.init(1)
    done.init(1)
    entries = [{"partition_index": 0, "timestamp": -1}]
    c.at(1).ask(
        "ListOffsets",
        7,
        replica_id=-1,
        isolation_level=1,
        topics=[{"name": name, "partitions": entries}],
    )


@scenario
def a_transaction_coordinator_moves(c: Cluster) -> None:
    """Open transactions stay open, and are ended at the next coordinator."""

    def move(c: Cluster) -> None:
        c.lead(TRANSACTIONS, 2, 1)
        c.s.steps.append({"moved": "the transactions of 3 to 1"})

    _transactions_fail_over(c, move)


@scenario
def a_transaction_coordinator_crashes(c: Cluster) -> None:
    """The same after a crash."""
    _transactions_fail_over(c, lambda c: c.crash(3))


@scenario
def producer_ids_come_in_blocks(c: Cluster) -> None:
    """A block of 1,000 for each broker; a broker that has started again has another block."""

    def drawn(broker: int) -> int:
        answer: Plain = {}

        def given() -> bool:
            nonlocal answer
            answer = c.quietly(
                "InitProducerId", 4, broker, transactional_id=None, transaction_timeout_ms=1_000
            )
            return bool(answer["error_code"] == 0)

        c.s.until(given, "no id was ever given")
        return int(answer["producer_id"])

    before = [[drawn(broker), drawn(broker)] for broker in (1, 2, 3)]
    c.s.say("one after the other", [pair[1] - pair[0] for pair in before])
    c.s.say("different blocks", len({pair[0] // 1000 for pair in before}))
    c.crash(3)
    c.start(3)
    c.s.say("another block", drawn(3) // 1000 != before[2][0] // 1000)
