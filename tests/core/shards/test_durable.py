"""What a partition of __consumer_offsets keeps: compacted below the high watermark, truncated above
it, folded by whoever loads it."""

from __future__ import annotations

from random import Random

import pytest

from coordinator.core.groups.group import Group
from coordinator.core.shards.durable import DurableEvents, fold_events
from coordinator.events import groups as ev
from tests.core.groups.kit import World

CREATED = ev.GroupCreated("commit")


def commit(*rows: tuple[str, int, int]) -> ev.OffsetsCommitted:
    return ev.OffsetsCommitted(
        "",
        tuple(
            ev.CommittedOffset(topic, index, offset, -1, "", None) for topic, index, offset in rows
        ),
    )


def pend(producer: int, *rows: tuple[str, int, int]) -> ev.OffsetsPending:
    return ev.OffsetsPending("", producer, commit(*rows).offsets)


def test_a_later_commit_takes_the_place_of_an_earlier_one() -> None:
    """PST-1, PST-5: a thousand commits of two partitions leave two; a removal leaves none of what
    it removed."""
    kept = DurableEvents()
    kept.append(0, "g", CREATED)
    for n in range(1, 1001):
        kept.append(n, "g", commit(("t", n % 2, n), ("u", n % 2, n)))
    assert [stored.offset for stored in kept.events()] == [0, 999, 1000]
    assert (kept.end, kept.high_watermark) == (1001, 1001)
    kept.append(2000, "g", ev.OffsetsRemoved("deleted", (("t", 0), ("u", 1))))
    assert {key: o.offset for key, o in kept.fold("g").offsets.items()} == {
        ("t", 1): 999,
        ("u", 0): 1000,
    }
    kept.append(2001, "g", ev.GroupDeleted("deleted"))
    assert (list(kept.events()), kept.groups()) == ([], [])


def test_a_commit_that_was_overtaken_does_not_come_back_with_the_removal_of_the_later_one() -> None:
    kept = DurableEvents()
    kept.append(0, "g", commit(("t", 0, 1), ("t", 1, 1)))
    kept.append(1, "g", commit(("t", 0, 2)))
    kept.append(2, "g", ev.OffsetsRemoved("deleted", (("t", 0),)))
    assert {key: o.offset for key, o in kept.fold("g").offsets.items()} == {("t", 1): 1}


def test_commits_of_one_partition_and_of_several_take_each_others_place() -> None:
    """PST-1: what is left stands in the order in which it was written, whichever kind of commit it
    came with."""
    kept = DurableEvents()
    for at, event in enumerate(
        [
            commit(("t", 0, 1)),
            commit(("t", 1, 2)),
            commit(("t", 0, 3), ("t", 2, 3)),
            commit(("t", 2, 4)),
            commit(("t", 1, 5)),
        ]
    ):
        kept.append(at, "g", event)
    left = [(stored.offset, stored.at_ms, stored.event) for stored in kept.events()]
    assert left == [
        (2, 2, commit(("t", 0, 3))),
        (3, 3, commit(("t", 2, 4))),
        (4, 4, commit(("t", 1, 5))),
    ]
    kept.append(5, "g", commit(("t", 1, 6), ("t", 2, 6)))
    kept.append(6, "g", ev.OffsetsRemoved("deleted", (("t", 2),)))
    assert {key: o.offset for key, o in kept.fold("g").offsets.items()} == {
        ("t", 0): 3,
        ("t", 1): 6,
    }


@pytest.mark.parametrize("seed", range(12))
def test_compacted_or_not_the_group_is_the_same(seed: int) -> None:
    """TXN-5, TXN-7, PST-1: transactions of several producers, plain commits and removals, in any
    order."""
    chance, kept, rows = Random(seed), DurableEvents(), [(0, CREATED)]
    kept.append(*[0, "g"], CREATED)
    for at in range(1, 80):
        live = fold_events(Group("g", 0, loading=True), rows)
        partitions = [("t", chance.randrange(3), at) for _ in range(chance.randrange(1, 4))]
        producer = chance.randrange(3)
        kind = chance.randrange(7)
        if kind < 3:
            event: ev.Event = commit(*partitions)
        elif kind < 5:
            event = pend(producer, *partitions)
        elif kind == 5:
            committed = chance.random() < 0.6
            event = ev.PendingOffsetsEnded(
                producer, committed, live.pending_offsets.standing(producer) if committed else ()
            )
        else:
            event = ev.OffsetsRemoved(
                "deleted", tuple((topic, index) for topic, index, _ in partitions)
            )
        rows.append((at, event))  # type: ignore[arg-type]
        kept.append(at, "g", event)
        assert (
            kept.fold("g").snapshot() == fold_events(Group("g", 0, loading=True), rows).snapshot()
        )
        waiting = fold_events(Group("g", 0, loading=True), rows).pending_offsets.producers()
        assert all(kept.waiting_for(one) == ["g"] for one in waiting)
    assert len(list(kept.events())) < 45


def test_what_stands_above_the_high_watermark_can_be_truncated() -> None:
    """REPL: a replica that became the leader never had it; below the high watermark nothing is
    lost."""
    kept = DurableEvents(replicated=True)
    for n in range(6):
        kept.append(n, "g", commit(("t", 0, n)))
    kept.append(6, "g", pend(7, ("t", 0, 6)))
    kept.append(7, "g", ev.GroupDeleted("deleted"))
    assert kept.groups() == []
    kept.commit_up_to(3)
    kept.truncate(7)
    assert (kept.end, kept.waiting_for(7), kept.fold("g").offsets["t", 0].offset) == (7, ["g"], 5)
    kept.truncate(4)
    assert (kept.end, kept.waiting_for(7), kept.fold("g").offsets["t", 0].offset) == (4, [], 3)
    assert [stored.offset for stored in kept.events()] == [2, 3]
    with pytest.raises(AssertionError):
        kept.truncate(2)


def test_a_large_partition_is_loaded_in_slices() -> None:
    """ERR-4, ERR-7: requests are told that it loads meanwhile, and each slice looks at a bounded
    number of things."""
    w = World(offsets_topic_partitions=1)
    for n in range(300):
        w.admin_commit({("t", p): n for p in range(20)}, group=f"g{n}")
    w._take(w.coordinator.begin_load(w.now, by_itself=True))
    slices = 0
    while w.coordinator.availability.any_loading():
        assert w.coordinator.next_deadline() == w.now
        assert w.admin_commit({("t", 0): 1}, group="g0").topics[0].partitions[0].error_code == 14
        w.tick()
        slices += 1
    assert slices >= 6
    assert len(w.coordinator.groups) == 300
    assert w.fetch([("t", 19)], group="g299") == {("t", 19): 299}


def test_a_deleted_topic_is_taken_from_many_groups_in_slices_and_nobody_sees_it_half_done() -> None:
    """EXP-7: a group that was not come to yet is looked at when it is asked for."""
    w = World(offsets_topic_partitions=1)
    for n in range(1500):
        w.admin_commit({("t", 0): n, ("u", 0): n}, group=f"g{n}")
    w.delete_partitions(("t", 0))
    untouched = [g for g in w.coordinator.groups.values() if ("t", 0) in g.offsets]
    assert untouched and len(untouched) < 1500
    last = untouched[-1].group_id
    assert w.fetch(None, group=last) == {("u", 0): int(last[1:])}
    w.admin_commit({("t", 0): 7}, group=last)
    w.advance(0)
    assert w.fetch([("t", 0)], group=last) == {("t", 0): 7}
    assert sum(("t", 0) in g.offsets for g in w.coordinator.groups.values()) == 1


def test_a_log_that_ends_with_an_unload_has_no_live_groups() -> None:
    """ERR-5, ERR-6: and the durable events wait for the next load."""
    w = World().stable("a")
    w.unload()
    again = type(w.coordinator).replay(w.config, w.log, w.now)
    assert (again.groups, again.availability.snapshot()) == (
        {},
        w.coordinator.availability.snapshot(),
    )
    again.finish_load(w.now)
    assert str(again.groups["g"].state) == "Stable"
