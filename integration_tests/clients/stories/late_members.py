"""Members that are late, put out or interrupted, and their commits."""

from __future__ import annotations

from integration_tests.clients.stage import SHORT_SESSION_MS, Cast
from integration_tests.clients.story import story


@story()
def a_member_polls_too_seldom(cast: Cast) -> None:
    """After max.poll.interval.ms without a poll a member is out, cannot commit, and comes back with
    the next poll."""
    orders = cast.topic("orders", 4)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member(
        "B", max_poll_interval_ms=SHORT_SESSION_MS, session_timeout_ms=SHORT_SESSION_MS
    ).subscribe(orders)
    cast.settled(a, b)
    theirs = min(b.owned)
    b.poll(on=False)
    cast.until_group("Stable", members=1)
    a.until_owns(*((orders, i) for i in range(4)))
    b.commit({theirs: 0})
    b.poll()
    cast.settled(a, b)


@story(unless=("aiokafka",))
def a_commit_while_the_group_rebalances(cast: Cast) -> None:
    """A member that has not yet heard of a rebalance still commits; the next poll takes it into the
    new generation.

    It beats so seldom that it commits before it hears. (librdkafka's cooperative members rejoin
    without a poll as soon as they hear.) (aiokafka rejoins behind its user's back: there is no such
    moment.)
    """
    orders = cast.topic("orders", 4)
    cast.produce(orders, {0: "abc"})
    a = (
        cast.member("A", heartbeat_interval_ms=12_000, session_timeout_ms=40_000)
        .subscribe(orders)
        .until_consumed(3)
    )
    cast.settled(a)
    a.poll(on=False)
    b = cast.member("B").subscribe(orders)
    cast.until_group("PreparingRebalance", members=2)
    a.commit({(orders, 0): 2})
    a.poll()
    cast.settled(a, b)
    a.ask("committed", (orders, 0))
    cast.produce(orders, {0: "d"})
    cast.until_seen("d")


@story()
def a_commit_inside_the_listener(cast: Cast) -> None:
    """Positions committed as partitions are revoked: the next owner consumes nothing twice."""
    orders = cast.topic("orders", 2)
    cast.produce(orders, {0: "abc", 1: "xyz"})
    a = cast.member("A").subscribe(orders, on_revoked="commit").until_consumed(6)
    cast.settled(a)
    b = cast.member("B").subscribe(orders)
    cast.settled(a, b)
    cast.produce(orders, {0: "d", 1: "w"})
    cast.until_seen("dw")
    a.ask("committed", (orders, 0), (orders, 1))


@story(unless=("aiokafka",))
def a_commit_by_a_member_put_out(cast: Cast) -> None:
    """An administrator removes a member: its commit fails, it is told that its partitions are lost,
    and joins again.

    (aiokafka joins again behind its user's back: its commit may come before or after.)
    """
    orders = cast.topic("orders", 2)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    a.poll(on=False)
    cast.remove_members()
    a.commit({(orders, 0): 0})
    a.poll()
    a.until_step("lost", "revoked")
    cast.settled(a)


@story(only=("java",))
def a_poll_is_woken_up(cast: Cast) -> None:
    """wakeup() ends the poll under way with an exception; the next poll goes on, and membership has
    not suffered."""
    orders = cast.topic("orders", 1)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    a.wakeup()
    a.until_step("poll failed")
    cast.produce(orders, {0: "abc"})
    a.until_consumed(3)
    a.close()
