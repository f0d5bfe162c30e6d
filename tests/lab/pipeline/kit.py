"""Logs of small simulated runs, and rows by their columns' names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from coordinator.events import EventLog
from coordinator.lab.pipeline.fold.pieces import Counts, fold_texts
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.pipeline.without_spark import Tables
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.world import EPOCH_MS

GOLDEN = Path(__file__).parents[2] / "vectors" / "event_log"
SHORT = {
    "crash_loop": ("duration=3m",),
    "rolling_deploy_dynamic": ("duration=2m", "churn.1.at=20s", "churn.1.every=15s"),
    "one_crash_one_join": ("duration=3m", "churn.1.at=60s", "churn.1.down=60s"),
}
"""Scenarios with settings that make them short."""


@cache
def simulated(name: str, seed: int = 1) -> str:
    """The text of a simulation's log."""
    scenario = read_scenario(catalogue.text(name), name, SHORT.get(name, ()))
    log = EventLog(seed=seed, epoch_ms=EPOCH_MS)
    run_scenario(scenario, seed, log)
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in log.events())


def folded(text: str, log: str = "log") -> tuple[Tables, Counts]:
    """A log's tables."""
    tables: Tables = {name: [] for name in TABLES}
    counts = fold_texts(
        text.splitlines(keepends=True), log, lambda table, row: tables[table].append(row)
    )
    return tables, counts


def rows(tables: Tables, name: str, **wanted: Any) -> list[dict[str, Any]]:
    """Rows of a table as dictionaries; those whose columns have the values wanted."""
    names = TABLES[name].names()
    found = [dict(zip(names, row, strict=True)) for row in tables[name]]
    return [row for row in found if all(row[column] == value for column, value in wanted.items())]
