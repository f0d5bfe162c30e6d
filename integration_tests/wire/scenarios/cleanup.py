"""What goes away by itself: offsets, groups, idle connections. The profile checks ten times a
second and keeps offsets a minute.

Members join in version 3, in one step: between the two steps of a later version the check may
delete the group, and the id with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from integration_tests.wire.batches import batch
from integration_tests.wire.people import (
    Member,
    describe,
    protocols,
    stable,
    state,
    subscription,
    topic,
    until,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import PROFILES, scenario
from integration_tests.wire.scenarios.offsets import at, commit, committed
from integration_tests.wire.scenarios.produce import request
from integration_tests.wire.transacting import Transactor, await_transactions

IDLE_MS = int(PROFILES["cleanup"]["connections.max.idle.ms"])
SPOKEN_MS = 250
SOON_MS = 2_000
"""Long enough for a look at what will be gone soon."""
CHECKS_MS = 500
"""Some checks' time."""


def kept(s: Session, group: str) -> list[list[object]]:
    """Topic label, partition and offset of all that a group has committed; without a step."""
    answer = s.stage().ask_quietly("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    found = [
        [s.names.text(t["name"]), p["partition_index"], p["committed_offset"]]
        for t in answer["groups"][0]["topics"]
        for p in t["partitions"]
    ]
    return sorted(found, key=str)


def until_kept(s: Session, group: str, count: int) -> None:
    """Wait until a group has so many offsets left, and say which."""
    s.until(lambda: len(kept(s, group)) == count, f"{count} offsets were never left")
    s.say("left", kept(s, group))


def until_gone(s: Session, group: str) -> None:
    """Wait until a group is deleted."""
    s.until(lambda: state(s, group) == "Dead", "the group stayed")


def short(
    link: Link,
    group: str,
    name: str,
    partition: int,
    offset: int,
    retention_ms: int = SOON_MS,
    version: int = 4,
) -> Plain:
    """A commit that names its own retention."""
    return commit(
        link, group, name, at(partition, offset), version=version, retention_time_ms=retention_ms
    )


@scenario("cleanup")
def a_commit_that_names_its_retention(s: Session) -> None:
    """EXP-2, EXP-5, EXP-6, OC-8: in versions 2 to 4; gone at the next check after it, and with the
    last offset the simple group."""
    name = topic(s, "t")
    for version in (2, 3, 4):
        group = s.name(f"g{version}")
        a = s.connect()
        short(a, group, name, 0, 5, version=version)
        committed(a, group, name, 0)
        until_kept(s, group, 0)
        until_gone(s, group)
        a = s.connect()
        committed(a, group, name, 0)
        describe(a, group)
        a.ask("ListGroups", 5, only="groups")


@scenario("cleanup")
def each_offset_has_its_own_time(s: Session) -> None:
    """EXP-2: one soon, one in an hour, one by the broker's own time."""
    name, group, a = topic(s, "t", 3), s.name("g"), s.connect()
    short(a, group, name, 0, 10)
    short(a, group, name, 1, 11, 3_600_000)
    commit(a, group, name, at(2, 12))
    until_kept(s, group, 2)
    describe(s.connect("b"), group)


@scenario("cleanup")
def a_later_commit_replaces_the_retention(s: Session) -> None:
    """EXP-2, OC-8: the last commit counts, with its own retention or none."""
    name, group, a = topic(s, "t", 2), s.name("g"), s.connect()
    short(a, group, name, 0, 10)
    commit(a, group, name, at(0, 20))
    commit(a, group, name, at(1, 11))
    short(a, group, name, 1, 21)
    until_kept(s, group, 1)


@scenario("cleanup")
def retentions_of_nothing(s: Session) -> None:
    """EXP-2: a retention of 0 is over at once; one below -1 is, too."""
    name = topic(s, "t")
    for retention in (0, -2, -1000):
        group = s.name(f"g{retention}")
        short(s.connect(), group, name, 0, 5, retention)
        until_gone(s, group)
        s.say("gone", retention)


@scenario("cleanup")
def members_keep_what_they_subscribe_to(s: Session) -> None:
    """EXP-1, EXP-3: in a Stable group only offsets of topics that nobody subscribes to expire."""
    mine, other, group = topic(s, "mine"), topic(s, "other"), s.name("g")
    (a,) = stable(
        s, group, "a", version=3, protocols=protocols("range", metadata=subscription(mine))
    )
    for name in (mine, other):
        a.commit(name, 7, version=4, retention_time_ms=SOON_MS)
    until_kept(s, group, 1)
    a.reconnect()
    a.heartbeat()
    a.leave()
    until_kept(s, group, 0)
    until_gone(s, group)


@scenario("cleanup")
def what_nobody_can_read_is_kept(s: Session) -> None:
    """EXP-3, EXP-8: with a subscription that cannot be read, all topics count as subscribed."""
    name, group = topic(s, "t"), s.name("g")
    (a,) = stable(s, group, "a", version=3, protocols=protocols("range", metadata="ff"))
    a.commit(name, 7, version=4, retention_time_ms=1)
    s.wait(CHECKS_MS)
    s.say("left", kept(s, group))
    a.leave()
    until_gone(s, group)


@scenario("cleanup")
def other_types_keep_everything_while_they_live(s: Session) -> None:
    """EXP-1: a group of another protocol type expires nothing while it has members."""
    name, group = topic(s, "t"), s.name("g")
    a = Member(s, "a", group, version=3, protocol_type="connect", protocols=protocols("eager"))
    a.join()
    a.sync({a.member_id: "01"}, protocol_type="connect", protocol_name="eager")
    a.commit(name, 7, version=4, retention_time_ms=1)
    s.wait(CHECKS_MS)
    s.say("left", kept(s, group))
    a.leave()
    until_gone(s, group)


@scenario("cleanup")
def nothing_expires_during_a_rebalance(s: Session) -> None:
    """EXP-1: neither in PreparingRebalance nor in CompletingRebalance, but once the group is
    Stable."""
    mine, other, group = topic(s, "mine"), topic(s, "other"), s.name("g")
    a, b = stable(
        s, group, "a", "b", version=3, protocols=protocols("range", metadata=subscription(mine))
    )
    b.send_join(protocols=protocols("range", metadata=subscription(mine, user_data=b"x")))
    until(s, group, "PreparingRebalance")
    a.commit(other, 7, version=4, retention_time_ms=1)
    s.wait(CHECKS_MS)
    s.say("left", kept(s, group))
    a.send_join()
    a.take_join()
    b.take_join()
    s.wait(CHECKS_MS)
    s.say("left", kept(s, group))
    a.send_sync({})
    b.send_sync()
    a.link.expect()
    b.link.expect()
    until_kept(s, group, 0)
    describe(s.connect("admin"), group)


@scenario("cleanup")
def groups_without_offsets_go_when_they_are_empty(s: Session) -> None:
    """EXP-6, TR-9, JOIN-2: the group left by its last member, and those that only a refused or
    unfinished join made."""
    left, refused, pending = s.name("left"), s.name("refused"), s.name("pending")
    (a,) = stable(s, left, "a", version=3)
    a.leave()
    x = Member(s, "x", refused, version=3)
    x.join(protocols=[])
    p = Member(s, "p", pending)
    p.send_join()
    p.take_join()
    for group in (left, refused, pending):
        until_gone(s, group)
        describe(s.connect("admin"), group)
    a.heartbeat()
    a.send_join()
    a.take_join()
    p.reconnect()
    p.send_join()
    p.take_join()


@scenario("cleanup")
def a_group_that_comes_back_starts_anew(s: Session) -> None:
    """REB-7, EXP-6, OC-1: after the clean-up nothing is known of the generation; commits of it are
    refused."""
    name, group = topic(s, "t"), s.name("g")
    (a,) = stable(s, group, "a", version=3)
    a.heartbeat()
    a.leave()
    until_gone(s, group)
    a.commit(name, 1, version=8)
    a.commit(name, 1, version=9)
    a.member_id = ""
    a.join()
    describe(a.link, group)


@scenario("cleanup")
def an_emptied_group_lives_as_long_as_its_offsets(s: Session) -> None:
    """EXP-1, EXP-2, EXP-6, LV-5: Empty with an offset it stays, keeps its generation, and goes with
    the offset."""
    name, group = topic(s, "t"), s.name("g")
    (a,) = stable(s, group, "a", version=3)
    a.commit(name, 7)
    a.leave()
    s.wait(CHECKS_MS)
    describe(s.connect("admin"), group)
    a.reconnect()
    a.member_id = ""
    a.join()
    a.sync({})
    a.leave()
    short(a.link, group, name, 0, 8)
    until_gone(s, group)
    a.reconnect()
    a.send_join()
    a.take_join()


@scenario("cleanup")
def an_offset_that_a_transaction_will_replace(s: Session) -> None:
    """EXP-4: it does not expire while the transaction is open, nor does its group go; both do when
    it has been aborted."""
    name, group = topic(s, "t"), s.name("g")
    await_transactions(s, s.name("tx"))
    tx = Transactor(s, s.connect("tx"))
    tx.init(5)
    a = s.connect()
    commit(a, group, name, at(0, 5))
    tx.commit_offsets(group, name, 9)
    short(a, group, name, 0, 6, 1)
    s.wait(CHECKS_MS)
    s.say("left", kept(s, group))
    tx.end(commit=False)
    until_gone(s, group)


@scenario("cleanup")
def deleted_offsets_take_the_empty_group_along(s: Session) -> None:
    """EXP-6, OD-2: when OffsetDelete has taken the last offset, the next check takes the group."""
    name, group = topic(s, "t"), s.name("g")
    a = s.connect()
    commit(a, group, name, at(0, 5))
    a.ask(
        "OffsetDelete",
        0,
        group_id=group,
        topics=[{"name": name, "partitions": [{"partition_index": 0}]}],
    )
    until_gone(s, group)


@scenario("cleanup", lasts_s=75)
def a_minute(s: Session) -> None:
    """EXP-1, EXP-2, EXP-3: the broker's own retention, counted from the commit or from when the
    group became Empty."""
    mine, other = topic(s, "mine"), topic(s, "other")
    simple, renewed, living, emptied = (
        s.name("simple"),
        s.name("renewed"),
        s.name("living"),
        s.name("emptied"),
    )
    told = protocols("range", metadata=subscription(mine))
    (a,) = stable(s, living, "a", version=3, protocols=told, session_timeout_ms=300_000)
    (gone,) = stable(s, emptied, "gone", version=3, protocols=told, session_timeout_ms=300_000)
    for member in (a, gone):
        member.commit(mine, 1)
        member.commit(other, 2)
    commit(s.connect("early"), simple, mine, at(0, 3))
    commit(s.connect("early"), renewed, mine, at(0, 4))
    s.say("at first", [kept(s, group) for group in (simple, renewed, living, emptied)])
    began_s = time.monotonic()
    _let_pass(s, began_s + 25)
    commit(s.connect("late"), renewed, mine, at(0, 5))
    gone.reconnect()
    gone.leave()
    _let_pass(s, began_s + 40)
    s.say(
        "after less than a minute", [kept(s, group) for group in (simple, renewed, living, emptied)]
    )
    s.until(lambda: _kept_open(s, lambda: state(s, simple) == "Dead"), "the simple group stayed")
    until_kept(s, living, 1)
    s.say("after a minute", [kept(s, group) for group in (simple, renewed, living, emptied)])
    s.say("states", [state(s, group) for group in (simple, renewed, living, emptied)])


def _let_pass(s: Session, until_s: float) -> None:
    """Let time pass up to this reading of the monotonic clock, however long the steps before
    took."""
    while time.monotonic() < until_s:
        _kept_open(s, lambda: True)
        s.wait(1_000)


def _kept_open(s: Session, holds: Callable[[], bool]) -> bool:
    s.stage().ask_quietly(
        "Heartbeat", 4, group_id=s.name("nobody"), generation_id=0, member_id="nobody"
    )
    return holds()


@scenario("cleanup", lasts_s=30)
def idle_connections(s: Session) -> None:
    """connections.max.idle.ms: closed without a word, fresh and used ones alike, but not one that
    is spoken on."""
    fresh, used, busy = s.connect("fresh"), s.connect("used"), s.connect("busy")
    used.ask("ListGroups", 0, only="groups")
    for _ in range(round(1.3 * IDLE_MS / SPOKEN_MS)):
        busy.ask_quietly("ListGroups", 0)
        s.wait(SPOKEN_MS)
    fresh.ends(2 * IDLE_MS)
    used.ends(2 * IDLE_MS)
    busy.ask("ListGroups", 0, only="groups")
    busy.ends(2 * IDLE_MS)


@scenario("cleanup", lasts_s=30)
def a_parked_request_does_not_keep_a_connection(s: Session) -> None:
    """connections.max.idle.ms: who waits in a join phase is hung up on; the member itself stays
    until its session ends."""
    group = s.name("g")
    a, b = stable(s, group, "a", "b", version=3)
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    for _ in range(round(1.3 * IDLE_MS / SPOKEN_MS)):
        _kept_open(s, lambda: a.link.connection is not None)
        s.wait(SPOKEN_MS)
    b.link.ends(2 * IDLE_MS)
    describe(s.connect("admin"), group)
    a.reconnect()
    a.heartbeat()


@scenario("cleanup", lasts_s=30)
def an_answer_counts_as_activity(s: Session) -> None:
    """connections.max.idle.ms: idle time counts from the last byte either way, so also from a late
    answer."""
    name = topic(s, "t")
    a = s.connect()
    wanted = {
        "topic": name,
        "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}],
    }
    a.ask(
        "Fetch",
        11,
        max_wait_ms=IDLE_MS // 2,
        min_bytes=1,
        max_bytes=1000,
        session_epoch=-1,
        topics=[wanted],
    )
    s.wait(IDLE_MS * 2 // 3)
    a.ask("Produce", 9, **request(name, batch(b"x")))
    a.ends(2 * IDLE_MS)
