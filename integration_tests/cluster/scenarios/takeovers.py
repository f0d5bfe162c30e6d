"""What the next coordinator has taken over: static members, offsets of open transactions, and what
each broker lists."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Plain


def _serves(c: Cluster, group: str, broker: int) -> bool:
    return not c.quietly("DescribeGroups", 5, broker, groups=[group])["groups"][0]["error_code"]


def _crash_coordinator(c: Cluster, group: str) -> None:
    """Broker 3 goes; 1 coordinates what it did."""
    c.crash(3)
    for topic in (OFFSETS, TRANSACTIONS):
        c.until(topic, 2, isr_nodes={1, 2}, leader_id=1)
    c.s.until(lambda: _serves(c, group, 1), "1 never coordinated the group")


@scenario
def static_members_at_the_next_coordinator(c: Cluster) -> None:
    """STA-2: who comes back under the same instance id replaces the old member without a rebalance;
    the old one is fenced."""
    group = c.name("g", 3)
    join: Plain = {
        "group_id": group,
        "session_timeout_ms": 60_000,
        "rebalance_timeout_ms": 120_000,
        "member_id": "",
        "group_instance_id": "i",
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    sync: Plain = {
        "group_id": group,
        "generation_id": 1,
        "group_instance_id": "i",
        "protocol_type": "consumer",
        "protocol_name": "range",
    }
    old = c.at(3).ask("JoinGroup", 9, **join)["member_id"]
    c.at(3).ask(
        "SyncGroup", 5, **sync, member_id=old, assignments=[{"member_id": old, "assignment": "0a"}]
    )
    _crash_coordinator(c, group)
    beat: Plain = {"group_id": group, "generation_id": 1, "group_instance_id": "i"}
    c.at(1).ask("Heartbeat", 4, **beat, member_id=old)
    new = c.at(1).ask("JoinGroup", 9, **join)["member_id"]
    c.at(1).ask("Heartbeat", 4, **beat, member_id=old)
    c.at(1).ask("SyncGroup", 5, **sync, member_id=new, assignments=[])
    c.at(1).ask("Heartbeat", 4, **beat, member_id=new)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    c.at(1).ask(
        "LeaveGroup", 5, group_id=group, members=[{"member_id": "", "group_instance_id": "i"}]
    )
    c.at(1).ask("DescribeGroups", 6, groups=[group])


@scenario
def pending_offsets_at_the_next_coordinator(c: Cluster) -> None:
    """TXN-5, OF rules: offsets of an open transaction are unstable there, too, and count once it is
    committed."""
    name = c.topic("t", [1, 2], [1, 2])
    group = c.name("g", 3)
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]
    c.at(3).ask(
        "OffsetCommit",
        9,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    one = Transactor(c, "tx")
    one.init()
    c.at(3).ask("AddOffsetsToTxn", 3, **one.who, group_id=group)
    for partition, offset in ((0, 7), (1, 8)):
        topics = [
            {
                "name": name,
                "partitions": [{"partition_index": partition, "committed_offset": offset}],
            }
        ]
        c.at(3).ask(
            "TxnOffsetCommit",
            3,
            **one.who,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=topics,
        )
    _crash_coordinator(c, group)
    c.s.until(lambda: not one.state(1)["error_code"], "1 never coordinated the transaction")

    def offsets(partition: int, *, stable: bool) -> None:
        wanted = [{"group_id": group, "topics": [{"name": name, "partition_indexes": [partition]}]}]
        c.at(1).ask("OffsetFetch", 9, groups=wanted, require_stable=stable)

    for partition in (0, 1):
        for stable in (True, False):
            offsets(partition, stable=stable)
    one.describe(1)
    one.end(1)
    c.s.until(
        lambda: one.state(1)["transaction_state"] == "CompleteCommit", "the transaction never ended"
    )
    for partition in (0, 1):
        offsets(partition, stable=True)


@scenario
def who_lists_what(c: Cluster) -> None:
    """LST-1: groups and transactional ids are listed by the broker that coordinates them, before
    and after another does."""
    name, group = c.topic("t", [1, 2, 3]), c.name("g", 3)
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]
    c.at(3).ask(
        "OffsetCommit",
        9,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    one = Transactor(c, "tx")
    one.init()
    one.add(name, 3)

    def listed(*brokers: int) -> None:
        for broker in brokers:
            c.at(broker).ask("ListGroups", 5, only="groups")
            c.at(broker).ask("ListTransactions", 1, only="transaction_states")
            c.at(broker).ask("FindCoordinator", 4, key_type=1, coordinator_keys=[one.name])

    listed(1, 2, 3)
    _crash_coordinator(c, group)
    c.s.until(lambda: not one.state(1)["error_code"], "1 never coordinated the transaction")
    listed(1, 2)
    one.end(1)


@scenario
def offsets_by_topic_id_at_another_coordinator(c: Cluster) -> None:
    """NOT_COORDINATOR in the versions that name topics by id, and the same offsets by id and by
    name at the right one."""
    name, group = c.topic("t", [1, 2], [1, 2]), c.name("g", 3)
    topic_id = c.topic_id(name)
    c.s.names.topic_id(topic_id)
    commit: Plain = {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": ""}
    by_id = [{"topic_id": topic_id, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]
    by_name = [{"name": name, "partitions": [{"partition_index": 1, "committed_offset": 6}]}]
    fetched = [{"group_id": group, "topics": [{"topic_id": topic_id, "partition_indexes": [0, 1]}]}]
    for broker in (1, 3):
        c.at(broker).ask("OffsetCommit", 10, **commit, topics=by_id)
        c.at(broker).ask("OffsetCommit", 9, **commit, topics=by_name)
        c.at(broker).ask("OffsetFetch", 10, groups=fetched)
    c.lead(OFFSETS, 2, 1)
    c.s.until(lambda: _serves(c, group, 1), "1 never coordinated the group")
    wanted = [{"group_id": group, "topics": [{"name": name, "partition_indexes": [1]}]}]

    def counted() -> bool:
        """META-2: the last that was written counts once the new leader's high watermark has passed
        it."""
        answer = c.quietly("OffsetFetch", 9, 1, groups=wanted)
        return bool(answer["groups"][0]["topics"][0]["partitions"][0]["committed_offset"] == 6)

    c.s.until(counted, "the last commit never counted")
    c.at(2).ask("OffsetFetch", 10, groups=fetched)
    c.at(1).ask("OffsetFetch", 10, groups=fetched)
    c.at(1).ask("OffsetFetch", 10, groups=[{"group_id": group, "topics": None}])
    c.at(1).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
