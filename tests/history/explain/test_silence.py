"""A member that dies in silence: since when its partitions are lost, in `coordinator explain` and on
the page."""

from __future__ import annotations

from typing import Any

from coordinator.lab.page.picture import Picture
from tests.events.kit import LoggedWorld, wants
from tests.lines import write

EAGER: dict[str, Any] = {"session_ms": 6000, "rebalance_ms": 10_000, "protocols": wants("orders")}


def two() -> LoggedWorld:
    """Members a (orders 0-1) and b (orders 2), Stable; both are heard of last at 1 s."""
    w = LoggedWorld()
    w.enter("a", **EAGER)
    w.share(a={"orders": (0, 1, 2)})
    w.enter("b", **EAGER)
    w.join("a", **EAGER)
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    w.advance(1000)
    w.heartbeat("a")
    w.heartbeat("b")
    return w


def connection(w: LoggedWorld, name: str, what: str) -> None:
    """The line that a closed or new connection leaves: the virtual world has no broker that would
    write it."""
    write(
        w.log_file,
        "wire",
        what,
        at_ms=w.now,
        group="g",
        member=w.id(name),
        client=name,
        peer="127.0.0.1:1",
    )


def expire(w: LoggedWorld) -> None:
    """a expires at 7 s; b goes on alone at 7.5 s."""
    w.advance(7000 - w.now)
    w.advance(500)
    w.join("b", **EAGER)
    w.share(b={"orders": (0, 1, 2)})


def drawn(w: LoggedWorld) -> tuple[dict[str, Any], dict[str, Any]]:
    """The picture of the group, and the lane of a."""
    (group,) = Picture(w.log_file.read()).plain()["groups"]
    return group, group["lanes"][0]


def test_a_killed_member_is_lost_from_when_its_connection_closed() -> None:
    w = two()
    w.advance(400)
    connection(w, "a", "MemberDisconnected")
    w.advance(1600)
    w.heartbeat("b")
    expire(w)
    text = w.text()
    assert "its connection closed at 1.400 s" in text
    assert "was removed; it owned orders 0-1; its connection closed at 1.400 s" in text
    assert text.endswith("12.200 partition-seconds in all"), "nothing is uncertain"
    group, lane = drawn(w)
    assert (1400, 7000, "gone") in [tuple(each) for each in lane["activity"]]
    assert group["silent_partition_ms"] == 0
    assert group["still_partition_ms"] == 2 * 5600
    least_ms, most_ms = w.cost().lost
    assert least_ms >= 2 * 6100
    assert least_ms == most_ms


def test_a_frozen_member_may_have_been_lost_from_its_last_sign_of_life() -> None:
    w = two()
    w.advance(2000)
    w.heartbeat("b")
    expire(w)
    assert "if members that expired did nothing from their last sign of life on" in w.text()
    group, lane = drawn(w)
    assert (1000, 7000, "silent") in [tuple(each) for each in lane["activity"]]
    assert group["silent_partition_ms"] == 2 * 6000
    least_ms, most_ms = w.cost().lost
    assert most_ms - least_ms == 2 * 6000


def test_a_member_that_connects_again_was_alive() -> None:
    w = two()
    w.advance(400)
    connection(w, "a", "MemberDisconnected")
    group, lane = drawn(w)
    assert lane["activity"][-1][2] == "gone"
    w.advance(600)
    connection(w, "a", "MemberReconnected")
    w.heartbeat("a")
    w.heartbeat("b")
    w.advance(1000)
    w.heartbeat("a")
    w.heartbeat("b")
    group, lane = drawn(w)
    assert all(does != "gone" for _, _, does in lane["activity"])
    assert group["still_partition_ms"] == 0
