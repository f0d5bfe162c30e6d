"""The judge of the log condemns: each planted bug is found by a plain story that ends well without
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.core.groups.offsets import evolve as offsets
from coordinator.core.shards.durable import DurableEvents, _CompactedEvents
from coordinator.core.shards.shard import Shard
from coordinator.core.share_partitions.evolve import evolve as evolve_share
from coordinator.events import groups as ev
from coordinator.events import share_partitions as sev
from coordinator.events.availability import PartitionsUnloaded
from coordinator.server.shares.partitions import SharePartitions
from coordinator.server.shares.states import ShareStates
from tests.core.groups.callers import subscribe
from tests.core.groups.kit import World
from tests.log_judge import recording
from tests.server.broker.shares import LOCK_MS, ShareDriver, initialize

pytestmark = pytest.mark.unjudged

Plant = Callable[[pytest.MonkeyPatch], None]
T0, T1 = ("t", 0), ("t", 1)


def story() -> None:
    """Members, offsets, transactions, a topic that goes, a partition that moves; another that stays
    away."""
    w = World().stable("a", "b", protocols={"range": subscribe("t")})
    w.commit("a", {T0: 1, T1: 1})
    w.commit("a", {T0: 2})
    w.admin_commit({T0: 5}, group="simple")
    w.delete_offsets([T0], group="simple")
    for producer, end in ((7, True), (8, False), (9, None)):
        w.pend(producer, {T0: producer, ("u", 0): producer})
        if end is not None:
            w.end_transaction(producer, commit=end)
    w.delete_partitions(T1)
    w.unload()
    w.end_transaction(9, commit=True)
    w.finish_load()
    w.commit("a", {T1: 3})
    w.pend(10, {T0: 10})
    w.pend(11, {T1: 11})
    w.end_transaction(10, commit=True)
    w.end_transaction(11, commit=False)
    w.enter("c", protocols={"range": subscribe("t")})
    w.unload(w.coordinator.partition_for("simple"))


def judged(plant: Plant | None, patch: pytest.MonkeyPatch) -> bool:
    with recording() as recorder:
        if plant is not None:
            plant(patch)
        try:
            story()
            recorder.judge()
        except (AssertionError, LookupError):
            return False
    return True


def test_the_story_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(None, monkeypatch)


def _events_that_are_not_kept(kind: type) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        append = DurableEvents.append

        def forgets(self: DurableEvents, at_ms: int, group: str, event: Any) -> int:
            return self.end if type(event) is kind else append(self, at_ms, group, event)

        patch.setattr(DurableEvents, "append", forgets)

    return plant


def _events_that_are_not_written(kind: type) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        write = Shard._write
        patch.setattr(
            Shard,
            "_write",
            lambda self, group, event, *rest: (
                None if type(event) is kind else write(self, group, event, *rest)
            ),
        )

    return plant


def _a_change_that_no_event_tells(patch: pytest.MonkeyPatch) -> None:
    serve = Shard.serve

    def meddles(self: Shard, now: int) -> None:
        for group in self.groups.values():
            group.membership.new_member_added = True
        serve(self, now)

    patch.setattr(Shard, "serve", meddles)


def _pending_offsets_that_end_in_silence(patch: pytest.MonkeyPatch) -> None:
    def silent(self: Shard, producer_id: int, committed: bool, effects: Any) -> None:
        for group in self.groups.values():
            group.pending_offsets.end(producer_id, ())

    patch.setattr(Shard, "end_transaction", silent)


def _availability_that_is_not_told(patch: pytest.MonkeyPatch) -> None:
    from coordinator.core.group_coordinator import GroupCoordinator

    change = GroupCoordinator._change

    def quiet(self: GroupCoordinator, event: Any, effects: Any) -> None:
        if isinstance(event, PartitionsUnloaded):
            self.availability.evolve(event)
        else:
            change(self, event, effects)

    patch.setattr(GroupCoordinator, "_change", quiet)


def _compaction_that_loses_a_commit(patch: pytest.MonkeyPatch) -> None:
    own = _CompactedEvents._own
    patch.setattr(
        _CompactedEvents, "_own", lambda self, offset, keys: own(self, offset, list(keys)[:1])
    )


def _a_clock_in_the_fold(patch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1_000_000))
    right = offsets.FOLDS[ev.OffsetsCommitted]
    patch.setitem(
        offsets.FOLDS,
        ev.OffsetsCommitted,
        lambda group, event, at: right(group, event, next(ticks)),
    )


BUGS: dict[str, Plant] = {
    **{
        f"{kind.__name__} is not kept": _events_that_are_not_kept(kind)
        for kind in (
            ev.GroupCreated,
            ev.GenerationStored,
            ev.OffsetsCommitted,
            ev.OffsetsPending,
            ev.PendingOffsetsEnded,
            ev.OffsetsRemoved,
        )
    },
    **{
        f"{kind.__name__} is not written": _events_that_are_not_written(kind)
        for kind in (
            ev.GroupCreated,
            ev.MemberJoined,
            ev.GenerationStored,
            ev.OffsetsCommitted,
            ev.OffsetsRemoved,
            ev.PendingOffsetsEnded,
            ev.GroupUnloaded,
            ev.GroupLoaded,
            ev.RebalanceStarted,
        )
    },
    "a change that no event tells": _a_change_that_no_event_tells,
    "pending offsets that end in silence": _pending_offsets_that_end_in_silence,
    "availability that is not told": _availability_that_is_not_told,
    "compaction that loses a commit": _compaction_that_loses_a_commit,
    "a clock in the fold": _a_clock_in_the_fold,
}


@pytest.mark.parametrize("name", BUGS)
def test_the_judge_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not judged(BUGS[name], monkeypatch), f"nobody noticed: {name}"


def share_story() -> None:
    """Records that a share group holds, gives back and is done with."""
    driver = ShareDriver()
    initialize(driver)
    driver.records(5)
    member = driver.member()
    member.fetch(0)
    member.said((0, 1, 1), (2, 2, 2))
    driver.pass_time(LOCK_MS)


def _locks_that_end_in_silence(patch: pytest.MonkeyPatch) -> None:
    fold = SharePartitions.fold

    def folded(self: SharePartitions, partition: Any, event: Any, *rest: Any) -> None:
        if isinstance(event, sev.RecordsReleased):
            evolve_share(partition, event)
        else:
            fold(self, partition, event, *rest)

    patch.setattr(SharePartitions, "fold", folded)


def _a_state_that_is_not_told(patch: pytest.MonkeyPatch) -> None:
    keep = ShareStates._write

    def kept(self: ShareStates, index: int, key: Any, event: Any, *rest: Any) -> None:
        keep(self, index, key, event, *rest)
        self.by_partition[index][key].write_ms += 1

    patch.setattr(ShareStates, "_write", kept)


def _records_that_say_something_else(patch: pytest.MonkeyPatch) -> None:
    append = ShareStates._append

    def appended(self: ShareStates, index: int, key: Any, event: Any, *rest: Any) -> None:
        append(self, index, key, event._replace(start_offset=7), *rest)

    patch.setattr(ShareStates, "_append", appended)


@pytest.mark.parametrize(
    "plant",
    [
        None,
        _locks_that_end_in_silence,
        _a_state_that_is_not_told,
        _records_that_say_something_else,
    ],
)
def test_the_judge_sees_share_groups(plant: Plant | None) -> None:
    with recording() as recorder, pytest.MonkeyPatch.context() as patch:
        if plant is not None:
            plant(patch)
        share_story()
        if plant is None:
            recorder.judge()
        else:
            with pytest.raises(AssertionError, match=r"a (replay|load) of .*has other"):
                recorder.judge()
