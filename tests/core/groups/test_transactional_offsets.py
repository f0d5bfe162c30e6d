"""Offsets committed in transactions: pending, unstable, committed or forgotten (TXN, OF-4, OF-5,
EXP-4)."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.events import groups as ev
from tests.core.groups.callers import Call, subscribe
from tests.core.groups.kit import World

T0, T1 = ("t", 0), ("t", 1)
ONE, TWO = 1, 2  # producers
DAY_MS = 86_400_000
UNKNOWN, ILLEGAL, FENCED = 25, 22, 82


def errors(call: Call) -> list[int]:
    return [partition.error_code for topic in call.topics for partition in topic.partitions]


# -- who may commit


def test_a_group_is_made_only_without_generation() -> None:
    """TXN-1: "" is no group id here; an unknown group with a generation is 22, else a simple group
    comes to be."""
    w = World()
    assert errors(w.pend(ONE, {T0: 1}, group="")) == [24]
    assert errors(w.pend(ONE, {T0: 1}, client="x", generation=0, member_id="x")) == [ILLEGAL]
    assert w.coordinator.groups == {}
    assert errors(w.pend(ONE, {T0: 1, T1: 1})) == [0, 0]
    assert (w.state, w.group.protocol_type) == ("Empty", None)
    assert w.happened(ev.GroupCreated) == [ev.GroupCreated("commit")]


def test_members_are_checked_and_anonymous_commits_pass_in_any_state() -> None:
    """TXN-2."""
    w = World().stable("a", "b")
    w.join("s", instance="i")
    for state in ("PreparingRebalance", "CompletingRebalance", "Stable"):
        assert w.state == state
        assert errors(w.pend(ONE, {T0: 1})) == [0]
        assert errors(w.pend(ONE, {T0: 1}, client="a", generation=w.group.generation)) == [0]
        assert errors(w.pend(ONE, {T0: 1}, client="a", generation=w.group.generation + 1)) == [
            ILLEGAL
        ]
        assert errors(w.pend(ONE, {T0: 1}, client="a", generation=-1)) == [ILLEGAL]
        assert errors(
            w.pend(ONE, {T0: 1}, member_id="stranger", generation=w.group.generation)
        ) == [UNKNOWN]
        assert errors(w.pend(ONE, {T0: 1}, member_id="", generation=0)) == [UNKNOWN]
        assert errors(
            w.pend(ONE, {T0: 1}, member_id="stranger", generation=w.group.generation, instance="i")
        ) == [FENCED]
        assert errors(w.pend(ONE, {T0: 1}, member_id="", generation=-1, instance="nobody")) == [
            UNKNOWN
        ]
        if state == "PreparingRebalance":
            w.join("a")
            w.join("b")
        elif state == "CompletingRebalance":
            for name in sorted(("a", "b", "s"), key=lambda name: w.id(name) == w.group.leader):
                w.sync(name, {})


def test_an_empty_group_asks_nobody_without_generation() -> None:
    """TXN-2, OC-2."""
    w = World().stable("a")
    w.leave("a")
    assert errors(w.pend(ONE, {T0: 1}, member_id="nobody", generation=-1)) == [0]
    assert errors(w.pend(ONE, {T0: 1}, member_id="nobody", generation=0)) == [UNKNOWN]


def test_no_session_is_renewed() -> None:
    """TXN-2: other than OC-7."""
    w = World().stable("a", session_ms=10_000)
    w.advance(9_000)
    w.pend(ONE, {T0: 1}, client="a")
    w.advance(1_000)
    assert w.state == "Empty"


def test_metadata_may_be_too_large_for_one_partition() -> None:
    w = World(offset_metadata_max_bytes=3)
    assert errors(w.pend(ONE, {T0: 1}, metadata="four")) == [12]
    assert not w.whole.pending_offsets


def test_a_failing_write_is_told_as_for_every_commit() -> None:
    """TXN-8, ERR-1, ERR-2: 13 becomes 14, 19 becomes 15, 6 and 56 become 16."""
    w = World()
    for error, told in ((13, 14), (19, 15), (6, 16), (56, 16), (29, 29)):
        w.config.append_error = ErrorCode(error)
        assert errors(w.pend(ONE, {T0: 1})) == [told]
    assert w.coordinator.groups == {}


# -- how it ends


@pytest.mark.parametrize("version", [7, 8])
def test_pending_offsets_are_unstable_until_they_count(version: int) -> None:
    """TXN-5, OF-4: without require_stable the old offset is shown."""
    w = World()
    w.admin_commit({T0: 1})
    w.pend(ONE, {T0: 5})
    assert w.unstable([T0, T1], version=version) == [T0]
    assert w.fetch([T0, T1], version=version) == {T0: 1, T1: -1}
    w.end_transaction(ONE, commit=True)
    assert w.unstable([T0, T1], version=version) == []
    assert w.fetch([T0], version=version) == {T0: 5}
    w.pend(ONE, {T0: 9, T1: 9})
    w.end_transaction(ONE, commit=False)
    assert (w.unstable(None), w.fetch(None)) == ([], {T0: 5})


def test_all_partitions_are_those_with_an_offset() -> None:
    """OF-5: a partition with nothing but a pending offset is absent."""
    w = World()
    w.admin_commit({T0: 1})
    w.pend(ONE, {T0: 2, T1: 2})
    assert w.unstable(None) == [T0]
    assert w.fetch(None) == {T0: 1}


def test_the_end_of_a_producer_without_pending_offsets_is_nothing() -> None:
    """TXN-5."""
    w = World()
    w.pend(ONE, {T0: 1})
    before = len(w.log)
    w.end_transaction(TWO, commit=True)
    assert len(w.log) == before
    w.end_transaction(ONE, commit=True)
    w.end_transaction(ONE, commit=True)
    assert w.happened(ev.PendingOffsetsEnded) == [ev.PendingOffsetsEnded(ONE, True, (T0,))]


def test_only_the_marked_partition_of_the_offsets_topic_is_meant() -> None:
    w = World(offsets_topic_partitions=50)
    w.pend(ONE, {T0: 1})
    index = w.coordinator.partition_for(w.group_id)
    for other in range(50):
        if other != index:
            w.coordinator.end_transaction(ONE, True, other, w.now)
    assert w.unstable([T0]) == [T0]
    w.coordinator.end_transaction(ONE, True, index, w.now)
    assert w.unstable([T0]) == []


def test_the_time_of_a_commit_is_that_of_its_request() -> None:
    """TXN-5, EXP-2: not that of the marker."""
    w = World(offsets_retention_ms=DAY_MS, offsets_retention_check_interval_ms=60_000)
    w.pend(ONE, {T0: 1})
    w.advance(DAY_MS - 1000)
    w.end_transaction(ONE, commit=True)
    w.advance(1000)
    assert w.state == "-"


def test_a_partition_waits_for_the_last_producer_and_the_later_commit_stands() -> None:
    """TXN-6, TXN-5."""
    w = World()
    w.pend(ONE, {T0: 1, T1: 1})
    w.pend(TWO, {T0: 2})
    w.end_transaction(TWO, commit=True)
    assert (w.unstable([T0, T1]), w.fetch([T0, T1])) == ([T0, T1], {T0: 2, T1: -1})
    w.end_transaction(ONE, commit=True)
    assert (w.unstable([T0, T1]), w.fetch([T0, T1])) == ([], {T0: 2, T1: 1})


def test_the_earlier_of_two_that_commit_first_gives_way_later() -> None:
    """TXN-5: log order, not the order of ends."""
    w = World()
    w.pend(ONE, {T0: 1})
    w.pend(TWO, {T0: 2})
    w.end_transaction(ONE, commit=True)
    assert w.fetch([T0]) == {T0: 1}
    w.end_transaction(TWO, commit=True)
    assert w.fetch([T0]) == {T0: 2}


def test_a_plain_commit_overtakes_and_can_be_overtaken() -> None:
    """TXN-5: the partition stays unstable all the same."""
    w = World()
    w.pend(ONE, {T0: 1, T1: 1})
    w.admin_commit({T0: 7, T1: 7})
    w.pend(ONE, {T1: 8})
    assert (w.unstable([T0, T1]), w.fetch([T0, T1])) == ([T0, T1], {T0: 7, T1: 7})
    w.end_transaction(ONE, commit=True)
    assert (w.unstable([T0, T1]), w.fetch([T0, T1])) == ([], {T0: 7, T1: 8})


# -- what cancels it


def test_deleted_offsets_take_pending_ones_with_them() -> None:
    """TXN-7, OD-2: of all producers, and with nothing committed too."""
    w = World()
    w.pend(ONE, {T0: 1, T1: 1})
    w.pend(TWO, {T0: 2})
    assert w.delete_offsets([T0]).error_code == 0
    assert w.happened(ev.OffsetsRemoved) == [ev.OffsetsRemoved("deleted by request", (T0,))]
    assert w.unstable([T0, T1]) == [T1]
    w.end_transaction(TWO, commit=True)
    w.end_transaction(ONE, commit=True)
    assert w.fetch(None) == {T1: 1}


def test_a_deleted_group_forgets_what_was_pending() -> None:
    """TXN-7, DG-1."""
    w = World()
    w.pend(ONE, {T0: 1})
    assert w.delete() == {w.group_id: 0}
    w.pend(ONE, {T1: 1})
    w.end_transaction(ONE, commit=True)
    assert w.fetch(None) == {T1: 1}


def test_a_deleted_topic_takes_pending_offsets_with_it() -> None:
    """EXP-7."""
    w = World()
    w.pend(ONE, {T0: 1, T1: 1})
    w.delete_partitions(T0)
    assert w.unstable([T0, T1]) == [T1]


def test_what_a_transaction_is_about_to_replace_does_not_expire() -> None:
    """EXP-4, EXP-6: nor does its group go."""
    w = World(offsets_retention_ms=DAY_MS, offsets_retention_check_interval_ms=60_000)
    w.admin_commit({T0: 1, T1: 1})
    w.pend(ONE, {T0: 2})
    w.advance(2 * DAY_MS)
    assert w.fetch(None) == {T0: 1}
    w.end_transaction(ONE, commit=False)
    w.advance(60_000)
    assert w.state == "-"
    w.pend(ONE, {T0: 2})
    w.advance(2 * DAY_MS)
    assert w.state == "Empty"


# -- other coordinators


def test_pending_offsets_outlast_their_coordinator() -> None:
    """PST-1, ERR-7, TXN-5: they are records; so are the markers, also those that nobody served the
    group for."""
    for late in (False, True):
        w = World()
        w.admin_commit({T0: 1, T1: 1})
        w.pend(ONE, {T0: 5, T1: 5})
        w.admin_commit({T1: 7})
        w.unload()
        if late:
            w.end_transaction(ONE, commit=True)
            w.finish_load()
        else:
            w.finish_load()
            assert w.unstable([T0, T1]) == [T0, T1]
            w.end_transaction(ONE, commit=True)
        assert (w.unstable([T0, T1]), w.fetch([T0, T1])) == ([], {T0: 5, T1: 7})


def test_a_restart_and_a_replay_find_what_was_pending() -> None:
    """ERR-7."""
    w = World()
    w.pend(ONE, {T0: 5})
    w.pend(TWO, {T1: 6})
    w.end_transaction(TWO, commit=True)
    replayed = GroupCoordinator.replay(w.config, w.log, w.now)
    assert replayed.groups[w.group_id].snapshot() == w.whole.snapshot()
    w.restart()
    assert (w.unstable([T0, T1]), w.fetch([T0, T1])) == ([T0], {T0: -1, T1: 6})
    w.end_transaction(ONE, commit=True)
    assert w.fetch([T0, T1]) == {T0: 5, T1: 6}


def test_a_group_of_consumers_takes_them_too() -> None:
    w = World().stable("a", protocols={"range": subscribe("t")})
    w.pend(ONE, {T0: 5}, client="a")
    w.end_transaction(ONE, commit=True)
    assert w.fetch([T0]) == {T0: 5}
    assert w.delete_offsets([T0]).topics[0].partitions[0].error_code == 86
