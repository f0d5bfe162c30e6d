"""Finds out which consumers of an application may have fetched a record, by the history of its
partition's owners.

An application with several consumers does not report which of them processed a record. If a
former owner of the partition may still be processing records that it fetched, a repetition is
nobody's mistake; if no other consumer can have fetched the record, it is one. Reads plain lines
of the event log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from coordinator.history.world.processes.possible_holders import NEVER, PossibleHolders

from .findings import CommitSeen, Line, TopicPartition


class Written(NamedTuple):
    """Records from these offsets of the partitions on were written after this line of the log."""

    seq: int
    ends: Mapping[TopicPartition, int]


class Holders:
    """The owners of a group's partitions. `peers` and `removed`: member ids of others, and of
    members that the test removed. `written`: ends of partitions, with the lines at which they
    were noted. `asked_first`: for each partition the instant, in ms of the log, when a client
    last asked for its first offset."""

    def __init__(
        self,
        lines: Iterable[Line],
        group: str,
        *,
        peers: Collection[str],
        removed: Collection[str],
        starts: Sequence[int],
        written: Sequence[Written],
        asked_first: Mapping[TopicPartition, int] | None = None,
    ) -> None:
        self._written = written
        self._asked_first = asked_first or {}
        self._owners = PossibleHolders(lines, group, peers=peers, taken_out=removed, starts=starts)

    def went_back_by_itself(self, place: TopicPartition, at_ms: int | None) -> bool:
        """Return True if a client library may have gone back to the partition's first offset since
        this instant, as librdkafka 2.16 does.

        In a group of the consumer protocol (KIP-848) librdkafka repeats a ListOffsets that the
        arrival of a second member interrupted. Once it takes the response for its position,
        although it has read and committed beyond it. Requests to a broker that was started again
        are not seen, so after a change of the coordinator the answer is always True.
        """
        return self._owners.speaks_consumer and (
            self._owners.loaded or self._asked_first.get(place, -1) >= (at_ms or 0)
        )

    def may_hold(self, place: TopicPartition, offset: int, commit: CommitSeen) -> bool:
        """Return True if another consumer than the one that committed may have fetched this
        record before, and may still process it."""
        if self.went_back_by_itself(place, commit.at_ms):
            return True
        since = max(
            (written.seq for written in self._written if written.ends.get(place, NEVER) <= offset),
            default=-1,
        )
        until = NEVER if commit.seq is None else commit.seq
        return any(
            held.member != commit.member
            and held.first < until
            and held.end > since
            and held.committed <= offset
            for held in self._owners.held.get(place, ())
        )
