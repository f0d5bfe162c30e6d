"""What README and docs tell users to import: it stays where it is, or leaves a warning for one version."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

NAMES = {
    "coordinator": ("Emulator", "__version__"),
    "coordinator.adapters.aiokafka": ("assignor_class",),
    "coordinator.adapters.kafka_python": ("assignor_class",),
    "coordinator.control.cluster": (
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
    "coordinator.event_log": ("EventLog", "LogError", "read"),
    "coordinator.http.remote": ("RemoteKit",),
    "coordinator.interceptors": ("Answer",),
    "coordinator.testing.cases": ("ConsumerCases", "SecurityCases", "WorkerCases"),
    "coordinator.testing.containers": ("EmulatorContainer", "RealKafka"),
    "coordinator.testing.under_test": ("ApplicationUnderTest",),
    "coordinator.testing.virtual": ("virtual_kafka",),
    "coordinator.wire.messages.heartbeat": ("HeartbeatRequest", "HeartbeatResponse"),
}
"""By module."""


@pytest.mark.parametrize("module", sorted(NAMES))
def test_a_public_module_has_its_names(module: str) -> None:
    there = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(there, name)] == []


def test_every_import_of_the_documents_is_listed(project_root: Path) -> None:
    pages = [project_root / "README.md", *sorted((project_root / "docs").glob("*.md"))]
    imported = {
        (module, name)
        for page in pages
        for module, names in re.findall(
            r"^ *from ((?:coordinator|assignors)[\w.]*) import ([\w, ]+)",
            page.read_text(),
            re.MULTILINE,
        )
        if module.startswith("coordinator")
        for name in names.replace(" ", "").split(",")
    }
    assert imported, "the documents show no import any more"
    assert {
        (module, name) for module, name in imported if name not in NAMES.get(module, ())
    } == set()
