"""The assignors that run in the coordinator: `uniform` and `range` of the consumer group protocol
(KIP-848, SRV-1..SRV-5), `simple` of share groups (KIP-932, SH-ASN-1).

The first two answer as Kafka 4.4.0's classes do, in the order of Java's tables; `simple` with the
same numbers. The coordinator is given them; they know nothing of it.
"""

from __future__ import annotations

from assignors.errors import AssignorError
from assignors.server_side.model import GroupSpec, Member, MemberSeen, Plan, ServerAssignor
from assignors.server_side.range_assignor import RangeAssignor
from assignors.server_side.simple import SimpleAssignor
from assignors.server_side.uniform import UniformAssignor

__all__ = [
    "DEFAULT_ASSIGNORS",
    "AssignorError",
    "GroupSpec",
    "Member",
    "MemberSeen",
    "Plan",
    "RangeAssignor",
    "ServerAssignor",
    "SimpleAssignor",
    "UniformAssignor",
]

DEFAULT_ASSIGNORS: tuple[ServerAssignor, ...] = (UniformAssignor(), RangeAssignor())
"""Kafka's default for group.consumer.assignors, the default assignor first."""
