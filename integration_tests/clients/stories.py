"""The stories of the matrix: what members do, step by step, each step awaited before the next. Every variant plays all.

A story's docstring says what it proves. Partitions are not named where assignors differ: the transcript has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from integration_tests.clients.stage import Cast
from integration_tests.clients.variants import Variant

Play = Callable[[Cast], None]

SHORT_SESSION_MS: Final = 3_000
SHORT_POLL_INTERVAL_MS: Final = 3_000


class Story(NamedTuple):
    """A story, its name, and who can play it: `only` these and none of `unless`, by the names of libraries or variants."""

    name: str
    play: Play
    only: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def suits(self, variant: Variant) -> bool:
        """Can it be played so?"""
        names = {variant.name, variant.library}
        return (not self.only or not names.isdisjoint(self.only)) and names.isdisjoint(self.unless)


STORIES: Final[dict[str, Story]] = {}


def story(*, only: tuple[str, ...] = (), unless: tuple[str, ...] = ()) -> Callable[[Play], Play]:
    """Register a story; where not all can play it, its docstring says why."""

    def register(play: Play) -> Play:
        STORIES[play.__name__] = Story(play.__name__, play, only, unless)
        return play

    return register


# -- records and offsets ------------------------------------------------------------------------------------------------------


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
    """Whoever comes later goes on where offsets were committed; a partition without one starts at the reset policy."""
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
    a = cast.member("A", enable_auto_commit=True, auto_commit_interval_ms=200).subscribe(orders).until_consumed(3)
    cast.until_committed(orders, 0, 3)
    a.ask("committed", (orders, 0))


@story()
def closing_commits_automatically(cast: Cast) -> None:
    """Auto-commit commits on close what its interval had not come to yet."""
    orders = cast.topic("orders", 1)
    cast.produce(orders, {0: "abc"})
    a = cast.member("A", enable_auto_commit=True, auto_commit_interval_ms=60_000).subscribe(orders).until_consumed(3)
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
    """Without a committed offset and a policy there is an error; a seek mends it (librdkafka does not allow that)."""
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


# -- who owns what ------------------------------------------------------------------------------------------------------------


@story()
def members_join(cast: Cast) -> None:
    """Every member that joins gets its share; those who are there give up what they must, and no more if cooperative."""
    orders = cast.topic("orders", 6)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B").subscribe(orders)
    cast.settled(a, b)
    c = cast.member("C").subscribe(orders)
    cast.settled(a, b, c)


@story()
def members_leave(cast: Cast) -> None:
    """Who closes gives up its partitions and leaves; the others take them, also when the leader left."""
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
    """A process that dies is missed when its session ends; its partitions go to the others, from the committed offsets on."""
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
    """A process that stands still longer than its session loses its partitions, is told so when it wakes up, and joins again."""
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


@story(unless=("kafka-python-cooperative",))
def a_pattern_is_subscribed(cast: Cast) -> None:
    """A pattern takes the topics that match, also one that comes later, and no others.

    (kafka-python with its cooperative assignor misses the later one every other time, for ever, on any broker.)
    """
    east = cast.topic("east-1", 2)
    cast.topic("west-1", 2)
    a = cast.member("A", metadata_max_age_ms=500).subscribe(pattern=cast.pattern("east")).expects(east)
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


# -- static members -----------------------------------------------------------------------------------------------------------


@story()
def a_static_member_restarts_in_time(cast: Cast) -> None:
    """Within its session timeout a static member comes back to its partitions; nobody else hears of it."""
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
    """After its session timeout the others have its partitions; when it comes back there is a rebalance."""
    orders = cast.topic("orders", 4)
    a = cast.member("A", group_instance_id="one").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", group_instance_id="two", session_timeout_ms=SHORT_SESSION_MS).subscribe(orders)
    cast.settled(a, b)
    b.close()
    cast.settled(a)
    again = cast.member("B again", group_instance_id="two", client_id="b").subscribe(orders)
    cast.settled(a, again)


@story(unless=("aiokafka",))
def an_instance_id_is_taken_over(cast: Cast) -> None:
    """Whoever joins with an instance id in use fences its first holder: FENCED_INSTANCE_ID.

    (Two aiokafka consumers fence each other for ever: the one put out joins again by itself.)
    """
    orders = cast.topic("orders", 2)
    a = cast.member("A", group_instance_id="one").subscribe(orders)
    cast.settled(a)
    a.poll(on=False)
    b = cast.member("B", group_instance_id="one").subscribe(orders)
    b.until_owns((orders, 0), (orders, 1))
    a.commit({(orders, 0): 0})
    cast.settled(b)


# -- late members -------------------------------------------------------------------------------------------------------------


@story()
def a_member_polls_too_seldom(cast: Cast) -> None:
    """After max.poll.interval.ms without a poll a member is out, cannot commit, and comes back with the next poll."""
    orders = cast.topic("orders", 4)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", max_poll_interval_ms=SHORT_POLL_INTERVAL_MS, session_timeout_ms=SHORT_SESSION_MS).subscribe(orders)
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
    """A member that has not yet heard of a rebalance still commits; the next poll takes it into the new generation.

    (aiokafka rejoins behind its user's back: there is no such moment.)
    """
    orders = cast.topic("orders", 4)
    cast.produce(orders, {0: "abc"})
    a = cast.member("A").subscribe(orders).until_consumed(3)
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
    """An administrator removes a member: its commit fails, it is told that its partitions are lost, and joins again.

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
    """wakeup() ends the poll under way with an exception; the next poll goes on, and membership has not suffered."""
    orders = cast.topic("orders", 1)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    a.wakeup()
    a.until_step("poll failed")
    cast.produce(orders, {0: "abc"})
    a.until_consumed(3)
    a.close()
