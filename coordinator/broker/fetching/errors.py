"""Injected errors of a Fetch: beside the partition that fails, with its fetch session kept in step
(KIP-227).

A session's partitions are not named again by each request, so who asks for an error tells what the
request reads. It does not depend on the broker's sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ...wire.schema import Response
from ..error_responses import Chosen, Place, Refusal, copied

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
    """Let chosen partitions of a Fetch fail. `reads`: all that it reads, those of its session
    included.

    The handler is asked, so that the session goes on, but it does not wait for records; what it
    says of the chosen partitions becomes their error, and those it says nothing of are added.
    """
    failed = [place for place in reads if chosen(place)]
    if not failed:
        return None

    def complete(answered: Response | None) -> Response:
        assert isinstance(answered, FetchResponse)
        if answered.error_code:
            return answered
        rows = {(_key(place, version), place.partition or 0): None for place in failed}
        kept: dict[str | bytes, list[PartitionData]] = {}
        for topic in answered.responses:
            key = topic.topic_id if version >= _FETCHES_BY_ID else topic.topic
            kept[key] = [row for row in topic.partitions if (key, row.partition_index) not in rows]
        for key, index in rows:
            kept.setdefault(key, []).append(
                PartitionData(partition_index=index, error_code=error, **_NO_DATA)
            )
        whole: Response = copied(
            answered, responses=[_fetched(key, partitions) for key, partitions in kept.items()]
        )
        return whole

    return Refusal(copied(message, max_wait_ms=0), complete)


def _key(place: Place, version: int) -> str | bytes:
    return (place.topic_id or b"") if version >= _FETCHES_BY_ID else (place.topic or "")


def _fetched(key: str | bytes, partitions: list[PartitionData]) -> FetchableTopicResponse:
    if isinstance(key, bytes):
        return FetchableTopicResponse(topic_id=key, partitions=partitions)
    return FetchableTopicResponse(topic=key, partitions=partitions)
