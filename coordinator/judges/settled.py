"""The state of a group that has come to rest: its members' applications have what it gave them,
and each partition is somebody's.

Owns no promise; `liveness` asks when a run is over. A member is passed over while its application
is at work on what it was given, or something is still done to it or to requests: it may not have
heard yet.

A cooperative assignor leaves out what has to be revoked first, and who revoked it joins once more. If
that is a static member whose process ends before it joins, its successor is given the same assignment
without a rebalance (KIP-345, KIP-814). Kafka lets the partition be nobody's then, so it is no fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..history.blobs import assignment, subscription
from ..history.consumer_groups import ConsumerGroups, TopicPartition
from ..verbs.row import Hurts, undone_by
from .base import Line

_UNDOES: Final = {end: begins for begins, end in undone_by(Hurts.CLIENT).items()}
_HOLDS_UP: Final = frozenset(_UNDOES.values())
_ENDS: Final = frozenset({"MemberCrashed", "MemberClosed", "MemberClosing", "MemberFailed"})
_SUBSCRIBES: Final = frozenset({"ConsumerMemberSubscribed", "ConsumerMemberReplaced"})

_Key = tuple[str, str]
"""Group and client."""


class Unsettled(NamedTuple):
    """The problem of a group that is at rest, and the line that made it so."""

    line: Line
    text: str


class Settled:
    """The groups of a log, as their coordinators and their members' applications know them."""

    def __init__(self) -> None:
        self._own: dict[_Key, set[TopicPartition]] = {}
        self._ids: dict[_Key, str] = {}
        self._busy: set[_Key] = set()
        self._held_up: Counter[str] = Counter()
        self._request_faults = 0
        self._stored: dict[str, Line] = {}
        self._members: dict[str, dict[str, str]] = {}
        """Of each group, the member id of each client, as the coordinator has it."""
        self._replaced: dict[str, Line] = {}
        """Groups of which a static member was replaced since their generation began, and how that
        was stored before."""
        self._last: dict[str, Line] = {}
        """The last change of each consumer group."""
        self._topics: dict[str, dict[str, list[str]]] = {}
        """Of each consumer group, what its members subscribe to; a group with a pattern has an
        entry for ""."""
        self._made: dict[TopicPartition, int] = {}
        self._began: dict[str, int] = {}
        """When the first member of each group began."""
        self._gone: set[str] = set()

    def see(self, line: Line) -> None:
        """Look at the next line."""
        stream, kind = line["stream"], line["type"]
        if stream == "member":
            if "group" in line:
                self._of_member(line, kind, (line["group"], line.get("client", "")))
        elif stream == "group":
            self._of_group(line, kind, line["group"])
        elif stream == "cluster":
            self._of_topic(line, kind)
        elif stream == "fault":
            client = line.get("client") or line.get("client_id") or ""
            if kind in _HOLDS_UP:
                self._held_up[client] += 1
            elif kind in _UNDOES:
                self._held_up[client] -= 1
            self._request_faults += (kind == "RequestFaultBegan") - (kind == "RequestFaultEnded")

    def _of_member(self, line: Line, kind: str, whose: _Key) -> None:
        if kind == "MemberStarted":
            self._began.setdefault(whose[0], line["at_ms"])
            self._own[whose] = set()
            self._ids.pop(whose, None)
            self._busy.discard(whose)
            return
        if kind in _ENDS:
            self._own.pop(whose, None)
            return
        own = self._own.get(whose)
        if own is None:
            return
        if line.get("member"):
            self._ids[whose] = line["member"]
        if kind == "RecordsPolled":
            self._busy.add(whose)
        elif kind == "RecordsProcessed":
            self._busy.discard(whose)
        elif kind in ("PartitionsAssigned", "PartitionsRevoked", "PartitionsLost"):
            named = {(row["topic"], row["partition"]) for row in line["partitions"]}
            if kind == "PartitionsAssigned":
                own |= named
            else:
                own -= named

    def _of_group(self, line: Line, kind: str, group: str) -> None:
        if kind in ("GenerationStored", "ConsumerGroupDowngraded"):
            self._stored[group] = line
            self._members[group] = {
                row.get("client_id", ""): row["member_id"] for row in line.get("members", ())
            }
        elif kind == "MemberReplaced":
            if group in self._stored:
                self._replaced.setdefault(group, self._stored[group])
        elif kind == "GenerationStarted":
            self._replaced.pop(group, None)
        elif kind in (
            "GroupEmptied",
            "GroupDeleted",
            "ConsumerGroupCreated",
            "ConsumerGroupUpgraded",
            "MembershipReset",
        ):
            self._stored.pop(group, None)
            self._members.pop(group, None)
            self._topics.pop(group, None)
        elif kind in _SUBSCRIBES:
            said = line if kind == "ConsumerMemberSubscribed" else line["subscription"]
            self._members.setdefault(group, {})[said["client_id"]] = line["member"]
            self._topics.setdefault(group, {})[line["member"]] = [
                *said["topics"],
                *([""] if said["topic_regex"] else []),
            ]
        if kind == "ConsumerMemberReconciled" or kind in _SUBSCRIBES:
            self._last[group] = line

    def _of_topic(self, line: Line, kind: str) -> None:
        if kind == "TopicCreated":
            self._made.update(
                ((line["topic"], number), line["at_ms"]) for number in range(line["partitions"])
            )
        elif kind == "PartitionsAdded":
            self._made.update(((line["topic"], number), line["at_ms"]) for number in line["added"])
        elif kind == "TopicDeleted":
            self._gone.add(line["topic"])
            for partition in [
                partition for partition in self._made if partition[0] == line["topic"]
            ]:
                del self._made[partition]

    def unsettled(self, consumers: ConsumerGroups, since_ms: int) -> Iterator[Unsettled]:
        """The problems at the end of the log, of groups that are at rest. `since_ms`: when the
        last was done to them."""
        for group, line in self._stored.items():
            if line.get("protocol_type") == "consumer":
                has = _assigned(line)
                yield from self._of_applications(group, line, has)
                named = {topic for row in line["members"] for topic in _subscribed(row)}
                began, before = self._began.get(group, 0), self._replaced.get(group)
                only = None if before is None else _all(_assigned(before))
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
        """What nobody has although somebody subscribes to it and it was there at `since_ms`: later
        ones may not have been noticed. `only`: others may be nobody's."""
        if "" in topics:
            return
        owned = _all(has)
        for partition, made_ms in self._made.items():
            if only is not None and partition not in only:
                continue
            if partition[0] in topics and partition not in owned and made_ms <= since_ms:
                yield Unsettled(line, f"nobody in group {group} has {partition[0]}-{partition[1]}")
                break


def _assigned(line: Line) -> dict[str, set[TopicPartition]]:
    """The partitions of each member of a stored generation."""
    return {
        row["member_id"]: _flat(assignment(row.get("assignment", "")) or {})
        for row in line["members"]
    }


def _all(has: dict[str, set[TopicPartition]]) -> set[TopicPartition]:
    return set[TopicPartition]().union(*has.values())


def _flat(topics: dict[str, tuple[int, ...]]) -> set[TopicPartition]:
    return {(topic, number) for topic, numbers in topics.items() for number in numbers}


def _subscribed(row: Line) -> tuple[str, ...]:
    """The topics of a stored member; "" stands for bytes that cannot be read."""
    found = subscription(row.get("subscription", ""))
    return ("",) if found is None else tuple(found.topics)
