"""`python -m benchmarks [--write] [name ...]`: measure everything, or what is named, and print the
figures as they come. `--write` also writes them to docs/figures.md: once before a release."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Final

from coordinator import __version__

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "figures.md"

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


def main(arguments: list[str]) -> int:
    """Run benchmarks by name; 2 if there is no such one."""
    names = [each for each in arguments if each != "--write"]
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(
            f"no benchmark is called {', '.join(unknown)}; there are {', '.join(ALL)}",
            file=sys.stderr,
        )
        return 2
    measured: dict[str, list[str]] = {}
    for name in names or ALL:
        rows = measured[name] = []
        for row in import_module(f"benchmarks.{name}").run():
            print(row, flush=True)
            rows.append(str(row))
    if "--write" in arguments:
        PAGE.write_text(page(measured.items()), encoding="utf-8")
    return 0


def page(measured: Iterable[tuple[str, list[str]]]) -> str:
    """Return docs/figures.md: what was measured, by benchmark."""
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{os.cpu_count()} processors ({platform.machine()}), {interpreter}"
    how = (
        f"What `make figures` measured of version {__version__} ([how](performance.md)): {machine}."
    )
    parts = ["# Figures", how]
    for name, rows in measured:
        parts += [f"## {name}", "\n".join(["```text", *rows, "```"])]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
