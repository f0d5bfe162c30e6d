"""Reads a scenario's keys about the work on a record: its duration, and poison records. Raises
ScenarioError. `coordinator/lab/simulator/work.py` applies them."""

from __future__ import annotations

from itertools import pairwise

from assignors import TopicPartition
from coordinator.members.applications.consuming import Fate

from ..work import QUANTILES, WorkPlan
from .key_positions import Where
from .reading import Plain, ScenarioError


def read_work(plain: Plain, topics: dict[str, int], where: Where) -> tuple[int, WorkPlan | None]:
    """Read the time that a member takes for a record, or for each record."""
    name, processing = f"members {plain['name']}", plain["processing"]
    if plain["on_poison"] != "fails" and not plain["poison"]:
        raise ScenarioError(f"{where.at('on_poison')}: {name}: on_poison needs poison")
    if plain["per"] != "record" and isinstance(processing, int):
        raise ScenarioError(
            f"{where.at('per')}: {name}: per needs a processing that is not the same for all, such as {{ p50 = '10ms', p99 = '1s' }}"
        )
    slow = tuple(
        (_partition(text, topics, name, where), takes_ms)
        for text, takes_ms in plain["slow"].items()
    )
    if isinstance(processing, int) and not slow and not plain["poison"]:
        return processing, None
    plan = WorkPlan(
        _quantiles(processing, name, where),
        plain["per"] == "key",
        slow,
        plain["poison"],
        Fate(plain["on_poison"]),
    )
    return 0, plan


def _quantiles(
    processing: int | tuple[int, int] | dict[str, int], name: str, where: Where
) -> tuple[tuple[int, int], ...]:
    if isinstance(processing, int):
        return ((0, processing),)
    if isinstance(processing, tuple):
        return ((0, processing[0]), (1000, processing[1]))
    found = sorted((QUANTILES[key], takes_ms) for key, takes_ms in processing.items())
    for (_, low), (_, high) in pairwise(found):
        if low > high:
            raise ScenarioError(
                f"{where.at('processing')}: {name}: processing: {', '.join(QUANTILES)} are to grow"
            )
    if found[0][0]:
        found.insert(0, (0, 0))
    if found[-1][0] < 1000:
        found.append((1000, found[-1][1]))
    return tuple(found)


def _partition(text: str, topics: dict[str, int], name: str, where: Where) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    if topic not in topics or not number.isdecimal() or int(number) >= topics[topic]:
        raise ScenarioError(
            f"{where.at(f'slow.{text}')}: {name}: slow: there is no partition {text}: give TOPIC-NUMBER, such as {next(iter(topics))}-0"
        )
    return TopicPartition(topic, int(number))
