"""Static members: restarts within and beyond the session timeout, and a second holder of an
instance id."""

from __future__ import annotations

from integration_tests.clients.stage import SHORT_SESSION_MS, Cast
from integration_tests.clients.story import story


@story()
def a_static_member_restarts_in_time(cast: Cast) -> None:
    """Within its session timeout a static member comes back to its partitions; nobody else hears of
    it."""
    orders = cast.topic("orders", 4)
    a = cast.member("A", group_instance_id="one").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", group_instance_id="two").subscribe(orders)
    cast.settled(a, b)
    b.close()
    again = cast.member("B again", group_instance_id="two", client_id="b").subscribe(orders)
    cast.settled(a, again)


@story()
def a_static_member_crashes_and_restarts_in_time(cast: Cast) -> None:
    """The same when its process was killed."""
    orders = cast.topic("orders", 4)
    a = cast.member("A", group_instance_id="one").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", own_process=True, group_instance_id="two").subscribe(orders)
    cast.settled(a, b)
    b.crash()
    again = cast.member("B again", group_instance_id="two", client_id="b").subscribe(orders)
    cast.settled(a, again)


@story()
def a_static_member_restarts_too_late(cast: Cast) -> None:
    """After its session timeout the others have its partitions; when it comes back there is a
    rebalance."""
    orders = cast.topic("orders", 4)
    a = cast.member("A", group_instance_id="one").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", group_instance_id="two", session_timeout_ms=SHORT_SESSION_MS).subscribe(
        orders
    )
    cast.settled(a, b)
    b.close()
    cast.settled(a)
    again = cast.member("B again", group_instance_id="two", client_id="b").subscribe(orders)
    cast.settled(a, again)


@story(unless=("aiokafka",))
def an_instance_id_is_taken_over(cast: Cast) -> None:
    """Whoever joins with an instance id in use fences its first holder: FENCED_INSTANCE_ID.

    The first holder beats so seldom that its commit is the first to be told. (After a heartbeat
    was, libraries call it by other names.) (Two aiokafka consumers fence each other for ever: the
    one put out joins again by itself.)
    """
    orders = cast.topic("orders", 2)
    a = cast.member(
        "A",
        group_instance_id="one",
        session_timeout_ms=90_000,
        heartbeat_interval_ms=30_000,
        max_poll_interval_ms=90_000,
    )
    a.subscribe(orders)
    cast.settled(a)
    a.poll(on=False)
    b = cast.member("B", group_instance_id="one").subscribe(orders)
    b.until_owns((orders, 0), (orders, 1))
    a.commit({(orders, 0): 0})
    cast.settled(b)
