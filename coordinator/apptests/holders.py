"""Which consumers of an application may have had a record in hand, by the history of its
partition's owners.

An application with several consumers does not tell which of them processed a record. Where one that
had the partition before may still be at work on what it fetched then, a record that comes again is
nobody's mistake; where nobody else can have fetched it, it is one.

A partition is a member's from the line that gives it to it until the line that shows that it knows
better: a generation in which it neither has nor claims the partition (KIP-429), a heartbeat that
gives it up (KIP-848), its leaving, its joining anew after it was removed, or the application's next
start. Judges plain lines of the event log, as `findings` does.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..history.blobs import assignment, by_topic, subscription
from .findings import CommitSeen, Line, TopicPartition

_REMOVED = ("MemberRemoved", "ConsumerMemberRemoved")
_RECONCILED = ("ConsumerMemberReconciled", "ConsumerMemberReplaced")
NEVER = sys.maxsize


class Written(NamedTuple):
    """What is at these offsets of the partitions, or behind them, was written after this line of
    the log."""

    seq: int
    ends: Mapping[TopicPartition, int]


class Held(NamedTuple):
    """A member had a partition between two lines of the log; `committed` was committed when it got
    it."""

    member: str
    first: int
    end: int
    committed: int


class Holders:
    """The owners of a group's partitions. `peers` and `removed`: member ids, of others and of those
    that were taken out.

    `written`: where partitions ended when; `asked_first`: when, in ms of the log, a partition's
    first offset was asked for last.
    """

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
        self._peers, self._removed, self._starts, self._written = peers, removed, starts, written
        self._asked_first = asked_first or {}
        self._speaks_consumer = self._moved = False
        self._held: dict[TopicPartition, list[Held]] = {}
        self._open: dict[TopicPartition, dict[str, tuple[int, int]]] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._connections: dict[str, str] = {}
        self._lost = set[str]()
        for line in lines:
            if line.get("group") == group:
                self._see(line)
        for place, holders in self._open.items():
            for member in list(holders):
                self._close(place, member, NEVER)

    def went_back_by_itself(self, place: TopicPartition, at_ms: int | None) -> bool:
        """Whether a library may have gone back to the partition's first offset since then, as
        librdkafka 2.16 was seen to do.

        In a group of the consumer protocol (KIP-848) it repeats a question for the first offset
        that a second member's coming overtook, and once takes the answer for its position, although
        it has read on, and committed, since. What a broker that is started anew is asked first is
        not seen: where the coordinator changed it may have.
        """
        return self._speaks_consumer and (
            self._moved or self._asked_first.get(place, -1) >= (at_ms or 0)
        )

    def may_hold(self, place: TopicPartition, offset: int, commit: CommitSeen) -> bool:
        """Whether another consumer than that of the commit may have fetched this record before, and
        be at work on it."""
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
            for held in self._held.get(place, ())
        )

    def _see(self, line: Line) -> None:
        kind, seq = line["type"], line["seq"]
        if kind == "OffsetsCommitted":
            self._committed |= {
                (row["topic"], row["partition"]): row["offset"] for row in line["offsets"]
            }
        elif kind == "RequestSeen" and line["api"] in ("join_group", "sync_group"):
            self._asked(line, seq)
        elif kind == "GenerationStored" and line["protocol_type"] == "consumer":
            for row in line["members"]:
                self._stored(row["member_id"], row["assignment"], row["subscription"], seq)
        elif kind == "GroupLoaded":
            self._moved = True
        elif kind == "MemberReplaced":
            self._lost.add(line["replaced"])
        elif kind in _RECONCILED:
            has = {
                (topic["topic"] or topic["topic_id"], number)
                for name in ("held", "revoking")
                for topic in line[name]
                for number in topic["partitions"]
            }
            if kind == "ConsumerMemberReplaced":
                self._lost.add(line["replaced"])
            self._has(line["member"], has, has, seq)
        elif kind == "ConsumerMemberSubscribed":
            self._speaks_consumer = True
            self._knows(line["member"], seq)
        elif kind in _REMOVED:
            if line["reason"] == "left" and line["member"] not in self._removed:
                self._has(line["member"], (), (), seq)
            else:
                self._lost.add(line["member"])

    def _asked(self, line: Line, seq: int) -> None:
        """A client that joins knows that a membership which it had lost is gone."""
        if line["api"] == "join_group":
            for member in [
                member for member in self._lost if self._connections.get(member) == line["peer"]
            ]:
                self._knows(member, seq)
        if line.get("member"):
            self._connections[line["member"]] = line["peer"]

    def _knows(self, member: str, seq: int) -> None:
        if member in self._lost:
            self._lost.discard(member)
            self._has(member, (), (), seq)

    def _stored(self, member: str, given: str, said: str, seq: int) -> None:
        topics, read = assignment(given), subscription(said)
        if topics is None:
            return
        has = _flat(topics)
        claims = None if read is None else has | _flat(by_topic(read.owned_partitions))
        self._has(member, has, claims, seq)

    def _has(
        self,
        member: str,
        has: Collection[TopicPartition],
        claims: Collection[TopicPartition] | None,
        seq: int,
    ) -> None:
        """It has these partitions from now on, and no others than it `claims`; None: what it claims
        is unknown."""
        if member in self._peers:
            return
        for place, holders in self._open.items():
            if member in holders and claims is not None and place not in claims:
                self._close(place, member, seq)
        for place in has:
            self._open.setdefault(place, {}).setdefault(
                member, (seq, self._committed.get(place, 0))
            )

    def _close(self, place: TopicPartition, member: str, end: int) -> None:
        first, committed = self._open[place].pop(member)
        stopped = min((start for start in self._starts if start > first), default=NEVER)
        self._held.setdefault(place, []).append(Held(member, first, min(end, stopped), committed))


def _flat(topics: Mapping[str, Iterable[int]]) -> set[TopicPartition]:
    return {(topic, number) for topic, numbers in topics.items() for number in numbers}
