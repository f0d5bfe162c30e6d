"""Acknowledgements as ShareFetch and ShareAcknowledge carry them, partition by partition
(SH-ACK-3). Both have the same structure, in modules of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...common.slices import ITEMS_A_STEP, Slices
from ...errors import ErrorCode
from ...share_partitions.acknowledge import FAILED, Acknowledged, Refused, are_wrong, fails

if TYPE_CHECKING:
    from ..call import Call
    from .host import ShareHost
    from .service import Shares
    from .sessions import At, SessionKey

LONGEST_MEMBER_ID = 36
RENEWS_SINCE = 2
_NOT_READ = Refused(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.message
)
"""Nobody has read the partition for the group here."""
HIDDEN = Refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "")
"""The client may not read the topic."""


class Range(Protocol):
    """One range of offsets."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


class Partition(Protocol):
    """The ranges of one partition."""

    partition_index: int

    @property
    def acknowledgement_batches(self) -> Sequence[Range]:
        """In the order of the request."""


class Topic(Protocol):
    """The partitions of one topic."""

    topic_id: bytes

    @property
    def partitions(self) -> Sequence[Partition]:
        """In the order of the request."""


def why_not(broker: ShareHost, group_id: str | None, member_id: str | None) -> ErrorCode:
    """What is wrong with a request as a whole, whatever its session (SH-FT-1, SH-43-1)."""
    nobody = group_id is None or member_id is None
    if nobody and not broker.configs.release.has("SH-43-1"):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    if group_id is None or not member_id or len(member_id) > LONGEST_MEMBER_ID:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.KAFKA_STORAGE_ERROR if broker.log_is_blocked else ErrorCode.NONE


def named(topics: Iterable[Topic]) -> Iterator[At]:
    """The partitions that a request names."""
    for topic in topics:
        for of in topic.partitions:
            yield topic.topic_id, of.partition_index


def hidden_topics(broker: ShareHost, call: Call, places: Iterable[At]) -> Slices[frozenset[bytes]]:
    """The ids of topics that the client may not read (REF-10)."""
    if call.sees is None:
        return frozenset()
    known, seen, hidden = broker.cluster.topics_by_id, set[bytes](), set[bytes]()
    for number, (topic_id, _) in enumerate(places, 1):
        if topic_id not in seen:
            seen.add(topic_id)
            topic = known.get(topic_id)
            if topic is not None and not call.sees(topic.name):
                hidden.add(topic_id)
        if not number % ITEMS_A_STEP:
            yield
    return frozenset(hidden)


def acknowledged_of(topics: Iterable[Topic], ids: Collection[bytes]) -> Iterator[At]:
    """The partitions of these topics for which a request brings acknowledgements."""
    for topic in topics if ids else ():
        if topic.topic_id in ids:
            for of in topic.partitions:
                if of.acknowledgement_batches:
                    yield topic.topic_id, of.partition_index


def names_much(topics: Sequence[Topic]) -> bool:
    """Whether a request names so much that it is seen to in slices."""
    named = len(topics)
    for topic in topics:
        named += len(topic.partitions)
        if named > ITEMS_A_STEP:
            return True
        for of in topic.partitions:
            named += len(of.acknowledgement_batches)
    return named > ITEMS_A_STEP


def refused_beforehand(
    shares: Shares, call: Call, key: SessionKey, topics: Iterable[Topic], *, renewing: bool
) -> Slices[dict[At, Refused] | None]:
    """Acknowledgements that a fetch brings of records that its member does not hold when it comes,
    and which the fetch itself could acquire (SH-ACK-6). None: the request fails as a whole."""
    said: dict[At, Refused] = {}
    done = 0
    for topic in topics:
        for of in topic.partitions:
            done += 1 + len(of.acknowledgement_batches)
            if done >= ITEMS_A_STEP:
                call, done = call._replace(now=(yield)), 0
            if not of.acknowledgement_batches:
                continue
            at = topic.topic_id, of.partition_index
            found = shares.find(at)
            if isinstance(found, ErrorCode):
                continue
            ranges = _ranges(of)
            if are_wrong(ranges, renewing=renewing, renewal_known=call.version >= RENEWS_SINCE):
                continue
            refused: Refused | None = _NOT_READ
            partition = shares.opened(key.group_id, found)
            if partition is not None:
                if fails(partition, ranges):
                    return None
                if not partition.may_give(ranges[0].first_offset, ranges[-1].last_offset):
                    continue
                refused = shares.partitions.why_not(partition, key.member_id, ranges, call.now)
            if refused is not None:
                said[at] = refused
    return said


def take(
    shares: Shares,
    call: Call,
    key: SessionKey,
    topics: Iterable[Topic],
    *,
    renewing: bool,
    beforehand: Mapping[At, Refused] = {},
) -> Slices[dict[At, Refused | None] | None]:
    """Take the acknowledgements of a request; of partitions that have some, why they were refused
    (None: they were not). Those of one partition are taken together. None: the request fails as a
    whole, and those of partitions behind that at which it fails are not taken (SH-ACK-9)."""
    said: dict[At, Refused | None] = {}
    done = 0
    for topic in topics:
        for of in topic.partitions:
            done += 1 + len(of.acknowledgement_batches)
            if done >= ITEMS_A_STEP:
                call, done = call._replace(now=(yield)), 0
            if of.acknowledgement_batches:
                at = topic.topic_id, of.partition_index
                before = beforehand.get(at)
                refused = _take(shares, call, key, at, _ranges(of), renewing, before)
                if refused is FAILED:
                    return None
                said[at] = refused
    return said


def _ranges(of: Partition) -> list[Acknowledged]:
    return [
        Acknowledged(one.first_offset, one.last_offset, one.acknowledge_types)
        for one in of.acknowledgement_batches
    ]


def _take(
    shares: Shares,
    call: Call,
    key: SessionKey,
    at: At,
    ranges: list[Acknowledged],
    renewing: bool,
    before: Refused | None,
) -> Refused | None:
    found = shares.find(at)
    if found is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return _NOT_READ  # SH-ACK-7: whoever leads no more has forgotten it
    if isinstance(found, ErrorCode):
        return Refused(found, "")
    if are_wrong(ranges, renewing=renewing, renewal_known=call.version >= RENEWS_SINCE):
        return Refused(ErrorCode.INVALID_REQUEST, "")
    if before is not None:
        return before
    partition = shares.opened(key.group_id, found)
    if partition is None:
        return _NOT_READ
    return shares.partitions.acknowledge(partition, key.member_id, ranges, call.now, call.cause)
