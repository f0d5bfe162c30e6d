"""A topic as a test holds it, and the segments of its logs.

kafka.topic("orders").log(0)    # LogView: its segments, the oldest first
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .reachable_brokers import Reach


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment of a log. `last_offset`: offset of its last record, or `first_offset` - 1 if
    it never had one. `size`: bytes. `largest_timestamp_ms`: Unix milliseconds, or -1 if no
    record has a timestamp. `state`: `active` (records are appended to it) or `closed` (only
    closed segments are deleted or compacted)."""

    first_offset: int
    last_offset: int
    size: int
    largest_timestamp_ms: int
    state: str


@dataclass(frozen=True, slots=True)
class LogView:
    """The log of one partition at its leader. Records below `start_offset` cannot be read, even
    if their segment still exists. `size`: bytes of all segments."""

    topic: str
    partition: int
    broker: int
    start_offset: int
    end_offset: int
    size: int
    segments: tuple[SegmentView, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.topic}-{self.partition}: offsets {self.start_offset} to {self.end_offset - 1}, {self.size} bytes"
            if self.end_offset > self.start_offset
            else f"{self.topic}-{self.partition}: empty at offset {self.end_offset}, {self.size} bytes"
        ]
        lines += [
            f"  {each.first_offset} to {each.last_offset}: {each.size} bytes, {each.state}"
            for each in self.segments
        ]
        return "\n".join(lines)

    @classmethod
    def read(cls, plain: dict[str, Any]) -> LogView:
        """Read the value from the control port's answer."""
        segments = tuple(SegmentView(**each) for each in plain["segments"])
        return cls(**{**plain, "segments": segments})


class TopicHandle:
    """A topic, for a test."""

    def __init__(self, name: str, log_of: Callable[[str, int], LogView]) -> None:
        self.name = name
        self._log_of = log_of

    def log(self, partition: int = 0) -> LogView:
        """Return the log of a partition, with its segments. Raises ControlError for a partition
        that does not exist or has no leader."""
        return self._log_of(self.name, partition)

    def __repr__(self) -> str:
        return f"<topic {self.name}>"


def view(reach: Reach, name: str, index: int) -> LogView:
    """Return the log of a partition at its leader. Raises ControlError."""
    from .topics import partition_of

    broker = reach.leader_of(name, index)
    log = partition_of(broker, name, index).log
    segments = [
        SegmentView(
            each.first_offset,
            each.end_offset - 1,
            each.size,
            each.largest_timestamp,
            "active" if each.active else "closed",
        )
        for each in log.segments()
    ]
    return LogView(
        name,
        index,
        broker.node_id,
        log.log_start_offset,
        log.log_end_offset,
        log.size,
        tuple(segments),
    )
