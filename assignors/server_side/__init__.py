"""The assignors that run in the coordinator: `uniform` and `range` of the consumer protocol
(KIP-848, SRV-1..SRV-5), `simple` of share groups (KIP-932, SH-ASN-1).

The first two give the results of Kafka 4.4.0's classes, in the order of Java's tables; `simple`
gives the same numbers of partitions. They do not depend on the coordinator. Begin with `model`.
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
