"""What the shipped incidents cost, as a table for docs/simulator.md: `python -m tools.incidents`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from coordinator.event_log import EventLog
from coordinator.simulator.comparing.measures import measure
from coordinator.simulator.environment import EPOCH_MS
from coordinator.simulator.files import catalogue
from coordinator.simulator.files.scenario import read_scenario
from coordinator.simulator.run import run_scenario

HEAD = (
    "| incident | what it teaches | rebalances | without an owner, partition-s | processed again |",
    "|---|---|---|---|---|",
)


def row(name: str, lines: Iterable[dict[str, Any]]) -> str:
    """The row of one incident, by its log."""
    cost = measure(lines)
    lesson = read_scenario(catalogue.text(name), name).lesson
    unowned = f"{cost.unavailable_partition_s:.1f}"
    return f"| `{name}` | {lesson} | {cost.rebalances:.0f} | {unowned} | {cost.duplicates:.0f} |"


def table(seed: int = 1) -> Iterator[str]:
    """All of it."""
    yield from HEAD
    for name in catalogue.incidents():
        log = EventLog(seed=seed, epoch_ms=EPOCH_MS)
        run_scenario(read_scenario(catalogue.text(name), name), seed, log)
        yield row(name, log.events())


if __name__ == "__main__":
    print(*table(), sep="\n")
