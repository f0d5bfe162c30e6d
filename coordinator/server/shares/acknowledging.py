"""Acknowledgements in ShareFetch and ShareAcknowledge requests, partition by partition (SH-ACK-3).
How they take effect is in `acknowledgements`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices
from coordinator.core.share_partitions.acknowledge import FAILED, Acknowledged, Refused, are_wrong

from .acknowledgements import Decided, Pending

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartition
    from coordinator.wire.messages.share_fetch import FetchPartition, FetchTopic

    from ..requests.call import Call
    from .host import ShareHost
    from .service import Shares
    from .sessions import At, SessionKey

LONGEST_MEMBER_ID = 36
RENEWS_SINCE = 2
_NOT_READ = Refused(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.message
)
"""The error if the share group has not read the partition at this broker."""


def why_not(broker: ShareHost, group_id: str | None, member_id: str | None) -> ErrorCode:
    """Return the error of the request as a whole, whatever its session, or NONE (SH-FT-1, SH-43-1)."""
    nobody = group_id is None or member_id is None
    if nobody and not broker.configs.release.has("SH-43-1"):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    if group_id is None or not member_id or len(member_id) > LONGEST_MEMBER_ID:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.KAFKA_STORAGE_ERROR if broker.log_is_blocked else ErrorCode.NONE


def named(topics: Iterable[FetchTopic]) -> Iterator[At]:
    """Yield the partitions that a request contains."""
    for topic in topics:
        for of in topic.partitions:
            yield topic.topic_id, of.partition_index


def named_topics(
    broker: ShareHost, topics: Iterable[FetchTopic]
) -> Iterator[tuple[bytes, str | None]]:
    """Yield id and name (None if it does not exist) of each topic of which a request contains
    partitions.
    """
    known = broker.cluster.topics_by_id
    for topic in topics:
        if topic.partitions:
            found = known.get(topic.topic_id)
            yield topic.topic_id, None if found is None else found.name


def hidden_topics(
    call: Call, topics: Iterable[tuple[bytes, str | None]]
) -> Slices[frozenset[bytes] | None]:
    """Return the ids of topics that the client may not read (REF-10). None: a topic has no name, so
    the authorizer cannot decide, and Kafka's whole request fails.
    """
    if call.sees is None:
        return frozenset()
    seen, hidden = set[bytes](), set[bytes]()
    for number, (topic_id, name) in enumerate(topics, 1):
        if name is None:
            return None
        if topic_id not in seen:
            seen.add(topic_id)
            if not call.sees(name):
                hidden.add(topic_id)
        if not number % ITEMS_A_STEP:
            yield
    return frozenset(hidden)


def brings_any(topics: Iterable[FetchTopic]) -> bool:
    """Return True if a request contains acknowledgements, valid or not."""
    return any(of.acknowledgement_batches for topic in topics for of in topic.partitions)


def names_much(topics: Sequence[FetchTopic]) -> bool:
    """Return True if a request is so large that it is handled in slices."""
    named = len(topics)
    for topic in topics:
        named += len(topic.partitions)
        if named > ITEMS_A_STEP:
            return True
        for of in topic.partitions:
            named += len(of.acknowledgement_batches)
    return named > ITEMS_A_STEP


class Waiting(NamedTuple):
    """Decided acknowledgements of a partition that are not applied yet."""

    partition: SharePartition
    decided: Decided
    ranges: Sequence[Acknowledged]


def decide(
    shares: Shares,
    call: Call,
    key: SessionKey,
    topics: Iterable[FetchTopic],
    *,
    hidden: Collection[bytes],
    renewing: bool,
) -> Slices[dict[At, Waiting | Refused | None]]:
    """Decide the acknowledgements of a request, partition by partition; None: nothing is left to
    do.

    If a partition is named twice, the last entry counts. If no partition has valid ranges, only
    the errors are returned (SH-ACK-3). `hidden`: topics that the client may not read. A last
    value FAILED means that the request fails as a whole; partitions behind the failing one are
    not decided (SH-ACK-9).
    """
    last: dict[At, list[Acknowledged]] = {}
    done = 0
    for topic in topics:
        for of in topic.partitions:
            done += 1 + len(of.acknowledgement_batches)
            if done >= ITEMS_A_STEP:
                call, done = call._replace(now=(yield)), 0
            last[topic.topic_id, of.partition_index] = _ranges(of)
    decided: dict[At, Waiting | Refused | None] = {}
    any_ranges = False
    for at, ranges in last.items():
        done += 1 + len(ranges)
        if done >= ITEMS_A_STEP:
            call, done = call._replace(now=(yield)), 0
        refused = _refuse(shares, call, at, ranges, hidden, renewing)
        if refused is not None:
            decided[at] = refused
        elif ranges:
            any_ranges = True
    for at, ranges in last.items() if any_ranges else ():
        if at not in decided:
            done += 1 + len(ranges)
            if done >= ITEMS_A_STEP:
                call, done = call._replace(now=(yield)), 0
            decided[at] = _decide(shares, call, key, at, ranges) if ranges else None
            if decided[at] is FAILED:
                break
    return decided


def take(
    shares: Shares, call: Call, decisions: Mapping[At, Waiting | Refused | None]
) -> Slices[dict[At, Refused | Pending | None] | None]:
    """Apply decided acknowledgements; return for each partition a refusal, None (applied), or the
    pending store. None instead: the request fails as a whole.
    """
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
    """Return the outcome of acknowledgements if all are settled; else call `then` once, when they
    are.
    """
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


def _ranges(of: FetchPartition) -> list[Acknowledged]:
    return [
        Acknowledged(one.first_offset, one.last_offset, one.acknowledge_types)
        for one in of.acknowledgement_batches
    ]


def _refuse(
    shares: Shares,
    call: Call,
    at: At,
    ranges: Sequence[Acknowledged],
    hidden: Collection[bytes],
    renewing: bool,
) -> Refused | None:
    """Return the error of a partition or its ranges: 100, 42, 29, 3, or None."""
    found = shares.find(at)
    error = ErrorCode.NONE
    if found is ErrorCode.UNKNOWN_TOPIC_ID:
        error = found
    elif are_wrong(ranges, renewing=renewing, renewal_known=call.version >= RENEWS_SINCE):
        error = ErrorCode.INVALID_REQUEST
    elif at[0] in hidden:
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    elif found is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        error = found
    return Refused(error, "") if error else None


def _decide(
    shares: Shares, call: Call, key: SessionKey, at: At, ranges: list[Acknowledged]
) -> Waiting | Refused | None:
    found = shares.find(at)
    # SH-ACK-7: whoever leads no more has forgotten it
    partition = None if isinstance(found, ErrorCode) else shares.opened(key.group_id, found)
    if partition is None:
        return _NOT_READ
    decided = shares.acknowledgements.decide(partition, key.member_id, ranges, call.now)
    return Waiting(partition, decided, ranges) if isinstance(decided, Decided) else decided


def _take(shares: Shares, call: Call, waiting: Waiting) -> Refused | Pending | None:
    partition, decided, ranges = waiting
    if shares.partitions.open_ones.get(partition.key) is not partition:
        return _NOT_READ  # it was closed between two slices
    return shares.acknowledgements.take(partition, decided, ranges, call.now, call.cause)
