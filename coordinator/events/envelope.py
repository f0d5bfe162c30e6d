"""The common part of all lines of the log: its keys and their order, the streams, the header.
Values only, no reading or writing."""

from __future__ import annotations

from typing import Final

FORMAT_VERSION: Final = 1
"""Raised when a line's meaning changes. New types, new fields and new streams do not raise it."""

HEADER_STREAM: Final = "run"
HEADER_TYPE: Final = "RunStarted"
GAP_TYPE: Final = "LogGap"
"""Wire lines are missing here: the file could not be written when they came."""

STREAMS: Final = (
    HEADER_STREAM,
    "group",
    "coordinator",
    "transaction",
    "share",
    "cluster",
    "wire",
    "member",
    "fault",
    "seen",
)

PLACES: Final = ("group", "generation", "member", "broker", "topic", "partition")
"""The places of a line; left out where they do not apply. They come in this order, after seq,
at_ms, run, stream, type, cause."""

LOG_MODES: Final = ("new", "append", "replace")
"""The ways to treat a file that is there already when a log is opened (`log_file`)."""

ENVELOPE: Final = ("seq", "at_ms", "run", "stream", "type", "cause", *PLACES, "durable")
