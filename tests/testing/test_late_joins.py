"""A member that joins a rebalance later than its max.poll.interval.ms allows is named, one that is
in time is not."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.findings import CommitSeen, Line
from coordinator.kit.ready_tests.holders import Written
from coordinator.kit.ready_tests.late_joins import (
    SLACK_MS,
    late_joins,
    left_for_its_poll,
    left_too_late,
)
from coordinator.kit.ready_tests.verdict import Told
from tests.lines import line_from

ALLOWED_MS = 1000


def line(at_ms: int, kind: str, **fields: Any) -> Line:
    stream = "wire" if kind.startswith("Request") else "group"
    of = {"seq": at_ms, "at_ms": at_ms, "stream": stream, "type": kind, "group": "g"}
    return line_from({**of, **fields})


def told(at_ms: int, api: str = "heartbeat") -> Line:
    return line(
        at_ms, "RequestRefused", member="m", api=api, peer="here", errors=["REBALANCE_IN_PROGRESS"]
    )


def joins(at_ms: int, **fields: Any) -> Line:
    return line(at_ms, "RequestSeen", api="join_group", **{"peer": "here", **fields})


def removed(reason: str) -> Line:
    return line(50, "MemberRemoved", member="m", reason=reason)


MEMBER = line(1, "MemberJoined", member="m", rebalance_timeout_ms=ALLOWED_MS)
LAST = 10 + ALLOWED_MS + SLACK_MS


@pytest.mark.parametrize("join", [joins(LAST + 1), joins(LAST + 1, member="m", peer="there")])
def test_who_joins_too_late_is_named(join: Line) -> None:
    (found,) = late_joins([MEMBER, told(10), told(900), join], "g", ())
    assert found.name == f.BLOCKS
    assert (
        f"was informed of a rebalance (line 10, at 10 ms) and joined {join.at_ms - 10} ms later"
        in found.text
    )
    assert f"its max.poll.interval.ms is {ALLOWED_MS}" in found.text


def test_who_is_in_time_or_not_meant_is_not_named() -> None:
    late = joins(LAST + 1, member="m")
    for lines in (
        [MEMBER, told(10), joins(LAST, member="m"), late],
        [MEMBER, told(10, "offset_commit"), late],
        [MEMBER, told(10), line(20, "GroupLoaded", state="PreparingRebalance"), late],
        [MEMBER, told(10), joins(LAST + 1, peer="there")],
        [told(10), late],
    ):
        assert late_joins(lines, "g", ()) == []
    assert late_joins([MEMBER, told(10), late], "g", {"m"}) == []
    assert late_joins([MEMBER, told(10), late], "another", ()) == []


def test_who_was_removed_for_it_is_named() -> None:
    for reason in ("did not rejoin in time", "did not revoke in time"):
        (found,) = late_joins([removed(reason)], "g", ())
        assert (found.name, f"m was removed (line 50, at 50 ms): it {reason}" in found.text) == (
            f.BLOCKS,
            True,
        )
    assert late_joins([removed("left"), removed("session expired")], "g", ()) == []


def test_who_left_when_its_session_had_ended_blocked_in_its_listener() -> None:
    expired = removed("session expired")
    leaves = line(60, "RequestSeen", api="leave_group", member="m")
    (found,) = left_too_late([MEMBER, expired, leaves], "g", 40)
    assert found.name == f.BLOCKS
    assert (
        "m left (line 60, at 60 ms) when its session had ended (line 50, at 50 ms): it blocks in its listener"
        in found.text
    )
    assert left_too_late([MEMBER, expired], "g", 40) == []
    assert left_too_late([MEMBER, leaves], "g", 40) == []
    assert left_too_late([MEMBER, expired, leaves], "another", 40) == []
    assert left_too_late([MEMBER, expired, leaves], "g", 51) == []  # before its stop
    assert left_too_late([MEMBER, removed("left"), leaves], "g", 40) == []


def asks(at_ms: int, seq: int, api: str = "join_group", peer: str = "h:1") -> Line:
    return line(at_ms, "RequestSeen", seq=seq, member="a", api=api, peer=peer)


def left_through(at_ms: int = ALLOWED_MS, session_timeout_ms: int = 0) -> list[Line]:
    """A member joins, and leaves through a connection so long after it."""
    timeouts = {"rebalance_timeout_ms": 1000, "session_timeout_ms": session_timeout_ms}
    return [
        line(0, "MemberJoined", seq=1, member="a", **timeouts),
        asks(at_ms, 10, "leave_group"),
        line(at_ms, "MemberRemoved", seq=11, cause=10, member="a", reason="left"),
    ]


def test_who_left_with_its_consumer_open_was_away_from_its_poll() -> None:
    lines, back = left_through(), asks(ALLOWED_MS, 20)
    answered = line(ALLOWED_MS, "RequestAnswered", seq=21, member="a", api="join_group")
    named = left_for_its_poll([*lines, back, answered], "g", (), [(0, 50)])
    assert [each.name for each in named] == [f.BLOCKS]
    assert (
        "a left the group (line 11, at 1000 ms), but its consumer was not closed" in named[0].text
    )
    assert "max.poll.interval.ms, 1000" in named[0].text
    assert left_for_its_poll(lines, "g", (), [(0, 50)], {"h:1"}) == named


def test_who_ran_for_less_than_its_poll_interval_has_unsubscribed() -> None:
    lines, back = left_through(ALLOWED_MS - 1), asks(ALLOWED_MS - 1, 20)
    assert left_for_its_poll([*lines, back], "g", (), [(0, 50)]) == []
    assert left_for_its_poll(lines, "g", (), [(0, 50)], {"h:1"}) == []
    before = line(-ALLOWED_MS, "GroupCreated", seq=0)
    assert left_for_its_poll([before, *lines, back], "g", (), [(1, 50)]) == []
    assert left_for_its_poll([before, *lines, back], "g", (), [(0, 50)]) != []


def test_who_committed_what_was_written_within_its_timeout_has_polled_since() -> None:
    """aiokafka tells its session timeout, 10 s, as its rebalance timeout, and polls all the time."""
    at_ms, place = 3 * ALLOWED_MS, ("orders", 0)
    lines, back = left_through(at_ms), asks(at_ms, 20)

    def found(written_ms: int, offset: int, **commit: Any) -> list[f.Finding]:
        before = asks(written_ms, 5, "heartbeat")
        seen = CommitSeen({place: offset}, 1, "a", 8)._replace(**commit)
        return left_for_its_poll(
            [lines[0], before, *lines[1:], back],
            "g",
            (),
            [(0, 50)],
            commits=[seen],
            written=[Written(2, {place: 0}), Written(6, {place: 4})],
        )

    late = at_ms - ALLOWED_MS + 1
    assert found(late, 5) == []
    assert found(late, 4) != []  # a record of before
    assert found(late - 1, 5) != []  # its handler works on that for longer than the interval
    assert found(late, 5, member="b") != []
    assert found(late, 5, seq=12) != []  # when it had left


def test_who_tells_its_session_timeout_may_be_away_from_its_poll_where_something_else_is_wrong() -> (
    None
):
    lines, back = left_through(ALLOWED_MS - 1), asks(ALLOWED_MS - 1, 20)
    assert left_for_its_poll([*lines, back], "g", (), [(0, 50)], wrong=True) == []
    lines = left_through(ALLOWED_MS - 1, session_timeout_ms=ALLOWED_MS)
    assert left_for_its_poll([*lines, back], "g", (), [(0, 50)]) == []
    (found,) = left_for_its_poll([*lines, back], "g", (), [(0, 50)], wrong=True)
    assert found.name == f.BLOCKS
    assert "for longer than its max.poll.interval.ms, or unsubscribes" in found.text


def test_who_closed_its_consumer_was_not() -> None:
    lines, another = left_through(), asks(ALLOWED_MS, 20, peer="h:2")
    assert left_for_its_poll([*lines, another], "g", (), [(0, 50)], {"h:2"}) == []
    back = asks(ALLOWED_MS, 20)
    assert left_for_its_poll([*lines, back], "g", {"a"}, [(0, 50)]) == []
    assert left_for_its_poll([*lines, back], "g", (), [(0, 5), (15, 50)]) == []


def test_what_it_does_when_it_is_to_fail_by_itself_is_not_looked_at() -> None:
    told = Told(starts=[1, 40], stops=[30], by_itself=[(10, 20), (50, 60)])
    assert told.undisturbed() == [(1, 10), (20, 30), (40, 50), (60, sys.maxsize)]
