"""A mistyped keyword of a method is answered with the one that is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.keyword_errors import nearest_keywords


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 1}, remember=1_000) as running:
        yield running


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda k: k.share_group("s").wait(aquired=1),
            "wait has no 'aquired': did you mean acquired",
        ),
        (
            lambda k: k.advance(minutes=1),
            "advance has no 'minutes': it takes seconds, hours, silent, grace",
        ),
        (
            lambda k: k.produce("orders", [b"a"], key=b"k"),
            "produce has no 'key': did you mean keys",
        ),
        (lambda k: k.group("g").wait(member=2), "wait has no 'member': did you mean members"),
        (lambda k: k.group("g").peer(["orders"], protocl="x"), "did you mean protocol"),
        (lambda k: k.create_topic("x", partition=2), "did you mean partitions"),
        (lambda k: k.stop_broker(brker=1), "stop_broker has no 'brker': did you mean broker"),
        (lambda k: k.journal(mst=1), "did you mean most"),
        (lambda k: k.group("g").verify().rebalances(at_mst=1), "did you mean at_most"),
        (lambda k: k.peer("g", ["orders"]).wait_stable(timeout=1), "did you mean timeout_s"),
        (
            lambda _: Emulator({"orders": 1}, securty="SSL"),
            "Emulator has no 'securty': did you mean security",
        ),
    ],
)
def test_the_nearest_keyword_is_named(
    kafka: Emulator, call: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        call(kafka)


@nearest_keywords
class Counter:
    """Counts what it is given."""

    def add(self, number: int, *, times: int = 1) -> int:
        """Add."""
        return self._inner(number, tms=times)  # type: ignore[call-arg]

    def _inner(self, number: int, times: int = 1) -> int:
        return number * times


def test_errors_within_a_method_and_its_signature_stay() -> None:
    assert list(signature(Counter.add).parameters) == ["self", "number", "times"]
    with pytest.raises(TypeError, match=r"_inner\(\) got an unexpected keyword argument 'tms'"):
        Counter().add(1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Counter().add()  # type: ignore[call-arg]
