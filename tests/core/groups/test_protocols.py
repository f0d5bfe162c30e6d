"""Which protocol a group speaks: who fits in, how members vote, what a tie comes to
(PROTO-1..PROTO-6)."""

from __future__ import annotations

import pytest

from coordinator.core.groups.classic.model import Protocols
from coordinator.core.groups.classic.selection import select_protocol
from tests.core.groups.kit import World


def offers(*members: str) -> list[Protocols]:
    """Each word's letters are one member's protocols, in its order."""
    return [tuple((name, b"") for name in names) for names in members]


def test_candidates_are_what_everybody_supports() -> None:
    """PROTO-2: b is everybody's second choice, and the only one they share."""
    assert select_protocol(offers("ab", "cb", "db")) == "b"


def test_the_first_candidate_of_each_list_gets_the_vote() -> None:
    """PROTO-3: x is nobody's candidate; most votes win."""
    assert select_protocol(offers("xba", "ab", "yba")) == "b"
    assert select_protocol(offers("ab", "ab", "ba")) == "a"
    assert select_protocol(offers("ab")) == "a"


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        ("range", "roundrobin", "range"),
        ("roundrobin", "sticky", "sticky"),
        ("cooperative-sticky", "range", "range"),
        ("A", "p", "p"),  # buckets 1 and 0
        ("Z", "B", "B"),
    ],
)
def test_a_tie_goes_to_the_lower_bucket(first: str, second: str, winner: str) -> None:
    """PROTO-4, HM-3: whoever voted first."""
    one: Protocols = ((first, b""), (second, b""))
    other: Protocols = ((second, b""), (first, b""))
    assert select_protocol([one, other]) == winner
    assert select_protocol([other, one]) == winner


def test_three_votes_decide_as_upstream_shows() -> None:
    """PROTO-3, PROTO-4 (testSelectProtocol)."""
    a, b = (("range", b""), ("roundrobin", b"")), (("roundrobin", b""), ("range", b""))
    assert select_protocol([a, b]) == "range"
    assert select_protocol([a, b, b]) == "roundrobin"
    assert select_protocol([a, (("roundrobin", b""), ("blah", b""))]) == "roundrobin"


def test_the_same_name_twice_is_served_sanely() -> None:
    """PROTO-5: Kafka 4.4.0 never answers; here it counts once."""
    w = World()
    a = w.enter("a", protocols=(("range", b"1"), ("range", b"2"), ("sticky", b"3")))
    w.tick()
    assert (a.ok, a.protocol_name, a.members[0].metadata) == (True, "range", b"1")
    assert w.enter("b", protocols=(("sticky", b""), ("sticky", b""))).parked
    assert w.join("a", protocols={"sticky": b""}).ok
    assert w.group.snapshot()["support"] == {"sticky": 2}


def test_an_empty_group_takes_any_type_but_none() -> None:
    """PROTO-1, PROTO-6: and lets the next first member bring another type than the last."""
    w = World().stable("a")
    w.leave("a")
    assert (w.group.protocol_type, w.group.protocol_name) == ("consumer", None)
    assert w.enter("b", kind="").error == 23
    assert w.enter("b", protocols=()).error == 23
    assert w.enter("b", kind="connect", protocols={"eager": b""}).parked
    assert w.group.protocol_type == "connect"


def test_one_name_that_all_support_is_enough() -> None:
    """PROTO-1: not all names, not the chosen one."""
    w = World().stable("a", protocols={"range": b"", "sticky": b""})
    w.enter("b", protocols={"new": b"", "sticky": b""})
    w.join("a", protocols={"range": b"", "sticky": b""})
    assert w.group.protocol_name == "sticky"
    w.settle()
    assert w.join("c", protocols={"range": b"", "new": b""}).error == 23


def test_a_members_own_old_protocols_still_count() -> None:
    """PROTO-1: so a lone member cannot come back with nothing in common with itself."""
    w = World().stable("a", protocols={"range": b""})
    before = w.snapshot()
    call = w.join("a", protocols={"sticky": b""})
    assert (call.error, call.member_id) == (23, "a-1")
    assert w.snapshot() == before


def test_absent_static_members_still_have_a_say() -> None:
    """PROTO-2, STA-11."""
    w = World().stable("a", protocols={"range": b"", "sticky": b""}, rebalance_ms=10_000)
    w.enter("s", instance="i", protocols={"range": b""}, rebalance_ms=10_000)
    w.join("a", protocols={"range": b"", "sticky": b""}, rebalance_ms=10_000)
    w.settle()
    assert w.join("a", protocols={"sticky": b"", "range": b""}, rebalance_ms=10_000).parked
    w.advance(10_000)
    assert (w.state, w.names()) == ("CompletingRebalance", {"a", "s"})
    assert w.group.protocol_name == "range"
