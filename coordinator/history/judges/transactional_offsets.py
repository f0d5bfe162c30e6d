"""Judges offsets that are committed in transactions: only for partitions that their member still
owns.

Kafka accepts others, too: a producer need not name the member (KIP-447), and the coordinator
does not check the member's assignment. The new owner of the partition then processes its records
once more.
"""

from __future__ import annotations

from coordinator.events.groups.classic import GenerationStored
from coordinator.events.groups.offsets import OffsetsCommitted, OffsetsPending
from coordinator.events.handlers import on
from coordinator.events.members import PartitionsAssigned

from .base import Line
from .commits import CommitsStayWithinAssignment

_Place = tuple[str, int]


class TransactionsStayWithinAssignment(CommitsStayWithinAssignment):
    """Judges that no transaction commits offsets of partitions that its member had lost."""

    name = "no_transaction_after_losing"
    promise = (
        "if offsets in a transaction name a member, they are for partitions that it has, or revoked in the running rebalance. If "
        "they name none, they are not for a partition of another client's member, if another producer commits for that client or "
        "a test plays it"
    )

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[str, dict[_Place, str]] = {}
        """The clients that own the partitions of each group's stored generation."""
        self._works_for: dict[int, set[str]] = {}
        """For each producer the clients whose partitions it committed."""
        self._peers: set[str] = set()

    @on(PartitionsAssigned)
    def _assigned(self, _: Line, event: PartitionsAssigned) -> None:
        self._peers.add(event.client)

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        super()._stored(line, event)
        if event.protocol_type == "consumer":
            given = self._given[line.group or ""]
            self._owners[line.group or ""] = {
                place: row.client_id
                for row in event.members
                for place in given[row.member_id].assigned()
            }

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        """Commits outside of transactions are judged by `commits`."""

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        if event.member_id:
            self._judge(line, event.member_id, event.offsets)
        else:
            self._without_member(line, event, self._owners.get(line.group or "", {}))

    def _without_member(self, line: Line, event: OffsetsPending, owners: dict[_Place, str]) -> None:
        producer = event.producer_id
        mine = self._works_for.setdefault(producer, set())
        others = {
            client
            for other, clients in self._works_for.items()
            if other != producer
            for client in clients
        } | self._peers
        found = {
            owners[place]: (place, row.offset)
            for row in event.offsets
            if (place := (row.topic, row.partition)) in owners
        }
        foreign = {client for client in found if mine and client not in mine and client in others}
        for client in sorted(foreign):
            (topic, index), offset = found[client]
            self.blame(
                line,
                f"producer {producer}, which commits for {', '.join(sorted(mine))}, committed {topic}-{index} at {offset} in a transaction "
                f"while {client} had it",
            )
        mine.update(found.keys() - foreign)
