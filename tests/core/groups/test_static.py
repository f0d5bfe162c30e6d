"""Static members: replaced, fenced, kept through rebalances (KIP-345, KIP-814; STA, LEAD-4)."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from tests.core.groups.callers import Call
from tests.core.groups.kit import World

FENCED, UNKNOWN, IN_PROGRESS = 82, 25, 27


def pair(**options: object) -> World:
    """A Stable group: static leader s (instance i), dynamic follower b; generation 1."""
    w = World()
    w.enter("s", instance="i", **options)
    w.enter("b", **options)
    w.settle()
    return w


def restart(w: World, client: str = "s", **options: object) -> Call:
    """The process of a static member comes back and knows no member id."""
    return w.join(client, member_id="", **options)


def test_an_unknown_instance_without_id_is_simply_added() -> None:
    """STA-1: with an id it is unknown (VAL-1)."""
    w = pair()
    assert w.join("t", instance="j", member_id="t-1").error == UNKNOWN
    assert w.join("t", instance="j", member_id="").parked
    assert set(w.group.static_members) == {"i", "j"}


def test_a_replacement_in_stable_changes_the_id_only() -> None:
    """STA-2, STA-3, LEAD-4, STA-8: no rebalance, one record (PST-1), and SyncGroup returns the
    inherited share."""
    w = pair()
    call = restart(w)
    assert (call.error, call.generation_id, call.member_id, w.state) == (0, 1, "i-3", "Stable")
    assert w.group.static_members == {"i": "i-3"}
    assert "i-1" not in w.group.members
    assert w.group.leader == "i-3"
    stored = w.happened(ev.GenerationStored)[-1]
    assert (stored.leader, {m.member_id: m.assignment for m in stored.members}) == (
        "i-3",
        {"i-3": b"s", "b-2": b"b"},
    )
    assert w.sync("s").assignment == b"s"
    assert w.heartbeat("b").ok


@pytest.mark.parametrize("version", [5, 7, 8, 9])
def test_what_a_restarted_leader_is_told(version: int) -> None:
    """STA-4, VER-1, TR-6: from version 9 the truth and skip_assignment; before, the former leader's
    id and no members."""
    w = pair()
    call = restart(w, version=version)
    if version >= 9:
        assert (call.leader, call.skip_assignment) == ("i-3", True)
        assert {m.member_id for m in call.members} == {"i-3", "b-2"}
    else:
        assert (call.leader, call.skip_assignment, call.members) == ("i-1", False, [])


@pytest.mark.parametrize("version", [5, 9])
def test_what_a_restarted_follower_is_told(version: int) -> None:
    """STA-4: the leader, no members, nothing to skip."""
    w = World()
    w.enter("b")
    w.enter("s", instance="i")
    w.settle()
    call = restart(w, version=version)
    assert (call.error, call.leader, call.skip_assignment, call.members) == (0, "b-1", False, [])


def test_only_the_name_of_the_protocol_matters() -> None:
    """STA-3: other subscriptions do not rebalance, and are stored; another name does."""
    w = pair(protocols={"range": b"old", "sticky": b""})
    assert restart(w, protocols={"range": b"new", "sticky": b""}).ok
    assert (w.state, w.member("s").metadata("range")) == ("Stable", b"new")
    call = restart(w, protocols={"sticky": b""})
    assert call.parked
    assert w.state == "PreparingRebalance"


def test_everybodys_vote_decides_whether_the_protocol_stays() -> None:
    """STA-3, PROTO-3: two prefer range, so it stays range although the restarted member prefers
    sticky."""
    w = World()
    w.enter("a", protocols={"range": b"", "sticky": b""})
    w.enter("b", protocols={"range": b"", "sticky": b""})
    w.enter("s", instance="i", protocols={"sticky": b"", "range": b""})
    w.settle()
    assert restart(w, protocols={"sticky": b"", "range": b""}).ok
    assert w.group.protocol_name == "range"


def test_a_replacement_in_completing_rebalance_always_rebalances() -> None:
    """STA-3, REB-1: the others' parked syncs get 27."""
    w = World()
    w.enter("s", instance="i")
    w.enter("b")
    w.tick()
    parked = w.sync("b")
    call = restart(w)
    assert (parked.error, call.parked, w.state) == (IN_PROGRESS, True, "PreparingRebalance")
    assert w.join("b").leader == "i-3"


def test_a_replacement_in_preparing_rebalance_may_complete_the_phase() -> None:
    """STA-3, REB-2."""
    w = pair()
    b = w.enter("c")
    w.join("b")
    call = restart(w)
    assert call.ok and b.ok
    assert call.generation_id == 2


def test_a_replaced_parked_member_is_counted_once() -> None:
    """STA-2, REB-2: the phase still waits for the one who is missing."""
    w = pair()
    w.enter("c")
    w.join("s")
    assert restart(w).parked
    assert (w.state, w.group.awaiting_join) == ("PreparingRebalance", 2)
    assert w.join("b").ok


def test_the_parked_join_of_the_old_process_is_fenced() -> None:
    """STA-2: 82 with the old id."""
    w = pair()
    w.enter("c")
    old = w.join("s")
    restart(w)
    assert (old.error, old.member_id, old.leader, old.members) == (FENCED, "i-1", "", [])


def test_the_parked_sync_of_the_old_process_is_fenced() -> None:
    """STA-2: 82 as well."""
    w = World()
    w.enter("b")
    w.enter("s", instance="i")
    w.tick()
    old = w.sync("s")
    restart(w)
    assert (old.error, old.assignment) == (FENCED, b"")


def test_the_newcomer_lives_by_the_old_session_timeout_first() -> None:
    """STA-2, SES-1: until something renews it by its own."""
    w = pair(session_ms=10_000)
    w.advance(5_000)
    w.heartbeat("b")
    assert restart(w, session_ms=100_000).ok
    w.advance(9_999)
    w.heartbeat("b")
    assert "s" in w.names()
    w.advance(1)
    assert "s" not in w.names()
    w = pair(session_ms=10_000)
    restart(w, session_ms=100_000)
    w.heartbeat("s")
    for _ in range(9):
        w.advance(9_999)
        w.heartbeat("b")
    assert "s" in w.names()


def test_what_is_inherited_and_what_is_not() -> None:
    """STA-2: client id and host and assignment of the old; protocols and timeouts of the
    request."""
    w = pair()
    w.join(
        "other",
        member_id="",
        instance="i",
        session_ms=11_000,
        rebalance_ms=12_000,
        protocols={"range": b"x"},
    )
    member = w.member("other")
    assert (member.client_id, member.assignment, member.group_instance_id) == ("s", b"s", "i")
    assert (member.session_timeout_ms, member.rebalance_timeout_ms, member.protocols) == (
        11_000,
        12_000,
        (("range", b"x"),),
    )


@pytest.mark.parametrize(("failure", "told"), [(3, 15), (6, 16), (10, -1), (87, 87)])
def test_a_replacement_that_cannot_be_stored_changes_nothing(failure: int, told: int) -> None:
    """STA-5, ERR-2: error, generation, type, name and old leader together, and no member id."""
    w = pair(session_ms=10_000)
    before = w.snapshot()
    w.config.append_error = ErrorCode(failure)
    call = restart(w, session_ms=20_000, protocols={"range": b"new"})
    assert (call.error, call.member_id, call.generation_id, call.leader) == (told, "", 1, "i-1")
    assert (call.protocol_type, call.protocol_name, call.members) == ("consumer", "range", [])
    assert w.snapshot() == before
    assert w.heartbeat("s", member_id="i-1").ok


def test_the_replaced_process_is_fenced_everywhere() -> None:
    """STA-6: 82 if it names its instance id, 25 if not."""
    w = pair()
    restart(w)
    for instance, error in (("i", FENCED), (None, UNKNOWN)):
        who = {"member_id": "i-1", "instance": instance, "generation": 1}
        assert w.heartbeat("s", **who).error == error
        assert w.sync("s", **who).error == error
        assert w.commit("s", {("t", 0): 1}, **who).topics[0].partitions[0].error_code == error
        assert w.leave("s", ("i-1", instance)).members[0].error_code == error
        w.clients.pop("old", None)
        assert w.join("old", member_id="i-1", instance=instance).error == error
    assert w.heartbeat("s").ok


def test_with_its_right_id_a_static_member_is_like_any_other() -> None:
    """STA-7, JOIN-4."""
    w = World()
    w.enter("b")
    w.enter("s", instance="i")
    w.settle()
    assert w.join("s").ok
    assert w.state == "Stable"
    w = pair()
    assert w.join("s").parked


def test_every_replacement_has_another_id() -> None:
    """STA-9, MID-2."""
    w = pair()
    assert [restart(w).member_id for _ in range(3)] == ["i-3", "i-4", "i-5"]


def test_an_admin_may_remove_a_static_member() -> None:
    """STA-10, LV-2: by instance id alone."""
    w = pair()
    call = w.leave("admin", ("", "i"))
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in call.members] == [
        ("", "i", 0)
    ]
    assert (w.names(), w.group.static_members, w.state) == ({"b"}, {}, "PreparingRebalance")


def test_an_absent_static_member_keeps_its_place_through_a_rebalance() -> None:
    """STA-11, REB-4, SYNC-6: with its old metadata in the leader's list; but it must sync in
    time."""
    w = World()
    w.enter("b", rebalance_ms=20_000)
    w.enter("s", instance="i", rebalance_ms=20_000, protocols={"range": b"old"})
    w.settle()
    b = w.join("b", rebalance_ms=20_000)
    w.advance(20_000)
    assert {m.member_id: m.metadata for m in b.members} == {"b-1": b"meta", "i-2": b"old"}
    w.sync("b", {"s": b"share"})
    assert w.state == "Stable"
    w.advance(15_000)
    assert w.heartbeat("s", generation=2).ok
    w.heartbeat("b")
    w.advance(5_000)
    assert (w.names(), w.state) == ({"b"}, "PreparingRebalance")


def test_an_absent_static_member_that_syncs_has_its_share() -> None:
    """STA-11."""
    w = World()
    w.enter("b", rebalance_ms=20_000)
    w.enter("s", instance="i", rebalance_ms=20_000)
    w.settle()
    w.join("b", rebalance_ms=20_000)
    w.advance(20_000)
    w.sync("b", {"s": b"share"})
    assert w.sync("s", generation=2).assignment == b"share"
    assert w.group.sync_deadline is None


def test_a_name_given_twice_is_stored_as_it_is_shown() -> None:
    """PROTO-5, STA-3: the first one's bytes, in the record as in the group."""
    w = pair()
    restart(w, protocols=(("range", b"1"), ("range", b"2")))
    assert w.member("s").metadata("range") == b"1"
    w.restart()
    assert w.member("s").metadata("range") == b"1"


def test_leaving_frees_the_instance_id() -> None:
    """LV-2, STA-1: the next one with it is a newcomer."""
    w = pair()
    w.leave("s")
    assert restart(w).parked
    assert w.happened(ev.MemberReplaced) == []
