"""Tasks of readers that are written in Python, and the lines that they print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple


class Read(NamedTuple):
    """Consume partition 0 of a topic until the position is `until`."""

    name: str
    topic: str
    group: str
    reset: str
    isolation: str
    until: int

    def __str__(self) -> str:
        return "|".join(map(str, ("read", *self)))

    def told(self, offsets: list[int]) -> str:
        """The line's end."""
        return " ".join(map(str, ("read", *offsets)))


class Times(NamedTuple):
    """Look up a time in partition 0 of a topic."""

    name: str
    topic: str
    timestamp_ms: int

    def __str__(self) -> str:
        return "|".join(map(str, ("times", *self)))

    def told(self, offset: int | None) -> str:
        """The line's end."""
        return "found nothing" if offset is None else f"found {offset}"


def perform(read: Callable[[str, Read], str], times: Callable[[str, Times], str]) -> None:
    """Do the tasks of the command line with a library."""
    address, *tasks = sys.argv[1:]
    for task in tasks:
        kind, *words = task.split("|")
        if kind == "read":
            name, topic, group, reset, isolation, until = words
            line = read(address, Read(name, topic, group, reset, isolation, int(until)))
        else:
            name, topic, timestamp_ms = words
            line = times(address, Times(name, topic, int(timestamp_ms)))
        print(f"{name}: {line}", flush=True)
