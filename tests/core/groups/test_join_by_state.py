"""JoinGroup of known members in each state (JOIN-4), and the fields of its answers."""

from __future__ import annotations

import pytest

from tests.core.groups.callers import subscribe
from tests.core.groups.kit import World

UNKNOWN, FENCED, IN_PROGRESS = 25, 82, 27


def completing(*clients: str) -> World:
    """A group in CompletingRebalance whose first client leads."""
    w = World()
    for name in clients:
        w.enter(name)
    w.tick()
    assert w.state == "CompletingRebalance"
    return w


def test_between_join_and_sync_the_unchanged_get_the_current_generation() -> None:
    """JOIN-4: members for the leader only; timeouts are neither compared nor updated."""
    w = completing("a", "b")
    before = w.snapshot()
    leader, follower = w.join("a", session_ms=6_000), w.join("b", rebalance_ms=1)
    assert leader.ok and follower.ok
    assert {m.member_id for m in leader.members} == {"a-1", "b-2"}
    assert (
        follower.members,
        follower.generation_id,
        follower.leader,
        follower.skip_assignment,
    ) == ([], 1, "a-1", False)
    assert w.snapshot() == before


@pytest.mark.parametrize(
    "changed",
    [{"range": b"else"}, {"range": b"meta", "more": b""}, {"more": b"", "range": b"meta"}],
)
def test_between_join_and_sync_a_change_rebalances(changed: dict[str, bytes]) -> None:
    """JOIN-4, JOIN-13: the whole ordered list of names and bytes is compared."""
    w = completing("a", "b")
    parked = w.sync("b")
    assert w.join("b", protocols=changed).parked
    assert w.state == "PreparingRebalance"
    assert parked.error == IN_PROGRESS


def test_in_stable_the_leader_always_rebalances() -> None:
    """JOIN-4, STA-7: an unchanged leader wants to assign anew."""
    w = World().stable("a", "b")
    assert w.join("a").parked
    assert w.state == "PreparingRebalance"


def test_in_stable_an_unchanged_follower_is_answered_at_once() -> None:
    """JOIN-4, JOIN-13: byte for byte the same; timeouts do not matter."""
    w = World().stable("a", "b")
    before = w.snapshot()
    call = w.join("b", session_ms=6_000, rebalance_ms=5)
    assert (call.error, call.generation_id, call.members, call.leader, call.protocol_name) == (
        0,
        1,
        [],
        "a-1",
        "range",
    )
    assert w.snapshot() == before
    assert w.join("b", protocols={"range": b"meta!"}).parked
    assert w.state == "PreparingRebalance"


def test_the_order_of_protocols_is_part_of_what_is_compared() -> None:
    """JOIN-4, JOIN-13."""
    both = {"range": b"", "sticky": b""}
    w = World().stable("a", "b", protocols=both)
    assert w.join("b", protocols=both).ok
    assert w.join("b", protocols=dict(reversed(both.items()))).parked


def test_in_empty_no_id_is_known() -> None:
    """JOIN-4, LV-5: the member that left gets 25."""
    w = World().stable("a")
    w.leave("a")
    assert w.state == "Empty"
    assert (w.join("a").error, w.join("a").member_id) == (UNKNOWN, "a-1")


def test_in_preparing_rebalance_the_last_to_rejoin_completes_the_phase() -> None:
    """JOIN-4, REB-2."""
    w = World().stable("a", "b", "c")
    w.enter("d")
    assert w.join("c").parked
    assert w.join("b").parked
    assert w.join("a").ok
    assert all(call.ok for call in w.calls[-4:])


def test_fields_of_a_joined_answer() -> None:
    """JOIN-9: everybody gets generation, type, name and leader; the leader everyone's metadata of
    the selected protocol."""
    w = World()
    w.enter("a", protocols={"range": b"ar", "sticky": b"as"})
    w.enter("s", instance="i", protocols={"sticky": b"ss"})
    w.tick()
    by_client = {call.client: call for call in w.calls if call.ok}
    a, s = by_client["a"], by_client["s"]
    assert [(m.member_id, m.group_instance_id, m.metadata) for m in a.members] == [
        ("a-1", None, b"as"),
        ("i-2", "i", b"ss"),
    ]
    assert (s.members, s.member_id) == ([], "i-2")
    for call in (a, s):
        assert (call.generation_id, call.protocol_type, call.protocol_name, call.leader) == (
            1,
            "consumer",
            "sticky",
            "a-1",
        )
        assert call.skip_assignment is False


@pytest.mark.parametrize(("version", "name"), [(0, ""), (3, ""), (6, ""), (7, None), (9, None)])
def test_fields_of_a_refused_join(version: int, name: str | None) -> None:
    """JOIN-9, VER-1, VER-19: generation -1, no leader, no members, no type; the name is "" before
    version 7, null after."""
    w = World().stable("a")
    refusals = ({"member_id": "x-0"}, {"protocols": ()}, {"group": ""})
    for call in (w.join(f"x{i}", version=version, **options) for i, options in enumerate(refusals)):
        assert call.error
        assert (
            call.generation_id,
            call.leader,
            call.members,
            call.protocol_type,
            call.protocol_name,
        ) == (-1, "", [], None, name)
        assert call.message.member_id == call.member_id
        call.reply.encode(version)


def test_the_leaders_list_is_in_javas_order() -> None:
    """JOIN-9, HM-6: bucket by bucket, not in order of joining."""
    w = World()
    for name in ("zeta", "b", "q", "a", "p", "m"):
        w.enter(name)
    w.tick()
    leader = next(call for call in w.calls if call.ok and call.members)
    assert [m.member_id for m in leader.members] == [
        m.member_id for m in w.group.members.in_java_order()
    ]
    assert [m.member_id for m in leader.members] != list(w.group.members)


def test_the_reason_is_not_weighed() -> None:
    """JOIN-10, VER-1: a follower that gives a reason is unchanged all the same."""
    w = World().stable("a", "b")
    message = w.join("b").message
    message.reason = "because"
    assert w.ask("b", message, 9).ok


def test_an_empty_instance_id_is_an_id_like_any_other() -> None:
    """VER-17."""
    w = World()
    w.join("a", instance="")
    assert w.group.static_members == {"": "-1"}
    old = w.calls[-1]
    w.join("b", member_id="", instance="")
    assert old.error == FENCED


def test_old_versions_have_neither_instance_id_nor_two_steps() -> None:
    """VER-15, MID-3: fields that a version lacks are at their defaults when the request comes
    in."""
    from coordinator.wire.messages.join_group import JoinGroupRequest

    w = World()
    message = w.join("a", version=3).message
    sent = JoinGroupRequest.decode(0, message.encode(0))
    assert (sent.group_instance_id, sent.rebalance_timeout_ms, sent.reason) == (None, -1, None)


def test_subscribed_topics_are_read_when_a_generation_begins() -> None:
    """EXP-8: over all members, of the selected protocol; the type must be consumer, and all must
    parse."""
    w = World()
    w.enter("a", protocols={"range": subscribe("x", "y"), "other": subscribe("no")})
    w.enter("b", protocols={"range": subscribe("z")})
    assert w.group.subscribed_topics is None
    w.tick()
    assert w.group.subscribed_topics == {"x", "y", "z"}
    w.join("a", protocols={"range": b"\x00\x00\x7f\xff\xff\xff"})
    w.join("b", protocols={"range": subscribe("z")})
    assert (w.state, w.group.subscribed_topics) == ("CompletingRebalance", None)
    other = World()
    other.enter("a", kind="connect", protocols={"range": subscribe("x")})
    other.tick()
    assert other.group.subscribed_topics is None
