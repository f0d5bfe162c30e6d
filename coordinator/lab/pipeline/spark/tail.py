"""A Python data source for Spark that follows a log while it grows:
`spark.readStream.format("coordinator_log").load(path)`.

A row has one group's lines in a slice of the log (group empty: lines without a group): the seq
of the first line, the lines that a watch reads, and the number of all. So few rows go from
Python to Java and back, however fast the log grows. Offsets are bytes and always end after a
newline, so a half-written line is read when it is complete. If the log became shorter, it is
another log: an error says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from coordinator.events.line import Line

from ..alerts import WATCHED

SCHEMA = "group_id string, seq long, line string, lines long"
"""`line`: one line of the log, or several with newlines between them; `lines`: how many the row
stands for."""
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
        """Return the format's name."""
        return NAME

    def schema(self) -> str:
        """Return the schema of a row."""
        return SCHEMA

    def streamReader(self, schema: Any) -> LogStreamReader:  # noqa: N802
        """Follow the log."""
        return LogStreamReader(self.options["path"])


class LogStreamReader(DataSourceStreamReader):  # type: ignore[misc]
    """Offsets and slices of one growing file, which may not be there yet."""

    def __init__(self, path: str) -> None:
        self._path = path

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Return the offset of the file's beginning."""
        return {"bytes": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        """Return the offset after the last whole line, limited to the size of a batch. Raises
        OSError, and ValueError if the log has become shorter."""
        begin = start["bytes"]
        size = os.path.getsize(self._path) if os.path.exists(self._path) else 0
        if size < begin:
            raise ValueError(
                f"{self._path}: it has {size} bytes, and {begin} were read before: this is another log; follow it anew"
            )
        return {
            "bytes": last_newline(self._path, begin, min(size, begin + _MOST_BYTES))
            if size > begin
            else begin
        }

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Slice]:
        """Return one slice, because a log has one order."""
        return (
            [Slice(self._path, start["bytes"], end["bytes"])]
            if end["bytes"] > start["bytes"]
            else []
        )

    def read(self, partition: Any) -> Iterator[tuple[str, int, str, int]]:
        """Yield the lines of a slice, group by group."""
        with open(partition.path, "rb") as file:
            file.seek(partition.begin)
            text = file.read(partition.end - partition.begin)
        groups: dict[str, _Lines] = {}
        for raw in text.splitlines():
            line = str(raw, "utf-8", "replace")
            group, seq, watched = keys_of(line)
            found = groups.get(group)
            if found is None:
                found = groups[group] = _Lines(seq)
            found.count += 1
            if watched:
                found.watched.append(line)
        for group, found in groups.items():
            yield group, found.seq, "\n".join(found.watched), found.count


class _Lines:
    """A group's lines in a slice."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.count = 0
        self.watched: list[str] = []


def last_newline(path: str, begin: int, end: int) -> int:
    """Return the offset after the last newline before `end`; `begin` if there is none after it."""
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


def keys_of(text: str) -> tuple[str, int, bool]:
    """Return a line's group and seq, and whether a watch reads it. A text that is no line is
    read by the watch, too."""
    try:
        line = Line.of(json.loads(text))
        return str(line.group or ""), int(line.seq), line.kind in WATCHED
    except (ValueError, TypeError, KeyError, AttributeError):
        return "", -1, True
