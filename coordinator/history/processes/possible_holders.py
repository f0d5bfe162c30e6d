"""Which member may have had a partition's records in hand, and from when to when, as far as requests
and the coordinator's events tell.

A partition is a member's from the line that gives it to it until the line that shows that it knows
better: a generation in which it neither has nor claims the partition (KIP-429), a heartbeat that
gives it up (KIP-848), its leaving, its joining anew after it was removed, or a start of its process.
So several may have had one at a time, unlike in `owners`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...event_log.reader import Line
from ..blobs import assignment, by_topic, subscription

_REMOVED = ("MemberRemoved", "ConsumerMemberRemoved")
_RECONCILED = ("ConsumerMemberReconciled", "ConsumerMemberReplaced")
NEVER = sys.maxsize
"""The line at which ends what lasts until the log's end."""

Place = tuple[str, int]
"""A topic, and a partition's number."""


class Held(NamedTuple):
    """A member had a partition between two lines of the log; `committed` was committed when it got
    it."""

    member: str
    first: int
    end: int
    committed: int


class PossibleHolders:
    """The possible holders of a group's partitions: `held`, by partition. `peers`: member ids that
    are left out. `taken_out`: members whose leaving was somebody else's word, so that they do not
    know. `starts`: lines of the log at which the processes were started anew."""

    def __init__(
        self,
        lines: Iterable[Line],
        group: str,
        *,
        peers: Collection[str] = (),
        taken_out: Collection[str] = (),
        starts: Sequence[int] = (),
    ) -> None:
        self._peers, self._taken_out, self._starts = peers, taken_out, starts
        self.speaks_consumer = False
        """Some member speaks the consumer protocol (KIP-848)."""
        self.loaded = False
        """Some coordinator loaded the group."""
        self.held: dict[Place, list[Held]] = {}
        self._open: dict[Place, dict[str, tuple[int, int]]] = {}
        self._committed: dict[Place, int] = {}
        self._connections: dict[str, str] = {}
        self._lost = set[str]()
        for line in lines:
            if line.get("group") == group:
                self._see(line)
        for place, holders in self._open.items():
            for member in list(holders):
                self._close(place, member, NEVER)

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
            self.loaded = True
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
            self.speaks_consumer = True
            self._knows(line["member"], seq)
        elif kind in _REMOVED:
            if line["reason"] == "left" and line["member"] not in self._taken_out:
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
        has: Collection[Place],
        claims: Collection[Place] | None,
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

    def _close(self, place: Place, member: str, end: int) -> None:
        first, committed = self._open[place].pop(member)
        stopped = min((start for start in self._starts if start > first), default=NEVER)
        self.held.setdefault(place, []).append(Held(member, first, min(end, stopped), committed))


def _flat(topics: Mapping[str, Iterable[int]]) -> set[Place]:
    return {(topic, number) for topic, numbers in topics.items() for number in numbers}
