"""What a partition of __transaction_state keeps: compaction and truncation lose nothing that a load
needs."""

from __future__ import annotations

from random import Random

import pytest

from coordinator.core.transactions.config import TransactionConfig
from coordinator.core.transactions.coordinator import TransactionCoordinator
from coordinator.core.transactions.decide import Producer
from coordinator.core.transactions.durable import DurableTransactions, StoredTransactionEvent
from coordinator.events import transactions as ev


class Kept:
    """An `EventSink` that keeps everything."""

    writable = True

    def __init__(self) -> None:
        self.events: list[StoredTransactionEvent] = []

    def transaction_event(self, event: ev.Event, at_ms: int, cause: int | None) -> int:
        self.events.append(StoredTransactionEvent(len(self.events), at_ms, event))
        return len(self.events)


def loaded(durable: DurableTransactions) -> dict[str, tuple[object, ...]]:
    coordinator = TransactionCoordinator(TransactionConfig(), lambda: 99)
    coordinator.load((stored.at_ms, stored.event) for stored in durable.events())
    return {name: one.snapshot() for name, one in coordinator.transactions.items()}


@pytest.mark.parametrize("seed", range(20))
def test_a_load_finds_what_was_there(seed: int) -> None:
    random, kept = Random(seed), Kept()
    ids = iter(range(1_000))
    coordinator = TransactionCoordinator(TransactionConfig(), lambda: next(ids), kept)
    for now in range(0, 4_000, 20):
        name = random.choice("abc")
        known = coordinator.transactions.get(name)
        producer = (
            Producer(-1, -1) if known is None else Producer(known.producer_id, known.producer_epoch)
        )
        match random.randrange(4):
            case 0:
                coordinator.init_producer(name, 50, None, now, None)
            case 1 | 2:
                coordinator.add(name, producer, [("t", random.randrange(3))], now, None)
            case _:
                ended = coordinator.end(
                    name,
                    producer,
                    commit=bool(random.randrange(2)),
                    epoch_rises=bool(seed % 2),
                    now=now,
                    cause=None,
                )
                if ended.ending is not None and random.random() < 0.8:
                    coordinator.complete(ended.ending, now)
        for ending in coordinator.unfinished() if random.random() < 0.2 else ():
            coordinator.complete(ending, now)
    assert len(kept.events) > 30
    durable = DurableTransactions()
    for stored in kept.events:
        durable.take(stored)
        if random.random() < 0.3:
            durable.commit_up_to(random.randrange(stored.offset + 2))
    assert loaded(durable) == {
        name: one.snapshot() for name, one in coordinator.transactions.items()
    }
    durable.commit_up_to(len(kept.events))
    assert loaded(durable) == {
        name: one.snapshot() for name, one in coordinator.transactions.items()
    }
    assert sum(1 for _ in durable.events()) < len(kept.events), "it is compacted"


def test_what_was_forgotten_stays_so() -> None:
    durable = DurableTransactions()
    durable.take(StoredTransactionEvent(0, 0, ev.ProducerInitialized("a", 1, 0, -1, -1, 50)))
    durable.take(StoredTransactionEvent(1, 9, ev.TransactionalIdExpired("a")))
    assert loaded(durable) == {}
    durable.commit_up_to(2)
    assert list(durable.events()) == []
