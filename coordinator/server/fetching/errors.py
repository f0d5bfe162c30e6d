"""Injected errors of a Fetch: an error beside the chosen partition, while the fetch session goes on
(KIP-227).

An incremental request does not name all partitions it reads, so the caller passes them. Does not
depend on the broker's sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coordinator.base.slices import ITEMS_A_STEP, each, only, whole
from coordinator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from coordinator.wire.schema import Response

from ..requests.refusals import Chosen, Place, Refusal, copied

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

_FETCHES_BY_ID = 13
_NO_DATA: dict[str, Any] = {
    "high_watermark": -1,
    "last_stable_offset": -1,
    "log_start_offset": -1,
    "records": b"",
    "aborted_transactions": None,
}


def refuse_fetch(
    message: FetchRequest, version: int, error: int, chosen: Chosen, reads: Sequence[Place]
) -> Refusal | None:
    """Like `refuse_fetch_in_slices`, at once."""
    return whole(refuse_fetch_in_slices(message, version, error, chosen, reads), 0)


def refuse_fetch_in_slices(
    message: FetchRequest, version: int, error: int, chosen: Chosen, reads: Sequence[Place]
) -> Slices[Refusal | None]:
    """Return the injected refusal that fails chosen partitions of a Fetch, or None if none is
    chosen. `reads`: all partitions that it reads, those of its session included.

    The handler is still called, so that the session goes on, but the request does not wait for
    records. The chosen partitions get the error in the response and are added if they are
    missing.
    """
    failed = yield from only(reads, chosen)
    if not failed:
        return None

    def completing(answered: Response | None) -> Slices[Response]:
        assert isinstance(answered, FetchResponse)
        if answered.error_code:
            return answered
        keys = yield from each(failed, lambda place: (_key(place, version), place.partition or 0))
        rows = dict.fromkeys(keys)
        kept: dict[str | bytes, list[PartitionData]] = {}
        for seen, topic in enumerate(answered.responses, 1):
            key = topic.topic_id if version >= _FETCHES_BY_ID else topic.topic
            kept[key] = [row for row in topic.partitions if (key, row.partition_index) not in rows]
            if not seen % ITEMS_A_STEP:
                yield
        for seen, (key, index) in enumerate(rows, 1):
            kept.setdefault(key, []).append(
                PartitionData(partition_index=index, error_code=error, **_NO_DATA)
            )
            if not seen % ITEMS_A_STEP:
                yield
        topics = yield from each(kept.items(), lambda of: _fetched(*of))
        made: Response = copied(answered, responses=topics)
        return made

    return Refusal(copied(message, max_wait_ms=0), completing)


def _key(place: Place, version: int) -> str | bytes:
    return (place.topic_id or b"") if version >= _FETCHES_BY_ID else (place.topic or "")


def _fetched(key: str | bytes, partitions: list[PartitionData]) -> FetchableTopicResponse:
    if isinstance(key, bytes):
        return FetchableTopicResponse(topic_id=key, partitions=partitions)
    return FetchableTopicResponse(topic=key, partitions=partitions)
