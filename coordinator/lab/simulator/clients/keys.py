"""Keys of the records that a producer sends, some of them much more often than others. A key
decides the partition as in Kafka's clients (murmur2). This module must not know producers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from assignors import TopicPartition
from coordinator.members.partitioners.murmur2 import partition_for_key

from ..chance import Draws


class Keys(NamedTuple):
    """A number of `keys`, 0 for none; `hot` of them have `hot_share` per cent of the records."""

    keys: int = 0
    hot: int = 0
    hot_share: int = 0

    def picking(
        self, partitions: Sequence[TopicPartition], draws: Draws
    ) -> Callable[[int], tuple[TopicPartition, bytes]] | None:
        """Return the function from a record's number to its partition and key, or None if there
        are no keys. Topics take turns."""
        if not self.keys:
            return None
        topics: dict[str, list[TopicPartition]] = {}
        for partition in partitions:
            topics.setdefault(partition.topic, []).append(partition)
        each = list(topics.values())

        def pick(number: int) -> tuple[TopicPartition, bytes]:
            of_topic = each[number % len(each)]
            key = f"key-{self._drawn(draws)}".encode()
            return of_topic[partition_for_key(key, len(of_topic))], key

        return pick

    def _drawn(self, draws: Draws) -> int:
        """Return the number of a key; the first numbers are the hot keys."""
        if self.hot and draws.between(1, 100) <= self.hot_share:
            return draws.between(0, self.hot - 1)
        return draws.between(self.hot if self.hot < self.keys else 0, self.keys - 1)


NO_KEYS: Final = Keys()
