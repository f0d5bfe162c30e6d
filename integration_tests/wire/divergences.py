"""Scenarios in which the emulator is known to part from Kafka 4.3.1: by name, with the reason. Short, and kept honest."""

from __future__ import annotations

from typing import Final

DIVERGENCES: Final[dict[str, str]] = {
    "fetch.byte_limits": "max_bytes below 0: Kafka fails the first partition with -1 and serves the next; we fail each",
    "join_group.odd_but_accepted": "a selected assignor named '' is null in Kafka's answers",
    "offsets.fetching_everything": "all offsets of a group come in the order of Kafka's own hash table",
    "produce.compressed": "snappy bytes that do not decompress are refused by Kafka (-1); we do not open them",
    "produce.timestamps": "Kafka writes its own maximum over the records' times, -1 at least, into the batch",
}
