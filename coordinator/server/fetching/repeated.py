"""Cache for fetches that repeat byte for byte: consumers at the end of their partitions, without a
fetch session, ask the same again every `fetch.max.wait.ms`.

Keeps the meaning of such a request and its answer while the cluster's metadata and the logs are
unchanged. Meant for brokers under virtual time, where an idle day should take seconds; costs
memory for each client. Does not know sockets or time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .parked import Waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..cluster import Cluster, Partition
    from ..requests.call import Call, Encoded

MOST_BYTES = 1024
"""Larger requests are decoded anew each time: what is kept is bounded."""
MOST_REQUESTS = 64
"""Of one connection: four partitions can be named in 24 orders."""
MOST_KEPT = 4096
"""At one broker."""


class Again(Waiting, Protocol):
    """Interface of a fetch that has waited and can wait again for the same request."""

    def takes_again(self, call: Call) -> bool:
        """Wait again for the same request on the same connection; return False if it can be
        answered at once.
        """


class Repeated:
    """The partitions of a fetch, all led by this broker, with the offsets asked for."""

    __slots__ = ("_answer", "_cluster", "_ends", "_logs_were", "_version")

    def __init__(self, cluster: Cluster, ends: Sequence[tuple[Partition, int]]) -> None:
        self._cluster = cluster
        self._version = cluster.version
        self._ends = ends
        self._answer: Encoded | None = None
        self._logs_were: list[int] = []

    def stands(self, cluster: Cluster) -> bool:
        """Return True if the cluster's metadata has not changed."""
        return cluster.version == self._version and cluster is self._cluster

    def at_end(self) -> bool:
        """Return True if the consumer is at the log end of every partition."""
        for found, offset in self._ends:
            if found.log.log_end_offset != offset:  # no generator: this is asked very often
                break
        else:
            return True
        return False

    def answer(self) -> Encoded | None:
        """Return the previous answer if no log has changed since, else None."""
        return (
            self._answer if self._answer is not None and self._logs() == self._logs_were else None
        )

    def keep(self, answer: Encoded) -> Encoded:
        """Keep an answer without records for the next time, and return it."""
        self._answer, self._logs_were = answer, self._logs()
        return answer

    def _logs(self) -> list[int]:
        found: list[int] = []
        for partition, _ in self._ends:
            log = partition.log
            found += (
                log.log_end_offset,
                log.high_watermark,
                log.last_stable_offset,
                log.log_start_offset,
            )
        return found
