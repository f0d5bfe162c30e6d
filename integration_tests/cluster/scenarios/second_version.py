"""Transactions of version 2 (KIP-890) on several brokers: partitions that Produce adds by itself,
epochs that rise, markers by hand."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import TRANSACTIONAL, Transactor
from integration_tests.cluster.scenarios.moved_transactions import described, ends
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.raw import Plain


class Newer(Transactor):
    """A producer that leaves adding partitions to brokers, and goes on with the epoch that EndTxn
    answers."""

    def produce(
        self,
        topic: str,
        broker: int,
        sequence: int = 0,
        version: int = 12,
        epoch: int | None = None,
    ) -> Plain:
        """Produce a record of the transaction to partition 0."""
        of = Producer(
            self.who["producer_id"],
            self.who["producer_epoch"] if epoch is None else epoch,
            sequence,
        )
        records = batch(b"t", producer=of, attributes=TRANSACTIONAL)
        topics: list[Any] = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
        return self.c.at(broker).ask(
            "Produce",
            version,
            transactional_id=self.name,
            acks=-1,
            timeout_ms=10_000,
            topic_data=topics,
        )

    def finish(self, broker: int, committed: bool = True) -> Plain:
        """EndTxn v5."""
        answer = self.c.at(broker).ask("EndTxn", 5, **self.who, committed=committed)
        if answer["error_code"] == 0:
            self.who |= {
                "producer_id": answer["producer_id"],
                "producer_epoch": answer["producer_epoch"],
            }
        return answer


def _moved(c: Cluster, one: Transactor, broker: int) -> None:
    """Wait until a broker coordinates it."""
    c.s.until(lambda: not one.state(broker)["error_code"], f"{broker} never coordinated it")


@scenario
def partitions_added_by_produce_while_the_coordinator_goes(c: Cluster) -> None:
    """TXN-8, KIP-890: the leader asks the coordinator, wherever it is; without one it says
    NOT_ENOUGH_REPLICAS to be asked again."""
    name, other = c.topic("t", [1, 2]), c.topic("other", [2, 1])
    one = Newer(c, "tx")
    one.init()
    one.produce(name, 1)
    described(c, one, 3)
    c.crash(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, one, 1)
    described(c, one, 1)
    one.produce(other, 2)
    one.produce(name, 1, 1)
    described(c, one, 1)
    one.finish(1)
    ends(c, one, 1)
    described(c, one, 1)
    one.produce(name, 1)
    one.produce(name, 1, 0, epoch=0)
    c.start(3)
    c.until(TRANSACTIONS, 2, isr_nodes={1, 2, 3})
    c.lead(TRANSACTIONS, 2, 3)
    _moved(c, one, 3)
    one.produce(name, 1, 1)
    one.finish(1, committed=False)
    one.finish(3, committed=False)
    ends(c, one, 3, "CompleteAbort")
    for led, broker in ((name, 1), (other, 2)):
        listed(c.at(broker), led)


@scenario
def epochs_at_the_next_coordinator(c: Cluster) -> None:
    """TXN-8: EndTxn that is sent again is answered alike by the next coordinator; an older epoch is
    fenced there, too."""
    name = c.topic("t", [1, 2])
    one = Newer(c, "tx")
    one.init()
    one.produce(name, 1)
    before = dict(one.who)
    one.finish(3)
    ends(c, one, 3)
    after = dict(one.who)
    c.stop(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, one, 1)
    one.who = before
    one.finish(1)
    c.at(1).ask("EndTxn", 5, **before, committed=False)
    c.s.until(lambda: one.state(1)["transaction_state"].startswith("Complete"), "it never ended")
    c.at(1).ask("EndTxn", 4, **before, committed=True)
    one.who = after
    c.at(1).ask("EndTxn", 5, **after, committed=True)
    one.finish(1, committed=False)
    c.s.until(lambda: one.state(1)["transaction_state"].startswith("Complete"), "it never ended")
    described(c, one, 1)
    one.produce(name, 1)
    c.at(1).ask("InitProducerId", 5, **one.who, transaction_timeout_ms=600_000)
    c.s.until(
        lambda: one.state(1)["transaction_state"] in ("CompleteAbort", "Empty"),
        "it was never aborted",
    )
    c.at(1).ask("InitProducerId", 5, **before, transaction_timeout_ms=600_000)
    c.at(1).ask("InitProducerId", 5, **one.who, transaction_timeout_ms=600_000)
    described(c, one, 1)


@scenario
def offsets_added_by_themselves_at_another_coordinator(c: Cluster) -> None:
    """TXN-8: TxnOffsetCommit v5 adds the group's partition; the group's coordinator asks the
    transaction's."""
    name, group = c.topic("t", [1, 2]), c.name("g", 1)
    one = Newer(c, "tx")
    one.init()
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
    fields: Plain = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": topics,
    }

    def commit(broker: int, version: int = 5, **other: Any) -> None:
        c.at(broker).ask("TxnOffsetCommit", version, **(one.who | fields | other))

    for version in (3, 4, 5):
        commit(2, version)
    commit(1, 4)
    commit(1)
    c.s.say("in the transaction", [topic["topic"] for topic in one.state(3)["topics"]])
    commit(1, producer_epoch=7)
    commit(1, transactional_id=c.name("nobody", 3))
    c.crash(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, one, 1)
    c.until(OFFSETS, 2, leader_id=1)
    commit(1)
    one.finish(1)
    ends(c, one, 1)
    wanted = [{"group_id": group, "topics": [{"name": name, "partition_indexes": [0]}]}]

    def stable() -> bool:
        answer = c.quietly("OffsetFetch", 9, 1, groups=wanted, require_stable=True)
        return bool(answer["groups"][0]["topics"][0]["partitions"][0]["error_code"] == 0)

    c.s.until(stable, "the offset never counted")
    c.at(1).ask("OffsetFetch", 9, groups=wanted, require_stable=True)
    commit(1, producer_epoch=0)


@scenario
def markers_by_hand_at_who_does_not_lead(c: Cluster) -> None:
    """WriteTxnMarkers as administrators send it to abort a hanging transaction: the leader's alone,
    and of no older coordinator."""
    name, gone = c.topic("t", [1, 2]), c.topic("gone", [3])
    one = Transactor(c, "tx")
    one.init()
    one.write(name, 1)
    c.lead(TRANSACTIONS, 2, 1)
    _moved(c, one, 1)

    def marker(broker: int, version: int = 1, topic: str = name, **other: Any) -> None:
        fields: Plain = {
            "producer_id": one.who["producer_id"],
            "producer_epoch": 0,
            "transaction_result": False,
            "coordinator_epoch": 0,
            "transaction_version": 0,
            "topics": [{"name": topic, "partition_indexes": [0]}],
        }
        c.at(broker).ask("WriteTxnMarkers", version, markers=[fields | other])

    marker(2)
    marker(3)
    marker(1, topic=gone)
    marker(3, topic=gone)
    c.lead(name, 0, 2)
    served(c, name, 2)
    marker(1)
    marker(2)
    marker(2, coordinator_epoch=-1)
    listed(c.at(2), name)
    one.end(1, committed=True)
    ends(c, one, 1)
    listed(c.at(2), name)
    found = c.quietly("DescribeProducers", 0, 2, topics=[{"name": name, "partition_indexes": [0]}])
    producers = found["topics"][0]["partitions"][0]["active_producers"]
    c.s.say("open since", [producer["current_txn_start_offset"] for producer in producers])


@scenario
def partitions_added_as_brokers_do(c: Cluster) -> None:
    """AddPartitionsToTxn v4-5 of several transactions: each has its own answer, also where another
    broker coordinates one."""
    name = c.topic("t", [1, 2])
    here, there = Transactor(c, "here"), Transactor(c, "there")
    there.name = c.name("there", 1)
    here.init()
    there.init(1)

    def add(broker: int, version: int, verify_only: bool, *of: Transactor) -> None:
        topics = [{"name": name, "partitions": [0]}]
        asked = [{**one.who, "verify_only": verify_only, "topics": topics} for one in of]
        c.at(broker).ask("AddPartitionsToTxn", version, transactions=asked)

    for version in (4, 5):
        for verify_only in (True, False):
            add(3, version, verify_only, here, there)
            add(1, version, verify_only, there)
            add(2, version, verify_only, here)
        add(3, version, True, here)
    c.pause(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, here, 1)
    add(1, 5, True, here, there)
    add(1, 5, False, there)
    described(c, here, 1)
    c.resume(3)
    c.s.until(
        lambda: here.state(3)["error_code"] == 16, "3 never learned that it coordinates no more"
    )
    add(3, 5, True, here)
    add(3, 5, False, here)
    here.end(3)
    here.end(1)
    ends(c, here, 1)
    there.end(1, committed=False)
    ends(c, there, 1, "CompleteAbort")
