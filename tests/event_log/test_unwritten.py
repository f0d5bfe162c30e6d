"""A log that is written nowhere gives the lines that a reader of the written one finds."""

from __future__ import annotations

import pytest

from coordinator.event_log import EventLog
from coordinator.event_log.unwritten import UnwrittenLog
from coordinator.groups.events import GroupCreated
from coordinator.simulator.environment import EPOCH_MS
from coordinator.simulator.files import catalogue
from coordinator.simulator.files.scenario import read_scenario
from coordinator.simulator.run import run_scenario

pytestmark = pytest.mark.unmeasured

SHORTER = {
    "exactly_once_pipeline": "duration=40s",
    "migration_to_consumer": "duration=40s",
    "coordinator_crash": "duration=40s",
    "crash_loop": "duration=40s",
    "rolling_deploy_static": "churn.1.at=20s",
}


@pytest.mark.parametrize("name", sorted(SHORTER))
def test_its_lines_are_those_that_a_reader_finds(name: str) -> None:
    scenario = read_scenario(catalogue.text(name), name, (SHORTER[name],))
    written = EventLog(seed=5, epoch_ms=EPOCH_MS)
    run_scenario(scenario, 5, written)
    taken: list[dict[str, object]] = []
    log = UnwrittenLog(taken.append, seed=5, epoch_ms=EPOCH_MS)
    run_scenario(scenario, 5, log)
    assert taken == list(written.events())
    assert [list(line) for line in taken] == [
        list(line) for line in written.events()
    ]  # in the same order, too
    assert log.lines == []


def test_a_line_is_nobody_elses() -> None:
    taken: list[dict[str, object]] = []
    log, rows = UnwrittenLog(taken.append), [{"topic": "t", "numbers": [1]}]
    log.append("cluster", "TopicCreated", at_ms=0, rows=rows)
    rows[0]["numbers"] = [2]
    assert taken[1]["rows"] == [{"topic": "t", "numbers": [1]}]


def test_who_listens_to_the_text_hears_every_line() -> None:
    taken: list[dict[str, object]] = []
    heard: list[str] = []
    log = UnwrittenLog(taken.append)
    log.append("cluster", "TopicCreated", at_ms=0)
    log.heard = lambda kind, line: heard.append(kind)
    log.append("cluster", "PartitionsAdded", at_ms=0)
    log.group_event("g", 0, GroupCreated("join_group"), 0, None)
    assert [line["type"] for line in taken] == [
        "RunStarted",
        "TopicCreated",
        "PartitionsAdded",
        "GroupCreated",
    ]
    assert heard == ["PartitionsAdded", "GroupCreated"] and [line["seq"] for line in taken] == [
        0,
        1,
        2,
        3,
    ]


def test_what_cannot_stand_in_a_log_cannot_stand_here() -> None:
    with pytest.raises(TypeError):
        UnwrittenLog(lambda line: None).append("cluster", "TopicCreated", at_ms=0, rows={1, 2})
