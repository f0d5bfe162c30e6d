"""Judges the cleaning of logs against the settings: retention deletes only records that are too old
or too many, whole segments at a time; the active segment is not compacted; deleted records are not
served.

Uses the stream `data` and the topics' configurations. If nothing was cleaned, there is no
verdict.
"""

from __future__ import annotations

from typing import Final

from coordinator.events.cluster import (
    ConfigChanged,
    LogCompacted,
    SegmentsDeleted,
    TopicCreated,
    TopicDeleted,
)
from coordinator.events.data import MarkerWritten, RecordsAppended, RecordsServed, SegmentRolled
from coordinator.events.handlers import on
from coordinator.events.line import Line
from coordinator.events.run import RunStarted
from coordinator.events.wire import RequestSeen
from coordinator.verbs.brokers import JumpClock

from .base import Judge

_Place = tuple[str, int]
_DELETE: Final = 1
_SETTINGS: Final = ("retention.ms", "retention.bytes")
_LOG_START: Final = "log start"


class _Log:
    """Known facts of one partition's log. `whole`: the lines have every append."""

    def __init__(self) -> None:
        self.whole = False
        self.end = 0
        self.begins: set[int] = set()
        self.start = 0


class LogsAreCleanedAsConfigured(Judge):
    """Judges that retention and compaction delete what the settings allow, and nothing else.
    `by_hand`: True if records may have been deleted without a line in the log."""

    name = "logs_cleaned_as_configured"
    promise = (
        "retention deletes only whole segments: those whose largest timestamp is older than retention.ms by the wall clock of the "
        "broker's host, and those without which the log still has retention.bytes. Compaction leaves the active segment alone. "
        "Deleted records are never served"
    )
    needs = frozenset({"cluster"})
    unasked = True

    def __init__(self, *, by_hand: bool = True) -> None:
        super().__init__()
        self._by_hand = by_hand
        self.cleaned = False
        self._epoch_ms: int | None = None
        self._ahead_ms: dict[int, int] = {}
        self._logs: dict[_Place, _Log] = {}
        self._own: dict[str, dict[str, str]] = {}

    @property
    def idle(self) -> bool:
        """Return True if nothing was cleaned."""
        return not self.cleaned

    @on(RunStarted)
    def _began(self, _: Line, event: RunStarted) -> None:
        self._epoch_ms = event.epoch_ms or None  # 0: the driver told none

    @on(RequestSeen)
    def _seen(self, _: Line, event: RequestSeen) -> None:
        self._by_hand |= event.api == "delete_records"

    @on(JumpClock)
    def _jumped(self, _: Line, event: JumpClock) -> None:
        self._ahead_ms[event.broker] = self._ahead_ms.get(event.broker, 0) + event.by_ms

    @on(TopicCreated)
    def _created(self, _: Line, event: TopicCreated) -> None:
        self._own[event.topic] = dict(event.configs)

    @on(TopicDeleted)
    def _gone(self, _: Line, event: TopicDeleted) -> None:
        self._own.pop(event.topic, None)
        for place in [place for place in self._logs if place[0] == event.topic]:
            del self._logs[place]

    @on(ConfigChanged)
    def _configured(self, _: Line, event: ConfigChanged) -> None:
        if event.resource != "topic":
            return
        own = self._own.setdefault(event.name, {})
        if event.replace:
            own.clear()
        for name, operation, value in event.changes:
            if operation == _DELETE or value is None:
                own.pop(name, None)
            else:
                own[name] = value

    @on(RecordsAppended)
    def _appended(self, line: Line, event: RecordsAppended) -> None:
        log = self._log(line)
        log.whole = log.whole or event.offset == 0
        log.end = max(log.end, event.last_offset + 1)

    @on(MarkerWritten)
    def _marked(self, line: Line, event: MarkerWritten) -> None:
        self._log(line).end = max(self._log(line).end, event.offset + 1)

    @on(SegmentRolled)
    def _rolled(self, line: Line, event: SegmentRolled) -> None:
        self._log(line).begins.add(event.offset)

    @on(RecordsServed)
    def _served(self, line: Line, event: RecordsServed) -> None:
        log = self._logs.get(_place(line))
        if log is not None and event.offset < log.start:
            text = f"offset {event.offset} of {_told(line)} is served, although the log starts at {log.start}"
            self.blame(line, text)

    @on(SegmentsDeleted)
    def _deleted(self, line: Line, event: SegmentsDeleted) -> None:
        self.cleaned = True
        log = self._log(line)
        if event.reason == _LOG_START and not self._by_hand:
            text = f"segments of {_told(line)} were deleted because its start had moved"
            self.blame(line, f"{text}, but no client has deleted records")
        for fault in (
            *self._of_age(line, event),
            *self._of_settings(line, event),
            *_of_segments(line, event, log),
        ):
            self.blame(line, fault)
        log.start = max(log.start, event.end_offset)

    @on(LogCompacted)
    def _compacted(self, line: Line, event: LogCompacted) -> None:
        self.cleaned = True
        log = self._log(line)
        active = max(log.begins, default=0)
        if log.whole and event.end_offset > active:
            where = f"up to {event.end_offset}, although its active segment begins at {active}"
            self.blame(line, f"{_told(line)} was compacted {where}")

    def _of_age(self, line: Line, event: SegmentsDeleted) -> list[str]:
        faults = []
        if self._epoch_ms is not None and line.broker is not None:
            wall_ms = self._epoch_ms + line.at_ms + self._ahead_ms.get(line.broker, 0)
            if event.wall_ms != wall_ms:
                clock = f"at {event.wall_ms} by the event's wall clock, but the broker's shows {wall_ms}"
                faults.append(f"segments of {_told(line)} were deleted {clock}")
        age_ms = event.wall_ms - event.largest_timestamp_ms
        if event.reason != "retention.ms":
            return faults
        if event.retention_ms < 0:
            faults.append(f"segments of {_told(line)} are to be kept whatever their age")
        elif event.largest_timestamp_ms >= 0 and age_ms <= event.retention_ms:
            young = f"{age_ms} ms old, although retention.ms is {event.retention_ms}"
            faults.append(f"records of {_told(line)} were deleted that are {young}")
        return faults

    def _of_settings(self, line: Line, event: SegmentsDeleted) -> list[str]:
        own, faults = self._own.get(line.topic or "", {}), []
        for name, used in zip(_SETTINGS, (event.retention_ms, event.retention_bytes), strict=True):
            if name in own and own[name].strip() != str(used):
                faults.append(
                    f"{_told(line)} was cleaned with {name}={used}, but the setting is {own[name]}"
                )
        policy = own.get("cleanup.policy")
        if policy is not None and "delete" not in policy and event.reason != _LOG_START:
            faults.append(f"{_told(line)} has cleanup.policy={policy or '(none)'}")
        if event.reason == "retention.bytes" and event.retention_bytes < 0:
            faults.append(f"segments of {_told(line)} are to be kept whatever their size")
        return faults

    def _log(self, line: Line) -> _Log:
        return self._logs.setdefault(_place(line), _Log())


def _of_segments(line: Line, event: SegmentsDeleted, log: _Log) -> list[str]:
    """Return findings if the log now starts neither at the beginning of a segment nor at its
    end. Only for a log whose appends are all known."""
    begins = event.end_offset in log.begins or event.end_offset >= log.end
    if not log.whole or begins or event.end_offset == event.first_offset:
        return []
    return [f"{_told(line)} starts at {event.end_offset}, within a segment"]


def _place(line: Line) -> _Place:
    return line.topic or "", line.partition or 0


def _told(line: Line) -> str:
    return f"{line.topic}-{line.partition}"
