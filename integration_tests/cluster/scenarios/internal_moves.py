"""Partitions of internal topics that are reassigned while groups and transactions live in them."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Member, Transactor, _settled, _state
from integration_tests.cluster.scenarios.moved_transactions import described, ends
from integration_tests.cluster.scenarios.reassignments import reassign
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.scenarios.second_version import Newer, _moved
from integration_tests.cluster.scenarios.standstills import commit, coordinated, fetched
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster


@scenario
def a_groups_partition_leaves_its_coordinator(c: Cluster) -> None:
    """REASN-2, ERR-6: who waits is told NOT_COORDINATOR; members go on at a replica that was added;
    back, and to a single one."""
    name, group = c.topic("t", [1, 2]), c.name("g", 3)
    one = _settled(c, group, "one", 3)
    commit(c, group, name, 5, 3, member_id=one.member_id, generation_id_or_member_epoch=1)
    other = Member(c, "other", group)
    other.enter()
    c.s.until(
        lambda: _state(c, group, 3)["group_state"] == "PreparingRebalance", "no rebalance began"
    )
    reassign(c, OFFSETS, {2: [1, 2]})
    c.until(OFFSETS, 2, replica_nodes=[1, 2], isr_nodes={1, 2}, leader_id=1)
    other.ended()
    coordinated(c, group, 1)
    for broker in (1, 2, 3):
        c.at(broker).ask("FindCoordinator", 4, key_type=0, coordinator_keys=[group])
        one.heartbeat(broker)
    fetched(c, group, 1)
    fetched(c, group, 3)
    commit(c, group, name, 6, 1, member_id=one.member_id, generation_id_or_member_epoch=1)
    reassign(c, OFFSETS, {2: [2]})
    c.until(OFFSETS, 2, replica_nodes=[2], isr_nodes={2}, leader_id=2)
    coordinated(c, group, 2)
    one.heartbeat(2)
    commit(c, group, name, 7, 2, member_id=one.member_id, generation_id_or_member_epoch=1)
    c.at(2).ask("DescribeGroups", 6, groups=[group])
    reassign(c, OFFSETS, {2: [3, 1, 2]})
    c.until(OFFSETS, 2, replica_nodes=[3, 1, 2], isr_nodes={1, 2, 3})
    one.heartbeat(2)
    c.lead(OFFSETS, 2, 3)
    coordinated(c, group, 3)
    fetched(c, group, 3)
    one.heartbeat(3)


@scenario
def a_transactions_partition_is_moved_down_to_one(c: Cluster) -> None:
    """min.insync.replicas of the topic counts as the number of replicas: the only one takes writes,
    and finishes what is open."""
    name = c.topic("t", [1, 2])
    one, two, new = Transactor(c, "one"), Newer(c, "two"), Transactor(c, "new")
    one.init()
    two.init()
    one.write(name, 1)
    two.produce(name, 1)
    reassign(c, TRANSACTIONS, {2: [2]})
    c.until(TRANSACTIONS, 2, replica_nodes=[2], isr_nodes={2}, leader_id=2)
    _moved(c, one, 2)
    for broker in (2, 3):
        c.at(broker).ask("FindCoordinator", 4, key_type=1, coordinator_keys=[one.name])
        described(c, one, broker)
    one.end(3)
    one.end(2)
    ends(c, one, 2)
    two.produce(name, 1, 1)
    two.finish(2, committed=False)
    ends(c, two, 2, "CompleteAbort")
    new.init(2)
    reassign(c, TRANSACTIONS, {2: [3, 1, 2]})
    c.until(TRANSACTIONS, 2, replica_nodes=[3, 1, 2], isr_nodes={1, 2, 3})
    c.lead(TRANSACTIONS, 2, 3)
    _moved(c, one, 3)
    for each in (one, two, new):
        described(c, each, 3)
    two.produce(name, 1)
    two.finish(3)
    ends(c, two, 3)
    listed(c.at(1), name)


def listed_all(c: Cluster) -> None:
    """ListPartitionReassignments of all."""
    c.at(1).ask("ListPartitionReassignments", 0, timeout_ms=10_000, topics=None, shuffled="topics")


@scenario
def internal_partitions_wait_for_a_broker(c: Cluster) -> None:
    """A reassignment of both that waits for a broker: nobody notices but who lists it; it is
    cancelled, and replaced."""
    name, group = c.topic("t", [1, 2]), c.name("g", 2)
    one = Transactor(c, "tx")
    one.init()
    commit(c, group, name, 5, 2)
    for topic in (OFFSETS, TRANSACTIONS):
        reassign(c, topic, {1: [2, 1]})
        c.until(topic, 1, replica_nodes=[2, 1], isr_nodes={1, 2})
    c.crash(3)
    for topic in (OFFSETS, TRANSACTIONS):
        reassign(c, topic, {1: [3, 1]})
    listed_all(c)
    commit(c, group, name, 6, 2)
    fetched(c, group, 2)
    reassign(c, OFFSETS, {1: None})
    reassign(c, TRANSACTIONS, {1: [1, 2]})
    c.until(OFFSETS, 1, replica_nodes=[1, 2], isr_nodes={1, 2})
    c.until(TRANSACTIONS, 1, replica_nodes=[1, 2, 3], isr_nodes={1, 2})
    listed_all(c)
    reassign(c, TRANSACTIONS, {1: None})
    c.until(TRANSACTIONS, 1, replica_nodes=[1, 2], isr_nodes={1, 2})
    listed_all(c)


@scenario
def replicas_of_internal_topics_that_cannot_be(c: Cluster) -> None:
    """CreatePartitions and CreateTopics of internal topics, their deletion with validation only,
    and configurations they refuse."""
    for topic in (OFFSETS, TRANSACTIONS):
        reassign(c, topic, {9: [1]})
        reassign(c, topic, {2: [1, 9]})
        reassign(c, topic, {2: [3, 1]}, version=1, allow_replication_factor_change=False)
        grow = {"name": topic, "count": 5, "assignments": [{"broker_ids": [1, 2]}]}
        c.at(1).ask("CreatePartitions", 3, topics=[grow], timeout_ms=10_000, validate_only=True)
        grow = {"name": topic, "count": 5, "assignments": [{"broker_ids": [1, 2, 3]}]}
        c.at(1).ask("CreatePartitions", 3, topics=[grow], timeout_ms=10_000, validate_only=True)
        made = {
            "name": topic,
            "num_partitions": 4,
            "replication_factor": 3,
            "assignments": [],
            "configs": [],
        }
        c.at(1).ask("CreateTopics", 7, topics=[made], timeout_ms=10_000, validate_only=True)
