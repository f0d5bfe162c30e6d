"""Runs of shipped scenarios, each once."""

from __future__ import annotations

from functools import cache
from typing import Any

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts

Line = dict[str, Any]


@cache
def lines_of(name: str, seed: int = 1, *settings: str) -> list[Line]:
    """The log of a shipped scenario, whose judges must be content."""
    scenario = read_scenario(catalogue.text(name), name, settings)
    log = EventLog(seed=seed)
    run_scenario(scenario, seed, log)
    lines = list(log.events())
    assert [
        str(verdict)
        for verdict in verdicts(scenario, typed(lines))
        if verdict.judgement is not Judgement.KEPT
    ] == []
    return lines


def kinds(lines: list[Line], kind: str, **fields: Any) -> list[Line]:
    return [
        line
        for line in lines
        if line["type"] == kind and all(line.get(name) == value for name, value in fields.items())
    ]
