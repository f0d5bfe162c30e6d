"""What every line of the log has in common: its keys and their order, the streams, the header. Values only, no reading or writing."""

from __future__ import annotations

from typing import Final

FORMAT_VERSION: Final = 1
"""Raised when a line's meaning changes. New types, new fields and new streams do not raise it."""

HEADER_STREAM: Final = "run"
HEADER_TYPE: Final = "RunStarted"

STREAMS: Final = (HEADER_STREAM, "group", "transaction", "cluster", "wire", "member", "fault")

PLACES: Final = ("group", "generation", "member", "broker", "topic", "partition")
"""Where a line belongs; left out where they do not apply. They come in this order, after seq, at_ms, run, stream, type, cause."""

ENVELOPE: Final = ("seq", "at_ms", "run", "stream", "type", "cause", *PLACES, "durable")
