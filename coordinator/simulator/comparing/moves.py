"""Which partitions changed hands in the groups of a log, and how many of them needlessly.

Owns who had each partition last, by client id, so that a member that comes back under another
member id is the same. A move is needless if it was from a member that stayed, and shares of the new
sizes could have been had without it: the least number of partitions that a member has to give up is
what it had more before than it has now. Does not depend on assignors, nor on why a partition moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from ...judges.consumer_groups import ConsumerGroups
from ...judges.ownership import owners_of

Line = dict[str, Any]
Owners = dict[tuple[str, int], str]


class Moves:
    """The moves of all groups so far."""

    def __init__(self) -> None:
        self.moved = 0
        self.needless = 0
        self._owners: dict[str, Owners] = {}
        self._settled: dict[
            str, Owners
        ] = {}  # consumer groups: who had what when all members were reconciled last
        self._consumers = ConsumerGroups()
        self._clients: dict[tuple[str, str], str] = {}

    def see(self, line: Line) -> bool:
        """Take a line in; did a group come to rest with it?"""
        kind = line["type"]
        if kind == "GenerationStored":
            self._stored(line)
            return True
        seen = self._consumers.see(line)
        if seen is None:
            return False
        group, member = str(line["group"]), str(line.get("member", ""))
        if kind == "ConsumerMemberSubscribed":
            self._clients[group, member] = str(line["client_id"])
        elif kind == "ConsumerMemberReplaced":
            self._clients[group, member] = str(line["subscription"]["client_id"])
        elif kind == "ConsumerMemberReconciled":
            client = self._clients.get((group, member), str(member))
            owners = self._owners.setdefault(group, {})
            for partition in seen.members[member].held:
                self.moved += owners.get(partition, client) != client
                owners[partition] = client
        if not seen.rests():
            return False
        if kind == "ConsumerMemberReconciled":
            names = {name: self._clients.get((group, name), name) for name in seen.members}
            after = {
                partition: names[name]
                for name, each in seen.members.items()
                for partition in each.held
            }
            self.needless += needless(self._settled.get(group, {}), after, names.values())
            self._settled[group] = {**self._settled.get(group, {}), **after}
        return True

    def _stored(self, line: Line) -> None:
        clients: dict[str, str] = {
            member["member_id"]: member["client_id"] for member in line["members"]
        }
        after = {partition: clients[members[0]] for partition, members in owners_of(line).items()}
        owners = self._owners.setdefault(line["group"], {})
        self.moved += sum(
            owners.get(partition, client) != client for partition, client in after.items()
        )
        self.needless += needless(owners, after, clients.values())
        owners.update(after)
        self._settled[line["group"]] = dict(owners)


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
