"""Keys of the records that ready tests write: a few for each partition, which producers put there."""

from __future__ import annotations

from functools import cache
from itertools import count

from coordinator.members.partitioners.murmur2 import partition_for_key

PER_PARTITION = 2
"""Number of keys of each partition; its records alternate between them."""


@cache
def keys_of(partitions: int) -> tuple[tuple[str, ...], ...]:
    """Return for each partition of a topic the keys that go there."""
    found: list[list[str]] = [[] for _ in range(partitions)]
    missing = partitions * PER_PARTITION
    for number in count():
        if not missing:
            break
        key = f"key-{number}"
        there = found[partition_for_key(key.encode(), partitions)]
        if len(there) < PER_PARTITION:
            there.append(key)
            missing -= 1
    return tuple(map(tuple, found))


def round_the_partitions(records: int, partitions: int) -> list[str]:
    """Return a key for each of `records` records, so that they go to the partitions in turn."""
    keys = keys_of(partitions)
    return [
        keys[number % partitions][number // partitions % PER_PARTITION] for number in range(records)
    ]
