"""A log holds everything: replaying it gives the live groups, its durable events what a coordinator
load gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.events import LogError
from coordinator.events.groups import DURABLE, ConsumerEvent, Event, ShareEvent
from coordinator.events.line import lines_of
from coordinator.server.replay.one_broker import group_events, read_group_events
from tests.events.kit import LoggedWorld, a_long_story, wants

GOLDEN = Path(__file__).parent.parent / "vectors" / "event_log" / "long_story.jsonl"


def snapshots(coordinator: GroupCoordinator) -> dict[str, object]:
    return {group_id: group.snapshot() for group_id, group in coordinator.groups.items()}


def halfway() -> LoggedWorld:
    """A group in the middle of things: pending id, members that joined and that did not."""
    w = LoggedWorld()
    w.stable("a", "b")
    w.commit("a", {("orders", 0): 5})
    w.enter("c")
    w.join("d")
    w.join("a")
    return w


@pytest.mark.parametrize("story", [halfway, a_long_story])
def test_replaying_a_log_rebuilds_the_groups_exactly(story: object) -> None:
    w = story()  # type: ignore[operator]
    logged = list(group_events(w.log_file.read()))
    assert logged == w.log
    assert snapshots(GroupCoordinator.replay(w.config, logged, w.now)) == w.snapshot()


def test_every_prefix_of_a_log_can_be_replayed_and_loaded() -> None:
    """ERR-7, PST-1: whatever a load needs is in the durable events; the others leave no trace in
    it."""
    w = a_long_story()
    logged = list(group_events(w.log_file.read()))
    for end in range(len(logged) + 1):
        part = logged[:end]
        GroupCoordinator.replay(w.config, part, w.now)
        durable = [
            entry for entry in part if entry.group is not None and type(entry.event) in DURABLE
        ]
        assert snapshots(GroupCoordinator.load(w.config, part, w.now)) == snapshots(
            GroupCoordinator.load(w.config, durable, w.now)
        )


def test_the_durable_flag_of_a_line_is_what_a_load_folds() -> None:
    w = halfway()
    lines = [line for line in w.log_file.read() if line.stream == "group"]
    durable = list(group_events([line for line in lines if line.type.durable]))
    loaded = GroupCoordinator.load(w.config, durable, w.now)
    assert snapshots(loaded) == snapshots(GroupCoordinator.load(w.config, w.log, w.now))
    assert str(loaded.groups["g"].state) == "Stable"
    assert set(loaded.groups["g"].members) == {w.id("a"), w.id("b")}


def test_the_golden_log(tmp_path: Path) -> None:
    """The bytes of the format: a difference here is a change of the public contract. Every type of
    event of a classic group is in it; the other types of groups have golden logs of their own."""
    w = a_long_story()
    golden = GOLDEN.read_text().splitlines()
    header, pinned = json.loads(w.log_file.lines[0]), json.loads(golden[0])
    assert {**header, "product": None} == {**pinned, "product": None}
    assert w.log_file.lines[1:] == golden[1:]
    assert {type(entry.event) for entry in read_group_events(GOLDEN)} >= set(get_args(Event)) - set(
        get_args(ConsumerEvent)
    ) - set(get_args(ShareEvent))
    assert (
        snapshots(GroupCoordinator.replay(w.config, read_group_events(GOLDEN), w.now))
        == w.snapshot()
    )


def test_same_calls_same_bytes() -> None:
    assert a_long_story().log_file.lines == a_long_story().log_file.lines


def test_every_event_has_a_cause_but_those_from_outside() -> None:
    """Null is for what a client or an operator did; what a story's operator did here is to delete,
    unload and load."""
    w = a_long_story()
    roots = {
        line.name for line in w.log_file.read() if line.stream == "group" and line.cause is None
    }
    assert roots <= {"OffsetsRemoved", "GroupLoaded"}, roots


def test_a_rebalance_is_traced_back_to_the_request_that_made_it() -> None:
    w = LoggedWorld()
    w.enter("a", protocols=wants("orders"))
    chain = w.last().causes
    assert [line.name for line in chain] == ["MemberJoined", "RequestSeen"]
    assert chain[-1].event.client == "a"


def test_lines_that_cannot_be_folded_are_told_by_number() -> None:
    w = LoggedWorld()
    w.enter("a")
    lines = list(w.log_file.events())
    del lines[2]["by"]
    with pytest.raises(LogError, match=r'log, line 2: "by" is missing: no GroupCreated'):
        list(group_events(lines_of(lines)))
    del lines[2]["group"]
    lines[2]["by"] = "join"
    with pytest.raises(LogError, match=r'line 3: GroupCreated: a group event names its "group"'):
        list(group_events(lines_of(lines)))
