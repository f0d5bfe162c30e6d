"""Retention in a scenario: records go as the brokers are configured, and on request; everybody keeps
his promises, and a run without a clean-up is what it was."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.events.line import lines_of
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts

BASE = """
duration = "8m"
[topics]
orders = 2
[[members]]
name = "app"
topics = "orders"
[[producers]]
name = "shop"
topics = "orders"
rate = 2
[brokers]
count = 3
[brokers.config]
"default.replication.factor" = 3
"""
CLEANS = BASE + '"log.retention.ms" = 60000\n"log.roll.ms" = 30000\n'
ON_REQUEST = CLEANS + '[[faults]]\nat = "2m"\nverb = "CleanLogs"\ntopic = "orders"\n'


def run(text: str) -> tuple[list[dict[str, Any]], dict[str, Judgement]]:
    """The lines of a run, and what judges say of it."""
    scenario, log = read_scenario(text, "mine.toml"), EventLog(seed=1, epoch_ms=EPOCH_MS)
    run_scenario(scenario, 1, log)
    lines = list(log.events())
    return lines, {each.judge: each.judgement for each in verdicts(scenario, lines_of(lines))}


def deleted(lines: list[dict[str, Any]]) -> list[int]:
    """When segments were deleted."""
    return [line["at_ms"] for line in lines if line["type"] == "SegmentsDeleted"]


def test_by_the_brokers_checks() -> None:
    lines, judged = run(CLEANS)
    assert set(deleted(lines)) == {330_000}
    assert judged["logs_cleaned_as_configured"] is Judgement.KEPT
    assert set(judged.values()) == {Judgement.KEPT}


def test_on_request() -> None:
    lines, judged = run(ON_REQUEST)
    assert set(deleted(lines)) == {120_000, 330_000}
    assert set(judged.values()) == {Judgement.KEPT}


def test_without_a_clean_up_nothing_is_said_of_it() -> None:
    lines, judged = run(BASE)
    assert not deleted(lines)
    assert "logs_cleaned_as_configured" not in judged


def test_a_topic_that_is_not_there() -> None:
    with pytest.raises(ScenarioError, match=r"CleanLogs: \[topics\] does not name 'odrers'"):
        read_scenario(ON_REQUEST.replace('topic = "orders"\n', 'topic = "odrers"\n'), "mine.toml")
