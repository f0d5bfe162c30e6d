"""What the next coordinator or leader does by itself: it ends transactions and sessions that are
over, and forgets deleted topics."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.acknowledgements import delete_before
from integration_tests.cluster.scenarios.assignments import TOPIC, alter, described
from integration_tests.cluster.scenarios.consumers import Consumer, describe
from integration_tests.cluster.scenarios.coordinators import Transactor, _state
from integration_tests.cluster.scenarios.moved_transactions import described as transaction
from integration_tests.cluster.scenarios.moved_transactions import ends
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.refusals import listed
from integration_tests.cluster.scenarios.second_version import _moved
from integration_tests.cluster.scenarios.standstills import commit, fetched
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Plain


@scenario
def a_transaction_that_takes_too_long(c: Cluster) -> None:
    """The next coordinator aborts it: its time counts from where it began, and its producer's epoch
    has risen."""
    name = c.topic("t", [1, 2])
    one, new = Transactor(c, "tx"), Transactor(c, "tx")
    one.init(timeout_ms=5_000)
    one.write(name, 1)
    c.crash(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, one, 1)
    ends(c, one, 1, "CompleteAbort")
    transaction(c, one, 1)
    one.add(name, 1)
    one.end(1)
    c.at(1).ask("InitProducerId", 4, **one.who, transaction_timeout_ms=5_000)
    listed(c.at(1), name)
    new.init(1)
    c.start(3)
    c.until(TRANSACTIONS, 2, isr_nodes={1, 2, 3})
    c.lead(TRANSACTIONS, 2, 3)
    _moved(c, new, 3)
    transaction(c, new, 3)


@scenario
def a_producer_that_comes_anew(c: Cluster) -> None:
    """InitProducerId at the next coordinator while a transaction is open: CONCURRENT_TRANSACTIONS,
    the abort, and then the id."""
    name = c.topic("t", [1, 2])
    old, new = Transactor(c, "tx"), Transactor(c, "tx")
    old.init()
    old.write(name, 1)
    c.stop(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, old, 1)
    new.init(1)
    ends(c, old, 1, "CompleteAbort")
    transaction(c, old, 1)
    new.init(1)
    old.end(1)
    old.add(name, 1)
    entries = [{"partition_index": 0, "timestamp": -1}]
    c.at(1).ask(
        "ListOffsets",
        7,
        replica_id=-1,
        isolation_level=1,
        topics=[{"name": name, "partitions": entries}],
    )
    new.write(name, 1, broker=1)
    new.end(1)
    ends(c, new, 1)


@scenario
def a_session_that_is_over_at_the_next_coordinator(c: Cluster) -> None:
    """ERR-7, SES-5: every member has a whole session again; who does not come is removed, its
    partner hears of the rebalance."""
    group = c.name("g", 3)
    join: Plain = {
        "group_id": group,
        "session_timeout_ms": 6_000,
        "rebalance_timeout_ms": 120_000,
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    sync: Plain = {"group_id": group, "protocol_type": "consumer", "protocol_name": "range"}
    one = c.at(3).ask("JoinGroup", 9, **join, member_id="", group_instance_id="one")["member_id"]
    c.at(3).ask(
        "SyncGroup",
        5,
        **sync,
        generation_id=1,
        member_id=one,
        group_instance_id="one",
        assignments=[{"member_id": one, "assignment": "0a"}],
    )
    c.lead(OFFSETS, 2, 1)
    c.s.until(lambda: _state(c, group, 1)["group_state"] == "Empty", "its session was never over")
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    c.at(1).ask(
        "Heartbeat", 4, group_id=group, generation_id=1, member_id=one, group_instance_id="one"
    )
    back = c.at(1).ask("JoinGroup", 9, **join, member_id="", group_instance_id="one")["member_id"]
    c.at(1).ask(
        "SyncGroup",
        5,
        **sync,
        generation_id=3,
        member_id=back,
        group_instance_id="one",
        assignments=[{"member_id": back, "assignment": "0b"}],
    )
    c.at(1).ask(
        "Heartbeat", 4, group_id=group, generation_id=1, member_id=one, group_instance_id="one"
    )


@scenario
def offsets_of_a_topic_deleted_while_their_coordinator_is_away(c: Cluster) -> None:
    """EXP-7: they go at whoever coordinates the group then, and are not there when the former
    coordinator is back."""
    kept, deleted, group = c.topic("kept", [1, 2]), c.topic("deleted", [1, 2]), c.name("g", 3)

    def left() -> list[str]:
        answer = c.quietly("OffsetFetch", 9, 1, groups=[{"group_id": group, "topics": None}])
        return [topic["name"] for topic in answer["groups"][0]["topics"]]

    commit(c, group, kept, 1, 3)
    commit(c, group, deleted, 2, 3)
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    c.s.until(lambda: {*left()} == {kept, deleted}, "1 never told of both")
    c.s.say("committed at 1", sorted(c.s.names.text(each) for each in left()))
    c.quietly("DeleteTopics", 4, topic_names=[deleted], timeout_ms=10_000)
    c.s.until(lambda: left() == [kept], "they stayed")
    fetched(c, group, 1)
    commit(c, group, deleted, 3, 1)
    c.start(3)
    c.until(OFFSETS, 2, isr_nodes={1, 2, 3})
    c.lead(OFFSETS, 2, 3)
    c.s.until(lambda: _state(c, group, 3)["error_code"] in (0, 69), "3 never coordinated it")
    c.at(3).ask(
        "OffsetDelete",
        0,
        group_id=group,
        topics=[{"name": deleted, "partitions": [{"partition_index": 0}]}],
    )
    c.at(3).ask(
        "OffsetDelete",
        0,
        group_id=group,
        topics=[{"name": kept, "partitions": [{"partition_index": 0}]}],
    )
    fetched(c, group, 3)


@scenario
def a_topic_grows_while_its_consumers_coordinator_is_away(c: Cluster) -> None:
    """K8: the next coordinator sees the new partitions at the next heartbeat, under a new group
    epoch."""
    name, group = c.topic("t", [1, 2]), c.name("g", 3)
    c.s.names.topic_id(c.topic_id(name))
    one = Consumer(c, "one", group)
    one.join(3, name)
    one.ack(3)
    one.given.clear()
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    c.quietly(
        "CreatePartitions",
        3,
        topics=[{"name": name, "count": 3, "assignments": None}],
        timeout_ms=10_000,
        validate_only=False,
    )
    for index in (1, 2):
        c.s.until(lambda index=index: bool(c.partition(name, index, 1)), "it never grew")  # type: ignore[misc]
    c.s.until(lambda: _state(c, group, 1)["error_code"] in (0, 69), "1 never coordinated it")
    one.beat_until_given(1)
    one.ack(1)
    describe(c, 1, group)


@scenario
def an_unclean_leader_by_configuration(c: Cluster) -> None:
    """unclean.leader.election.enable of a topic: who was not in sync leads at once, when nobody
    else is left."""
    name = c.topic("t", [3, 2], unclean_leader_election_enable="true")
    c.produce(name, b"first", broker=3)
    c.committed_at(name, 2, 1)
    c.stop(2)
    c.until(name, 0, isr_nodes={3})
    c.produce(name, b"second", broker=3)
    c.crash(3, noticed=False)
    c.start(2)
    served(c, name, 2)
    c.produce(name, b"new", broker=2)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.committed_at(name, 3, 2)
    alter(c, TOPIC, name, "unclean.leader.election.enable", "false")
    described(c, TOPIC, name, "unclean.leader.election.enable", "false", 2)


@scenario
def nothing_is_answered_to_acks_0(c: Cluster) -> None:
    """acks=0: what the leader takes is not answered; what is refused closes the connection, as does
    a broker that does not lead."""
    name = c.topic("t", [1, 2], max_message_bytes="200")
    c.produce(name, b"first", broker=1)
    c.committed_at(name, 2, 1)

    def write(label: str, broker: int, value: bytes, **producer: Any) -> None:
        link = c.connect(label, broker)
        data = [
            {"name": name, "partition_data": [{"index": 0, "records": batch(value, **producer)}]}
        ]
        link.send_unanswered("Produce", 9, acks=0, timeout_ms=1_000, topic_data=data)
        link.send(
            "ListOffsets",
            7,
            replica_id=-1,
            topics=[{"name": name, "partitions": [{"partition_index": 0, "timestamp": -1}]}],
        )
        link.ends()

    write("taken", 1, b"a")
    write("too long", 1, b"a" * 300)
    write("a follower", 2, b"a")
    write("a stranger", 3, b"a")
    write("a gap", 1, b"a", producer=Producer(987654321, 0, 5))
    c.committed_at(name, 2, 3)
    listed(c.at(1), name)


@scenario
def fetches_wait_at_followers(c: Cluster) -> None:
    """KIP-392: a fetch that waits at a follower is answered once the follower knows that the
    records are committed."""
    name = c.topic("t", [1, 2, 3])
    topic_id = c.topic_id(name)
    c.produce(name, b"a", broker=1)
    for broker in (2, 3):
        c.committed_at(name, broker, 1)

    def wait(label: str, broker: int, offset: int, **limits: int) -> Any:
        link = c.connect(label, broker)
        partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
        asked: Plain = {
            "max_wait_ms": 60_000,
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "session_epoch": -1,
        } | limits
        link.send("Fetch", 17, **asked, topics=[{"topic_id": topic_id, "partitions": [partition]}])
        return link

    first, second, long = (
        wait("first", 2, 1),
        wait("second", 3, 1),
        wait("long", 2, 1, min_bytes=150),
    )
    c.produce(name, b"b", broker=1)
    first.expect()
    second.expect()
    c.produce(name, b"c", broker=1)
    c.produce(name, b"d", broker=1)
    last = long.expect(brief=True)
    assert last is not None
    delete_before(c, name, 4, 1)
    c.committed_at(name, 2, 4, start=4)
    wait("out of range", 2, 0).expect()
    wait("beyond", 2, 9).expect()
