"""A log that is written nowhere gives the lines that a reader of the written one finds."""

from __future__ import annotations

import pytest

from coordinator.events import EventLog, Line
from coordinator.events.cluster import TopicDeleted
from coordinator.events.groups import GroupCreated
from coordinator.events.unwritten import UnwrittenLog
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario

pytestmark = pytest.mark.unmeasured

REMOVED = TopicDeleted("t", bytes(16), 3)
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
    taken: list[Line] = []
    log = UnwrittenLog(taken.append, seed=5, epoch_ms=EPOCH_MS)
    run_scenario(scenario, 5, log)
    assert taken == list(written.read())
    assert [line.text for line in taken] == written.lines
    assert [line.event for line in taken] == [line.event for line in written.read()]
    assert log.lines == []


def test_who_listens_to_the_text_hears_every_line() -> None:
    taken: list[Line] = []
    heard: list[Line] = []
    texts: list[str] = []
    log = UnwrittenLog(taken.append)
    log.append(REMOVED, at_ms=0)
    log.heard = heard.append
    log.followers.append(texts.append)
    log.append(REMOVED, at_ms=0)
    log.group_event("g", 0, GroupCreated("join_group"), 0, None)
    assert [line.name for line in taken] == [
        "RunStarted",
        "TopicDeleted",
        "TopicDeleted",
        "GroupCreated",
    ]
    assert heard == taken[2:]
    assert texts == [line.text for line in heard]
    assert [line.seq for line in taken] == [0, 1, 2, 3]
