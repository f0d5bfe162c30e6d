"""What is public in Python (docs/compatibility.md): modules and their names. A test looks that each is there; the
documentation's reference is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "assignors": (
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
    ),
    "coordinator": ("Emulator", "__version__"),
    "coordinator.adapters.aiokafka": ("assignor_class",),
    "coordinator.adapters.kafka_python": ("assignor_class",),
    "coordinator.control.cluster": (
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
    ),
    "coordinator.emulator.client_config": ("with_ssl_context",),
    "coordinator.event_log": ("EventLog", "LogError", "read"),
    "coordinator.http.remote": ("RemoteKit",),
    "coordinator.interceptors": ("Answer",),
    "coordinator.testing.cases": (
        "ConsumerCases",
        "HeldRebalanceWarning",
        "SecurityCases",
        "WorkerCases",
    ),
    "coordinator.testing.containers": ("EmulatorContainer", "RealKafka"),
    "coordinator.testing.under_test": ("ApplicationUnderTest",),
    "coordinator.testing.virtual": ("virtual_kafka",),
    "coordinator.wire.messages.heartbeat": ("HeartbeatRequest", "HeartbeatResponse"),
}
"""By module."""
