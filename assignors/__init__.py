"""Pure partition assignment, and the bytes that assignors put into a subscription as user data.

Plain values in and out, standard library only. Nothing here depends on the wire format, on
groups or on the coordinator: in the classic protocol the leader *member* assigns, and the
coordinator only passes the bytes on.

    plan = by_name("sticky").assign({"orders": 12}, {"m1": Subscription(topics=("orders",))})
    plan["m1"].partitions        # (TopicPartition("orders", 0), ...), in the order of Java's class
"""

from __future__ import annotations

from assignors.errors import AssignorError
from assignors.explanation import explain
from assignors.judge import Verdict, verdict
from assignors.model import (
    Assignment,
    Assignor,
    Racks,
    RebalanceProtocol,
    Subscription,
    TopicPartition,
)
from assignors.registry import by_name, common_protocol

__all__ = [
    "Assignment",
    "Assignor",
    "AssignorError",
    "Racks",
    "RebalanceProtocol",
    "Subscription",
    "TopicPartition",
    "Verdict",
    "by_name",
    "common_protocol",
    "explain",
    "verdict",
]
