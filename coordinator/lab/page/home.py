"""The group that moves on the front page: its scenario, its recorded story, and a recorded run for
each first action of a reader.

The story is a script beside the scenario. After a reader's first action the script is left out:
the group goes on from one instant, and only the reader's actions happen to it. So each first
action has one run; it is recorded, and shown before the engine is loaded. Uses the engine alone.
"""

from __future__ import annotations

from typing import Any, Final

from .engine import picture_of, play

SEED: Final = 1
BEGINS_MS: Final = 10_600
"""The instant, in ms, at which the recording begins and a reader's first action takes place: the
group is Stable, heartbeats are in flight, and the story's first event is near."""
STALLS_MS: Final = 12_000
MEMBERS: Final = ("app-1", "app-2", "app-3")
SCENARIO: Final = """
duration = "90s"
[topics]
orders = 9
[links]
delay = "200ms"
[brokers]
config = { "group.initial.rebalance.delay.ms" = 1000 }
[[members]]
name = "app"
count = 3
topics = "orders"
assignor = "range"
start = "0s"
reads = 0
config = { "session.timeout.ms" = 10000, "heartbeat.interval.ms" = 3000 }
[[faults]]
action = "observe"
api = "Heartbeat"
"""
STORY: Final[tuple[dict[str, Any], ...]] = (
    {"kind": "kill", "member": "app-2", "at_ms": 12_000, "down_ms": 22_000},
    {"kind": "close", "member": "app-3", "at_ms": 52_000, "down_ms": 14_000},
)


def first_actions() -> list[dict[str, Any]]:
    """Return the possible first actions of a reader, all at the same instant."""
    lasts = {"close": {}, "kill": {}, "stall": {"lasts_ms": STALLS_MS}}
    return [
        {"kind": "join", "at_ms": BEGINS_MS},
        *(
            {"kind": kind, "at_ms": BEGINS_MS, "member": member, **more}
            for kind, more in lasts.items()
            for member in MEMBERS
        ),
    ]


def home() -> dict[str, Any]:
    """Return JSON values for the page, with the picture of the recorded story."""
    picture = picture_of(play(SCENARIO, "home", SEED, script=STORY)).plain()
    return {
        "scenario": SCENARIO,
        "seed": SEED,
        "begins_ms": BEGINS_MS,
        "stalls_ms": STALLS_MS,
        "story": list(STORY),
        "picture": picture,
    }


def forks() -> list[dict[str, Any]]:
    """Return JSON values for the page: each first action with the picture of its run."""
    return [
        {
            "action": action,
            "picture": picture_of(play(SCENARIO, "home", SEED, (), [action])).plain(),
        }
        for action in first_actions()
    ]
