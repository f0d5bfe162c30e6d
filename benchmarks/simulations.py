"""What a simulation costs: CPU time of one run in one process, log on, every byte encoded and decoded."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.process import Row
from coordinator.event_log import EventLog
from coordinator.simulator import catalogue
from coordinator.simulator.run import run_scenario
from coordinator.simulator.scenario import Scenario, read_scenario


def _cpu_s(scenario: Scenario) -> float:
    """CPU seconds of one run."""
    began = time.process_time()
    run_scenario(scenario, 1, EventLog(seed=1))
    return time.process_time() - began


def run() -> Iterator[Row]:
    """The rows."""
    small = read_scenario(catalogue.text("one_crash_one_join"), "one_crash_one_join")
    _cpu_s(small)
    best = min(_cpu_s(small) for _ in range(7))
    yield Row("3 members, 10 minutes, one crash, one join: CPU", best * 1000, "ms", "target 50")
