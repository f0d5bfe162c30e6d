"""Who owns what: members join, leave, crash and freeze; topics grow; subscriptions change."""

from __future__ import annotations

from integration_tests.clients.stage import SHORT_SESSION_MS, Cast
from integration_tests.clients.story import story


@story()
def members_join(cast: Cast) -> None:
    """Every member that joins gets its share; those who are there give up what they must, and no
    more if cooperative."""
    orders = cast.topic("orders", 6)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B").subscribe(orders)
    cast.settled(a, b)
    c = cast.member("C").subscribe(orders)
    cast.settled(a, b, c)


@story()
def members_leave(cast: Cast) -> None:
    """Who closes gives up its partitions and leaves; the others take them, also when the leader
    left."""
    orders = cast.topic("orders", 6)
    a, b, c = (cast.member(name) for name in "ABC")
    a.subscribe(orders)
    cast.settled(a)
    b.subscribe(orders)
    cast.settled(a, b)
    c.subscribe(orders)
    cast.settled(a, b, c)
    c.close()
    cast.settled(a, b)
    a.close()
    cast.settled(b)
    b.close()


@story()
def a_member_crashes(cast: Cast) -> None:
    """A process that dies is missed when its session ends; its partitions go to the others, from
    the committed offsets on."""
    orders = cast.topic("orders", 2)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", own_process=True, session_timeout_ms=SHORT_SESSION_MS).subscribe(orders)
    cast.settled(a, b)
    cast.produce(orders, {0: "abc", 1: "xyz"})
    a.until_consumed(3)
    b.until_consumed(3)
    theirs = min(b.owned)
    a.commit()
    b.commit({theirs: 1})
    b.crash()
    cast.settled(a)
    a.until_consumed(5)


@story()
def a_member_freezes(cast: Cast) -> None:
    """A process that stands still longer than its session loses its partitions, is told so when it
    wakes up, and joins again."""
    orders = cast.topic("orders", 4)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", own_process=True, session_timeout_ms=SHORT_SESSION_MS).subscribe(orders)
    cast.settled(a, b)
    b.freeze()
    cast.until_group("Stable", members=1)
    a.until_owns(*((orders, i) for i in range(4)))
    b.thaw()
    b.until_step("lost", "revoked")
    cast.settled(a, b)


@story()
def two_topics(cast: Cast) -> None:
    """Members may want different topics; each partition goes to one who wants it."""
    orders, bills = cast.topic("orders", 2), cast.topic("bills", 2)
    a = cast.member("A").subscribe(orders, bills)
    cast.settled(a)
    b = cast.member("B").subscribe(bills)
    cast.settled(a, b)
    cast.produce(orders, {0: "ab", 1: "c"})
    cast.produce(bills, {0: "x", 1: "yz"})
    cast.until_seen("abcxyz")


@story()
def a_subscription_changes(cast: Cast) -> None:
    """Subscribing to something else brings a rebalance and other partitions."""
    orders, bills = cast.topic("orders", 2), cast.topic("bills", 2)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    a.subscribe(bills)
    cast.settled(a)
    a.ask("subscription")
    a.subscribe(orders, bills)
    cast.settled(a)


@story()
def a_topic_grows(cast: Cast) -> None:
    """New partitions are noticed with the metadata and shared out."""
    orders = cast.topic("orders", 2)
    a = cast.member("A", metadata_max_age_ms=500).subscribe(orders)
    cast.settled(a)
    b = cast.member("B", metadata_max_age_ms=500).subscribe(orders)
    cast.settled(a, b)
    cast.grow(orders, 4)
    cast.settled(a, b)
    cast.produce(orders, {0: "a", 1: "b", 2: "c", 3: "d"})
    cast.until_seen("abcd")


@story(unless=("kafka-python",))
def a_pattern_is_subscribed(cast: Cast) -> None:
    """A pattern takes the topics that match, also one that comes later, and no others.

    (kafka-python may miss topics that match, for ever, on any broker.)
    """
    east = cast.topic("east-1", 2)
    cast.topic("west-1", 2)
    a = (
        cast.member("A", metadata_max_age_ms=500)
        .subscribe(pattern=cast.pattern("east"))
        .expects(east)
    )
    cast.settled(a)
    later = cast.topic("east-2", 2)
    a.expects(east, later)
    cast.settled(a)
    cast.produce(later, {1: "abc"})
    a.until_consumed(3)


@story()
def a_member_unsubscribes(cast: Cast) -> None:
    """Unsubscribing leaves the group; the others take over; subscribing again joins again."""
    orders = cast.topic("orders", 4)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B").subscribe(orders)
    cast.settled(a, b)
    b.poll(on=False)
    b.unsubscribe()
    cast.settled(a)
    b.subscribe(orders)
    cast.settled(a, b)
