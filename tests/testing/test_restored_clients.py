"""Client libraries live through a restore: their connections are closed, they connect anew, and go
on from where the group was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coordinator import Emulator
from tests.testing.applications import LIBRARIES, starter


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 2}, remember=50_000, seed=5) as running:
        yield running


@pytest.fixture(params=LIBRARIES)
def start(request: pytest.FixtureRequest, kafka: Emulator) -> Iterator[Callable[..., Any]]:
    yield from starter(request.param)  # which end before the emulator does


def test_a_consumer_goes_on_after_a_restore(start: Callable[..., Any], kafka: Emulator) -> None:
    group = kafka.group("billing")
    kafka.produce("orders", ["a"] * 5, partition=0)
    start(kafka.bootstrap_servers, topic="orders", group="billing")
    before = group.wait(
        state="Stable", members=1, assigned="all", committed={("orders", 0): 5}, timeout=120
    )
    snapshot = kafka.snapshot()
    kafka.restore(snapshot)
    assert [member.member_id for member in group.members] == [
        member.member_id for member in before.members
    ]
    kafka.produce("orders", ["b"] * 3, partition=0)
    group.wait(state="Stable", members=1, assigned="all", committed={("orders", 0): 8}, timeout=120)
    kafka.restore(snapshot)
    with kafka.observe("Heartbeat", group="billing") as heartbeats:
        heartbeats.wait_hit(2, timeout=120)
    # Where it was there is nothing now: it may begin anew (auto.offset.reset), and comes here again.
    group.wait(committed={("orders", 0): 5}, timeout=120)
