"""Settings of a consumer for fetching: the Java consumer's names and defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..settings import TEXT, WHOLE, setting

RESETS: Final = ("earliest", "latest", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchConfig:
    """Settings of a consumer's fetches. Read it from Kafka's names with `settings.from_properties`.
    Sizes are bytes, durations milliseconds.
    """

    auto_offset_reset: str = setting("auto.offset.reset", TEXT, "latest", words=RESETS)
    """The offset to start at without a committed offset, or if it is out of range; `none`: raise an
    error."""
    max_poll_records: int = setting("max.poll.records", WHOLE, 500, least=1)
    fetch_min_bytes: int = setting("fetch.min.bytes", WHOLE, 1)
    fetch_max_bytes: int = setting("fetch.max.bytes", WHOLE, 52_428_800)
    max_partition_fetch_bytes: int = setting("max.partition.fetch.bytes", WHOLE, 1_048_576)
    fetch_max_wait_ms: int = setting("fetch.max.wait.ms", WHOLE, 500)
