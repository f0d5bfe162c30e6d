from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator import Emulator
from coordinator.kit.http.client import Client
from coordinator.kit.http.serving import opened


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Emulator, Client]]:
    """One emulator with its control port for a module."""
    with (
        Emulator(
            {"orders": 4}, {"group.min.session.timeout.ms": 100}, remember=50_000, seed=5
        ) as kafka,
        opened(kafka) as port,
    ):
        yield kafka, Client(port.url)


@pytest.fixture
def kafka(served: tuple[Emulator, Client]) -> Iterator[Emulator]:
    """It, with one topic and nothing else in it."""
    kafka, client = served
    yield kafka
    for peer in client.get("/peers")["peers"]:
        client.post(f"/peers/{peer['peer']}/crash")
    kafka.reset()
    kafka.create_topic("orders", 4)


@pytest.fixture
def client(served: tuple[Emulator, Client], kafka: Emulator) -> Client:
    """Its caller."""
    return served[1]
