"""Selection of a classic group's protocol, and the topics that its members subscribe to
(PROTO-1..PROTO-5, EXP-8).
"""

from __future__ import annotations

from collections.abc import Iterable

from coordinator.base.java_hash import in_hash_order, java_hash
from coordinator.wire.consumer_protocol import topics_only

from .model import ClassicGroup, Protocols
from .states import EMPTY


def supports(group: ClassicGroup, protocol_type: str, protocols: Protocols) -> bool:
    """Return True if a JoinGroup with these protocols may enter the group (PROTO-1)."""
    if group.state is EMPTY:
        return bool(protocol_type) and bool(protocols)
    size, support = len(group.members), group.support
    return protocol_type == group.protocol_type and any(
        support.get(name, 0) == size for name, _ in protocols
    )


def select_protocol(offers: Iterable[Protocols]) -> str:
    """Return the protocol name elected by members with these offers, each in order of preference
    (PROTO-2..PROTO-4).

    Every member votes for the first of its names that all members offer; among equal votes the
    first in a Java HashMap wins. Offers are given in Java's order of members, which decides
    between such names in the same bucket. A name that one member lists twice counts once (Kafka
    fails there, PROTO-5).
    """
    counts: dict[
        Protocols, int
    ] = {}  # equal offers are looked at once, in the order of the first of them
    for offer in offers:
        counts[offer] = counts.get(offer, 0) + 1
    names = {offer: dict.fromkeys(name for name, _ in offer) for offer in counts}
    if len(names) == 1:
        return next(iter(counts))[0][0]
    first, *rest = names.values()
    candidates = set(first).intersection(*rest)
    votes: dict[str, int] = {}
    for offer, count in counts.items():
        name = next(name for name in names[offer] if name in candidates)
        votes[name] = votes.get(name, 0) + count
    return max(in_hash_order(votes, java_hash), key=votes.__getitem__)


def topics_of(group: ClassicGroup, protocol_name: str | None) -> frozenset[str] | None:
    """Return the topics that the members subscribe to under this protocol; None (unknown) if the
    group is not of consumers or a subscription cannot be decoded (EXP-8).
    """
    if not group.uses_consumer_protocol():
        return None
    topics: set[str] = set()
    for metadata in {member.metadata(protocol_name) for member in group.members.values()}:
        own = topics_only(metadata)
        if own is None:
            return None
        topics.update(own)
    return frozenset(topics)
