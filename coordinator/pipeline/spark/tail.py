"""A Python data source for Spark that follows a log while it grows: `spark.readStream.format("coordinator_log").load(path)`.

A row is a line: its group (empty without one), its seq, and its text. Offsets are bytes, and always end after a newline, so a line that
is half written is read when it is whole. A log that became shorter is not the log that was followed: an error says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

SCHEMA = "group_id string, seq long, line string"
NAME = "coordinator_log"
_MOST_BYTES = 16 << 20
_STEP = 1 << 16


class Slice(InputPartition):  # type: ignore[misc]
    """A part of the file."""

    def __init__(self, path: str, begin: int, end: int) -> None:
        self.path = path
        self.begin = begin
        self.end = end


class LogSource(DataSource):  # type: ignore[misc]
    """The data source. Its one option is the path."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return NAME

    def schema(self) -> str:
        """A row."""
        return SCHEMA

    def streamReader(self, schema: Any) -> LogStreamReader:  # noqa: N802
        """Follow the log."""
        return LogStreamReader(self.options["path"])


class LogStreamReader(DataSourceStreamReader):  # type: ignore[misc]
    """Offsets and slices of one growing file, which may not be there yet."""

    def __init__(self, path: str) -> None:
        self._path = path

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """The file's beginning."""
        return {"bytes": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        """After the last whole line, but not farther than a batch should go. Raises OSError, and ValueError for a shorter log."""
        begin = start["bytes"]
        size = os.path.getsize(self._path) if os.path.exists(self._path) else 0
        if size < begin:
            raise ValueError(f"{self._path}: it has {size} bytes, and {begin} were read before: this is another log; follow it anew")
        return {"bytes": last_newline(self._path, begin, min(size, begin + _MOST_BYTES)) if size > begin else begin}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Slice]:
        """One slice: a log has one order."""
        return [Slice(self._path, start["bytes"], end["bytes"])] if end["bytes"] > start["bytes"] else []

    def read(self, partition: Any) -> Iterator[tuple[str, int, str]]:
        """The lines of a slice."""
        with open(partition.path, "rb") as file:
            file.seek(partition.begin)
            text = file.read(partition.end - partition.begin)
        for raw in text.splitlines():
            line = str(raw, "utf-8", "replace")
            yield (*keys_of(line), line)


def last_newline(path: str, begin: int, end: int) -> int:
    """The offset after the last newline before `end`; `begin` if there is none after it."""
    with open(path, "rb") as file:
        at = end
        while at > begin:
            step = max(begin, at - _STEP)
            file.seek(step)
            found = file.read(at - step).rfind(b"\n")
            if found >= 0:
                return step + found + 1
            at = step
    return begin


def keys_of(text: str) -> tuple[str, int]:
    """A line's group and seq; what is no line has neither."""
    try:
        line = json.loads(text)
        return str(line.get("group") or ""), int(line["seq"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return "", -1
