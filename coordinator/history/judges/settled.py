"""The state that a group at rest must have: each member's application has the partitions that the
group assigned, and each partition has an owner.

This module has no judge; `liveness` uses it when a run is over. A member is skipped while its
application is busy with records, or the member or its requests are still disturbed.

One exception is Kafka's own. A cooperative assignor leaves out partitions that must be revoked
first; the member that revoked them joins once more. If that is a static member whose process
ends before it joins, its successor gets the same assignment without a rebalance (KIP-345,
KIP-814), and the partition stays without an owner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from coordinator.events.cluster import PartitionsAdded, TopicCreated, TopicDeleted
from coordinator.events.faults import RequestFaultBegan, RequestFaultEnded
from coordinator.events.groups import GroupDeleted
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
)
from coordinator.events.handlers import Reader, kinds_of, on
from coordinator.events.members import (
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RecordsPolled,
    RecordsProcessed,
)
from coordinator.verbs.row import Hurts

from ..world.blobs import assignment, subscription
from ..world.groups.consumer_groups import ConsumerGroups, TopicPartition
from .base import Line
from .disturbances import client_of, ends_of

_UNDOES: Final = {end: begins for begins, end in ends_of(Hurts.CLIENT).items()}
_HOLDS_UP: Final = frozenset(_UNDOES.values())

_Key = tuple[str, str]
"""Group and client."""


class Unsettled(NamedTuple):
    """A problem of a group at rest, and the line that caused it."""

    line: Line
    text: str


class _Stored(NamedTuple):
    line: Line
    event: GenerationStored | ConsumerGroupDowngraded


class Settled(Reader):
    """The groups of a log, as their coordinators and their members' applications know them."""

    def __init__(self) -> None:
        self._own: dict[_Key, set[TopicPartition]] = {}
        self._ids: dict[_Key, str] = {}
        self._busy: set[_Key] = set()
        self._held_up: Counter[str] = Counter()
        self._request_faults = 0
        self._stored: dict[str, _Stored] = {}
        self._members: dict[str, dict[str, str]] = {}
        """The member id of each client by the coordinator's events, for each group."""
        self._replaced: dict[str, _Stored] = {}
        """Groups in which a static member was replaced since their generation began, with the
        generation as it was stored before."""
        self._last: dict[str, Line] = {}
        """The last change of each consumer group."""
        self._topics: dict[str, dict[str, list[str]]] = {}
        """The subscribed topics in each consumer group; a group with a pattern has an entry for
        ""."""
        self._made: dict[TopicPartition, int] = {}
        self._began: dict[str, int] = {}
        """For each group, the instant at which its first member joined."""
        self._gone: set[str] = set()

    @on(*_HOLDS_UP, *_UNDOES)
    def _held(self, line: Line, event: object) -> None:
        self._held_up[client_of(event)] += 1 if line.kind in _HOLDS_UP else -1

    @on(RequestFaultBegan, RequestFaultEnded)
    def _of_requests(self, _: Line, event: RequestFaultBegan | RequestFaultEnded) -> None:
        self._request_faults += 1 if isinstance(event, RequestFaultBegan) else -1

    @on(*kinds_of("member"))
    def _of_member(self, line: Line, event: MemberEvent) -> None:
        if line.group is None:
            return
        whose = line.group, event.client
        if isinstance(event, MemberStarted):
            self._began.setdefault(line.group, line.at_ms)
            self._own[whose] = set()
            self._ids.pop(whose, None)
            self._busy.discard(whose)
            return
        if isinstance(event, MemberCrashed | MemberClosed | MemberClosing | MemberFailed):
            self._own.pop(whose, None)
            return
        own = self._own.get(whose)
        if own is None:
            return
        if line.member:
            self._ids[whose] = line.member
        match event:
            case RecordsPolled():
                self._busy.add(whose)
            case RecordsProcessed():
                self._busy.discard(whose)
            case PartitionsAssigned():
                own.update(event.partitions)
            case PartitionsRevoked() | PartitionsLost():
                own.difference_update(event.partitions)

    @on(GenerationStored, ConsumerGroupDowngraded)
    def _generation_stored(
        self, line: Line, event: GenerationStored | ConsumerGroupDowngraded
    ) -> None:
        group = line.group or ""
        self._stored[group] = _Stored(line, event)
        self._members[group] = {row.client_id: row.member_id for row in event.members}

    @on(MemberReplaced)
    def _came_back(self, line: Line, _: MemberReplaced) -> None:
        group = line.group or ""
        if group in self._stored:
            self._replaced.setdefault(group, self._stored[group])

    @on(GenerationStarted)
    def _begins(self, line: Line, _: GenerationStarted) -> None:
        self._replaced.pop(line.group or "", None)

    @on(GroupEmptied, GroupDeleted, ConsumerGroupCreated, ConsumerGroupUpgraded, MembershipReset)
    def _begins_anew(self, line: Line, _: object) -> None:
        group = line.group or ""
        self._stored.pop(group, None)
        self._members.pop(group, None)
        self._topics.pop(group, None)

    @on(ConsumerMemberSubscribed, ConsumerMemberReplaced)
    def _subscribed(
        self, line: Line, event: ConsumerMemberSubscribed | ConsumerMemberReplaced
    ) -> None:
        group = line.group or ""
        said = event if isinstance(event, ConsumerMemberSubscribed) else event.subscription
        self._members.setdefault(group, {})[said.client_id] = event.member_id
        self._topics.setdefault(group, {})[event.member_id] = [
            *said.topics,
            *([""] if said.topic_regex else []),
        ]
        self._last[group] = line

    @on(ConsumerMemberReconciled)
    def _reconciled(self, line: Line, _: ConsumerMemberReconciled) -> None:
        self._last[line.group or ""] = line

    @on(TopicCreated, PartitionsAdded)
    def _made_partitions(self, line: Line, event: TopicCreated | PartitionsAdded) -> None:
        first = event.first if isinstance(event, PartitionsAdded) else 0
        for number in range(first, first + len(event.replicas)):
            self._made[event.topic, number] = line.at_ms

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        self._gone.add(event.topic)
        for partition in [each for each in self._made if each[0] == event.topic]:
            del self._made[partition]

    def unsettled(self, consumers: ConsumerGroups, since_ms: int) -> Iterator[Unsettled]:
        """Yield the problems of groups at rest at the end of the log. `since_ms`: the instant of
        the last disturbance."""
        for group, (line, stored) in self._stored.items():
            if stored.protocol_type == "consumer":
                has = _assigned(stored)
                yield from self._of_applications(group, line, has)
                named = _subscribed(stored)
                began, before = self._began.get(group, 0), self._replaced.get(group)
                only = None if before is None else _all(_assigned(before.event))
                yield from self._of_partitions(group, line, named, has, began, only)
        for group, seen in consumers.groups.items():
            if seen.members and group in self._last:
                has = {name: set(member.held) for name, member in seen.members.items()}
                yield from self._of_applications(group, self._last[group], has)
                named = {
                    topic
                    for name in seen.members
                    for topic in self._topics.get(group, {}).get(name, [""])
                }
                yield from self._of_partitions(group, self._last[group], named, has, since_ms)

    def _of_applications(
        self, group: str, line: Line, has: dict[str, set[TopicPartition]]
    ) -> Iterator[Unsettled]:
        for (of, client), own in self._own.items():
            name = self._ids.get((of, client)) or self._members.get(group, {}).get(client, "")
            given = has.get(name) if of == group else None
            if (
                given is None
                or (of, client) in self._busy
                or self._held_up[client] > 0
                or self._request_faults > 0
            ):
                continue
            for partitions, said in (
                (given - own, "was not told that it has"),
                (own - given, "was not told that it lost"),
            ):
                partition = min(
                    (each for each in partitions if each[0] not in self._gone), default=None
                )
                if partition is not None:
                    yield Unsettled(
                        line, f"{client} of group {group} {said} {partition[0]}-{partition[1]}"
                    )

    def _of_partitions(
        self,
        group: str,
        line: Line,
        topics: set[str],
        has: dict[str, set[TopicPartition]],
        since_ms: int,
        only: set[TopicPartition] | None = None,
    ) -> Iterator[Unsettled]:
        """Yield a subscribed partition that no member owns although it existed at `since_ms`
        (members may not know of later ones yet). `only`: the partitions to check; None: all."""
        if "" in topics:
            return
        owned = _all(has)
        for partition, made_ms in self._made.items():
            if only is not None and partition not in only:
                continue
            if partition[0] in topics and partition not in owned and made_ms <= since_ms:
                yield Unsettled(
                    line, f"{partition[0]}-{partition[1]} has no owner in group {group}"
                )
                break


def _assigned(
    stored: GenerationStored | ConsumerGroupDowngraded,
) -> dict[str, set[TopicPartition]]:
    """Return the partitions of each member of a stored generation."""
    return {row.member_id: _flat(assignment(row.assignment) or {}) for row in stored.members}


def _all(has: dict[str, set[TopicPartition]]) -> set[TopicPartition]:
    return set[TopicPartition]().union(*has.values())


def _flat(topics: dict[str, tuple[int, ...]]) -> set[TopicPartition]:
    return {(topic, number) for topic, numbers in topics.items() for number in numbers}


def _subscribed(stored: GenerationStored | ConsumerGroupDowngraded) -> set[str]:
    """Return the topics of a stored generation's members. "" stands for a subscription that
    cannot be read, and for members that came from a consumer group."""
    if isinstance(stored, ConsumerGroupDowngraded):
        return {""} if stored.members else set()
    found = [subscription(row.subscription) for row in stored.members]
    return {topic for read in found for topic in (("",) if read is None else read.topics)}
