"""Counts in texts: one of a thing is not told as several."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.base.counting import how_many
from coordinator.kit.ready_tests import findings
from coordinator.kit.waiting import WaitTimeoutError


def test_one_and_several() -> None:
    assert how_many(1, "commit", "were") == "1 commit was"
    assert how_many(2, "commit", "were") == "2 commits were"
    assert how_many(0, "record") == "0 records"
    assert how_many(1, "rebalance", "began") == "1 rebalance began"


def test_findings_and_waits_count_one_as_one() -> None:
    (found,) = findings.duplicates([("orders", 0, 1), ("orders", 0, 1)], at_most=0)
    assert "1 record was processed again" in str(found)
    with Emulator({"orders": 1}, remember=1_000) as kafka:
        kafka.produce("orders", [b"a"])
        with kafka.peer("g", ["orders"]) as peer:
            peer.wait_stable()
            with pytest.raises(AssertionError, match="rebalanced 1 time, not at least 5"):
                kafka.group("g").verify().rebalances(at_least=5)
            with pytest.raises(WaitTimeoutError, match="1 member"):
                kafka.group("g").wait(members=2, timeout=0.01)
