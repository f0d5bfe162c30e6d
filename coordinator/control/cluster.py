"""Public: the verbs of a cluster as data, for `Emulator.apply` and for fault plans."""

from __future__ import annotations

from coordinator.kit.cluster import (
    CleanLogs,
    CreatePartitions,
    CreateTopic,
    CutClient,
    CutLink,
    DeleteTopic,
    FenceBroker,
    HealClient,
    HealLink,
    JumpClock,
    MoveCoordinator,
    MoveLeader,
    ReassignPartition,
    SlowFollower,
    SlowLoad,
    StartBroker,
    StopBroker,
    UnfenceBroker,
)

__all__ = [
    "CleanLogs",
    "CreatePartitions",
    "CreateTopic",
    "CutClient",
    "CutLink",
    "DeleteTopic",
    "FenceBroker",
    "HealClient",
    "HealLink",
    "JumpClock",
    "MoveCoordinator",
    "MoveLeader",
    "ReassignPartition",
    "SlowFollower",
    "SlowLoad",
    "StartBroker",
    "StopBroker",
    "UnfenceBroker",
]
