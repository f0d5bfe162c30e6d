"""Instants at which the groups of a log come to rest, and the number of partitions that moved
needlessly until then.

Owners are compared by client id, so that a member that comes back under another member id is the
same. A move is needless if it was from a member that stayed, and the new sizes of shares did not
need it: a member must give up at least as many partitions as it had more before than now. This
module must not know assignors, nor why a partition moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from coordinator.events.groups import GenerationStored
from coordinator.events.groups.consumer import ConsumerMemberReconciled
from coordinator.events.line import Line

from ..blobs import owners_of
from .consumer_groups import ConsumerGroups

Owners = dict[tuple[str, int], str]


class Rests:
    """The groups of a log, from one rest to the next."""

    def __init__(self, consumers: ConsumerGroups) -> None:
        """`consumers`: the consumer groups of the same log, which may have seen each line
        before."""
        self.needless = 0
        self._settled: dict[str, Owners] = {}
        self._consumers = consumers

    def see(self, line: Line) -> bool:
        """Handle a line; return True if a group came to rest with it."""
        if line.kind is GenerationStored:
            stored: GenerationStored = line.event
            clients = {row.member_id: row.client_id for row in stored.members}
            owners = {place: clients[members[0]] for place, members in owners_of(stored).items()}
            self._rests(line.group or "", owners, clients.values())
            return True
        seen = self._consumers.see(line)
        if seen is None:
            return False
        if not seen.rests():
            return False
        if line.kind is ConsumerMemberReconciled:
            names = {name: seen.client_id(name) or name for name in seen.members}
            owners = {
                place: names[name] for name, each in seen.members.items() for place in each.held
            }
            self._rests(line.group or "", owners, names.values())
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
    """Return the number of partitions that moved away from clients that are still `there`,
    beyond the least number that the new sizes of shares need."""
    stayed = set(there)
    had: Counter[str] = Counter()
    moved = 0
    for partition, client in after.items():
        old = before.get(partition)
        if old in stayed:
            assert old is not None, f"{partition} was nobody's before"
            had[old] += 1
            moved += old != client
    has = Counter(after.values())
    return moved - sum(max(0, count - has[client]) for client, count in had.items())
