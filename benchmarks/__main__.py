"""`python -m benchmarks [name ...]`: measure everything, or what is named, and print the figures as
they come."""

from __future__ import annotations

import sys
from importlib import import_module

ALL = (
    "startup",
    "memory",
    "heartbeats",
    "security",
    "rebalance",
    "kfake",
    "produce_fetch",
    "request_cost",
    "wire",
    "assignors",
    "peers",
    "loads",
    "brokers",
    "recovery",
    "consumer_groups",
    "share_groups",
    "page",
    "testing_kit",
    "virtual_day",
    "simulations",
    "real_broker",
    "ten_tests",
)


def main(names: list[str]) -> int:
    """Run benchmarks by name; 2 if there is no such one."""
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(
            f"no benchmark is called {', '.join(unknown)}; there are {', '.join(ALL)}",
            file=sys.stderr,
        )
        return 2
    for name in names or ALL:
        for row in import_module(f"benchmarks.{name}").run():
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
