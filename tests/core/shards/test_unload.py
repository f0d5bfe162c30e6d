"""The unload of very many groups, in slices: what is answered between two of them, what the log
says, and what a load makes of it."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.shards.partitions import SLICE
from coordinator.events import groups as ev
from tests.core.groups.kit import World

GROUPS = 2_000
SESSION_MS = 10_000
ORDERS = ("orders", 0)


def many() -> World:
    """Groups that have an offset each, and one with a member whose JoinGroup is parked."""
    w = World(initial_rebalance_delay_ms=3_000)
    for n in range(GROUPS):
        w.admin_commit({ORDERS: n}, group=f"g{n}")
    w.group_id = "joining"
    assert w.enter("a", session_ms=SESSION_MS).parked
    return w


def unloaded(w: World) -> list[str | None]:
    """The groups whose unload was told, in order."""
    return [logged.group for logged in w.log if isinstance(logged.event, ev.GroupUnloaded)]


def in_slices(w: World) -> list[int]:
    """How many groups each tick unloads until nothing is due."""
    took = []
    while (due := w.coordinator.next_deadline()) is not None and due <= w.now:
        before = len(unloaded(w))
        w.tick()
        took.append(len(unloaded(w)) - before)
    return took


def refusals(w: World) -> set[ErrorCode]:
    """What requests for groups that were unloaded and that wait for it are told."""
    first, last = unloaded(w)[0], f"g{GROUPS - 1}"
    told = {ErrorCode(w.describe(last).error_code)}
    for group in (first, last):
        told |= {
            ErrorCode(w.join("new", group=group, member_id="").error),
            ErrorCode(w.heartbeat("a", group=group).error),
        }
        told.add(
            ErrorCode(
                w.admin_commit({ORDERS: 1}, group=group).reply.topics[0].partitions[0].error_code
            )
        )
    return told


def offsets_of_all(w: World) -> dict[str, object]:
    """What every group but the one with the member has committed."""
    return {
        group_id: dict(group.offsets)
        for group_id, group in w.coordinator.groups.items()
        if group_id != "joining"
    }


def test_an_unload_holds_nobody_for_long() -> None:
    """ERR-5, ERR-6: from the beginning every group is refused; each is unloaded once, so many in a
    slice."""
    w = many()
    parked = w.calls[-1]
    w.unload()
    first = len(unloaded(w))
    assert 0 < first <= SLICE // 2
    assert refusals(w) == {ErrorCode.NOT_COORDINATOR}
    assert w.coordinator.groups == {}
    slices = in_slices(w)
    assert len(slices) > 2 and max(slices) <= SLICE // 2
    assert first + sum(slices) == GROUPS + 1 == len(set(unloaded(w)))
    assert (parked.error, parked.at) == (ErrorCode.NOT_COORDINATOR, 0)
    assert w.coordinator.next_deadline() is None


def test_nothing_falls_due_while_groups_are_unloaded() -> None:
    """ERR-6: the session of a member whose group waits for its unload does not end any more, nor
    does its join phase."""
    w = many()
    w.unload()
    w.now += SESSION_MS
    in_slices(w)
    assert not w.happened(ev.MemberRemoved) and not w.happened(ev.GenerationStarted)
    assert len(unloaded(w)) == GROUPS + 1


def test_a_load_begins_with_the_rest_of_the_unload() -> None:
    """ERR-4, ERR-7: requests are told of the load; a group is loaded once, after it was
    unloaded."""
    w = many()
    before = offsets_of_all(w)
    w.unload()
    assert len(unloaded(w)) < GROUPS
    w._take(w.coordinator.begin_load(w.now, by_itself=True))
    assert refusals(w) >= {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
    assert w.coordinator.is_loading
    in_slices(w)
    assert not w.coordinator.is_loading
    assert len(unloaded(w)) == len(set(unloaded(w))) == GROUPS + 1
    assert offsets_of_all(w) == before
    told = [
        logged for logged in w.log if isinstance(logged.event, ev.GroupUnloaded | ev.GroupLoaded)
    ]
    assert all(isinstance(logged.event, ev.GroupUnloaded) for logged in told[: GROUPS + 1])


def test_what_happens_to_offsets_between_two_slices_counts() -> None:
    """TXN-5: a transaction that ends while its group waits to be unloaded has ended when the group
    is loaded."""
    w = many()
    last = f"g{GROUPS - 1}"
    w.pend(7, {("orders", 1): 70}, group=last)
    w.unload()
    assert last not in unloaded(w)
    w.end_transaction(7, commit=True)
    w.delete_partitions(ORDERS)  # of groups that nobody serves Kafka's coordinator forgets nothing
    in_slices(w)
    w.finish_load()
    assert w.fetch(None, group=last) == {ORDERS: GROUPS - 1, ("orders", 1): 70}


def test_a_log_may_end_in_the_middle_of_an_unload() -> None:
    w = many()
    w.unload()
    left = GROUPS + 1 - len(unloaded(w))
    assert left
    again = GroupCoordinator.replay(w.config, w.log, w.now)
    assert again.groups == {}
    assert again.next_deadline() == w.now
    went = []
    while again.next_deadline() == w.now:
        went += [
            group
            for group, event in again.tick(w.now).events
            if isinstance(event, ev.GroupUnloaded)
        ]
    assert len(went) == left and not set(went) & set(unloaded(w))


@pytest.mark.parametrize("end", [GroupCoordinator.finish_unload, GroupCoordinator.shutdown])
def test_who_stops_unloads_the_rest_at_once(end: object) -> None:
    w = many()
    w.unload()
    w._take(end(w.coordinator, w.now))  # type: ignore[operator]
    assert len(unloaded(w)) == len(set(unloaded(w))) == GROUPS + 1
    assert w.coordinator.next_deadline() is None


def test_a_deleted_topic_takes_its_groups_along_and_holds_nobody_for_long() -> None:
    """ERR-5, ERR-6: nothing is kept of the groups from the beginning; each is unloaded once, so
    many in a slice."""
    w = many()
    w._take(w.coordinator.empty(w.now))
    at_once = len(unloaded(w))
    assert 0 < at_once < GROUPS
    assert w.coordinator.groups == {}
    assert refusals(w) == {ErrorCode.NOT_COORDINATOR}
    assert all(took <= SLICE for took in in_slices(w))
    assert len(unloaded(w)) == len(set(unloaded(w))) == GROUPS + 1
    w._take(w.coordinator.finish_load(w.now))
    assert w.coordinator.groups == {}


def test_a_topic_that_is_made_again_at_once_begins_empty() -> None:
    """What is left of the unload comes first: a new group may have the id of one that is gone."""
    w = many()
    w._take(w.coordinator.empty(w.now))
    w._take(w.coordinator.finish_load(w.now))
    assert len(unloaded(w)) == len(set(unloaded(w))) == GROUPS + 1
    last = f"g{GROUPS - 1}"
    w.admin_commit({ORDERS: 7}, group=last)
    while (due := w.coordinator.next_deadline()) is not None and due <= w.now:
        w.tick()
    assert set(w.coordinator.groups) == {last}
    assert set(GroupCoordinator.replay(w.config, w.log, w.now).groups) == {last}


def test_a_replay_that_ends_within_the_unload_of_a_deleted_topic_goes_on_with_it() -> None:
    w = many()
    w._take(w.coordinator.empty(w.now))
    again = GroupCoordinator.replay(w.config, w.log, w.now)
    assert again.groups == {}
    went = []
    while again.next_deadline() == w.now:
        went += [
            group
            for group, event in again.tick(w.now).events
            if isinstance(event, ev.GroupUnloaded)
        ]
    assert len(went) + len(unloaded(w)) == GROUPS + 1
    assert not set(went) & set(unloaded(w))


def test_who_stops_answers_at_once_and_unloads_the_rest_in_slices() -> None:
    """ERR-6: connections close when the process ends, so whoever waits is answered before."""
    w = many()
    (waiting,) = [call for call in w.calls if call.parked]
    w._take(w.coordinator.shutdown(w.now, in_slices=True))
    assert unloaded(w) == ["joining"]
    assert waiting.error == ErrorCode.NOT_COORDINATOR
    assert all(took <= SLICE for took in in_slices(w))
    assert len(unloaded(w)) == len(set(unloaded(w))) == GROUPS + 1
