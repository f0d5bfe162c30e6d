"""What each broker serves and lists, with a broker gone and back; and throttles at a leader
(KIP-73)."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.assignments import BROKER, DELETE, TOPIC, alter, described
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.moved_transactions import ends
from integration_tests.cluster.scenarios.reassignments import reassign, running
from integration_tests.cluster.scenarios.second_version import _moved
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster

RATE = "leader.replication.throttled.rate"


@scenario
def transactions_that_are_listed(c: Cluster) -> None:
    """ListTransactions by state, producer id, duration and pattern, at each broker, before and
    after the coordinator crashed."""
    name = c.topic("t", [1, 2])
    states = {label: Transactor(c, label) for label in ("empty", "ongoing", "committed", "aborted")}
    for one in states.values():
        one.init()
    for label in ("ongoing", "committed", "aborted"):
        states[label].write(name, 1)
    states["committed"].end(3)
    ends(c, states["committed"], 3)
    states["aborted"].end(3, committed=False)
    ends(c, states["aborted"], 3, "CompleteAbort")

    def listed(broker: int) -> None:
        ask = c.at(broker).ask
        for version in (0, 1, 2):
            ask(
                "ListTransactions",
                version,
                only="transaction_states",
                state_filters=[],
                producer_id_filters=[],
            )
        for wanted in (
            ["Ongoing"],
            ["CompleteCommit", "CompleteAbort"],
            ["Empty"],
            ["Nonsense"],
            ["ongoing", "Ongoing"],
        ):
            ask(
                "ListTransactions",
                0,
                only="transaction_states",
                state_filters=wanted,
                producer_id_filters=[],
            )
        some = [states[label].who["producer_id"] for label in ("ongoing", "empty")]
        ask(
            "ListTransactions",
            0,
            only="transaction_states",
            state_filters=[],
            producer_id_filters=some,
        )
        ask(
            "ListTransactions",
            0,
            only="transaction_states",
            state_filters=["Empty"],
            producer_id_filters=some,
        )
        for duration_ms in (-1, 0, 3_600_000):
            ask(
                "ListTransactions",
                1,
                only="transaction_states",
                state_filters=[],
                producer_id_filters=[],
                duration_filter=duration_ms,
            )
        for pattern in ("o.*", "", "nothing", "(", None, ".*~.*"):
            ask(
                "ListTransactions",
                2,
                only="transaction_states",
                state_filters=[],
                producer_id_filters=[],
                transactional_id_pattern=pattern,
            )

    listed(3)
    listed(1)
    c.crash(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, states["ongoing"], 1)
    listed(1)
    listed(2)


@scenario
def kinds_of_coordinators(c: Cluster) -> None:
    """FindCoordinator of groups, transactions, share groups and what is none, with an empty name,
    at each broker, and without one."""

    def find(*brokers: int) -> None:
        for broker in brokers:
            for kind in (0, 1, 2, 3, -1):
                for version in (4, 5, 6):
                    c.at(broker).ask(
                        "FindCoordinator",
                        version,
                        key_type=kind,
                        coordinator_keys=[c.name("g", 2), ""],
                    )
                for key in (c.name("g", 3), ""):
                    c.at(broker).ask("FindCoordinator", 3, key_type=kind, key=key)

    find(1, 2, 3)
    c.crash(3)
    for topic in (OFFSETS, TRANSACTIONS):
        c.until(topic, 2, leader_id=1)
    find(1, 2)


@scenario
def a_leader_that_is_throttled(c: Cluster) -> None:
    """KIP-73: who is in sync is not held up, who is added is; `*` in the lists of replicas; the
    rate is taken away and all is well."""
    name = c.topic("t", [1, 2], leader_replication_throttled_replicas="*")
    for _ in range(5):
        c.produce(name, b"x" * 900_000, broker=1)
    alter(c, BROKER, "1", RATE, "1", broker=1)
    described(c, BROKER, "1", RATE, "1", broker=1)
    reassign(c, name, {0: [1, 2, 3]})
    c.until(name, 0, replica_nodes=[1, 2, 3])
    running(c, name)
    c.produce(name, b"small", broker=1)
    c.committed_at(name, 2, 6)
    c.show(name)
    alter(c, TOPIC, name, "leader.replication.throttled.replicas", "0:2")
    c.until(name, 0, isr_nodes={1, 2, 3})
    running(c, name)
    alter(c, BROKER, "1", RATE, None, DELETE, broker=1)
    described(c, BROKER, "1", RATE, None, broker=1)
    c.show(name)
