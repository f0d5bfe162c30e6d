"""A whole test of a consumer application, as its author writes it, with each client library:
nothing but the kit's public API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coordinator import Emulator
from tests.testing.applications import LIBRARIES, starter

AT_MOST = {"kafka-python": 12, "aiokafka": 4, "confluent-kafka": 4}
"""Rebalances. A kafka-python that leads asks for another one each time when it has fetched metadata
while it joined."""


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def start_my_app(library: str) -> Iterator[Callable[..., Any]]:
    yield from starter(library)


def test_hands_over_cleanly(
    kafka: Emulator, start_my_app: Callable[..., Any], library: str
) -> None:
    kafka.create_topic("orders", partitions=6)
    kafka.produce("orders", [b"coffee"] * 10, partition=0)
    app = start_my_app(kafka.bootstrap_servers)
    group = kafka.group("billing")
    group.wait(state="Stable", members=1, assigned="all", lag=0)
    mark = kafka.mark()
    with group.peer(topics=["orders"]) as peer:
        group.wait(members=2, acted=True)
        refused = kafka.fail("OffsetCommit", "REBALANCE_IN_PROGRESS", group="billing", times=1)
        kafka.produce("orders", [b"tea"] * 6)  # a record for each partition: something to commit
        refused.wait_hit()
        peer.pause()
        kafka.advance(seconds=45)
        group.wait(members=1, assigned="all", lag=0)
    group.verify().single_owner().rebalances(since=mark, at_most=AT_MOST[library]).no_stale_commit()
    assert group.committed["orders", 0].offset == 11
    group.verify().no_gaps(app.processed())
