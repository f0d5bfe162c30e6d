"""Measures by which runs are compared, computed from a row of table `metrics`, and their
statistics over the runs of a variant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..statistics import frontier, paired, quantile

Run = Mapping[str, Any]
QUANTILES: Final = (0.5, 0.9, 0.99)


class Measure(NamedTuple):
    """A measure of one run: less is better. `of` returns None if the run has none."""

    name: str
    title: str
    unit: str
    of: Callable[[Run], float | None]


def _column(name: str) -> Callable[[Run], float]:
    return lambda run: float(run[name])


def _seconds(name: str) -> Callable[[Run], float]:
    return lambda run: float(run[name]) / 1000


def _detection(run: Run) -> float | None:
    return run["detection_ms"] / run["detected"] / 1000 if run["detected"] else None


def _later(name: str, first: str, per: int = 1) -> Callable[[Run], float]:
    """Return a measure: a sum over rebalances, without the first joins of groups that were
    empty."""
    return lambda run: (float(run[name]) - float(run[first])) / per


_MEASURES = (
    Measure("rebalances", "rebalances", "", _later("rebalances", "first_joins")),
    Measure(
        "rebalancing_s",
        "time in rebalances",
        "s",
        _later("rebalancing_ms", "first_join_ms", 1000),
    ),
    Measure("longest_rebalance_s", "longest rebalance", "s", _seconds("longest_later_ms")),
    Measure(
        "unavailable_partition_s",
        "partitions unavailable",
        "partition s",
        _seconds("unavailable_partition_ms"),
    ),
    Measure(
        "longest_unavailable_s",
        "longest time of one partition without an owner",
        "s",
        _seconds("longest_unavailable_ms"),
    ),
    Measure(
        "lost_partition_s",
        "partitions that nobody worked on, at most",
        "partition s",
        _seconds("lost_at_most_ms"),
    ),
    Measure("moved", "partitions moved", "", _column("moved")),
    Measure(
        "moved_between_processes",
        "partitions moved between processes",
        "",
        _column("moved_between_processes"),
    ),
    Measure("lost", "partitions lost with removed members", "", _column("lost")),
    Measure("detection_s", "crash detected after", "s", _detection),
    Measure("false_expiries", "false expiries", "", _column("false_expiries")),
    Measure("refused_commits", "commits refused", "", _column("refused_commits")),
)
MEASURES: Final[Mapping[str, Measure]] = {measure.name: measure for measure in _MEASURES}
DETECTION: Final = ("detection_s", "false_expiries")
PRICE: Final = ("unavailable_partition_s", "moved_between_processes")
COST: Final = "unavailable_partition_s"
"""The measure that a report names first as the cost of a variant."""
HEADLINES: Final = ("unavailable_partition_s", "rebalancing_s", "moved_between_processes")
"""Measures for which a report first names the best variant."""
_DECIDE_DETECTION: Final = ("session", "heartbeat", "max.poll.interval")
"""Parts of the names of settings that decide how soon a crash is detected."""


class Summary(NamedTuple):
    """A quantile of one measure over the runs of a variant."""

    variant: str
    measure: str
    quantile: float
    value: float
    low: float
    high: float
    coverage: float
    runs: int


class Difference(NamedTuple):
    """The median difference of a measure between a variant and the first one, over the seeds that
    both have."""

    variant: str
    against: str
    measure: str
    value: float
    low: float
    high: float
    coverage: float
    pairs: int


class Point(NamedTuple):
    """A variant with two measures (medians), and whether no other variant beats it."""

    variant: str
    x: float
    y: float
    best: bool


def summarise(variant: str, runs: Sequence[Run]) -> list[Summary]:
    """Return the quantiles of every measure over a variant's runs."""
    found: list[Summary] = []
    for measure in MEASURES.values():
        values = [value for value in map(measure.of, runs) if value is not None]
        found.extend(
            Summary(variant, measure.name, q, *quantile(values, q)) for q in QUANTILES if values
        )
    return found


def compare(
    variant: str, runs: Sequence[Run], against: str, base: Sequence[Run]
) -> list[Difference]:
    """Return a variant's differences from the first one, of runs with the same seed."""
    found = []
    for measure in MEASURES.values():
        difference = paired(_by_seed(measure, base), _by_seed(measure, runs))
        if difference is not None:
            found.append(Difference(variant, against, measure.name, *difference))
    return found


def _by_seed(measure: Measure, runs: Iterable[Run]) -> dict[int, float]:
    values = {run["seed"]: measure.of(run) for run in runs if run["seed"] is not None}
    return {seed: value for seed, value in values.items() if value is not None}


def weighed(variants: Iterable[str]) -> tuple[str, str]:
    """Return the two measures that a frontier compares: the time to detect a crash and false
    alarms, if the variants differ in a setting that decides them, else the cost of rebalances.
    An assignor detects no crash."""
    named = any(setting in variant for variant in variants for setting in _DECIDE_DETECTION)
    return DETECTION if named else PRICE


def frontier_of(summaries: Iterable[Summary], measures: tuple[str, str]) -> list[Point]:
    """Return each variant that has both measures, in the given order."""
    medians: dict[str, dict[str, float]] = {}
    for each in summaries:
        if each.quantile == 0.5 and each.measure in measures:
            medians.setdefault(each.variant, {})[each.measure] = each.value
    points = [
        (variant, found[measures[0]], found[measures[1]])
        for variant, found in medians.items()
        if len(found) == 2
    ]
    best = set(frontier(points))
    return [Point(variant, x, y, variant in best) for variant, x, y in points]
