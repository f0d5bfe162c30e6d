"""Fetches that are asked again, byte for byte: those of consumers that wait at the end of their
partitions without a session, every `fetch.max.wait.ms`, in a few orders of their partitions.

Owns what such a fetch meant, and its answer: while the cluster's metadata stands, and the logs are
where they were, the same bytes mean the same and are answered by the same bytes. For brokers under
virtual time, where an idle day is a few seconds of work; it takes memory for each client. Does not
depend on requests, on time and on sockets.
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
    """A fetch that waited, and may wait once more."""

    def takes_again(self, call: Call) -> bool:
        """Wait again, for the same request of the same connection, unless there is anything to
        answer it with at once."""


class Repeated:
    """The partitions of a fetch, all led here, and the offsets asked for."""

    __slots__ = ("_answer", "_cluster", "_ends", "_logs_were", "_version")

    def __init__(self, cluster: Cluster, ends: Sequence[tuple[Partition, int]]) -> None:
        self._cluster = cluster
        self._version = cluster.version
        self._ends = ends
        self._answer: Encoded | None = None
        self._logs_were: list[int] = []

    def stands(self, cluster: Cluster) -> bool:
        """True if the cluster is what it was: the same partitions, with the same leaders."""
        return cluster.version == self._version and cluster is self._cluster

    def at_end(self) -> bool:
        """True if every log ends where the consumer stands."""
        for found, offset in self._ends:
            if found.log.log_end_offset != offset:  # no generator: this is asked very often
                break
        else:
            return True
        return False

    def answer(self) -> Encoded | None:
        """The answer of last time, if all logs are where they were then."""
        return (
            self._answer if self._answer is not None and self._logs() == self._logs_were else None
        )

    def keep(self, answer: Encoded) -> Encoded:
        """Take an answer without records for next time."""
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
