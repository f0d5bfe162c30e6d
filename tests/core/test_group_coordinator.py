"""The coordinator around the groups: loading and moving partitions, failing writes, what lasts,
replay (ERR, PST, ENT, META)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import coordinator_partition
from coordinator.core.group_coordinator import GroupCoordinator, LoggedEvent
from coordinator.core.groups.config import GroupConfig
from coordinator.events import groups as ev
from coordinator.events.availability import AvailabilityEvent
from coordinator.wire.messages.list_groups import ListGroupsRequest
from tests.core.groups.callers import subscribe
from tests.core.groups.kit import World

T0 = ("t", 0)


def commit_error(w: World) -> int:
    call = w.commit("a", {("t", 0): 1, ("t", 1): 1})
    codes = {p.error_code for t in call.topics for p in t.partitions}
    assert len(codes) == 1
    return int(codes.pop())


#: Every request for the group g, and how its error code is found.
REQUESTS: dict[str, Callable[[World], int]] = {
    "join": lambda w: w.join("a").error,
    "sync": lambda w: w.sync("a").error,
    "leave": lambda w: w.leave("a").error,
    "commit": commit_error,
    "offset delete": lambda w: w.delete_offsets([T0]).error,
    "describe": lambda w: w.describe().error_code,
    "delete": lambda w: w.delete()["g"],
    "heartbeat": lambda w: w.heartbeat("a").error,
}


def lists(w: World) -> tuple[int, set[str]]:
    call = w.ask("x", ListGroupsRequest(), 5)
    return call.error, {row.group_id for row in call.groups}


def test_while_loading() -> None:
    """ERR-4: 14 for all but a heartbeat, which is told that all is well."""
    w = World().stable("a")
    w.unload()
    w.begin_load()
    told = {name: ask(w) for name, ask in REQUESTS.items()}
    assert told == {**dict.fromkeys(REQUESTS, 14), "heartbeat": 0}
    assert lists(w) == (14, set())
    w.finish_load()
    assert (w.heartbeat("a").ok, lists(w)) == (True, (0, {"g"}))


def test_not_the_coordinator() -> None:
    """ERR-5: 16 for all; a list leaves those groups out."""
    w = World().stable("a")
    w.unload()
    assert {name: ask(w) for name, ask in REQUESTS.items()} == dict.fromkeys(REQUESTS, 16)
    assert lists(w) == (0, set())


def test_after_shutdown() -> None:
    """ENT-3, ENT-5: 15 for all, before the group id is looked at."""
    w = World().stable("a")
    w.shutdown()
    assert {name: ask(w) for name, ask in REQUESTS.items()} == dict.fromkeys(REQUESTS, 15)
    assert lists(w) == (15, set())
    assert (
        w.heartbeat("a", group="").error
        == w.leave("a", group="").error
        == w.join("a", group="").error
        == 15
    )


def test_an_empty_group_id() -> None:
    """ENT-5, ENT-6: 24, before 14 and 16, where members are concerned; elsewhere it is a name."""
    w = World("")
    refused = {"join", "sync", "leave", "offset delete", "heartbeat"}
    for _ in range(2):
        assert all((REQUESTS[name](w) == 24) for name in refused)
        w.begin_load()
    w.finish_load()
    assert w.admin_commit({T0: 1}).topics[0].partitions[0].error_code == 0
    assert (w.fetch([T0]), w.describe().group_state, w.delete()) == ({T0: 1}, "Empty", {"": 0})


def test_partitions_move_one_by_one() -> None:
    """CFG-2, ERR-5, ERR-6: only the groups of that partition are touched."""
    w = World()
    for group in ("group", "my-group", "test-group"):
        w.clients.clear()
        w.group_id = group
        w.stable("a")
    assert coordinator_partition("my-group", 50) == coordinator_partition("test-group", 50) == 12
    w.unload(12)
    assert lists(w) == (0, {"group"})
    assert w.describe("group").error_code == 0
    assert w.describe("my-group").error_code == 16
    w.finish_load(12)
    assert lists(w) == (0, {"group", "my-group", "test-group"})


@pytest.mark.parametrize("stop", [GroupCoordinator.unload, GroupCoordinator.shutdown])
def test_parked_joins_are_answered_when_the_group_goes(
    stop: Callable[[GroupCoordinator, int], object],
) -> None:
    """ERR-6: 16 with the member's own id; the group dies and nothing of it is due any more."""
    w = World(initial_rebalance_delay_ms=3_000)
    a, b = w.enter("a"), w.enter("b")
    w._take(stop(w.coordinator, w.now))  # type: ignore[arg-type]
    assert [(call.error, call.member_id, call.generation_id) for call in (a, b)] == [
        (16, "a-1", -1),
        (16, "b-2", -1),
    ]
    assert w.coordinator.next_deadline() is None
    assert w.advance(500_000) == []


def test_parked_syncs_are_answered_when_the_group_goes() -> None:
    """ERR-6."""
    w = World()
    w.enter("a"), w.enter("b")
    w.tick()
    parked = w.sync("b")
    w.unload()
    assert (parked.error, parked.assignment) == (16, b"")
    assert w.happened(ev.GroupUnloaded) == [ev.GroupUnloaded(16)]


def test_a_loaded_group_is_as_of_its_last_record() -> None:
    """ERR-7, PST-1: Stable, with the selected protocol only; who joined since is unknown,
    generation and all go back."""
    w = World()
    w.enter("a", protocols={"range": subscribe("x"), "sticky": b"s"}, session_ms=10_000)
    w.enter(
        "s",
        instance="i",
        protocols={"range": subscribe("y")},
        session_ms=20_000,
        rebalance_ms=30_000,
    )
    w.settle()
    w.enter("b", protocols={"range": b""})
    w.join("a", protocols={"range": b""})
    w.join("s", protocols={"range": b""})
    assert w.group.generation == 2
    w.advance(5_000)
    parked = w.sync("b")
    w.restart()
    assert (w.state, w.group.generation, w.group.leader, w.group.protocol_name) == (
        "Stable",
        1,
        "a-1",
        "range",
    )
    assert w.names() == {"a", "s"}
    assert w.member("a").protocols == (("range", subscribe("x")),)
    assert (
        w.member("s").assignment,
        w.member("s").rebalance_timeout_ms,
        w.member("s").client_id,
    ) == (b"s", 30_000, "s")
    assert w.group.static_members == {"i": "i-2"}
    assert w.group.subscribed_topics == {"x", "y"}
    assert w.heartbeat("b").error == 25
    assert w.heartbeat("a").error == 22
    assert w.heartbeat("a", generation=1).ok
    assert parked.parked


def test_sessions_of_a_loaded_group_start_afresh() -> None:
    """ERR-7: the whole timeout from the load on."""
    w = World().stable("a", session_ms=10_000)
    w.advance(9_000)
    w.restart()
    w.advance(9_999)
    assert w.names() == {"a"}
    w.advance(1)
    assert w.state == "Empty"


def test_an_empty_group_is_loaded_empty() -> None:
    """ERR-7, PST-1: with generation, type and offsets."""
    w = World().stable("a")
    w.commit("a", {T0: 9})
    w.leave("a")
    before = w.snapshot()["g"]
    w.restart()
    after = w.snapshot()["g"]
    assert (w.state, w.group.generation, w.group.protocol_type, w.fetch([T0])) == (
        "Empty",
        2,
        "consumer",
        {T0: 9},
    )
    assert {**before, "previous_state": None} == {**after, "previous_state": None}  # type: ignore[dict-item]


def test_what_comes_back_of_groups_without_members() -> None:
    """ERR-7, PST-1, JOIN-2: what a join made was written; what a commit made was written too, and
    stays without offsets until a look for what has expired (EXP-6); pending ids are gone."""
    w = World()
    w.join("a")
    w.admin_commit({T0: 1}, group="offsets")
    w.admin_commit({T0: 1}, group="nothing")
    w.delete_offsets([T0], group="nothing")
    w.unload()
    w.finish_load()
    assert w.list() == {"g": "Empty", "offsets": "Empty", "nothing": "Empty"}
    assert w.group.pending == {}
    assert w.fetch([T0], group="offsets") == {T0: 1}


def test_deleted_offsets_do_not_come_back() -> None:
    """PST-5, OD-2: and a group made by a commit has no record, before a restart and after."""
    w = World()
    w.admin_commit({("t", 0): 1, ("t", 1): 2})
    w.delete_offsets([("t", 0)])
    w.restart()
    assert w.fetch(None) == {("t", 1): 2}


def test_a_group_larger_than_allowed_is_loaded_into_a_rebalance() -> None:
    """ERR-7, SIZE-2."""
    w = World().stable("a", "b")
    w.config.max_size = 2
    w.unload()
    w.finish_load()
    assert w.state == "Stable"
    w.config.max_size = 1
    w.unload()
    w.finish_load()
    assert w.state == "PreparingRebalance"
    assert w.heartbeat("a").error == 27


def test_records_of_old_formats_have_no_rebalance_timeout() -> None:
    """ERR-7: -1 there means the session timeout."""
    member = ev.StoredMember("a-1", None, "a", "/127.0.0.1", 10_000, -1, b"meta", b"share")
    stored = ev.GenerationStored(3, "consumer", "range", "a-1", (member,))
    coordinator = GroupCoordinator.load(GroupConfig(), [LoggedEvent(0, "g", stored)], 50)
    assert coordinator.groups["g"].members["a-1"].rebalance_timeout_ms == 10_000
    assert coordinator.next_deadline() == 10_050


def test_what_is_written_down() -> None:
    """PST-1: a new group, the leader's sync, becoming Empty, a quiet replacement, offsets; never a
    join or a leave."""
    w = World()

    def durable() -> list[str]:
        found = [
            type(logged.event).__name__ for logged in w.log if type(logged.event) in ev.DURABLE
        ]
        w.log.clear()
        return found

    w.join("a")
    assert durable() == ["GroupCreated"]
    w.join("a"), w.enter("s", instance="i")
    w.tick()
    w.heartbeat("a")
    assert durable() == []
    w.sync("s")
    assert durable() == []
    w.sync("a")
    assert durable() == ["GenerationStored"]
    w.join("s", member_id="")
    assert durable() == ["GenerationStored"]
    w.leave("s")
    w.join("a")
    assert durable() == []
    w.leave("a")
    assert durable() == ["GroupEmptied"]
    w.admin_commit({T0: 1})
    w.delete_offsets([T0])
    assert durable() == ["OffsetsCommitted", "OffsetsRemoved"]
    w.delete()
    assert durable() == ["GroupDeleted"]


@pytest.mark.parametrize(
    ("failure", "told"),
    [(3, 15), (19, 15), (7, 15), (6, 16), (56, 16), (10, -1), (18, -1), (4, -1), (87, 87)],
)
def test_a_new_group_that_cannot_be_written_never_was(failure: int, told: int) -> None:
    """JOIN-2, ERR-2, ERR-1: a static newcomer gets the error; one that was answered 79 or 23 keeps
    that answer."""
    w = World(append_error=ErrorCode(failure))
    assert w.join("s", instance="i").error == told
    assert w.join("a").error == 79
    assert w.join("b", protocols=()).error == 23
    assert w.coordinator.groups == {}
    w.config.append_error = ErrorCode.NONE
    assert w.join("a").error == 25


def test_everything_replayed_is_everything_live() -> None:
    """The whole log rebuilds the hard state; sessions start afresh and phases go on."""
    w = World(initial_rebalance_delay_ms=1_000)
    w.stable("a", "b")
    w.enter("s", instance="i")
    w.join("p")
    w.commit("a", {T0: 3})
    w.admin_commit({T0: 1}, group="other")
    w.advance(500)
    again = GroupCoordinator.replay(w.config, w.log, w.now)
    assert {name: group.snapshot() for name, group in again.groups.items()} == w.snapshot()
    w.coordinator = again
    assert w.join("a").parked
    w.join("p")
    calls = w.join("b"), w.calls[-2]
    assert all(call.ok for call in calls)
    assert w.group.generation == 2


def test_a_replayed_log_may_hold_unloads_and_loads() -> None:
    """ERR-6, ERR-7: a group goes back to its last record in the replay as it did when it
    happened."""
    w = World().stable("a")
    w.enter("b")
    w.advance(50)
    w.unload()
    w.advance(50)
    w.finish_load()
    w.enter("c")
    again = GroupCoordinator.replay(w.config, w.log, w.now)
    assert {name: group.snapshot() for name, group in again.groups.items()} == w.snapshot()


def test_requests_of_different_groups_do_not_meet() -> None:
    """META-1, META-4: a parked join of one group holds up nobody in another; the same client may be
    in both."""
    w = World().stable("a")
    w.group_id = "h"
    waiting = w.join("x", instance="i", group="h")
    assert waiting.parked
    assert w.heartbeat("a", group="g").ok
    assert w.coordinator.groups["g"].members.keys() != w.coordinator.groups["h"].members.keys()


def test_events_stand_before_the_replies_that_depend_on_them() -> None:
    """META-2: an outcome holds both, and a refused request has no event."""
    w = World()
    w.enter("a")
    w.tick()
    w.sync("a")
    assert isinstance(w.log[-1].event, ev.GenerationStored)
    seen = len(w.log)
    w.sync("a", generation=7)
    w.describe(), w.list(), w.fetch(None)
    assert len(w.log) == seen


class Recorder:
    """An event sink that numbers what it gets."""

    writable = True

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, ev.Event, int, int | None]] = []

    def coordinator_event(self, event: AvailabilityEvent, at_ms: int, cause: int | None) -> int:
        raise AssertionError("nothing changed hands")

    def group_event(
        self, group: str, generation: int | None, event: ev.Event, at_ms: int, cause: int | None
    ) -> int:
        self.rows.append((group, generation, event, at_ms, cause))
        return len(self.rows) - 1


def test_every_event_is_written_down_with_its_cause() -> None:
    """The chain from a session's end to the generation it led to."""
    recorder = Recorder()
    w = World()
    w.coordinator = GroupCoordinator(w.config, recorder)
    w.stable("a", "b", session_ms=10_000)
    w.advance(5_000)
    w.heartbeat("a")
    w.join("a", session_ms=10_000)
    w.advance(10_000)
    assert [event for _, _, event, _, _ in recorder.rows] == w.happened()
    kinds = [type(event).__name__ for _, _, event, _, _ in recorder.rows]
    generation = len(kinds) - 1 - kinds[::-1].index("GenerationStarted")
    assert recorder.rows[generation][4] == len(kinds) - 1 - kinds[::-1].index("RebalanceStarted")
    assert recorder.rows[generation][:2] == ("g", 2)
    removed = kinds.index("MemberRemoved")
    assert kinds[recorder.rows[removed][4] or 0] in ("MemberSynced", "GenerationStored")
    assert all(cause is None or cause < seq for seq, (*_, cause) in enumerate(recorder.rows))
