"""Writing the log: lines are numbered, kept in order, and written to the file when `flush` is
called.

The same calls give the same bytes: nothing here reads a clock or a random number, and keys have
a fixed order. The driver calls `flush` before responses leave, so a log never knows less than a
client does.

When the file cannot be written (no space is left, say), `writable` becomes False and one message
says so. Lines that were accepted before wait in memory, in order and to the byte; every later
`flush` tries again. Code that changes anything that is logged asks `writable` first and refuses
or postpones the change; lines of stream `wire` are left out meanwhile and counted, and a
`LogGap` gives their number once the file can be written again. So nothing is written twice and
no change is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from errno import EAGAIN
from io import SEEK_END, RawIOBase
from typing import Any, BinaryIO, Final

from coordinator.base.releases import NEWEST
from coordinator.base.version import __version__

from .availability import AvailabilityEvent
from .envelope import FORMAT_VERSION
from .files import LogMode, LogPath, open_log
from .groups import Event as GroupEvent
from .line import Line, line_of, line_text
from .reader import read_lines
from .run import RunStarted
from .transactions import Event as TransactionEvent
from .values import text
from .vocabulary import type_of
from .wire import LogGap

_ENOUGH_LINES: Final = 1024
"""So many lines wait at most for a flush."""


class EventLog:
    """One run's log, in a file (`EventLog.open`) or in memory (`EventLog()`).

    `run` names the run (default: the seed in hexadecimal), `epoch_ms` is the wall clock at the
    driver's zero, `config` the configuration in force, `kafka_version` the release that the
    brokers behave as.
    """

    def __init__(
        self,
        file: BinaryIO | RawIOBase | None = None,
        *,
        run: str | None = None,
        seed: int | None = None,
        epoch_ms: int = 0,
        config: Mapping[str, object] | None = None,
        kafka_version: str = NEWEST.number,
        name: str = "event log",
        most_lines: int | None = None,
    ) -> None:
        """Write the header. `file`: unbuffered, so that it is known what a failed write has
        written. Raises OSError if the header cannot be written.

        `most_lines`: a log in memory keeps its header and about this many of its latest lines
        (None: all).
        """
        self.dropped = 0
        """The number of lines that a log in memory has dropped."""
        self._most_lines = most_lines
        self.data = False
        """True if lines of stream `data` are written; the owner of the log turns it on."""
        self.wire = True
        """True if lines of stream `wire` about requests are written; if they have no reader, they
        are only numbered."""
        self.heard: Callable[[Line], None] | None = None
        """Called with every line when it is written; it must not write lines itself."""
        self.run = run if run is not None else f"{seed or 0:x}"
        self.seq = 0
        self.name = name
        self.lines: list[str] = []
        """In memory: every line so far. With a file: those that wait for `flush`."""
        self.writable = True
        """True if lines can be written to the file. While it is False, nothing that is logged may
        change."""
        self.gathers = False
        """True if `flush` lets lines wait until there are many, because no reader can see the file
        before the writer goes on."""
        self.tell: Callable[[str], None] = lambda message: None
        """Told, in a sentence, when the file stops and when it begins again to take lines; the
        driver gives it."""
        self.followers: list[Callable[[str], None]] = []
        """Functions that are called with the text of every line when it is written."""
        self._file = file
        # accepted, on its way to a file that does not take it; may begin in the midst of a line
        self._unwritten = b""
        self._left_out: list[
            int
            # how many wire lines are left out while it does not; the first and last one's instant
        ] = []
        self._run = text(self.run)
        header = RunStarted(
            FORMAT_VERSION,
            f"coordinator {__version__}",
            kafka_version,
            seed,
            epoch_ms,
            dict(sorted((config or {}).items())),
        )
        self.header = line_of(header, run=self.run)
        """The first line."""
        self.lines.append(self.header.text)
        failure = self._hand_over()
        if failure is not None:
            raise failure

    @classmethod
    def open(
        cls,
        path: LogPath,
        *,
        mode: LogMode = "new",
        run: str | None = None,
        seed: int | None = None,
        epoch_ms: int = 0,
        config: Mapping[str, object] | None = None,
        kafka_version: str = NEWEST.number,
    ) -> EventLog:
        """Begin a run's log in a file. `mode`: `new` refuses a file that exists, `append` adds a
        run to it, `replace` empties it.

        Raises LogExistsError, LogError for a file that is no log and cannot be appended to, and
        OSError.
        """
        file, taken = open_log(path, mode)
        size = file.seek(0, SEEK_END) if file.seekable() else 0
        try:
            return cls(
                file,
                run=_free_name(run if run is not None else f"{seed or 0:x}", taken),
                seed=seed,
                epoch_ms=epoch_ms,
                config=config,
                kafka_version=kafka_version,
                name=str(path),
            )
        except OSError:
            if file.seekable():
                file.truncate(size)
            file.close()
            raise

    def append(
        self,
        event: Any,
        *,
        at_ms: int,
        cause: int | None = None,
        group: str | None = None,
        generation: int | None = None,
        member: str | None = None,
        broker: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> int:
        """Write the line of an event and return its number.

        `at_ms`: when it happened, since the driver's zero. `cause`: the number of the line that
        caused it; None for an event from outside. Places that do not apply are None; a place
        that is a field of the event need not be given.
        """
        type_ = type_of(event)
        rest = type_.text(event, group, generation, member, broker, topic, partition)
        self.seq = seq = self.seq + 1
        assert cause is None or cause < seq, f"{type_}: its cause {cause} has not happened yet"
        if self.heard is not None:
            places = type_.places(event, group, generation, member, broker, topic, partition)
            self.heard(Line(seq, at_ms, self.run, type_, cause, *places, event, None))
        self._put(line_text(seq, at_ms, self._run, type_, cause, rest))
        return seq

    # -- what the coordinators ask of a sink of events

    def group_event(
        self,
        group: str,
        generation: int | None,
        event: GroupEvent,
        at_ms: int,
        cause: int | None,
        broker: int | None = None,
    ) -> int:
        """Write one event of a group and return its number. `generation`: the group's generation
        after the event (None for a consumer group). `broker`: the group's coordinator, if there
        are several brokers.
        """
        return self.append(
            event, at_ms=at_ms, cause=cause, group=group, generation=generation, broker=broker
        )

    def transaction_event(
        self, event: TransactionEvent, at_ms: int, cause: int | None, broker: int | None = None
    ) -> int:
        """Write one event of a transactional id and return its number. `broker`: its coordinator,
        if there are several brokers.
        """
        return self.append(event, at_ms=at_ms, cause=cause, broker=broker)

    def coordinator_event(
        self, event: AvailabilityEvent, at_ms: int, cause: int | None, broker: int | None = None
    ) -> int:
        """Write one event of a coordinator's availability and return its number. `broker`: the
        coordinator's broker, if there are several.
        """
        return self.append(event, at_ms=at_ms, cause=cause, broker=broker)

    def _put(self, line: str) -> None:
        self.lines.append(line)
        if self.followers:
            for follow in self.followers:
                follow(line)
        if self._file is not None and len(self.lines) >= _ENOUGH_LINES:
            self.flush()

    def leave_out(self, at_ms: int) -> None:
        """Count a line of stream `wire` that is not written because the file cannot be written now."""
        self._left_out = (
            [self._left_out[0] + 1, self._left_out[1], at_ms]
            if self._left_out
            else [1, at_ms, at_ms]
        )

    def flush(self) -> None:
        """Write the waiting lines to the file. Cheap when there are none. Lines that cannot be
        written wait for the next call.
        """
        if self._file is None:
            if self._most_lines is not None and len(self.lines) > 2 * self._most_lines:
                gone = len(self.lines) - self._most_lines
                del self.lines[1 : gone + 1]
                self.dropped += gone
            return
        if not (self.lines or self._unwritten):
            return
        if self.gathers and self.writable and len(self.lines) < _ENOUGH_LINES:
            return
        failure = self._hand_over()
        if failure is None:
            if not self.writable:
                self._resume()
        elif self.writable:
            self.writable = False
            self.tell(
                f"the event log {self.name} cannot be written ({failure.strerror or failure}): whatever would change groups, transactions, "
                "topics or configurations is refused or put off until it can"
            )

    def _hand_over(self) -> OSError | None:
        """Write as many of the waiting bytes as the file takes; return the error that stopped it,
        if any.
        """
        if self._file is None:
            return None
        if self.lines:
            self._unwritten += ("\n".join(self.lines) + "\n").encode("ascii")
            self.lines.clear()
        at = 0
        try:
            while at < len(self._unwritten):
                written = self._file.write(self._unwritten[at:] if at else self._unwritten)
                if not written:
                    raise BlockingIOError(EAGAIN, "it takes no bytes now")
                at += written
        except OSError as failure:
            return failure
        finally:
            self._unwritten = self._unwritten[at:]
        return None

    def _resume(self) -> None:
        """Write the LogGap for the missing lines, because the file can be written again."""
        self.writable = True
        missing = ""
        if self._left_out:
            count, first_ms, last_ms = self._left_out
            self._left_out = []
            self.append(LogGap(count, first_ms), at_ms=last_ms)
            missing = f"; {count} line{'s' if count > 1 else ''} about requests meanwhile {'are' if count > 1 else 'is'} left out"
        self.tell(
            f"the event log {self.name} can be written again, and nothing that changed is missing{missing}"
        )
        self.flush()

    def close(self) -> None:
        """Flush and close. A log in memory stays readable."""
        if self._file is None:
            return
        self.gathers = False
        self.flush()
        lost = self._unwritten.count(b"\n")
        if lost:
            self.tell(
                f"the event log {self.name} ends {lost} line{'s' if lost > 1 else ''} too early: they could not be written"
            )
        self._file.close()
        self._file = None

    def read(self) -> Iterator[Line]:
        """Return the lines of a log in memory, with their events."""
        return read_lines((line + "\n" for line in self.lines), "log in memory")

    def events(self) -> Iterator[dict[str, Any]]:
        """Return the lines of a log in memory as plain dictionaries (docs/event_log.md)."""
        return (line.plain for line in self.read())


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a run's name that no other run of the file has: the given one, or with a number after
    it.
    """
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
