"""Making many logs: simulations of shipped scenarios and of a swarm, lessons, and the event log's vectors.

`--against` compares them, and tests count them. Both take them from here by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from coordinator.lab.page.lessons import load, slugs
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from tests.shipped import SCENARIOS, log_text, simulated

_VECTORS: Final = Path(__file__).parent.parent / "vectors" / "event_log"
_SWARM: Final = range(1, 13)


def makers() -> Iterator[tuple[str, Callable[[], str]]]:
    """Each log's name, and what makes it."""
    for run in SCENARIOS:
        yield run, partial(log_text, run)
    for slug in slugs():
        yield f"lesson-{slug}", partial(_lesson, slug)
    for seed in _SWARM:
        yield f"swarm-{seed}", partial(_swarm, seed)
    for path in sorted(_VECTORS.glob("*.jsonl")):
        yield f"vector-{path.stem}", path.read_text


def _lesson(slug: str) -> str:
    return "".join(f"{line}\n" for line in load(slug).lines)


def _swarm(seed: int) -> str:
    return simulated(scenario_text(seed), f"swarm-{seed}", seed)
