"""Changes of many partitions by one occasion, such as the end of a broker's session: some at once,
the rest when time is next told.

Owns what is left to be done and its order. Rules: so many partitions are changed at a time, by
count, so that the same requests make the same log; what the change is to be is decided when a
partition's turn has come; a partition that was deleted meanwhile is passed over. Does not depend on
what the changes are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from ..model import Cluster, Partition

PARTITIONS_A_STEP: Final = 256
"""So many partitions are changed in one piece; each takes some 30 microseconds with three brokers.
"""


class _Left(NamedTuple):
    broker: int | None
    partitions: Iterator[Partition]
    do: Callable[[Partition, int], object]


class ManyChanges:
    """The rest of changes of many partitions of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._alone = (
            len(cluster.brokers) < 2
        )  # nobody tells the controller of one broker the time: it does all at once
        self._left: deque[_Left] = deque()

    def __bool__(self) -> bool:
        return bool(self._left)

    def concern(self, broker: int) -> bool:
        """True if something is left to be done that a broker was the occasion of."""
        return any(left.broker == broker for left in self._left)

    def begin(
        self,
        broker: int | None,
        partitions: Iterable[Partition],
        do: Callable[[Partition, int], object],
        now: int,
    ) -> None:
        """`do(partition, now)` for each of the partitions, after what is left of earlier ones; the
        first of them now."""
        self._left.append(_Left(broker, iter(list(partitions)), do))
        self.go_on(now)

    def go_on(self, now: int) -> None:
        """Change some more partitions."""
        left = PARTITIONS_A_STEP
        while self._left and left > 0:
            first = self._left[0]
            partition = next(first.partitions, None)
            if partition is None:
                self._left.popleft()
            elif self._cluster.partition(partition.topic, partition.index) is partition:
                first.do(partition, now)
                left -= not self._alone
