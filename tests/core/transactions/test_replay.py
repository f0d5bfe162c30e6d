"""A coordinator that is replayed from its log goes on where the log ends, in the middle of a
transaction's end too."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.core.transactions.config import TransactionConfig
from coordinator.core.transactions.coordinator import LoggedTransactionEvent, TransactionCoordinator
from coordinator.core.transactions.decide import Producer
from coordinator.core.transactions.model import LAST_EPOCH
from coordinator.events.transactions import Event


def test_a_replayed_coordinator_ends_what_was_in_the_middle_of_its_end() -> None:
    """KIP-360, KIP-890: the event says which producer id goes on, so nothing that is not in the log
    is needed."""
    fresh = iter(range(100, 200)).__next__
    config, logged = TransactionConfig(), list[LoggedTransactionEvent]()
    live = TransactionCoordinator(config, fresh)
    fold = live._apply
    live._apply = lambda event, at: (
        logged.append(LoggedTransactionEvent(at, event)),
        fold(event, at),
    )[1]  # type: ignore[method-assign]
    live.init_producer("tx", 1000, None, 0, None)
    live.transactions["tx"].producer_epoch = LAST_EPOCH - 1  # as after very many transactions
    logged[0] = LoggedTransactionEvent(0, logged[0].event._replace(producer_epoch=LAST_EPOCH - 1))  # type: ignore[call-arg]
    producer = Producer(live.transactions["tx"].producer_id, LAST_EPOCH - 1)
    for _ in range(2):
        live.add("tx", producer, [("t", 0)], 1, None)
        ended = live.end("tx", producer, commit=True, epoch_rises=True, now=2, cause=None)
        assert ended.ending is not None
        middle = TransactionCoordinator.replay(config, fresh, logged)
        assert [one._replace(cause=None) for one in middle.unfinished()] == [
            ended.ending._replace(cause=None)
        ]
        middle.complete(middle.unfinished()[0], 3)
        live.complete(ended.ending, 3)
        assert middle.transactions["tx"].snapshot() == live.transactions["tx"].snapshot()
        producer = ended.producer
    assert live.transactions["tx"].previous_producer_id != -1


class FullDisk:
    """A log that takes events until it is full."""

    def __init__(self) -> None:
        self.writable = True
        self.events: list[Event] = []

    def transaction_event(self, event: Event, at_ms: int, cause: int | None) -> int:
        assert self.writable, "an event that cannot be written"
        self.events.append(event)
        return len(self.events)


def test_while_the_log_cannot_be_written_nothing_changes() -> None:
    """ERR-1, ERR-2: what needs an event is refused with NOT_COORDINATOR; what needs none is
    answered."""
    log = FullDisk()
    coordinator = TransactionCoordinator(TransactionConfig(), iter(range(100)).__next__, log)
    producer = coordinator.init_producer("tx", 1000, None, 0, None).producer
    coordinator.add("tx", producer, [("t", 0)], 1, None)
    before = coordinator.transactions["tx"].snapshot()
    log.writable = False
    assert coordinator.init_producer("tx", 1000, None, 2, None).error is ErrorCode.NOT_COORDINATOR
    assert (
        coordinator.init_producer("other", 1000, None, 2, None).error is ErrorCode.NOT_COORDINATOR
    )
    assert coordinator.add("tx", producer, [("t", 1)], 2, None) is ErrorCode.NOT_COORDINATOR
    assert coordinator.add("tx", producer, [("t", 0)], 2, None) is ErrorCode.NONE
    for epoch_rises in (False, True):
        ended = coordinator.end(
            "tx", producer, commit=True, epoch_rises=epoch_rises, now=2, cause=None
        )
        assert (ended.error, ended.ending) == (ErrorCode.NOT_COORDINATOR, None)
    assert (coordinator.transactions["tx"].snapshot(), list(coordinator.transactions)) == (
        before,
        ["tx"],
    )
    log.writable = True
    assert (
        coordinator.end("tx", producer, commit=True, epoch_rises=True, now=3, cause=None).ending
        is not None
    )
