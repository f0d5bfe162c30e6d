"""Share groups on several brokers: partitions' leaders and share coordinators that move or crash
while members have records in hand (SH-LD-1, SH-ST-2, SH-OFF-1)."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.sharing import SharedTopic
from integration_tests.cluster.stage import OFFSETS, SHARE_STATES, Cluster
from integration_tests.wire.raw import Plain
from integration_tests.wire.sharing import ACCEPT, REJECT, RELEASE

_WAITS_MS = 4_000


@scenario
def the_leader_moves(c: Cluster) -> None:
    """Between two acknowledgements: the old leader takes no more; the next one has what was stored,
    counts of deliveries with it, and gives again what was in somebody's hands."""
    shared = SharedTopic(c, 6)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, ACCEPT), (1, 2, RELEASE), (3, 3, REJECT))
    c.lead(shared.topic, 0, 2)
    a.acknowledge((4, 4, ACCEPT))
    a.fetch()
    b = shared.member("b", 2)
    b.begin()
    shared.state(3, epoch=1)
    b.acknowledge((1, 2, ACCEPT), (4, 5, RELEASE))
    c.lead(shared.topic, 0, 1)
    again = shared.member("again", 1)
    again.begin()
    again.acknowledge((4, 5, ACCEPT))
    shared.state(3, epoch=2)


@scenario
def the_leader_crashes(c: Cluster) -> None:
    """With records in hand, some of them accepted: the others are given by its follower, and later
    by itself."""
    shared = SharedTopic(c, 3, 3)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 1, ACCEPT))
    c.crash(1)
    shared.led(2, 6)
    b = shared.member("b", 2)
    b.begin(max_records=2)
    b.acknowledge((2, 2, ACCEPT))
    c.produce(shared.topic, b"v", broker=2)
    c.start(1)
    c.until(shared.topic, 0, isr_nodes={1, 2, 3})
    c.lead(shared.topic, 0, 1)
    shared.led(1, 7)
    b.acknowledge((3, 5, ACCEPT))
    again = shared.member("again", 1)
    again.begin()
    again.acknowledge((3, 6, ACCEPT))
    shared.state(3, epoch=c.partition(shared.topic)["leader_epoch"])


@scenario
def the_share_coordinator_moves(c: Cluster) -> None:
    """Between two acknowledgements: members notice nothing, the state is told by the new one
    alone."""
    shared = SharedTopic(c, 6)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, ACCEPT))
    for offset, to in enumerate((2, 1, 3), 1):
        shared.move_states(to)
        a.acknowledge((offset, offset, ACCEPT))
        for broker in (1, 2, 3):
            shared.state(broker)
    a.acknowledge((4, 5, RELEASE))
    a.fetch()


@scenario
def the_share_coordinator_crashes(c: Cluster) -> None:
    """Another broker loads what it had stored; it has all of it when it is back."""
    shared = SharedTopic(c, 6)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, ACCEPT), (1, 1, RELEASE))
    c.crash(3)
    c.until(SHARE_STATES, shared.states, leader_id=1)
    shared.served(1)
    a.acknowledge((2, 3, ACCEPT))
    a.fetch()
    shared.state(1)
    c.start(3)
    c.until(SHARE_STATES, shared.states, isr_nodes={1, 2, 3})
    shared.move_states(3)
    a.acknowledge((1, 1, ACCEPT), (4, 5, ACCEPT))
    shared.state(3)
    shared.state(1)


@scenario
def acknowledged_while_the_share_coordinator_is_gone(c: Cluster) -> None:
    """SH-LD-4: nobody knows yet that it has crashed. The leader asks again until another one has loaded
    the state; then the member is answered, with a fetch too."""
    shared = SharedTopic(c, 6)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, ACCEPT))
    c.crash(3)
    a.acknowledge((1, 2, ACCEPT), (3, 3, RELEASE))
    shared.served(1)
    shared.state(1)
    a.fetch()
    a.acknowledge((3, 3, ACCEPT))
    shared.state(1)


@scenario
def leader_and_share_coordinator_crash(c: Cluster) -> None:
    """Both are one broker: its follower is both, and begins with what was stored."""
    shared = SharedTopic(c, 4, states_at=1)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, RELEASE), (1, 1, ACCEPT))
    c.crash(1)
    shared.led(2, 4)
    c.until(SHARE_STATES, shared.states, leader_id=2)
    b = shared.member("b", 2)
    b.begin()
    b.acknowledge((0, 0, ACCEPT), (2, 3, REJECT))
    shared.state(2, epoch=1)
    b.fetch()
    b.close()


@scenario
def a_leader_is_fenced(c: Cluster) -> None:
    """SH-ST-2: somebody reads the state as a leader of a later epoch. The one that leads cannot
    store any more, and its members are told that it does not lead."""
    shared = SharedTopic(c, 4)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, ACCEPT))
    shared.state(3, epoch=5)
    a.acknowledge((1, 1, ACCEPT))
    a.acknowledge((2, 2, ACCEPT))
    a.fetch(max_wait_ms=_WAITS_MS)
    shared.state(3, epoch=5)


@scenario
def a_fetch_waits_while_the_leader_moves(c: Cluster) -> None:
    """Whoever waits for records is not told by the broker that leads no more before its time is
    over; it gets them where they are led."""
    shared = SharedTopic(c, 2)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 1, ACCEPT))
    a.link.send("ShareFetch", 2, **a.fields(max_wait_ms=_WAITS_MS))
    a.link.silent()
    c.lead(shared.topic, 0, 2)
    c.produce(shared.topic, b"v", b"v", broker=2)
    a.link.expect()
    b = shared.member("b", 2)
    b.begin()
    b.acknowledge((2, 3, ACCEPT))
    shared.state(3, epoch=1)


@scenario
def the_groups_coordinator_crashes(c: Cluster) -> None:
    """The group, its member and what it was given are loaded by another broker; records are
    acknowledged meanwhile; offsets are told there."""
    shared = SharedTopic(c, 4, group_at=3, states_at=1)
    who: Plain = {"group_id": shared.group, "member_id": "member-a"}
    at, epoch = 3, 0

    def beat(**other: Any) -> Plain:
        return c.at(at).ask("ShareGroupHeartbeat", 1, **({"member_epoch": epoch} | who | other))

    def given(answer: Plain) -> bool:
        nonlocal epoch
        epoch = epoch if answer["error_code"] else answer["member_epoch"]
        return answer["assignment"] is not None and bool(answer["assignment"]["topic_partitions"])

    epoch = beat(subscribed_topic_names=[shared.topic])["member_epoch"]
    c.s.until(
        lambda: given(c.quietly("ShareGroupHeartbeat", 1, at, **who, member_epoch=epoch)),
        "nothing was ever given",
    )
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 0, ACCEPT))
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    a.acknowledge((1, 1, ACCEPT))
    at = 1
    c.s.until(
        lambda: (
            not c.quietly("ShareGroupDescribe", 1, at, group_ids=[shared.group])["groups"][0][
                "error_code"
            ]
        ),
        "1 never had the group",
    )
    beat()
    c.at(1).ask("ShareGroupDescribe", 1, group_ids=[shared.group])
    shared.described(1)
    beat(member_epoch=-1)
    c.at(1).ask("ShareGroupDescribe", 1, group_ids=[shared.group])


@scenario
def offsets_are_altered_after_moves(c: Cluster) -> None:
    """AlterShareGroupOffsets once leader, share coordinator and group coordinator are others: who
    reads next begins where it says."""
    shared = SharedTopic(c, 5, group_at=3, states_at=1)
    a = shared.member("a", 1)
    a.begin()
    a.acknowledge((0, 3, ACCEPT))
    shared.move_states(2)
    c.lead(OFFSETS, 2, 2)
    c.lead(shared.topic, 0, 3)
    topics = [
        {"topic_name": shared.topic, "partitions": [{"partition_index": 0, "start_offset": 1}]}
    ]
    c.at(2).ask_until(
        lambda answer: not answer["error_code"],
        "AlterShareGroupOffsets",
        0,
        group_id=shared.group,
        topics=topics,
    )
    shared.described(2)
    b = shared.member("b", 3)
    b.begin()
    b.acknowledge((1, 4, ACCEPT))
    shared.described(2)
    c.lead(OFFSETS, 2, 3)
