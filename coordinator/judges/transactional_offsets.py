"""Offsets that are committed in transactions: only for partitions that whose they are still has.

Kafka takes them otherwise, too: a producer need not say for which member it speaks (KIP-447), and
the coordinator does not ask what that member was given. Whoever has the partition then answers its
records once more.
"""

from __future__ import annotations

from .base import Line
from .commits import CommitsStayWithinAssignment

_Place = tuple[str, int]


class TransactionsStayWithinAssignment(CommitsStayWithinAssignment):
    """No transaction commits offsets of partitions that its member had lost."""

    name = "no_transaction_after_losing"
    promise = (
        "offsets in a transaction are of partitions that the member which they name has, or gave up in the rebalance that runs; "
        "where they name none, not of a partition that another client's member has, whose work another producer or a peer of the test does"
    )
    event = "OffsetsPending"
    looks_at = CommitsStayWithinAssignment.looks_at | {"OffsetsPending", "PartitionsAssigned"}

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[str, dict[_Place, str]] = {}
        """Of each group's stored generation the clients that have its partitions."""
        self._works_for: dict[int, set[str]] = {}
        """By producer the clients whose partitions it committed."""
        self._peers: set[str] = set()

    def see(self, line: Line) -> None:
        kind, group = line["type"], line.get("group", "")
        if kind == "PartitionsAssigned":
            self._peers.add(line["client"])
            return
        super().see(line)
        if kind == "GenerationStored" and line["protocol_type"] == "consumer":
            given = self._given[group]
            self._owners[group] = {
                place: row["client_id"]
                for row in line["members"]
                for place in given[row["member_id"]].assigned()
            }
        elif kind == "OffsetsPending" and not line.get("member"):
            self._without_member(line, self._owners.get(group, {}))

    def _without_member(self, line: Line, owners: dict[_Place, str]) -> None:
        producer = line["producer_id"]
        mine = self._works_for.setdefault(producer, set())
        others = {
            client
            for other, clients in self._works_for.items()
            if other != producer
            for client in clients
        } | self._peers
        found = {
            owners[place]: (place, row["offset"])
            for row in line["offsets"]
            if (place := (row["topic"], row["partition"])) in owners
        }
        foreign = {client for client in found if mine and client not in mine and client in others}
        for client in sorted(foreign):
            (topic, index), offset = found[client]
            self.blame(
                line,
                f"producer {producer}, which works for {', '.join(sorted(mine))}, committed {topic}-{index} at {offset} in a transaction "
                f"while {client} had it",
            )
        mine.update(found.keys() - foreign)
