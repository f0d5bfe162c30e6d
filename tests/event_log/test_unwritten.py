"""A log that is written nowhere gives the lines that a reader of the written one finds."""

from __future__ import annotations

import pytest

from coordinator.event_log import EventLog
from coordinator.event_log.unwritten import UnwrittenLog
from coordinator.simulator import catalogue
from coordinator.simulator.environment import EPOCH_MS
from coordinator.simulator.run import run_scenario
from coordinator.simulator.scenario import read_scenario


@pytest.mark.parametrize("name", ["exactly_once_pipeline", "migration_to_consumer", "coordinator_crash", "crash_loop"])
def test_its_lines_are_those_that_a_reader_finds(name: str) -> None:
    scenario = read_scenario(catalogue.text(name), name, ("duration=40s",))
    written = EventLog(seed=5, epoch_ms=EPOCH_MS)
    run_scenario(scenario, 5, written)
    taken: list[dict[str, object]] = []
    log = UnwrittenLog(taken.append, seed=5, epoch_ms=EPOCH_MS)
    run_scenario(scenario, 5, log)
    assert taken == list(written.events())
    assert [list(line) for line in taken] == [list(line) for line in written.events()]  # in the same order, too
    assert log.lines == []


def test_a_line_is_nobody_elses() -> None:
    taken: list[dict[str, object]] = []
    log, rows = UnwrittenLog(taken.append), [{"topic": "t", "numbers": [1]}]
    heard: list[str] = []
    log.heard = lambda kind, line: heard.append(kind)
    log.append("cluster", "TopicCreated", at_ms=0, rows=rows)
    rows[0]["numbers"] = [2]
    assert taken[1]["rows"] == [{"topic": "t", "numbers": [1]}]
    assert heard == ["TopicCreated"]


def test_what_cannot_stand_in_a_log_cannot_stand_here() -> None:
    with pytest.raises(TypeError):
        UnwrittenLog(lambda line: None).append("cluster", "TopicCreated", at_ms=0, rows={1, 2})
