"""A member's view of topics: one Metadata response as an immutable value, and the part of it that a
leader compares (CLI-19). Many members may share a view. Does not know when metadata is
requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.metadata import MetadataResponse, MetadataResponseTopic
from coordinator.wire.schema import ZERO_UUID

from .faults import code_of

REFRESHED: frozenset[ErrorCode] = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.LISTENER_NOT_FOUND,
    }
)
"""Errors of a topic or a partition for which Java asks for metadata again."""

Snapshot = tuple[tuple[str, tuple[tuple[int, frozenset[str]], ...]], ...]
"""Topic by topic, its partitions, each with the racks of its replicas (none unless the member has a
rack of its own)."""


class TopicView(NamedTuple):
    """An existing topic: its partitions in order, each with the racks of its replicas."""

    name: str
    is_internal: bool
    partitions: tuple[int, ...]
    racks: tuple[tuple[str | None, ...], ...]
    topic_id: bytes = ZERO_UUID
    """All zeros if the broker told none."""


class ClusterView:
    """View of one Metadata response. `asked`: the topics requested, None for all."""

    __slots__ = ("_snapshots", "asked", "errors", "topics", "unsettled")

    def __init__(
        self,
        asked: frozenset[str] | None,
        topics: Iterable[TopicView],
        errors: dict[str, ErrorCode],
        unsettled: bool,
    ) -> None:
        self.asked = asked
        self.topics = {topic.name: topic for topic in topics}
        self.errors = errors
        """Topics that were answered with an error."""
        self.unsettled = unsettled
        """Something was not available: ask again."""
        self._snapshots: dict[tuple[frozenset[str], bool], Snapshot] = {}

    @classmethod
    def of(cls, response: MetadataResponse, asked: frozenset[str] | None) -> ClusterView:
        """Return the view of a response to a request for these topics. An equal response is decoded
        once for all members.
        """
        global _recent  # replaced as a whole: several threads may read
        for known, theirs, view in _recent:
            if known is response and theirs == asked:
                return view.again()
        view = cls._read(response, asked)
        _recent = ((response, asked, view), *_recent[:_MOST_RECENT])
        return view

    def again(self) -> ClusterView:
        """Return another view object with the same content."""
        view = ClusterView(self.asked, (), self.errors, self.unsettled)
        view.topics, view._snapshots = self.topics, self._snapshots
        return view

    @classmethod
    def _read(cls, response: MetadataResponse, asked: frozenset[str] | None) -> ClusterView:
        rack_of = {broker.node_id: broker.rack for broker in response.brokers}
        errors = {
            topic.name: code_of(topic.error_code)
            for topic in response.topics
            if topic.error_code and topic.name is not None
        }
        topics = [
            _topic(topic, rack_of.get)
            for topic in response.topics
            if not topic.error_code and topic.name is not None
        ]
        absent = any(error in REFRESHED for error in errors.values())
        leaderless = any(
            code_of(row.error_code) in REFRESHED
            for topic in response.topics
            for row in topic.partitions
            if row.error_code
        )
        return cls(asked, topics, errors, absent or leaderless)

    def covers(self, topics: frozenset[str] | None) -> bool:
        """Return whether all of `topics` (None: all topics) were requested."""
        return self.asked is None or (topics is not None and topics <= self.asked)

    def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """Return the number of partitions of each of these topics that exists."""
        return {name: len(self.topics[name].partitions) for name in topics if name in self.topics}

    def racks(self, topics: Iterable[str]) -> dict[str, list[list[str]]] | None:
        """Return the racks of each partition's replicas for an assignor, or None if no broker has a
        rack.
        """
        known = [self.topics[name] for name in topics if name in self.topics]
        if not any(rack is not None for topic in known for row in topic.racks for rack in row):
            return None
        return {
            topic.name: [[rack for rack in row if rack is not None] for row in topic.racks]
            for topic in known
        }

    def snapshot(self, topics: frozenset[str], with_racks: bool) -> Snapshot:
        """Return the facts that a leader compares to detect that it must assign again (CLI-19)."""
        key = (topics, with_racks)
        snapshot = self._snapshots.get(key)
        if snapshot is None:
            known = [self.topics[name] for name in sorted(topics) if name in self.topics]
            snapshot = self._snapshots[key] = tuple(
                [(topic.name, _compared(topic, with_racks)) for topic in known]
            )
        return snapshot


def what_changed(before: Snapshot, after: Snapshot) -> str:
    """Return the difference of two snapshots as text, such as "orders has 4 partitions, not 3" or
    "orders has replicas in rack b, too"; of many topics the first ones.
    """
    old, new = dict(before), dict(after)
    found = [
        change
        for topic in sorted(old.keys() | new.keys())
        if (change := _topic_changed(topic, old.get(topic), new.get(topic)))
    ]
    more = len(found) - _MOST_CHANGES
    return "; ".join(found[:_MOST_CHANGES]) + (f"; and {more} more" if more > 0 else "")


_Partitions = tuple[tuple[int, frozenset[str]], ...]
_MOST_CHANGES = 3


def _topic_changed(topic: str, before: _Partitions | None, after: _Partitions | None) -> str:
    if before == after:
        return ""
    if before is None or after is None:
        return f"{topic} is there now" if before is None else f"{topic} is gone"
    if len(before) != len(after):
        return f"{topic} has {len(after)} partitions, not {len(before)}"
    was = frozenset[str]().union(*(racks for _, racks in before))
    now = frozenset[str]().union(*(racks for _, racks in after))
    changes = [
        f"{how} {'racks' if len(racks) > 1 else 'rack'} {', '.join(sorted(racks))}{end}"
        for racks, how, end in (
            (now - was, "has replicas in", ", too"),
            (was - now, "has no replica in", " any more"),
        )
        if racks
    ]
    if changes:
        return f"{topic} {' and '.join(changes)}"
    moved = sum(old != new for old, new in zip(before, after, strict=True))
    return f"{moved} partition{'s' if moved > 1 else ''} of {topic} have replicas in other racks"


_MOST_RECENT = 3
_recent: tuple[tuple[MetadataResponse, frozenset[str] | None, ClusterView], ...] = ()


def _topic(topic: MetadataResponseTopic, rack_of: Callable[[int], str | None]) -> TopicView:
    rows = sorted(topic.partitions, key=lambda row: row.partition_index)
    racks = tuple([tuple([rack_of(node) for node in row.replica_nodes]) for row in rows])
    return TopicView(
        topic.name or "",
        topic.is_internal,
        tuple([row.partition_index for row in rows]),
        racks,
        topic.topic_id,
    )


def _compared(topic: TopicView, with_racks: bool) -> tuple[tuple[int, frozenset[str]], ...]:
    if not with_racks:
        return tuple([(index, frozenset()) for index in topic.partitions])
    return tuple(
        [
            (i, frozenset([rack for rack in racks if rack]))
            for i, racks in zip(topic.partitions, topic.racks, strict=True)
        ]
    )
