"""Records and offsets: what is consumed, from where, and what is committed."""

from __future__ import annotations

from integration_tests.clients.stage import Cast
from integration_tests.clients.story import story


@story()
def produce_and_consume(cast: Cast) -> None:
    """Records arrive once, in the order of each partition."""
    orders = cast.topic("orders", 2)
    cast.produce(orders, {0: "abc", 1: "xy"})
    a = cast.member("A").subscribe(orders).until_consumed(5)
    cast.produce(orders, {0: "d", 1: "z"})
    a.until_consumed(7)
    a.ask("position", (orders, 0), (orders, 1))
    a.ask("assignment")
    a.close()


@story()
def committed_offsets_are_resumed(cast: Cast) -> None:
    """Whoever comes later goes on where offsets were committed; a partition without one starts at
    the reset policy."""
    orders = cast.topic("orders", 3)
    cast.produce(orders, {0: "abc", 1: "mno", 2: "xyz"})
    a = cast.member("A").subscribe(orders).until_consumed(9)
    a.commit({(orders, 0): 2, (orders, 1): 3})
    a.ask("committed", (orders, 0), (orders, 1), (orders, 2))
    a.close()
    b = cast.member("B").subscribe(orders).until_consumed(4)
    cast.produce(orders, {1: "p"})
    b.until_consumed(5)
    b.close()


@story()
def positions_are_committed(cast: Cast) -> None:
    """A commit without offsets commits what was consumed."""
    orders = cast.topic("orders", 2)
    cast.produce(orders, {0: "abc", 1: "x"})
    a = cast.member("A").subscribe(orders).until_consumed(4)
    a.commit()
    a.ask("committed", (orders, 0), (orders, 1))
    a.close()
    cast.produce(orders, {0: "d", 1: "y"})
    cast.member("B").subscribe(orders).until_consumed(2)


@story()
def positions_are_committed_automatically(cast: Cast) -> None:
    """Auto-commit writes positions while a consumer polls."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    a = (
        cast.member("A", enable_auto_commit=True, auto_commit_interval_ms=200)
        .subscribe(orders)
        .until_consumed(3)
    )
    cast.until_committed(orders, 0, 3)
    a.ask("committed", (orders, 0))


@story()
def closing_commits_automatically(cast: Cast) -> None:
    """Auto-commit commits on close what its interval had not come to yet."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    a = (
        cast.member("A", enable_auto_commit=True, auto_commit_interval_ms=60_000)
        .subscribe(orders)
        .until_consumed(3)
    )
    a.close()
    cast.until_committed(orders, 0, 3)
    cast.produce(orders, {0: "d"})
    cast.member("B").subscribe(orders).until_consumed(1)


@story()
def closing_commits_nothing_unasked(cast: Cast) -> None:
    """Without auto-commit whoever comes later consumes all again."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    cast.member("A").subscribe(orders).until_consumed(3).close()
    b = cast.member("B").subscribe(orders).until_consumed(3)
    b.ask("committed", (orders, 0))


@story()
def seeking(cast: Cast) -> None:
    """A position can be set: to an offset, to the beginning, to the end."""
    orders = cast.topic("orders", 2)
    cast.produce(orders, {0: "abcd", 1: "xy"})
    a = cast.member("A").subscribe(orders).until_consumed(6)
    a.seek((orders, 0), 2)
    a.until_consumed(8)
    a.ask("seek_to_beginning", (orders, 1))
    a.until_consumed(10)
    a.ask("position", (orders, 0), (orders, 1))
    a.poll(on=False)
    a.seek((orders, 0), 0)
    a.ask("seek_to_end", (orders, 0))
    a.poll()
    cast.produce(orders, {1: "z"})
    a.until_consumed(11)
    a.tally()


@story()
def seeking_beyond_the_end_resets(cast: Cast) -> None:
    """OFFSET_OUT_OF_RANGE leads to the reset policy."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    a = cast.member("A").subscribe(orders).until_consumed(3)
    a.seek((orders, 0), 99)
    a.until_consumed(6)


@story()
def reset_to_latest(cast: Cast) -> None:
    """Without a committed offset the policy `latest` starts behind what is there."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    a = cast.member("A", auto_offset_reset="latest").subscribe(orders)
    cast.settled(a)
    a.ask("position", (orders, 0))
    cast.produce(orders, {0: "d"})
    a.until_consumed(1)


@story()
def no_reset_policy(cast: Cast) -> None:
    """Without a committed offset and a policy there is an error; a seek mends it (librdkafka does
    not allow that)."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    a = cast.member("A", auto_offset_reset="none").subscribe(orders)
    a.until_step("poll failed")
    if cast.variant.library != "confluent":
        a.poll(on=False)
        a.seek((orders, 0), 1)
        a.poll()
        a.until_consumed(2)


@story()
def pausing(cast: Cast) -> None:
    """A paused partition gives nothing until it is resumed; the others go on."""
    orders = cast.topic("orders", 2)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    a.ask("pause", (orders, 0))
    a.ask("paused")
    cast.produce(orders, {0: "abc"})
    cast.produce(orders, {1: "xyz"})
    a.until_consumed(3)
    a.tally()
    a.ask("resume", (orders, 0))
    a.until_consumed(6)
    a.ask("paused")


@story()
def offsets_are_listed(cast: Cast) -> None:
    """Beginning and end of partitions, and the first offsets at or after a time."""
    orders = cast.topic("orders", 2)
    cast.produce(orders, {0: "abcd"}, at_ms=1_000_000)
    a = cast.member("A").subscribe(orders).until_consumed(4)
    a.ask("beginning_offsets", (orders, 0), (orders, 1))
    a.ask("end_offsets", (orders, 0), (orders, 1))
    for at_ms in (0, 1_001_000, 1_001_500, 1_003_001):
        a.offsets_for_times({(orders, 0): at_ms, (orders, 1): at_ms})


@story()
def partitions_taken_by_hand(cast: Cast) -> None:
    """Without membership partitions are consumed and offsets committed; no listener is called."""
    orders = cast.topic("orders", 2)
    cast.produce(orders, {0: "abc", 1: "xyz"})
    a = cast.member("A").assign((orders, 1)).poll()
    a.until_consumed(3)
    a.commit({(orders, 1): 2})
    a.ask("committed", (orders, 0), (orders, 1))
    a.close()
    cast.member("B").assign((orders, 0), (orders, 1)).poll().until_consumed(4)
