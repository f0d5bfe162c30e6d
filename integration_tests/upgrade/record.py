"""Keep what three real brokers did while they were upgraded.

    python -m integration_tests.record upgrade

Starts the real cluster itself, as plain Java processes. The story is told twice, and kept if it
repeats.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from integration_tests.upgrade.hosts import real_hosts
from integration_tests.upgrade.story import Told, told

HOME: Final = Path(__file__).resolve().parents[1] / "golden" / "upgrade"
UPGRADES: Final = (("4.3", "4.4"),)
"""Old and new release of each that is recorded."""


def place(old: str, new: str) -> Path:
    """Where an upgrade is kept."""
    return HOME / f"{old}-{new}.jsonl"


def load(old: str, new: str) -> Told:
    """What is kept of an upgrade."""
    return [json.loads(line) for line in place(old, new).read_text().splitlines()]


def record_all(_: Callable[[str], str]) -> int:
    """Record all upgrades. 1 if one did not repeat."""
    refused = 0
    for old, new in UPGRADES:
        with real_hosts(old) as hosts:
            once = told(hosts, old, new)
        with real_hosts(old) as hosts:
            again = told(hosts, old, new)
        if once == again:
            HOME.mkdir(parents=True, exist_ok=True)
            place(old, new).write_text("".join(f"{json.dumps(step)}\n" for step in once))
            print(f"upgrade {old} to {new}: {len(once)} steps", flush=True)
        else:
            refused += 1
            print(f"upgrade {old} to {new} does not repeat", flush=True)
    return min(refused, 1)
