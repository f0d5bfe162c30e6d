"""Replica placement of Kafka's administration tools: the proposal of `kafka-reassign-partitions
--generate` (REPL-1 to REPL-5).

New topics are placed by the controller (`placement`); this older algorithm remains in the tool
alone. Brokers without racks are taken in turn, with a shift that grows each round; with racks
the broker list alternates between racks, and replicas are spread over racks first. The caller
passes the source of randomness. Does not depend on a running cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from .placement import RandomSource


class PlacementError(ValueError):
    """Error for replicas that cannot be placed; `str()` is Kafka's message."""


def assign(
    brokers: Mapping[int, str | None],
    partitions: int,
    replication_factor: int,
    rng: RandomSource,
    *,
    racks: bool = True,
) -> list[list[int]]:
    """Return the replicas of each partition. `brokers`: rack by broker id; `racks` False: ignore
    racks. Raises PlacementError (REPL-1).
    """
    if partitions <= 0:
        raise PlacementError("Number of partitions must be larger than 0.")
    if replication_factor <= 0:
        raise PlacementError("Replication factor must be larger than 0.")
    if replication_factor > len(brokers):
        raise PlacementError(
            f"Replication factor: {replication_factor} larger than available brokers: {len(brokers)}."
        )
    with_rack = [node for node, rack in brokers.items() if rack is not None]
    if not racks or not with_rack:
        return _unaware(sorted(brokers), partitions, replication_factor, rng)
    if len(with_rack) < len(brokers):
        raise PlacementError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment without rack "
            "information."
        )
    return _aware(
        {node: str(rack) for node, rack in brokers.items()}, partitions, replication_factor, rng
    )


def alternated(racks: Mapping[int, str]) -> list[int]:
    """Return the brokers in rack-alternating order: racks by name, brokers of one rack by id
    (REPL-3).
    """
    by_rack: dict[str, list[int]] = {}
    for node in sorted(racks):
        by_rack.setdefault(racks[node], []).append(node)
    turns = zip_longest(*(by_rack[rack] for rack in sorted(by_rack)))
    return [node for node in chain.from_iterable(turns) if node is not None]


def replica_index(first: int, shift: int, number: int, brokers: int) -> int:
    """Return the index in the broker list of replica `number` after the first (REPL-2)."""
    return (first + 1 + (shift + number) % (brokers - 1)) % brokers


def _unaware(
    brokers: Sequence[int], partitions: int, factor: int, rng: RandomSource
) -> list[list[int]]:
    count = len(brokers)
    start, shift = rng.randrange(count), rng.randrange(count)
    placed = []
    for partition in range(partitions):
        if partition and partition % count == 0:
            shift += 1
        first = (partition + start) % count
        placed.append(
            [
                brokers[first],
                *(
                    brokers[replica_index(first, shift, number, count)]
                    for number in range(factor - 1)
                ),
            ]
        )
    return placed


def _aware(
    racks: Mapping[int, str], partitions: int, factor: int, rng: RandomSource
) -> list[list[int]]:
    brokers = alternated(racks)
    count, rack_count = len(brokers), len(set(racks.values()))
    start, shift = rng.randrange(count), rng.randrange(count)
    placed = []
    for partition in range(partitions):
        if partition and partition % count == 0:
            shift += 1
        first = (partition + start) % count
        replicas = [brokers[first]]
        used = {racks[replicas[0]]}
        number = 0
        while (
            len(replicas) < factor
        ):  # REPL-4: every candidate counts, also one that is passed over
            node = brokers[replica_index(first, shift * rack_count, number, count)]
            number += 1
            if racks[node] in used and len(used) < rack_count:
                continue
            if node in replicas and len(set(replicas)) < count:
                continue
            replicas.append(node)
            used.add(racks[node])
        placed.append(replicas)
    return placed
