"""Who is well hears of a rebalance with its next heartbeat: what breaks that, and what excuses it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from coordinator.history.judges.grace import virtual_time
from coordinator.history.judges.hearing import RebalancesAreHeardOf
from tests.history.judges.test_kept_promises import Log

WITHIN_MS = 5_000 + 2 * 100
JUDGE = partial(RebalancesAreHeardOf, virtual_time(100, 5_000))


def _rebalance() -> Log:
    """m and n are members that tell of themselves; the group rebalances at 100 s."""
    log = Log()
    for member in ("m", "n"):
        log.group("MemberJoined", 0, member=member)
    log.group("GenerationStarted", 0, members=["m", "n"], generation=1)
    rows = [{"member_id": member} for member in ("m", "n")]
    log.group("GenerationStored", 0, members=rows, generation=1)
    for member in ("m", "n"):
        told = {"group": "g", "member": member, "client": f"c-{member}", "generation": 1}
        log.line("member", "PartitionsAssigned", 0, partitions=[], **told)
    log.group("RebalanceStarted", 100_000)
    return log


def _hears(log: Log, member: str, at_ms: int) -> None:
    refused = {"api": "heartbeat", "errors": ["REBALANCE_IN_PROGRESS"], "group": "g"}
    log.line("wire", "RequestRefused", at_ms, member=member, client=f"c-{member}", **refused)


def _fault(log: Log, kind: str, at_ms: int, **fields: Any) -> None:
    log.line("fault", kind, at_ms, **fields)


def test_a_refused_heartbeat_in_time_is_enough() -> None:
    for late_ms in (0, 1):
        log = _rebalance()
        _hears(log, "n", 101_000)
        _hears(log, "m", 100_000 + WITHIN_MS + late_ms)
        found = log.blamed(JUDGE)
        assert len(found) == late_ms
        assert all(
            text.startswith("m of group g has not learned of the rebalance at 105201 ms")
            for text in found
        )


@pytest.mark.parametrize("kind", ["join_group", "leave_group"])
def test_who_joins_or_leaves_by_itself_knows(kind: str) -> None:
    log = _rebalance()
    _hears(log, "n", 101_000)
    log.line("wire", "RequestSeen", 102_000, api=kind, group="g", member="m", client="c-m")
    log.ends(200_000)
    assert log.blamed(JUDGE) == []


def test_a_static_member_that_was_away_hears_that_its_generation_is_over() -> None:
    """HB-2: it is resumed at 130 s, when the next generation is Stable."""
    for hears in (True, False):
        log = _rebalance()
        log.lines.insert(-1, {**log.lines[-1], "stream": "fault", "type": "PauseMember"})
        log.lines[-2]["client"] = "c-m"
        _hears(log, "n", 101_000)
        log.group("MemberRejoined", 101_000, member="n")
        log.group("GenerationStarted", 120_000, members=["m", "n"], generation=2)
        log.group(
            "GenerationStored",
            120_000,
            members=[{"member_id": "m"}, {"member_id": "n"}],
            generation=2,
        )
        _fault(log, "MemberResumed", 130_000, client="c-m")
        if hears:
            _hears(log, "m", 133_000 + WITHIN_MS)
        log.ends(133_000 + WITHIN_MS + 1)
        assert bool(log.blamed(JUDGE)) is not hears


EXCUSES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "it is paused": [("PauseMember", {"client": "c-m"})],
    "its links are cut": [("CutMember", {"client": "c-m", "direction": "to_broker"})],
    "a broker stands still": [("StopBroker", {"broker": 1, "how": "pause"})],
    "answers are lost": [("RequestFaultBegan", {"fault": "Heartbeat: lose the answer"})],
}


@pytest.mark.parametrize("why", EXCUSES)
def test_what_keeps_it_from_hearing(why: str) -> None:
    log = _rebalance()
    rebalance = log.lines.pop()
    for kind, fields in EXCUSES[why]:
        _fault(log, kind, 99_000, **fields)
    log.lines.append(rebalance)
    _hears(log, "n", 101_000)
    log.ends(300_000)
    assert log.blamed(JUDGE) == []


def test_what_was_done_to_another_excuses_nobody() -> None:
    log = _rebalance()
    rebalance = log.lines.pop()
    _fault(log, "PauseMember", 99_000, client="c-other")
    log.lines.append(rebalance)
    _hears(log, "n", 101_000)
    log.ends(300_000)
    assert len(log.blamed(JUDGE)) == 1


@pytest.mark.parametrize("kind", ["MemberClosing", "MemberCrashed", "MemberFailed"])
def test_whose_process_ends_need_not_hear(kind: str) -> None:
    log = _rebalance()
    _hears(log, "n", 101_000)
    log.line("member", kind, 102_000, group="g", member="m", client="c-m")
    log.ends(300_000)
    assert log.blamed(JUDGE) == []


def test_with_its_coordinator_a_rebalance_is_over() -> None:
    log = _rebalance()
    log.group("GroupUnloaded", 101_000)
    log.ends(300_000)
    assert log.blamed(JUDGE) == []
