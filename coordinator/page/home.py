"""The group that moves on the front page: its scenario, and its recorded run.

The run goes on from where a reader stands when he acts: what he does is one action more of the same
script and seed. Depends on the engine alone.
"""

from __future__ import annotations

from typing import Any, Final

from .engine import picture_of, play

SEED: Final = 1
BEGINS_MS: Final = 6_000
"""Where the recording begins: the group is Stable."""
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
[[churn]]
kind = "restart"
members = "app-2"
at = "12s"
down = "22s"
how = "crash"
[[churn]]
kind = "restart"
members = "app-3"
at = "52s"
down = "14s"
how = "close"
"""


def home() -> dict[str, Any]:
    """As JSON values for the page, with the picture of the recorded run."""
    picture = picture_of(play(SCENARIO, "home", SEED)).plain()
    return {"scenario": SCENARIO, "seed": SEED, "begins_ms": BEGINS_MS, "picture": picture}
