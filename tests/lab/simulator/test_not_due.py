"""Brokers ask at a tick only whom something is due of: the log is the same as if they asked all."""

from __future__ import annotations

import pytest

from coordinator.events import EventLog
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.server.cluster.replication import Replication
from coordinator.server.cluster_runtime import Brokers
from coordinator.server.requests.commit_gate import CommitGate

pytestmark = pytest.mark.unmeasured


def _log(text: str, seed: int) -> list[str]:
    scenario = read_scenario(text, "a scenario")
    log = EventLog(seed=seed, kafka_version=scenario.release.number)
    run_scenario(scenario, seed, log)
    return log.lines


@pytest.mark.parametrize(
    "what",
    [
        "coordinator_crash",
        pytest.param("exactly_once_pipeline", marks=pytest.mark.thorough),
        "migration_to_consumer",
        4,
        11,
        *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(20, 60)),
    ],
)
def test_what_is_not_due_is_not_asked(what: str | int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups have nothing to do, and followers neither, before their deadline. In a scenario that was
    drawn (seed 25) it may be that nothing is due before its end."""
    text = catalogue.text(what) if isinstance(what, str) else scenario_text(what, 1)
    seed = what if isinstance(what, int) else 1
    usual, asked = _log(text, seed), 0
    tick = Brokers.tick

    def asks_all(brokers: Brokers, now: int) -> None:
        nonlocal asked
        asked += 1
        monkeypatch.setattr(CommitGate, "has_written", True)
        monkeypatch.setattr(Replication, "next_deadline", lambda self: now)
        tick(brokers, now)
        monkeypatch.undo()
        monkeypatch.setattr(Brokers, "tick", asks_all)

    monkeypatch.setattr(Brokers, "tick", asks_all)
    assert _log(text, seed) == usual
    assert asked or isinstance(what, int)
