"""A sample log to diagnose: two minutes of a group in which one rebalance cost more than all
others. Uses the engine alone."""

from __future__ import annotations

from typing import Final

from .engine import play

SEED: Final = 3
SCENARIO: Final = """
duration = "120s"
[topics]
orders = 12
[links]
delay = "50ms"
[brokers]
config = { "group.initial.rebalance.delay.ms" = 1000 }
[[members]]
name = "billing"
group = "billing"
count = 4
topics = "orders"
assignor = "range"
start = "0s"
reads = 10
config = { "session.timeout.ms" = 10000, "heartbeat.interval.ms" = 3000, "max.poll.interval.ms" = 60000 }
[[churn]]
kind = "restart"
members = "billing-2"
at = "20s"
down = "6s"
how = "close"
[[churn]]
kind = "stall"
members = "billing-3"
at = "49s"
lasts = "19s"
[[churn]]
kind = "restart"
members = "billing-4"
at = "50s"
down = "30s"
how = "close"
[[churn]]
kind = "restart"
members = "billing-1"
at = "95s"
down = "4s"
how = "crash"
"""


def incident() -> str:
    return "".join(f"{line}\n" for line in play(SCENARIO, "incident", SEED))
