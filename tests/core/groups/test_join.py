"""JoinGroup: what is checked first, who becomes a member, and what a member that asks again gets
(ENT, MID, JOIN, VAL)."""

from __future__ import annotations

import pytest

from coordinator.events import groups as ev
from tests.core.groups.kit import World, removals

UNKNOWN, FENCED, INCONSISTENT, REQUIRED, IN_PROGRESS = 25, 82, 23, 79, 27


# -- before the group is looked at


@pytest.mark.parametrize(
    ("group", "session_ms", "error"),
    [
        ("", 45_000, 24),
        ("", 1, 24),
        ("g", 5_999, 26),
        ("g", 1_800_001, 26),
        ("g", 6_000, 79),
        ("g", 1_800_000, 79),
    ],
)
def test_group_id_comes_before_session_timeout(group: str, session_ms: int, error: int) -> None:
    """ENT-3, CFG-1: 24, then 26, both bounds inclusive."""
    w = World()
    call = w.join("a", group=group, session_ms=session_ms)
    assert call.error == error
    assert (not w.coordinator.groups) == (error != REQUIRED)


def test_early_refusals_echo_the_member_id() -> None:
    """ENT-3: 24 and 26 carry the id that was sent; a moved or loading group does not."""
    w = World()
    assert w.join("a", group="", member_id="me").member_id == "me"
    assert w.join("a", session_ms=1, member_id="me").member_id == "me"
    w.begin_load()
    assert (w.join("a", member_id="me").error, w.join("a", member_id="me").member_id) == (14, "")
    w.shutdown()
    call = w.join("a", group="", member_id="me")
    assert (call.error, call.member_id) == (15, "me")


@pytest.mark.parametrize("group", [" ", ".", "a b", "\N{GREEK SMALL LETTER PI}", "x" * 500])
def test_any_other_group_id_is_fine(group: str) -> None:
    """ENT-5: only null and the empty string are refused."""
    w = World(group)
    w.stable("a")
    assert w.heartbeat("a").ok


def test_version_0_has_the_session_timeout_for_rebalance_timeout() -> None:
    """ENT-7: and does not read the field, whatever stands in the message."""
    w = World()
    w.join("a", version=0, session_ms=7_000, rebalance_ms=-1)
    assert w.group.max_rebalance_timeout_ms() == 7_000
    w.advance(0)
    w.sync("a", version=0)
    w.join("b", version=0, session_ms=8_000, rebalance_ms=-1)
    w.join("a", version=0, session_ms=9_000, rebalance_ms=-1)
    assert w.member("a").rebalance_timeout_ms == 9_000
    other = World()
    other.join("a", version=1, session_ms=7_000, rebalance_ms=60_000)
    assert other.group.max_rebalance_timeout_ms() == 60_000


def test_rebalance_timeouts_below_zero_count_as_zero() -> None:
    """REB-1: the maximum starts at 0, so no deadline lies in the past."""
    w = World()
    w.enter("a", rebalance_ms=-5)
    w.enter("b", rebalance_ms=-7)
    w.tick()
    assert w.happened(ev.GenerationStarted)[0].deadline_ms == w.now


# -- ids


def test_an_id_is_minted_from_client_or_instance_id() -> None:
    """MID-1, ENT-8: a dash stands after an empty client id, too."""
    w = World()
    assert w.join("a").member_id == "a-1"
    assert w.join("").member_id == "-2"
    w.join("c", instance="i")
    assert w.group.static_members == {"i": "i-3"}


def test_every_join_without_id_mints_another() -> None:
    """MID-2: also when the answer is 79; not when a check refused before."""
    w = World()
    ids = {w.join("a", member_id="").member_id for _ in range(3)}
    assert ids == {"a-1", "a-2", "a-3"}
    assert set(w.group.pending) == ids
    assert w.join("a", member_id="", protocols=()).error == INCONSISTENT
    assert set(w.group.pending) == ids


def test_from_version_4_on_the_id_must_be_brought_back() -> None:
    """MID-3, VER-1: 79, generation -1, nothing happens in the group."""
    w = World()
    call = w.join("a", version=4, session_ms=10_000)
    assert (call.error, call.generation_id, call.leader, call.members, call.member_id) == (
        REQUIRED,
        -1,
        "",
        [],
        "a-1",
    )
    assert (w.state, w.group.pending, w.group.members) == ("Empty", {"a-1": 10_000}, {})
    assert w.join("b", version=3).parked
    assert set(w.group.members) == {"b-2"}


def test_static_members_never_get_79() -> None:
    """MID-4, STA-1."""
    w = World()
    assert w.join("a", instance="i", version=9).parked


def test_a_pending_id_expires_after_the_session_timeout_of_its_request() -> None:
    """MID-3, MID-5: forgotten then, so its join gets 25."""
    w = World()
    w.join("a", session_ms=10_000)
    w.advance(9_999)
    assert w.group.pending
    w.advance(1)
    assert not w.group.pending
    call = w.join("a")
    assert (call.error, call.member_id) == (UNKNOWN, "a-1")


def test_a_pending_id_that_expires_completes_the_phase_it_held_up() -> None:
    """MID-5, MID-6, REB-2."""
    w = World().stable("a")
    w.join("b", session_ms=10_000)
    w.join("a")
    assert w.state == "PreparingRebalance"
    w.advance(9_999)
    assert w.calls[-1].parked
    assert [call.client for call in w.advance(1)] == ["a"]
    assert (w.state, w.group.generation) == ("CompletingRebalance", 2)


def test_an_expiring_pending_id_cuts_the_initial_delay_short() -> None:
    """MID-5, DLY-4."""
    w = World(initial_rebalance_delay_ms=60_000)
    w.join("b", session_ms=10_000)
    a = w.enter("a")
    w.advance(60_000)
    assert a.at == 10_000


def test_pending_ids_are_counted_nowhere_else() -> None:
    """MID-6, MID-8, DSC: not described, no vote, no size; handed out in every state without
    consequence."""
    w = World(max_size=1)
    w.join("x")
    w.stable("a")
    for _ in range(3):
        w.join("x", member_id="")
        assert w.state == "Stable"
    assert len(w.describe().members) == 1
    w.join("a", protocols={"other": b"", "range": b"1"})
    assert (
        w.state == "PreparingRebalance"
    )  # held up by the pending ids, though all members have joined
    assert w.join("x", member_id="").error == 81  # SIZE-1
    w.leave("x", *((pending, None) for pending in w.group.pending))
    assert w.state == "CompletingRebalance"
    assert w.group.protocol_name == "other"
    w.heartbeat("a")
    w.sync("a", {}, protocol="other")
    assert w.join("y", member_id="").error == 81


def test_joining_swaps_the_pending_deadline_for_the_new_members() -> None:
    """MID-6, JOIN-6: 300 s until the first join phase completes."""
    w = World(initial_rebalance_delay_ms=200_000)
    a = w.enter("a", session_ms=10_000)
    w.advance(150_000)
    assert a.parked
    assert w.group.pending == {}
    w.advance(50_000)
    assert a.ok


def test_a_pending_id_must_not_bring_an_instance_id() -> None:
    """MID-7: -1, without id; it stays pending."""
    w = World()
    w.join("a")
    call = w.join("a", instance="i")
    assert (call.error, call.member_id) == (-1, "")
    assert set(w.group.pending) == {"a-1"}


def test_the_second_request_of_a_newcomer_counts() -> None:
    """JOIN-12: client id, protocols and timeouts are those of the request that brings the id."""
    w = World()
    w.join("first", protocols={"old": b"1"}, session_ms=10_000, rebalance_ms=20_000)
    w.join(
        "second",
        member_id="first-1",
        protocols={"new": b"2"},
        session_ms=30_000,
        rebalance_ms=40_000,
    )
    member = w.group.members["first-1"]
    assert (member.client_id, member.protocols) == ("second", (("new", b"2"),))
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (30_000, 40_000)


# -- which group


def test_an_unknown_group_is_made_by_a_join_without_id_only() -> None:
    """JOIN-1: 25 with the id echoed otherwise."""
    w = World()
    call = w.join("a", member_id="a-7")
    assert (call.error, call.member_id, w.coordinator.groups) == (UNKNOWN, "a-7", {})
    w.join("a")
    assert w.state == "Empty"


@pytest.mark.parametrize("refused", [{"protocols": ()}, {"kind": ""}, {}])
def test_a_refused_join_leaves_an_empty_group_behind(refused: dict[str, object]) -> None:
    """JOIN-2, PST-1: listed as Empty, one record written, gone at the next check (EXP-6)."""
    w = World()
    assert w.join("a", **refused).error in (INCONSISTENT, REQUIRED)
    assert w.list() == {"g": "Empty"}
    assert w.happened(ev.GroupCreated) == [ev.GroupCreated("join")]
    assert (w.describe().group_state, w.describe().protocol_type) == ("Empty", "")
    w.restart()
    assert w.list() == {"g": "Empty"}
    w.advance(600_000)
    assert w.list() == {}


@pytest.mark.parametrize("who", [{}, {"member_id": "m-1"}, {"instance": "i"}])
@pytest.mark.parametrize(
    "protocols",
    [{"kind": "connect"}, {"kind": ""}, {"protocols": ()}, {"protocols": {"other": b""}}],
    ids=["type", "no type", "none", "disjoint"],
)
def test_protocols_that_do_not_fit_are_refused(
    who: dict[str, str], protocols: dict[str, object]
) -> None:
    """JOIN-3, JOIN-4, PROTO-1: 23 before the member is looked at; nothing changes."""
    w = World().stable("a")
    before = w.snapshot()
    call = w.join("b", **who, **protocols)
    assert (call.error, call.member_id) == (INCONSISTENT, who.get("member_id", ""))
    assert w.snapshot() == before


# -- who is asking


def test_membership_is_told_by_instance_id_first() -> None:
    """VAL-1, JOIN-5, STA-6: unknown instance 25, held by another id 82, unknown id 25; the id alone
    is enough."""
    w = World().stable("a", "b")
    w.enter("s", instance="i")
    w.join("a"), w.join("b")
    w.settle()
    calls = {
        UNKNOWN: [
            {"member_id": "nobody"},
            {"member_id": "a-1", "instance": "j"},
            {"member_id": "nobody", "instance": "j"},
        ],
        FENCED: [{"member_id": "a-1", "instance": "i"}, {"member_id": "nobody", "instance": "i"}],
    }
    before = w.snapshot()
    generation = w.group.generation
    for error, identities in calls.items():
        for who in identities:
            assert w.join("x", **who).error == error
            assert w.join("x", **who).member_id == who["member_id"]
            w.clients.pop("x")
            who = {"instance": None, **who, "generation": generation}
            assert w.sync("x", **who).error == error
            assert w.heartbeat("x", **who).error == error
            assert w.leave("x", (who["member_id"], who["instance"])).members[0].error_code == error
            assert w.commit("x", {("t", 0): 1}, **who).topics[0].partitions[0].error_code == error
    assert w.snapshot() == before
    assert w.heartbeat("s", instance=None).ok


# -- what becomes of a member


def test_the_first_member_sets_the_type_and_leads() -> None:
    """JOIN-6, LEAD-1, ST-4: Empty -> PreparingRebalance at the first real member."""
    w = World(initial_rebalance_delay_ms=3_000)
    w.enter("a", kind="connect")
    assert (w.group.protocol_type, w.group.leader, w.state) == (
        "connect",
        "a-1",
        "PreparingRebalance",
    )
    assert w.enter("b", kind="consumer").error == INCONSISTENT


def test_a_newcomer_by_state() -> None:
    """JOIN-11, REB-1: delay, parked, parked with 27 for parked syncs, parked without."""
    w = World(initial_rebalance_delay_ms=3_000)
    a = w.enter("a")
    b = w.enter("b")
    assert a.parked and b.parked
    w.advance(6_000)
    parked = w.sync("b")
    c = w.enter("c")
    assert c.parked
    assert (parked.error, parked.assignment, parked.protocol_type, parked.protocol_name) == (
        IN_PROGRESS,
        b"",
        None,
        None,
    )
    assert w.state == "PreparingRebalance"
    d = w.enter("d")
    assert d.parked
    w.join("a"), w.join("b")
    assert c.ok and d.ok
    w.settle()
    assert w.enter("e").parked
    assert w.state == "PreparingRebalance"
    assert w.heartbeat("a").error == IN_PROGRESS


def test_a_new_member_may_wait_300_s_and_no_longer() -> None:
    """JOIN-8, CFG-1: 25 with member id "" then, whatever its session timeout."""
    w = World().stable("a", session_ms=600_000, rebalance_ms=1_000_000)
    b = w.enter("b", session_ms=6_000)
    w.advance(299_999)
    assert b.parked
    w.advance(1)
    assert (b.error, b.member_id, b.generation_id) == (UNKNOWN, "", -1)
    assert removals(w) == [("b-2", "first join never completed")]
    assert w.state == "PreparingRebalance"


def test_a_new_member_that_gives_up_last_completes_the_phase() -> None:
    """JOIN-8, REB-2."""
    w = World().stable("a", session_ms=600_000, rebalance_ms=1_000_000)
    w.enter("b")
    w.advance(100)
    w.join("c", session_ms=1_000_000)  # pending until much later
    a = w.join("a", session_ms=600_000)
    w.leave("c", (w.id("c"), None))
    assert a.ok  # all had joined: b's 300 s never run out
    assert w.happened(ev.MemberRemoved) == []


def test_after_its_first_phase_a_member_is_under_its_session_timeout() -> None:
    """JOIN-6, REB-6, SES-1."""
    w = World()
    w.enter("a", session_ms=10_000)
    w.tick()
    w.advance(9_999)
    assert w.names() == {"a"}
    w.advance(1)
    assert w.names() == set()


def test_asking_again_replaces_what_was_said_and_drops_the_earlier_request() -> None:
    """JOIN-7: the parked one is never answered."""
    w = World().stable("a", "c")
    w.enter("b")
    first = w.join("a", session_ms=11_000)
    second = w.join("a", session_ms=12_000, rebalance_ms=13_000, protocols={"range": b"new"})
    w.join("c")
    assert first.parked
    assert second.ok
    assert {m.member_id: m.metadata for m in second.members}["a-1"] == b"new"
    assert (w.member("a").session_timeout_ms, w.member("a").rebalance_timeout_ms) == (
        12_000,
        13_000,
    )
    w.advance(1_000_000)
    assert first.parked


def test_a_second_sync_replaces_the_first() -> None:
    """JOIN-7 for SyncGroup."""
    w = World()
    w.enter("a"), w.enter("b")
    w.tick()
    first, second = w.sync("b"), w.sync("b")
    w.sync("a", {"b": b"share"})
    assert first.parked
    assert second.assignment == b"share"
