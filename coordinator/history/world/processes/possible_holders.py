"""Members that may hold records of a partition, and from when to when, as far as requests and the
coordinator's events show.

A member may hold a partition's records from the line that gives it the partition until the line
that shows that it knows of the loss: a generation in which it neither has nor claims the
partition (KIP-429), a heartbeat that gives it up (KIP-848), its leaving, its joining anew after
it was removed, or a start of its process. So several members may hold a partition's records at a
time, unlike in `owners`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from coordinator.events.groups import (
    GenerationStored,
    GroupLoaded,
    MemberRemoved,
    MemberReplaced,
    OffsetsCommitted,
    Removal,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.wire import RequestSeen

from ..blobs import assignment, by_topic, subscription
from ..groups.consumer_groups import topic_of

NEVER = sys.maxsize
"""Stands for the end of a time that lasts until the log's end."""

Place = tuple[str, int]
"""A topic, and a partition's number."""


class Held(NamedTuple):
    """A member owned a partition between two lines of the log. `committed`: the committed offset
    when it got it."""

    member: str
    first: int
    end: int
    committed: int


class PossibleHolders(Reader):
    """The possible holders of a group's partitions: `held`, by partition. `peers`: member ids
    that are left out. `taken_out`: members that another client removed, so that they do not know
    it. `starts`: lines at which the processes were started again."""

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
        """A member of the group uses the consumer protocol (KIP-848)."""
        self.loaded = False
        """A coordinator has loaded the group."""
        self.held: dict[Place, list[Held]] = {}
        self._open: dict[Place, dict[str, tuple[int, int]]] = {}
        self._committed: dict[Place, int] = {}
        self._connections: dict[str, str] = {}
        self._lost = set[str]()
        for line in lines:
            if line.group == group:
                self.see(line)
        for place, holders in self._open.items():
            for member in list(holders):
                self._close(place, member, NEVER)

    @on(OffsetsCommitted)
    def _commits(self, line: Line, event: OffsetsCommitted) -> None:
        self._committed |= {(row.topic, row.partition): row.offset for row in event.offsets}

    @on(GenerationStored)
    def _generation(self, line: Line, event: GenerationStored) -> None:
        if event.protocol_type == "consumer":
            for row in event.members:
                self._stored(row.member_id, row.assignment, row.subscription, line.seq)

    @on(GroupLoaded)
    def _loaded(self, line: Line, _: GroupLoaded) -> None:
        self.loaded = True

    @on(MemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced) -> None:
        self._lost.add(event.replaced)

    @on(ConsumerMemberReconciled, ConsumerMemberReplaced)
    def _reconciled(
        self, line: Line, event: ConsumerMemberReconciled | ConsumerMemberReplaced
    ) -> None:
        has = {
            (topic_of(topic), number)
            for topic in (*event.held, *event.revoking)
            for number in topic.partitions
        }
        if isinstance(event, ConsumerMemberReplaced):
            self._lost.add(event.replaced)
        self._has(event.member_id, has, has, line.seq)

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        self.speaks_consumer = True
        self._knows(event.member_id, line.seq)

    @on(MemberRemoved, ConsumerMemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved | ConsumerMemberRemoved) -> None:
        if event.reason == Removal.LEFT and event.member_id not in self._taken_out:
            self._has(event.member_id, (), (), line.seq)
        else:
            self._lost.add(event.member_id)

    @on(RequestSeen)
    def _asked(self, line: Line, event: RequestSeen) -> None:
        """A client that joins knows that a membership which it had lost is gone."""
        if event.api not in ("join_group", "sync_group"):
            return
        if event.api == "join_group":
            for member in [
                member for member in self._lost if self._connections.get(member) == event.peer
            ]:
                self._knows(member, line.seq)
        if line.member:
            self._connections[line.member] = event.peer

    def _knows(self, member: str, seq: int) -> None:
        if member in self._lost:
            self._lost.discard(member)
            self._has(member, (), (), seq)

    def _stored(self, member: str, given: bytes, said: bytes, seq: int) -> None:
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
        """Note that a member has these partitions from now on, and no others than it `claims`;
        None: its claims are unknown."""
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
