"""When the groups of a log come to rest, and how many partitions moved needlessly until then.

Owns who had each partition when its group was at rest last, by client id, so that a member that
comes back under another member id is the same. A move is needless if it was from a member that
stayed, and shares of the new sizes could have been had without it: the least number of partitions
that a member has to give up is what it had more before than it has now. Does not depend on
assignors, nor on why a partition moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from .blobs import owners_of
from .consumer_groups import ConsumerGroups

Line = dict[str, Any]
Owners = dict[tuple[str, int], str]


class Rests:
    """The groups of a log, from rest to rest."""

    def __init__(self, consumers: ConsumerGroups) -> None:
        """`consumers`: those of the same log, which may have seen each line before."""
        self.needless = 0
        self._settled: dict[str, Owners] = {}
        self._consumers = consumers

    def see(self, line: Line) -> bool:
        """Take a line in; did a group come to rest with it?"""
        kind = line["type"]
        if kind == "GenerationStored":
            clients = {row["member_id"]: str(row["client_id"]) for row in line["members"]}
            owners = {place: clients[members[0]] for place, members in owners_of(line).items()}
            self._rests(line["group"], owners, clients.values())
            return True
        seen = self._consumers.see(line)
        if seen is None:
            return False
        if not seen.rests():
            return False
        if kind == "ConsumerMemberReconciled":
            names = {name: seen.client_id(name) or name for name in seen.members}
            owners = {
                place: names[name] for name, each in seen.members.items() for place in each.held
            }
            self._rests(line["group"], owners, names.values())
        return True

    def _rests(self, group: str, owners: Owners, there: Collection[str]) -> None:
        before = self._settled.setdefault(group, {})
        self.needless += needless(before, owners, there)
        before.update(owners)


def needless(
    before: Mapping[tuple[str, int], str],
    after: Mapping[tuple[str, int], str],
    there: Collection[str],
) -> int:
    """How many partitions moved from clients that are still `there`, beyond the least for shares of
    the new sizes."""
    stayed = set(there)
    had: Counter[str] = Counter()
    moved = 0
    for partition, client in after.items():
        old = before.get(partition)
        if old in stayed:
            assert old is not None
            had[old] += 1
            moved += old != client
    has = Counter(after.values())
    return moved - sum(max(0, count - has[client]) for client, count in had.items())
