"""The settings under which a scenario can be compared: every kind of member with another assignor
or the other group protocol.

A choice is a name and settings in the form of `--set`, so that a link can carry it. Churn,
faults, topics and links stay the same. In the consumer protocol the coordinator owns session
timeout and heartbeat interval (KIP-848), so those of the members become settings of the brokers.
Reads the scenario alone.
"""

from __future__ import annotations

import json
from typing import Any, Final

from ..simulator.files.model import MemberKind, Scenario
from ..simulator.files.scenario import read_scenario

_SESSION: Final = "session.timeout.ms"
_HEARTBEAT: Final = "heartbeat.interval.ms"
_CLASSIC: Final = (
    ("range (eager)", "range"),
    ("round robin (eager)", "roundrobin"),
    ("sticky (eager)", "sticky"),
    ("cooperative sticky", "cooperative-sticky"),
)
_NOT_CONFIG: Final = frozenset(
    {"group.protocol", "partition.assignment.strategy", "group.remote.assignor"}
)


def choices(text: str, name: str) -> list[dict[str, Any]]:
    """Return all choices for a scenario; the first one is the scenario unchanged. Raises
    ScenarioError."""
    scenario = read_scenario(text, name)
    if scenario.share_members:  # their coordinator assigns, by one assignor
        return [{"name": "as it stands", "settings": []}]
    classic = [
        {"name": label, "settings": _classic(scenario, assignor)} for label, assignor in _CLASSIC
    ]
    return [
        {"name": "as it stands", "settings": []},
        *classic,
        {"name": "KIP-848 (uniform)", "settings": _consumer(scenario)},
    ]


def _classic(scenario: Scenario, assignor: str) -> list[str]:
    """Return settings with which all members use one assignor of the classic protocol."""
    settings: list[str] = []
    for kind in scenario.members:
        settings += [
            f"members.{kind.name}.protocol=classic",
            f"members.{kind.name}.assignor={assignor}",
        ]
    return settings


def _consumer(scenario: Scenario) -> list[str]:
    """Return settings with which all members use the consumer protocol, with their former
    session timeouts and heartbeat intervals."""
    settings: list[str] = []
    for kind in scenario.members:
        settings += [
            f"members.{kind.name}.protocol=consumer",
            f"members.{kind.name}.assignor=uniform",
        ]
        if {_SESSION, _HEARTBEAT} & kind.properties.keys():
            settings.append(f"members.{kind.name}.config={_toml(kind)}")
    first = scenario.members[0].properties
    for key, word in ((_SESSION, "session.timeout"), (_HEARTBEAT, "heartbeat.interval")):
        if key in first:
            settings += [
                f"brokers.config.group.consumer.{least}{word}.ms={first[key]}"
                for least in ("min.", "")
            ]
    return settings


def _toml(kind: MemberKind) -> str:
    """Return the rest of a member kind's config as a TOML table."""
    kept = {
        key: value
        for key, value in kind.properties.items()
        if key not in _NOT_CONFIG | {_SESSION, _HEARTBEAT}
    }
    return (
        "{"
        + ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in kept.items())
        + "}"
    )
