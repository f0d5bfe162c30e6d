"""Replication throttles (KIP-73): limits on the rate at which replicas that are not in sync are
copied, by leader and by follower.

Owns how much each broker has copied under a throttle, and when it may copy again.
`leader.replication.throttled.rate` and `follower.replication.throttled.rate` are bytes per
second of a broker, shared by the replicas that the topic's
`leader.replication.throttled.replicas` and `follower.replication.throttled.replicas` name
(`partition:broker,...`, or `*`); in-sync replicas are never throttled. A throttled leader delays
records, not the follower's requests. Does not know how replicas are copied.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..settings.definitions import parse_whole, trim
from .model import Cluster, Partition

_LEADER, _FOLLOWER = "leader", "follower"
LOOK_AGAIN_MS = 1_000
"""A throttled follower looks again after this: the throttle may have changed."""


class Throttles:
    """Throttles of all brokers. `images`: each broker's copy of the metadata, with its
    configuration.
    """

    def __init__(self, images: Mapping[int, Cluster]) -> None:
        self._images = images
        self._free_ms: dict[tuple[str, int], float] = {}

    def in_force(
        self, leader: int, follower: int, partition: Partition
    ) -> dict[tuple[str, int], int]:
        """Return the rates (bytes per second) that throttle a follower, by side and broker; none if
        it is in sync.
        """
        if follower in partition.isr:
            return {}
        rates = {}
        for side, broker in ((_LEADER, leader), (_FOLLOWER, follower)):
            rate = self._rate(side, broker)
            if rate is not None and self._is_named(side, leader, broker, partition):
                rates[side, broker] = rate
        return rates

    def wait_ms(
        self, rates: Mapping[tuple[str, int], int], now: int, *, complete: bool = False
    ) -> int:
        """Return the time until records may be copied. `complete`: the follower has everything, so
        only its own throttle counts, until it may fetch.
        """
        free = max(
            (self._free_ms.get(seat, 0) for seat in rates if not complete or seat[0] == _FOLLOWER),
            default=0,
        )
        return max(0, -int(-(free - now) // 1))

    def spend(self, rates: Mapping[tuple[str, int], int], copied: int, now: int) -> None:
        """Charge the copied bytes to the throttles."""
        for seat, rate in rates.items():
            self._free_ms[seat] = max(self._free_ms.get(seat, 0), now) + copied * 1000 / rate

    def _rate(self, side: str, broker: int) -> int | None:
        configs, name = self._images[broker].configs, f"{side}.replication.throttled.rate"
        value = configs.dynamic.get(name, configs.dynamic_default.get(name))
        rate = None if value is None else parse_whole(trim(value), 63)
        return None if rate is None or rate < 0 else max(1, rate)

    def _is_named(self, side: str, leader: int, broker: int, partition: Partition) -> bool:
        topic = self._images[leader].topics[partition.topic]
        named = topic.configs.get(f"{side}.replication.throttled.replicas", "")
        return trim(named) == "*" or f"{partition.index}:{broker}" in [
            trim(item) for item in named.split(",")
        ]
