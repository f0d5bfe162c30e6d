"""Placement of new partitions: the striped replica placement of Kafka's controller (REPL-6).

Brokers are grouped by rack (those without one share an unnamed rack), racks sorted by name,
brokers by id. Each partition starts at the next rack; its leader is never a fenced broker;
further replicas go round the racks. When every unfenced broker has led once, racks and brokers
are shuffled, so that the same followers do not always follow the same leader. The caller passes
the source of randomness, which is drawn from in Kafka's order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from .model import BrokerNode


class RandomSource(Protocol):
    """The part of `random.Random` that placement uses."""

    def randrange(self, stop: int, /) -> int:
        """Return an integer from 0 to below `stop`."""


class InvalidReplicationFactor(Exception):
    """Error for a replication factor that is not possible (error 38); `str()` is Kafka's message."""

    def __init__(self, replication_factor: int, why: str) -> None:
        super().__init__(f"Unable to replicate the partition {replication_factor} time(s): {why}")


def place(
    partitions: int,
    replication_factor: int,
    brokers: Iterable[BrokerNode],
    rng: RandomSource,
    *,
    cordons: bool = True,
) -> list[list[int]]:
    """Return the replicas of each new partition, preferred leader first. `cordons`: the release
    knows cordoned log directories, and refusals mention them (PLACE-43-1). Raises
    InvalidReplicationFactor.
    """
    racks = _Racks(brokers, rng)
    if replication_factor > racks.total:
        raise InvalidReplicationFactor(
            replication_factor,
            f"The target replication factor of {replication_factor} cannot be reached because only {racks.total} broker(s) are registered"
            f"{' or some brokers have all their log directories cordoned' if cordons else ''}.",
        )
    if not racks.unfenced:
        raise InvalidReplicationFactor(
            replication_factor,
            f"All brokers are currently fenced{', or have all their log directories cordoned' if cordons else ''}.",
        )
    return [racks.place(replication_factor) for _ in range(partitions)]


class _Brokers:
    """Brokers of one rack, all fenced or all unfenced, in a circle whose start moves on by one for
    each partition.
    """

    def __init__(self, ids: list[int], rng: RandomSource) -> None:
        self.ids = sorted(ids)
        self.taken = 0
        self.offset = rng.randrange(len(ids)) if ids else 0
        self.epoch = 0

    def next(self, epoch: int) -> int | None:
        """Return the next broker for partition number `epoch`, or None if the partition has all of
        them.
        """
        if not self.ids:
            return None
        if self.epoch != epoch:
            self.epoch, self.taken = epoch, 0
            self.offset = (self.offset + 1) % len(self.ids)
        if self.taken >= len(self.ids):
            return None
        self.taken += 1
        return self.ids[(self.taken - 1 + self.offset) % len(self.ids)]


class _Racks:
    def __init__(self, brokers: Iterable[BrokerNode], rng: RandomSource) -> None:
        by_rack: dict[str | None, tuple[list[int], list[int]]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack, ([], []))[broker.fenced].append(broker.node_id)
        self.rng = rng
        self.total = sum(len(fenced) + len(unfenced) for unfenced, fenced in by_rack.values())
        self.unfenced = sum(len(unfenced) for unfenced, _ in by_rack.values())
        names = sorted(by_rack, key=lambda name: (name is not None, name or ""))
        # Unfenced brokers first, then fenced ones.
        self.racks = [
            (_Brokers(by_rack[name][0], rng), _Brokers(by_rack[name][1], rng)) for name in names
        ]
        self.order = list(range(len(self.racks)))
        self.epoch = 0
        self.offset = rng.randrange(len(self.racks)) if self.racks else 0

    def place(self, replication_factor: int) -> list[int]:
        if self.epoch == self.unfenced and self.unfenced > 1:
            self._shuffle()
            self.epoch = 0
        self.offset %= len(self.order)
        leader_at, leader = self._leader()
        replicas = [leader]
        at: int = self.offset
        skip: int | None = leader_at
        while len(replicas) < replication_factor:
            if at == skip:
                skip = None  # the leader's rack is passed over once
            else:
                unfenced, fenced = self.racks[self.order[at]]
                found = unfenced.next(self.epoch)
                found = fenced.next(self.epoch) if found is None else found
                if found is not None:
                    replicas.append(found)
            at = (at + 1) % len(self.order)
        self.epoch += 1
        self.offset += 1
        return replicas

    def _leader(self) -> tuple[int, int]:
        at = self.offset
        while True:
            leader = self.racks[self.order[at]][0].next(self.epoch)
            if leader is not None:
                return at, leader
            at = (at + 1) % len(self.order)

    def _shuffle(self) -> None:
        _java_shuffle(self.order, self.rng)
        for unfenced, fenced in self.racks:
            _java_shuffle(unfenced.ids, self.rng)
            _java_shuffle(fenced.ids, self.rng)


def _java_shuffle(items: list[Any], rng: RandomSource) -> None:
    """Shuffle like Java's Collections.shuffle, with the same draws."""
    for last in range(len(items) - 1, 0, -1):
        other = rng.randrange(last + 1)
        items[last], items[other] = items[other], items[last]
