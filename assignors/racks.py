"""Racks of members and replicas, and whether they can matter for an assignment (KIP-881).

Owns APA-3. Does not depend on assignors.
"""

from __future__ import annotations

from collections.abc import Collection, Set

from assignors.model import Racks


def racks_of(racks: Racks, topic: str, count: int) -> list[frozenset[str]]:
    """For each of a topic's `count` partitions the racks it has replicas in; replicas without a
    rack do not count."""
    known = racks.get(topic, ())
    return [
        frozenset(rack for rack in replicas if rack is not None) for replicas in known[:count]
    ] + [frozenset()] * (count - len(known))


def differ(member_racks: Set[str], partition_racks: Collection[frozenset[str]]) -> bool:
    """Should racks be heeded? Members have some that replicas have too, and not every partition is
    in all racks (APA-3)."""
    everywhere = frozenset().union(*set(partition_racks))
    return not member_racks.isdisjoint(everywhere) and any(
        racks != everywhere for racks in partition_racks
    )
