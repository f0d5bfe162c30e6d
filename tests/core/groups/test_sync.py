"""SyncGroup and what becomes of those who do not send it (ENT-2, SYNC, ERR-2)."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.core.groups.kit import World, removals

UNKNOWN, ILLEGAL, INCONSISTENT, IN_PROGRESS = 25, 22, 23, 27


def completing(*clients: str, **options: object) -> World:
    """A group in CompletingRebalance whose first client leads."""
    w = World()
    for name in clients:
        w.enter(name, **options)
    w.tick()
    assert w.state == "CompletingRebalance"
    return w


def test_the_order_of_checks() -> None:
    """SYNC-1: no group or Empty 25, membership, generation 22, then type or name 23; always the
    empty shape."""
    w = World()
    assert w.sync("a", member_id="a-1", generation=1).error == UNKNOWN
    w.join("a")
    assert w.sync("a").error == UNKNOWN  # Empty, and only pending
    w = completing("a", "b")
    before = w.snapshot()
    for error, options in (
        (UNKNOWN, {"member_id": "x", "generation": 9, "kind": "y"}),
        (ILLEGAL, {"generation": 2, "kind": "y"}),
        (ILLEGAL, {"generation": 0}),
        (ILLEGAL, {"generation": -1}),
        (INCONSISTENT, {"kind": "y"}),
        (INCONSISTENT, {"kind": ""}),
        (INCONSISTENT, {"protocol": "y"}),
        (INCONSISTENT, {"protocol": ""}),
    ):
        call = w.sync("b", **options)
        assert (call.error, call.assignment, call.protocol_type, call.protocol_name) == (
            error,
            b"",
            None,
            None,
        )
    assert w.snapshot() == before


@pytest.mark.parametrize(
    "absent", [{"kind": None}, {"protocol": None}, {"kind": None, "protocol": None}]
)
def test_null_type_or_name_stands_before_everything_else(absent: dict[str, None]) -> None:
    """ENT-2, VER-2: 23 from version 5 on, even for unknown groups, an empty group id, or at a
    coordinator that is shut down."""
    w = World()
    assert w.sync("a", member_id="a-1", **absent).error == INCONSISTENT
    assert w.sync("a", group="", **absent).error == INCONSISTENT
    w.coordinator.shutdown(0)
    assert w.sync("a", **absent).error == INCONSISTENT
    assert w.sync("a").error == 15
    assert w.sync("a", group="").error == 15  # ENT-5: 15 before 24


def test_older_versions_name_no_type() -> None:
    """SYNC-5, VER-2: which is always consistent."""
    w = completing("a")
    call = w.sync("a", {"a": b"x"}, version=4)
    assert (call.error, call.assignment) == (0, b"x")


def test_success_tells_type_and_name() -> None:
    """SYNC-5, SYNC-2: parked or not."""
    w = completing("a", "b")
    for call in (w.sync("b"), w.sync("a", {"b": b"x"}), w.sync("b")):
        assert (call.error, call.protocol_type, call.protocol_name) == (0, "consumer", "range")


def test_while_preparing_the_answer_is_27() -> None:
    """SYNC-2: also for a member that waits in join."""
    w = World().stable("a", "b")
    w.join("a")
    assert w.sync("b").error == IN_PROGRESS
    assert w.sync("a").error == IN_PROGRESS


def test_followers_wait_for_the_leader() -> None:
    """SYNC-2, SYNC-4: before it they are parked, after it they are answered at once; all the same
    instant."""
    w = completing("a", "b", "c")
    early = w.sync("b", {"b": b"mine"})
    assert early.parked
    w.advance(100)
    leader = w.sync("a", {"a": b"1", "b": b"2", "c": b"3"})
    late = w.sync("c")
    assert (early.assignment, leader.assignment, late.assignment) == (b"2", b"1", b"3")
    assert early.at == leader.at == 100
    assert w.state == "Stable"


def test_what_the_leader_does_not_mention_is_empty() -> None:
    """SYNC-3: strangers are ignored, the last of two counts."""
    w = completing("a", "b")
    parked = w.sync("b")
    known = w.client("a")
    shares = [("a-1", b"first"), ("stranger", b"x"), ("a-1", b"last")]
    message = SyncGroupRequest(
        group_id="g",
        generation_id=1,
        member_id=known.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=m, assignment=s) for m, s in shares],
    )
    assert w.ask("a", message, 5).assignment == b"last"
    assert (parked.error, parked.assignment) == (0, b"")
    assert [m.member_id for m in w.happened(ev.GenerationStored)[0].members] == ["a-1", "b-2"]


def test_a_leader_may_assign_nothing() -> None:
    """SYNC-3 (testSyncGroupEmptyAssignment)."""
    w = completing("a")
    assert (w.sync("a").assignment, w.state) == (b"", "Stable")


def test_the_answer_to_a_parked_sync_renews_the_session() -> None:
    """SYNC-3, SES-1, SES-3: b waited without a heartbeat; c, which syncs in Stable, is not renewed
    by it (SYNC-2)."""
    w = completing("a", "b", "c", session_ms=10_000)
    w.sync("b")
    w.advance(5_000)
    w.heartbeat("a")
    w.heartbeat("c")
    w.advance(6_000)
    assert "b" in w.names()
    w.sync("a")
    assert w.state == "Stable"
    w.advance(2_000)
    w.sync("c")
    w.advance(1_999)
    w.heartbeat("a")
    assert w.names() == {"a", "b", "c"}
    w.advance(1)
    assert w.names() == {"a", "b"}


def test_who_does_not_sync_in_time_is_removed() -> None:
    """SYNC-6: static or not, though it heartbeats; the parked ones get 27 and stay."""
    w = World()
    w.enter("a", rebalance_ms=20_000)
    w.enter("b", rebalance_ms=20_000)
    w.enter("s", instance="i", rebalance_ms=20_000)
    w.tick()
    parked = w.sync("b")
    for _ in range(2):
        w.advance(9_999)
        assert w.heartbeat("a").ok and w.heartbeat("s").ok
    assert parked.parked
    w.advance(2)
    assert parked.error == IN_PROGRESS
    assert {who for who, _ in removals(w)} == {"a-1", "i-3"}
    assert {why for _, why in removals(w)} == {"did not sync in time"}
    assert (w.state, w.names(), w.group.leader, w.group.static_members) == (
        "PreparingRebalance",
        {"b"},
        "b-2",
        {},
    )


def test_in_stable_too() -> None:
    """SYNC-6: the leader synced, b never fetched its assignment."""
    w = completing("a", "b", rebalance_ms=20_000)
    w.sync("a", {"b": b"x"})
    assert w.group.sync_deadline == 20_000
    w.advance(10_000)
    w.heartbeat("b")
    w.advance(10_000)
    assert (w.state, w.names()) == ("PreparingRebalance", {"a"})


def test_once_all_synced_nothing_is_due() -> None:
    """SYNC-2, SYNC-6: the deadline is cancelled, by a follower's late sync as well."""
    w = completing("a", "b", rebalance_ms=20_000)
    w.sync("a")
    w.sync("b")
    assert (w.group.sync_deadline, w.group.pending_sync) == (None, {})
    for _ in range(3):
        w.advance(15_000)
        assert w.heartbeat("a").ok and w.heartbeat("b").ok


def test_asking_again_for_the_assignment_changes_nothing() -> None:
    """SYNC-2: who has synced may ask as often as it likes."""
    w = World().stable("a", "b")
    seen = len(w.log)
    assert [w.sync(name).assignment for name in "abba"] == [b"a", b"b", b"b", b"a"]
    assert len(w.log) == seen


def test_a_replaced_static_member_still_owes_the_sync() -> None:
    """SYNC-6, STA-2: the old id stays owing, so the sync deadline rebalances though all have synced
    (seen on Kafka 4.4.0)."""
    w = World()
    w.enter("a", instance="i", rebalance_ms=20_000)
    w.enter("b", instance="j", rebalance_ms=20_000)
    w.tick()
    w.sync("a", {"b": b"x"})
    assert w.join("b", member_id="", rebalance_ms=20_000).ok
    assert w.sync("b").assignment == b"x"
    w.advance(20_000)
    assert (w.state, w.names()) == ("PreparingRebalance", {"a", "b"})


def test_the_parked_sync_of_a_member_that_goes_is_never_answered() -> None:
    """SYNC-7: by leaving or by expiry."""
    w = completing("a", "b", "c")
    gone, stays = w.sync("b"), w.sync("c")
    w.leave("b")
    assert stays.error == IN_PROGRESS
    w.advance(1_000_000)
    assert gone.parked


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (3, 15),
        (19, 15),
        (7, 15),
        (6, 16),
        (56, 16),
        (10, -1),
        (18, -1),
        (4, -1),
        (87, 87),
        (13, 13),
    ],
)
def test_an_assignment_that_cannot_be_stored(failure: int, told: int) -> None:
    """SYNC-3, ERR-2: everybody parked gets the error, assignments are emptied, and a rebalance
    begins."""
    w = World().stable("a", "b")
    w.join("a"), w.join("b")
    parked = w.sync("b")
    w.config.append_error = ErrorCode(failure)
    leader = w.sync("a", {"a": b"1", "b": b"2"})
    assert (leader.error, parked.error) == (told, told)
    assert (leader.assignment, leader.protocol_type) == (b"", None)
    assert (w.state, w.member("a").assignment) == ("PreparingRebalance", b"")
    assert len(w.happened(ev.GenerationStored)) == 1
    w.config.append_error = ErrorCode.NONE
    w.join("a"), w.join("b")
    w.settle()


def test_an_assignment_larger_than_a_record_may_be() -> None:
    """SYNC-3, ERR-2: RECORD_LIST_TOO_LARGE is told as -1."""
    w = completing("a")
    assert w.sync("a", {"a": bytes(w.config.record_limit())}).error == -1
    assert w.state == "PreparingRebalance"
    w.join("a")
    assert w.sync("a", {"a": bytes(w.config.record_limit() - 500)}).ok
