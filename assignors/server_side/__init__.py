"""The assignors of the consumer group protocol (KIP-848), which run in the coordinator: `uniform`
and `range` (SRV-1..SRV-5).

They answer as Kafka 4.4.0's classes do, in the order of Java's tables. The coordinator is given
them; they know nothing of it.
"""

from __future__ import annotations

from assignors.errors import AssignorError
from assignors.server_side.model import GroupSpec, Member, MemberSeen, Plan, ServerAssignor
from assignors.server_side.range_assignor import RangeAssignor
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
    "UniformAssignor",
]

DEFAULT_ASSIGNORS: tuple[ServerAssignor, ...] = (UniformAssignor(), RangeAssignor())
"""Kafka's default for group.consumer.assignors, the default assignor first."""
