"""LeaveGroup: one or more members go, each with its own result (LV)."""

from __future__ import annotations

import pytest

from coordinator.events import groups as ev
from tests.core.groups.callers import Call
from tests.core.groups.kit import World, removals

UNKNOWN, FENCED = 25, 82


def results(call: Call) -> list[tuple[str, str | None, int]]:
    return [(m.member_id, m.group_instance_id, m.error_code) for m in call.members]


def test_an_unknown_group_knows_no_member() -> None:
    """LV-1, LV-6: at the top only before version 3; "" is 24."""
    w = World()
    call = w.leave("a", ("x", None), ("y", "i"))
    assert (call.error, results(call)) == (0, [("x", None, UNKNOWN), ("y", "i", UNKNOWN)])
    assert w.leave("a", ("x", None), version=2).error == UNKNOWN
    assert w.leave("a", ("x", None), version=2, group="").error == 24
    assert w.leave("a", ("x", None), group="").error == 24


def test_who_is_meant() -> None:
    """LV-2, LV-8, STA-6: instance without id, pending id, right pair, and all the wrong ones;
    errors stand for themselves."""
    w = World().stable("a", "b")
    for name in "st":
        w.enter(name, instance=name)
    w.join("a"), w.join("b")
    w.settle()
    w.join("p")
    call = w.leave(
        "admin",
        ("", None),
        ("", "unknown"),
        ("nobody", None),
        ("a-1", "t"),  # t is held by another member (a fake lets this pass)
        ("a-1", "unknown"),
        ("", "s"),
        ("p-5", None),
        ("t-4", "t"),
        ("b-2", None),
    )
    assert [m.error_code for m in call.members] == [
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        FENCED,
        UNKNOWN,
        0,
        0,
        0,
        0,
    ]
    assert results(call)[5] == ("", "s", 0)
    assert (w.names(), w.group.pending) == ({"a"}, {})


def test_each_identity_sees_what_those_before_it_took_away() -> None:
    """LV-2: in the order of the request."""
    w = World()
    for name in "st":
        w.enter(name, instance=name)
    w.enter("a")
    w.settle()
    w.join("p")
    again = ("a-3", "s"), ("a-3", None), ("a-3", None), ("a-3", "t")
    call = w.leave("x", ("", "s"), ("", "s"), ("s-1", "s"), *again, ("p-4", None), ("p-4", None))
    assert [m.error_code for m in call.members] == [
        0,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        0,
        UNKNOWN,
        FENCED,
        0,
        UNKNOWN,
    ]
    assert w.names() == {"t"}
    assert w.group.leader == "t-2"


def test_the_leavers_parked_join_is_answered() -> None:
    """LV-3: 25 without id; and its session is over."""
    w = World().stable("a")
    b = w.enter("b")
    w.leave("b")
    assert (b.error, b.member_id) == (UNKNOWN, "")
    w.advance(400_000)
    assert ("b-2", "left") in removals(w)
    assert len([who for who, _ in removals(w) if who == "b-2"]) == 1


def test_a_batch_rebalances_once() -> None:
    """LV-4: one rebalance, of those who remain."""
    w = World().stable("a", "b", "c")
    w.leave("admin", ("a-1", None), ("b-2", None))
    assert len(w.happened(ev.RebalanceStarted)) == 2
    assert (w.group.leader, w.state) == ("c-3", "PreparingRebalance")


def test_a_pending_id_that_leaves_rebalances_a_stable_group() -> None:
    """LV-4."""
    w = World().stable("a")
    w.join("p")
    w.leave("p")
    assert w.state == "PreparingRebalance"
    assert removals(w) == []


def test_a_pending_id_that_leaves_completes_the_phase_it_held_up() -> None:
    """LV-4, REB-2 (testPendingMembersLeaveGroup)."""
    w = World().stable("a")
    w.join("p")
    a = w.join("a")
    assert a.parked
    w.leave("p")
    assert a.ok


def test_leaving_completes_the_phase_that_waited_for_the_leaver() -> None:
    """LV-4."""
    w = World().stable("a", "b")
    a = w.join("a")
    w.leave("b")
    assert a.ok


def test_failed_leaves_change_nothing() -> None:
    """LV-4, LV-8."""
    w = World().stable("a")
    before = w.snapshot()
    assert results(w.leave("x", ("nobody", None), ("a-1", "i"))) == [
        ("nobody", None, UNKNOWN),
        ("a-1", "i", UNKNOWN),
    ]
    assert w.snapshot() == before


def test_the_last_to_leave_empties_the_group() -> None:
    """LV-5, REB-4, PST-1: the next generation, with a record; offsets stay."""
    w = World().stable("a")
    w.commit("a", {("t", 0): 5})
    w.leave("a")
    assert (w.state, w.group.generation, w.group.leader, w.group.protocol_name) == (
        "Empty",
        2,
        None,
        None,
    )
    assert w.happened(ev.GroupEmptied)[0].generation == 2
    assert w.fetch([("t", 0)]) == {("t", 0): 5}


@pytest.mark.parametrize("version", [3, 4, 5])
def test_batches_come_with_version_3(version: int) -> None:
    """LV-6, VER-4."""
    w = World().stable("a", "b", "c")
    call = w.leave("admin", ("a-1", None), ("x", None), ("b-2", None), version=version)
    assert (call.error, [m.error_code for m in call.members]) == (0, [0, UNKNOWN, 0])
    assert w.leave("x", ("y", None), version=version, group="unknown").error == 0


def test_a_pending_id_that_leaves_an_empty_group_changes_nothing_else() -> None:
    """LV-4: there is nobody to rebalance."""
    w = World()
    w.join("p")
    w.leave("p")
    assert (w.state, w.group.pending, w.happened(ev.RebalanceStarted)) == ("Empty", {}, [])


@pytest.mark.parametrize("version", [0, 1, 2])
def test_old_versions_name_one_member(version: int) -> None:
    """LV-6, VER-4: its error is the whole answer."""
    w = World().stable("a", "b")
    assert w.leave("a", ("x", None), version=version).error == UNKNOWN
    call = w.leave("a", version=version)
    assert (call.error, call.members) == (0, [])
    assert w.names() == {"b"}


def test_an_empty_batch_is_valid() -> None:
    """LV-7: for a known and an unknown group."""
    from coordinator.wire.messages.leave_group import LeaveGroupRequest

    w = World().stable("a")
    for group in ("g", "unknown"):
        call = w.ask("a", LeaveGroupRequest(group_id=group, members=[]), 5)
        assert (call.error, call.members) == (0, [])
    assert w.state == "Stable"


def test_the_reason_is_told_on() -> None:
    """VER-4: KIP-800's reason stands in the event."""
    w = World().stable("a", "b")
    w.leave("b", reason="the consumer is being closed")
    assert w.happened(ev.MemberRemoved)[0].detail == "the consumer is being closed"
