"""The transaction coordinator in virtual time: who may do what, under which epoch, and until when
(KIP-98, KIP-360, KIP-890)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.transactions.config import TransactionConfig
from coordinator.core.transactions.coordinator import (
    LoggedTransactionEvent,
    TransactionCoordinator,
    TransactionResult,
)
from coordinator.core.transactions.decide import Producer
from coordinator.core.transactions.model import LAST_EPOCH
from coordinator.core.transactions.states import TransactionState
from coordinator.events import transactions as ev

MAPPING, FENCED, CONCURRENT, STATE, ABORTABLE = 49, 90, 51, 48, 120
T0, T1 = ("t", 0), ("t", 1)
TIMEOUT_MS = 60_000


class World:
    """A coordinator, its log, and what it wanted ended."""

    writable = True

    def __init__(self, **config: Any) -> None:
        self.now = 0
        self.config = TransactionConfig(**config)
        self._ids = count(100)
        self.log: list[LoggedTransactionEvent] = []
        self.coordinator = TransactionCoordinator(self.config, self.fresh, self)
        self.me = Producer(-1, -1)

    def fresh(self) -> int:
        return next(self._ids)

    def transaction_event(self, event: ev.Event, at_ms: int, cause: int | None) -> int:
        assert cause is None or cause < len(self.log)
        self.log.append(LoggedTransactionEvent(at_ms, event))
        return len(self.log) - 1

    def init(
        self, expected: Producer | None = None, *, name: str = "tx", timeout_ms: int = TIMEOUT_MS
    ) -> ErrorCode:
        answer = self._complete(
            self.coordinator.init_producer(name, timeout_ms, expected, self.now, None)
        )
        if not answer.error:
            self.me = answer.producer
        return answer.error

    def add(
        self, *partitions: tuple[str, int], who: Producer | None = None, name: str = "tx"
    ) -> ErrorCode:
        return self.coordinator.add(name, who or self.me, partitions, self.now, None)

    def end(
        self, commit: bool, who: Producer | None = None, *, v2: bool = True, name: str = "tx"
    ) -> ErrorCode:
        """EndTxn; from version 5 on the epoch rises and is taken over."""
        answer = self.coordinator.end(
            name, who or self.me, commit=commit, epoch_rises=v2, now=self.now, cause=None
        )
        self._complete(answer)
        if not answer.error:
            self.me = answer.producer
        return answer.error

    def _complete(self, answer: TransactionResult) -> TransactionResult:
        if answer.ending is not None:
            assert self.state.startswith("Prepare")
            self.coordinator.complete(answer.ending, self.now)
        return answer

    def pass_time(self, ms: int) -> list[tuple[int, int]]:
        """Let time pass, deadline by deadline; (instant, epoch of the markers) of each transaction
        that was ended."""
        end, ended = self.now + ms, []
        while (due := self.coordinator.next_deadline()) is not None and due <= end:
            self.now = due
            for ending in self.coordinator.tick(due):
                assert not ending.committed
                ended.append((due, ending.producer_epoch))
                self.coordinator.complete(ending, due)
        self.now = end
        return ended

    @property
    def state(self) -> str:
        known = self.coordinator.transactions.get("tx")
        return "-" if known is None else str(known.state)

    @property
    def last(self) -> ev.Event:
        return self.log[-1].event


@pytest.fixture
def world() -> World:
    return World()


# -- InitProducerId


def test_a_producer_gets_an_id_and_each_new_one_a_higher_epoch(world: World) -> None:
    for epoch in range(3):
        assert world.init() == 0
        assert world.me == (100, epoch)
    assert world.init(name="other") == 0
    assert world.me == (101, 0)


@pytest.mark.parametrize(
    ("timeout_ms", "error"), [(0, 50), (-1, 50), (1, 0), (900_000, 0), (900_001, 50)]
)
def test_timeouts_are_bounded(world: World, timeout_ms: int, error: int) -> None:
    assert world.init(timeout_ms=timeout_ms) == error
    assert (world.state == "-") == bool(error)


def test_no_name_is_no_request(world: World) -> None:
    assert world.init(name="") == 42
    assert world.add(T0, name="") == 42
    assert world.end(True, name="") == 42
    assert world.coordinator.verify("", world.me, T0) == 42


def test_who_names_its_epoch_keeps_its_id_and_a_lost_answer_is_given_again(world: World) -> None:
    """KIP-360."""
    world.init()
    for _ in range(2):
        assert world.init(Producer(100, 0)) == 0
        assert world.me == (100, 1)
    assert world.init(Producer(100, 1)) == 0
    assert world.me == (100, 2)
    for who in (Producer(100, 0), Producer(100, 7), Producer(5, 2)):
        assert world.init(who) == FENCED
    world.init()
    assert (
        world.init(Producer(100, 2)) == FENCED
    )  # another one came: nobody may ask for its answer again


def test_an_unknown_name_takes_any_identity(world: World) -> None:
    assert world.init(Producer(5, 5)) == 0
    assert world.me == (100, 0)


def test_used_up_epochs_bring_another_id(world: World) -> None:
    world.init()
    world.coordinator.transactions["tx"].producer_epoch = LAST_EPOCH
    assert world.init(Producer(100, LAST_EPOCH)) == 0
    assert world.me == (101, 0)
    assert world.init(Producer(100, LAST_EPOCH)) == 0  # the answer got lost
    assert world.me == (101, 0)
    assert world.init(Producer(100, LAST_EPOCH - 1)) == FENCED


def test_a_new_producer_aborts_what_is_open_and_comes_again(world: World) -> None:
    world.init()
    world.add(T0)
    old = world.me
    assert world.init() == CONCURRENT
    prepared, completed = world.log[-2].event, world.last
    assert isinstance(prepared, ev.TransactionPrepared)
    assert (prepared.committed, prepared.producer_epoch, world.state) == (False, 1, "CompleteAbort")
    assert completed == ev.TransactionCompleted("tx", False, 100, 1, -1)
    assert world.init() == 0
    assert world.me == (100, 2)
    assert (world.add(T0, who=old), world.end(True, old), world.end(True, old, v2=False)) == (
        FENCED,
        FENCED,
        FENCED,
    )


def test_the_epoch_kept_for_fencing_is_nobodys(world: World) -> None:
    """KIP-360: it only ends what the last epoch left open."""
    world.init()
    world.coordinator.transactions["tx"].producer_epoch = LAST_EPOCH
    assert world.add(T0, who=Producer(100, LAST_EPOCH)) == 0
    assert world.init() == CONCURRENT
    kept = Producer(100, LAST_EPOCH + 1)
    assert world.coordinator.transactions["tx"].producer_epoch == kept.epoch
    assert (world.add(T0, who=kept), world.end(False, kept), world.end(True, kept)) == (
        FENCED,
        FENCED,
        FENCED,
    )
    assert world.init() == 0
    assert world.me == (101, 0)


# -- partitions


def test_partitions_begin_a_transaction_once(world: World) -> None:
    assert world.add(T0) == MAPPING
    world.init()
    world.now = 5
    assert world.add(T0) == 0
    assert world.last == ev.PartitionsEnlisted("tx", (T0,), 5)
    world.now = 9
    assert world.add(T0) == 0
    assert world.log[-1].at_ms == 5  # known already: nothing happened
    assert world.add(T1, T0) == 0
    assert world.last == ev.PartitionsEnlisted("tx", (T1, T0), 5)
    for who, error in (
        (Producer(7, 0), MAPPING),
        (Producer(100, 1), FENCED),
        (Producer(100, -1), FENCED),
    ):
        assert world.add(T0, who=who) == error
        assert world.coordinator.verify("tx", who, T0) == error
    assert world.coordinator.verify("tx", world.me, T1) == 0
    assert world.coordinator.verify("tx", world.me, ("t", 2)) == ABORTABLE
    assert world.coordinator.verify("nobody", world.me, T0) == MAPPING


# -- EndTxn


def test_before_v2_the_epoch_stays(world: World) -> None:
    world.init()
    assert world.end(True, v2=False) == STATE
    assert world.end(False, v2=False) == STATE
    for commit in (True, False):
        world.add(T0)
        assert world.end(commit, v2=False) == 0
        assert world.me == (100, 0)
        assert world.end(commit, v2=False) == 0
        assert world.end(not commit, v2=False) == STATE
        assert world.state == ("CompleteCommit" if commit else "CompleteAbort")
    assert world.end(True, Producer(7, 0), v2=False) == MAPPING
    assert world.end(True, Producer(100, 1), v2=False) == FENCED


def test_since_v2_every_end_raises_the_epoch_and_an_old_epoch_is_a_repetition(world: World) -> None:
    """KIP-890."""
    world.init()
    assert world.end(True) == STATE
    for epoch, commit in enumerate((True, False)):
        world.add(T0)
        old = world.me
        assert world.end(commit) == 0
        assert world.me == (100, epoch + 1)
        assert world.end(not commit, old) == STATE
        assert world.end(commit, old) == 0
        assert world.me == (100, epoch + 1)
        for wrong in (epoch - 1, epoch + 2):
            assert world.end(commit, Producer(100, wrong)) == FENCED


def test_since_v2_an_abort_needs_no_transaction(world: World) -> None:
    world.init()
    world.now = 7
    for epoch in (1, 2):
        assert world.end(False) == 0
        assert world.me == (100, epoch)
    assert world.coordinator.transactions["tx"].started_ms == 7


def test_since_v2_used_up_epochs_bring_another_id_with_the_answer(world: World) -> None:
    world.init()
    world.coordinator.transactions["tx"].producer_epoch = LAST_EPOCH
    world.me = Producer(100, LAST_EPOCH)
    world.add(T0)
    assert world.end(True) == 0
    prepared = world.log[-2].event
    assert isinstance(prepared, ev.TransactionPrepared)
    assert prepared.producer_epoch == LAST_EPOCH + 1  # of the markers
    assert world.me == (101, 0)
    assert world.end(True, Producer(100, LAST_EPOCH)) == 0  # a repetition
    assert world.end(False, Producer(100, LAST_EPOCH)) == STATE
    assert world.add(T0) == 0


def test_what_is_to_be_written(world: World) -> None:
    world.init()
    world.add(T1, T0)
    answer = world.coordinator.end("tx", world.me, commit=True, epoch_rises=True, now=3, cause=None)
    assert answer.ending is not None
    assert answer.ending[:5] == ("tx", 100, 1, True, (T1, T0))
    for again in (
        world.init(),
        world.add(T0, who=Producer(100, 1)),
    ):  # while markers are being written
        assert again == CONCURRENT
    world.coordinator.complete(answer.ending, 3)
    assert world.coordinator.transactions["tx"].partitions == {}


# -- time


def test_an_overdue_transaction_is_aborted_at_the_next_look(world: World) -> None:
    """Looks come every transaction.abort.timed.out.transaction.cleanup.interval.ms; longer than the
    timeout, not as long."""
    world.now = 1
    world.init(timeout_ms=19_999)
    world.add(T0)
    assert world.pass_time(20_000) == []  # at 20,000 it is exactly its timeout old
    assert world.pass_time(20_000) == [(30_000, 1)]
    assert world.state == "CompleteAbort"
    assert world.add(T0) == FENCED
    assert (
        world.end(True) == STATE
    )  # it has become a repetition of the coordinator's abort (KIP-890)
    assert world.end(False) == 0
    assert world.me == (100, 1)


def test_an_ended_transaction_is_not_overdue(world: World) -> None:
    world.init()
    world.add(T0)
    world.end(True)
    assert world.pass_time(200_000) == []


def test_unused_names_are_forgotten() -> None:
    """transactional.id.expiration.ms, looked at every
    transaction.remove.expired.transaction.cleanup.interval.ms."""
    world = World(id_expiration_ms=5_000, expiration_interval_ms=2_000, abort_interval_ms=1_000_000)
    world.init()
    world.now = 4_000
    world.init()
    world.pass_time(5_999)
    assert world.state == "Empty"
    world.pass_time(1)  # 10,000: the first look 5,000 after the last use
    assert (world.state, world.coordinator.next_deadline()) == ("-", None)
    assert world.last == ev.TransactionalIdExpired("tx")
    assert world.init(world.me) == 0
    assert world.me == (101, 0)
    world.add(T0)
    world.pass_time(50_000)
    assert world.state == "Ongoing"  # an open transaction is not unused


def test_an_idle_coordinator_has_nothing_to_wake_up_for(world: World) -> None:
    assert world.coordinator.next_deadline() is None
    world.init()
    assert world.coordinator.next_deadline() == 604_800_000


# -- folding


def test_the_log_folds_into_the_same_coordinator(world: World) -> None:
    def story() -> Iterator[None]:
        world.init()
        yield
        world.add(T0, T1)
        yield
        world.now = 10
        world.end(True)
        yield
        world.add(T1)
        world.init(name="other")
        yield

    for _ in story():
        again = TransactionCoordinator.replay(world.config, world.fresh, world.log)
        assert {name: one.snapshot() for name, one in again.transactions.items()} == {
            name: one.snapshot() for name, one in world.coordinator.transactions.items()
        }
        assert again.next_deadline() == world.coordinator.next_deadline()


def test_states_are_spelled_as_in_kafka() -> None:
    assert [str(state) for state in TransactionState] == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]


def test_of_an_epoch_that_was_raised_before_a_load_the_one_before_is_forgotten() -> None:
    """KIP-360: who asks again is told the same; Kafka does not write down which epoch came before,
    so after a load it is fenced."""
    world = World()
    world.init()
    first = world.me
    world.init(first)
    assert world.init(first) == 0
    assert world.me.epoch == 1
    loaded = World()
    loaded.coordinator.load(world.log)
    assert loaded.init(first) == FENCED
    assert loaded.init(Producer(first.producer_id, 1)) == 0
    assert loaded.init(Producer(first.producer_id, 1)) == 0
    assert loaded.me.epoch == 2
    loaded.coordinator.unload(["tx"])
    loaded.coordinator.load(world.log)
    assert loaded.init(first) == FENCED


def test_of_an_epoch_that_an_end_raised_after_a_load_the_one_before_is_known() -> None:
    """An end of version 2 raises it (KIP-890); one of version 1 leaves it, and what was forgotten
    stays so."""
    for rises, told in ((True, 0), (False, FENCED)):
        world = World()
        world.init()
        world.init(world.me)
        loaded = World()
        loaded.coordinator.load(world.log)
        loaded.me = before = world.me
        loaded.add(T0)
        loaded.end(True, v2=rises)
        asked = before if rises else Producer(before.producer_id, before.epoch - 1)
        assert loaded.init(asked) == told
