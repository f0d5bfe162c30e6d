"""Which plays on a real broker are in `make test`; `make fuzz` has the others.

The emulator plays everything in every run, and is compared with what a real broker did as it is
recorded. What a real broker does is no matter of this project's code, so a play on one shows that a
record is stale, or that something depends on the names of a run. One of each kind stays for that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import pytest

from integration_tests.wire.recorder import Scenario
from integration_tests.wire.registry import OF_SCENARIOS_ALONE

T = TypeVar("T")


def on_a_real_broker(
    everything: Iterable[T], in_gate: Collection[T], told: Callable[[T], str] = str
) -> list[Any]:
    """Parameters of a test on a real broker: those of `in_gate` for every run, the others for
    `make fuzz`. `told` gives a parameter's id."""
    return [
        pytest.param(each, id=told(each), marks=() if each in in_gate else pytest.mark.thorough)
        for each in everything
    ]


def first_of_each_file(names: Iterable[str]) -> set[str]:
    """The first in order of the alphabet of each file of stories, such as `fetch.by_duration`."""
    first: dict[str, str] = {}
    for name in sorted(names):
        first.setdefault(name.partition(".")[0], name)
    return set(first.values())


def quick(scenarios: Iterable[Scenario]) -> list[str]:
    """Names of the raw scenarios that wait for nothing, disturb no other, and need no broker of
    their own."""
    return [
        each.name
        for each in scenarios
        if not (each.lasts_s or each.alone or each.profile in OF_SCENARIOS_ALONE)
    ]
