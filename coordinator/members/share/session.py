"""One share session with a leader (KIP-932): its acquired records, and the acknowledgements still
to be sent. Does not know requests; `sessions` sends them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode

from ..effects import Node
from ..record_batches import ReadRecord

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
FINAL_EPOCH: Final = -1
Said = dict[TopicPartition, dict[int, int]]
"""Acknowledgements: the type of each offset."""


class SharedRecord(NamedTuple):
    """An acquired record, with its delivery count."""

    partition: TopicPartition
    record: ReadRecord
    delivery_count: int


class AckResult(NamedTuple):
    """Result of acknowledgements in a partition: offsets, each with its type."""

    partition: TopicPartition
    offsets: Mapping[int, int]
    error: ErrorCode


@dataclass(slots=True)
class Session:
    """A share session with one leader. `epoch` 0: the next request opens it."""

    node: Node
    epoch: int = 0
    partitions: set[TopicPartition] = field(default_factory=set)
    busy: bool = False
    again_at: int = 0
    held: dict[TopicPartition, dict[int, SharedRecord]] = field(default_factory=dict)
    """Records acquired in this session and not acknowledged, by offset."""
    said: dict[TopicPartition, dict[int, int]] = field(default_factory=dict)
    """Acknowledgements to be sent, by offset."""
    renewing: dict[TopicPartition, dict[int, SharedRecord]] = field(default_factory=dict)
    """Records whose locks are to be renewed, until that is answered."""
    renews: bool = False
    """Is a renewal among the acknowledgements to be sent?"""

    def say(self, partition: TopicPartition, offset: int, kind: int) -> bool:
        """Note the acknowledgement of a record; return False if the record is not held in this
        session.
        """
        held = self.held.get(partition)
        if held is None or offset not in held:
            return False
        self.said.setdefault(partition, {})[offset] = kind
        of = held.pop(offset)
        if kind == RENEW:
            self.renews = True
            self.renewing.setdefault(partition, {})[offset] = of
        return True

    def take_said(self) -> Said:
        """Return the acknowledgements, which are sent now, and clear them."""
        said, self.said, self.renews = self.said, {}, False
        return said
