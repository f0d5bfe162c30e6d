"""Model of a transactional id and its transaction. Only `evolve` writes it; the rules are in
`decide`.
"""

from __future__ import annotations

from .states import TransactionState

NO_PRODUCER_ID = -1
NO_EPOCH = -1
LAST_EPOCH = 32_766
"""A producer id is used up when its epoch gets here: one more is kept for fencing (KIP-360)."""


class Transaction:
    """A transactional id, its producer, and its open or last transaction."""

    __slots__ = (
        "last_producer_epoch",
        "next_producer_id",
        "partitions",
        "previous_producer_id",
        "producer_epoch",
        "producer_id",
        "started_ms",
        "state",
        "timeout_ms",
        "transactional_id",
        "updated_ms",
    )

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.state = TransactionState.EMPTY
        self.producer_id = NO_PRODUCER_ID
        self.previous_producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_EPOCH
        self.last_producer_epoch = NO_EPOCH
        self.next_producer_id = NO_PRODUCER_ID
        """While the transaction is being ended: the id to go on with, if its own is used up."""
        self.timeout_ms = 0
        self.partitions: dict[tuple[str, int], None] = {}
        self.started_ms: int | None = None
        """The start of the open or last transaction; None since the producer was initialized."""
        self.updated_ms = 0

    @classmethod
    def begun(cls, transactional_id: str, producer_id: int, timeout_ms: int) -> Transaction:
        """Return a transactional id whose producer has no epoch yet."""
        one = cls(transactional_id)
        one.producer_id, one.timeout_ms = producer_id, timeout_ms
        return one

    @property
    def exhausted(self) -> bool:
        """True if the producer id has no epoch left."""
        return self.producer_epoch >= LAST_EPOCH

    def snapshot(self) -> tuple[object, ...]:
        """Return the whole state, not shared: equal snapshots mean equal transactions."""
        return tuple(
            tuple(self.partitions) if name == "partitions" else getattr(self, name)
            for name in self.__slots__
        )

    def copy(self) -> Transaction:
        """Return an independent copy."""
        one = Transaction(self.transactional_id)
        for name in self.__slots__:
            setattr(one, name, getattr(self, name))
        one.partitions = dict(self.partitions)
        return one

    def __repr__(self) -> str:
        return f"Transaction({self.transactional_id!r}, {self.state}, producer {self.producer_id} epoch {self.producer_epoch})"
