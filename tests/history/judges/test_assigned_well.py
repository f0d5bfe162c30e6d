"""Stickiness is judged where it is certain who owned what."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.history.judges.assignments import AssignedWell
from coordinator.wire.consumer_protocol import Assignment
from tests.history.judges.crafted import judge

Line = dict[str, Any]

SUBSCRIPTION = "00030000000200066f726465727300087061796d656e7473"
ONE = (
    "000000320000000200087061796d656e7473000000010000000100066f726465727300000003"
    "00000000000000020000000400000001"
)
"""User data: payments-1 and orders-0, -2, -4, in generation 1."""
ALL = (
    "0000003e0000000200087061796d656e747300000002000000000000000100066f726465727300000005"
    "000000010000000300000000000000020000000400000002"
)
"""User data: everything, in generation 2."""
MOVES_FOUR = ({"orders": (0, 2, 4), "payments": (1,)}, {"orders": (1, 3), "payments": (0,)})


def _log(*members: tuple[str, int, dict[str, tuple[int, ...]]]) -> list[Line]:
    """A group of `sticky`, whose members claim their user data, with a generation beside it in the
    subscription (KIP-792), and are given so much."""
    rows = [
        {
            "member_id": f"m{at}",
            "subscription": f"{SUBSCRIPTION}{claimed}00000000{generation:08x}ffff",
            "assignment": Assignment.of(given).encode().hex(),
        }
        for at, (claimed, generation, given) in enumerate(members)
    ]
    lines: list[Line] = [
        {"stream": "cluster", "type": "TopicCreated", "topic": "orders", "replicas": [[1]] * 5},
        {"stream": "cluster", "type": "TopicCreated", "topic": "payments", "replicas": [[1]] * 2},
        {"stream": "group", "type": "MemberJoined", "group": "g", "member": "m0"},
        {"stream": "group", "type": "GenerationStarted", "group": "g", "generation": 3},
        {
            "stream": "group",
            "type": "GenerationStored",
            "group": "g",
            "generation": 3,
            "protocol_type": "consumer",
            "protocol_name": "sticky",
            "members": rows,
        },
    ]
    return [{"seq": at, "at_ms": at, "cause": None, **line} for at, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("generations", "told"),
    [((1, 2), ["moves 4 partitions; 3 would have been enough"]), ((3, 3), [])],
)
def test_two_claims_are_judged_where_their_generations_agree(
    generations: tuple[int, int], told: list[str]
) -> None:
    """STK-5: the first has its claims of generation 1 in its user data. Where its subscription says
    3, its SyncGroup has failed since, and Kafka compares the one with the other."""
    lines = _log(*zip((ONE, ALL), generations, MOVES_FOUR, strict=True))
    found = [each.text for each in judge(lines, [AssignedWell])[0].findings]
    assert [text.partition("sticky ")[2] for text in found] == told


@pytest.mark.parametrize(("api", "accuses"), [("metadata", False), ("fetch", True)])
def test_a_leader_that_was_refused_a_topic_may_leave_it_out(api: str, accuses: bool) -> None:
    """The right to the topics was taken away before the leader asked for
    their metadata."""
    lines = _log((ONE, 1, {}), (ALL, 2, {}))
    refused = {
        "seq": 9,
        "at_ms": 3,
        "cause": None,
        "stream": "wire",
        "type": "AuthorizationRefused",
        "api": api,
        "resource": "topic",
        "name": "orders",
    }
    lines.insert(3, refused)
    found = judge(lines, [AssignedWell])[0].findings
    assert bool(found) is accuses


@pytest.mark.parametrize(("generation", "accuses"), [(4, False), (3, True)])
def test_what_is_stored_of_a_static_member_that_comes_back_is_no_assignment(
    generation: int, accuses: bool
) -> None:
    """Generation 4 was begun and lost with its coordinator, and the next one
    has generation 3 stored again (STA-2)."""
    lines = _log((ONE, 1, {}), (ALL, 2, {}))
    started = next(line for line in lines if line["type"] == "GenerationStarted")
    started["generation"] = generation
    found = judge(lines, [AssignedWell])[0].findings
    assert bool(found) is accuses
