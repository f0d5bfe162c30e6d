"""Acknowledgements as ShareFetch and ShareAcknowledge carry them, partition by partition
(SH-ACK-3). Both have the same structure, in modules of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...common.slices import ITEMS_A_STEP, Slices
from ...errors import ErrorCode
from ...share_partitions.acknowledge import FAILED, Acknowledged, Refused, are_wrong
from .acknowledgements import Decided, Pending

if TYPE_CHECKING:
    from ...share_partitions.model import SharePartition
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


class Waiting(NamedTuple):
    """Acknowledgements of a partition that are decided, and not taken yet."""

    partition: SharePartition
    decided: Decided
    ranges: Sequence[Acknowledged]


def decide(
    shares: Shares, call: Call, key: SessionKey, topics: Iterable[Topic], *, renewing: bool
) -> Slices[dict[At, Waiting | Refused | None]]:
    """Decide the acknowledgements of a request, partition by partition; None: there is nothing left
    to do. Those of one partition go together. FAILED stands last: the request fails as a whole, and
    partitions behind that at which it fails are not looked at (SH-ACK-9)."""
    said: dict[At, Waiting | Refused | None] = {}
    done = 0
    for topic in topics:
        for of in topic.partitions:
            done += 1 + len(of.acknowledgement_batches)
            if done >= ITEMS_A_STEP:
                call, done = call._replace(now=(yield)), 0
            if of.acknowledgement_batches:
                at = topic.topic_id, of.partition_index
                said[at] = _decide(shares, call, key, at, _ranges(of), renewing)
                if said[at] is FAILED:
                    return said
    return said


def take(
    shares: Shares, call: Call, decisions: Mapping[At, Waiting | Refused | None]
) -> Slices[dict[At, Refused | Pending | None] | None]:
    """Take acknowledgements that were decided; of each partition why they were refused (None: they
    were not), or that they are being stored. None: the request fails as a whole."""
    said: dict[At, Refused | Pending | None] = {}
    done = 0
    for at, decision in decisions.items():
        if decision is FAILED:
            return None
        if isinstance(decision, Waiting):
            done += len(decision.ranges)
            if done >= ITEMS_A_STEP:
                call, done = call._replace(now=(yield)), 0
            said[at] = _take(shares, call, decision)
        else:
            said[at] = decision
    return said


def once_settled(
    said: Mapping[At, Refused | Pending | None],
    then: Callable[[dict[At, Refused | None], int], None],
) -> dict[At, Refused | None] | None:
    """What became of acknowledgements, if all of them are settled; else `then` is told, once."""
    waits = [one for one in said.values() if isinstance(one, Pending)]
    left = len(waits)

    def settled() -> dict[At, Refused | None]:
        return {at: one.answer if isinstance(one, Pending) else one for at, one in said.items()}

    def one_less(now: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            then(settled(), now)

    for one in waits:
        one.then = one_less
    return None if waits else settled()


def _ranges(of: Partition) -> list[Acknowledged]:
    return [
        Acknowledged(one.first_offset, one.last_offset, one.acknowledge_types)
        for one in of.acknowledgement_batches
    ]


def _decide(
    shares: Shares,
    call: Call,
    key: SessionKey,
    at: At,
    ranges: list[Acknowledged],
    renewing: bool,
) -> Waiting | Refused | None:
    found = shares.find(at)
    if found is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return _NOT_READ  # SH-ACK-7: whoever leads no more has forgotten it
    if isinstance(found, ErrorCode):
        return Refused(found, "")
    if are_wrong(ranges, renewing=renewing, renewal_known=call.version >= RENEWS_SINCE):
        return Refused(ErrorCode.INVALID_REQUEST, "")
    partition = shares.opened(key.group_id, found)
    if partition is None:
        return _NOT_READ
    decided = shares.acknowledgements.decide(partition, key.member_id, ranges, call.now)
    return Waiting(partition, decided, ranges) if isinstance(decided, Decided) else decided


def _take(shares: Shares, call: Call, waiting: Waiting) -> Refused | Pending | None:
    partition, decided, ranges = waiting
    if shares.partitions.open_ones.get(partition.key) is not partition:
        return _NOT_READ  # it was closed between two slices
    return shares.acknowledgements.take(partition, decided, ranges, call.now, call.cause)
