"""Requests of a share consumer to leaders (KIP-932): ShareFetch and ShareAcknowledge, with
acknowledgements as ranges of offsets. Does not know when they are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from assignors import TopicPartition
from coordinator.wire.messages.share_acknowledge import ShareAcknowledgeRequest
from coordinator.wire.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
)

from .config import ShareConfig
from .session import Said, Session

IdOf = Callable[[TopicPartition], bytes]
"""The id of a partition's topic."""


def fetch(
    config: ShareConfig,
    member_id: str,
    session: Session,
    wanted: set[TopicPartition],
    said: Said,
    id_of: IdOf,
    *,
    renews: bool,
) -> ShareFetchRequest:
    """Return a ShareFetch from these partitions, with acknowledgements. One that renews locks reads
    nothing (SH-ACK-2).
    """
    added = wanted if session.epoch == 0 else wanted - session.partitions
    forgotten: dict[bytes, list[int]] = {}
    for partition in sorted(session.partitions - wanted):
        forgotten.setdefault(id_of(partition), []).append(partition.partition)
    return ShareFetchRequest(
        group_id=config.group_id,
        member_id=member_id,
        share_session_epoch=session.epoch,
        max_wait_ms=0 if renews else config.fetch_max_wait_ms,
        min_bytes=0 if renews else config.fetch_min_bytes,
        max_bytes=0 if renews else config.fetch_max_bytes,
        max_records=0 if renews else config.max_poll_records,
        batch_size=0 if renews else config.max_poll_records,
        share_acquire_mode=config.acquire_number,
        is_renew_ack=renews,
        topics=_named(sorted(added | said.keys()), said, id_of),
        forgotten_topics_data=[
            ForgottenTopic(topic_id=of, partitions=numbers) for of, numbers in forgotten.items()
        ],
    )


def acknowledge(
    config: ShareConfig,
    member_id: str,
    session: Session,
    said: Said,
    id_of: IdOf,
    *,
    renews: bool,
) -> ShareAcknowledgeRequest:
    """Return a ShareAcknowledge with these acknowledgements."""
    return ShareAcknowledgeRequest(
        group_id=config.group_id,
        member_id=member_id,
        share_session_epoch=session.epoch,
        is_renew_ack=renews,
        topics=_named(said, said, id_of),
    )


def _named(partitions: Iterable[TopicPartition], said: Said, id_of: IdOf) -> list[FetchTopic]:
    """Return partitions with the acknowledgements of their records."""
    topics: dict[bytes, list[FetchPartition]] = {}
    for partition in partitions:
        row = FetchPartition(
            partition_index=partition.partition,
            acknowledgement_batches=[
                AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=of)
                for first, last, of in _ranges(said.get(partition, {}))
            ],
        )
        topics.setdefault(id_of(partition), []).append(row)
    return [FetchTopic(topic_id=of, partitions=rows) for of, rows in topics.items()]


def _ranges(offsets: Mapping[int, int]) -> Iterator[tuple[int, int, list[int]]]:
    """Yield neighbouring offsets as ranges: first, last, and one type for all or one for each."""
    found = sorted(offsets)
    start = 0
    for at in range(1, len(found) + 1):
        if at == len(found) or found[at] != found[at - 1] + 1:
            types = [offsets[offset] for offset in found[start:at]]
            yield found[start], found[at - 1], types if len(set(types)) > 1 else types[:1]
            start = at
