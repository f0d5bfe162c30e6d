"""Racks of members and replicas, and whether they can affect an assignment (KIP-881).

Owns APA-3. Does not depend on assignors.
"""

from __future__ import annotations

from collections.abc import Collection, Set

from assignors.model import Racks


def racks_of(racks: Racks, topic: str, count: int) -> list[frozenset[str]]:
    """Return the racks of the replicas for each of a topic's `count` partitions, without replicas
    that have no rack.
    """
    known = racks.get(topic, ())
    return [
        frozenset(rack for rack in replicas if rack is not None) for replicas in known[:count]
    ] + [frozenset()] * (count - len(known))


def differ(member_racks: Set[str], partition_racks: Collection[frozenset[str]]) -> bool:
    """Return whether racks affect the assignment: members and replicas have racks in common, and
    not every partition is in all racks (APA-3).
    """
    everywhere = frozenset().union(*set(partition_racks))
    return not member_racks.isdisjoint(everywhere) and any(
        racks != everywhere for racks in partition_racks
    )
