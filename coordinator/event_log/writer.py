"""Writing the log: lines are numbered, kept in order, and handed to the file when `flush` is
called.

Same calls, same bytes: nothing here reads a clock or a random number, and keys come in a fixed
order. The driver calls `flush` before replies leave, so a log never knows less than a client does.

When the file cannot be written (no space is left, say), `writable` turns False and one message
tells so. Lines that were accepted before wait in memory, in order and to the byte; every later
`flush` tries again. Whoever changes anything that is logged asks `writable` first and refuses or
puts it off; lines of stream `wire` are left out meanwhile and counted, and a `LogGap` tells how
many once the file takes lines again. So nothing is written twice and no change is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from errno import EAGAIN
from functools import lru_cache
from io import SEEK_END, RawIOBase
from os import PathLike, fspath
from typing import Any, BinaryIO, Final

from coordinator.releases import NEWEST
from coordinator.version import __version__

from ..groups.events import Event
from ..shards.availability import AvailabilityEvent
from ..share_partitions.events import Event as SharePartitionEvent
from ..share_states.events import Event as ShareStateEvent
from ..transactions.events import Event as TransactionEvent
from .codec import (
    COORDINATOR_WRITING,
    GROUP_WRITING,
    SHARE_WRITING,
    TRANSACTION_WRITING,
    Writing,
)
from .envelope import ENVELOPE, FORMAT_VERSION, GAP_TYPE, HEADER_STREAM, HEADER_TYPE, PLACES
from .log_file import LogMode, open_log
from .reader import read_lines
from .text import text, value_text

_ENVELOPE: Final = frozenset(ENVELOPE[: -len(PLACES) - 1])
_ENOUGH_LINES: Final = 1024
"""So many lines wait at most for a flush."""


class EventLog:
    """One run's log, in a file (`EventLog.open`) or in memory (`EventLog()`).

    `run` names the run (default: the seed in hexadecimal), `epoch_ms` is the wall clock of the
    driver's zero, `config` what is in force, `kafka_version` the release that the brokers behave as.
    """

    text = staticmethod(text)
    """A string as it stands in a line."""
    value_text = staticmethod(value_text)
    """Any plain value as it stands in a line."""

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
        """`file`: unbuffered, so that what a failed write has written is known. Raises OSError if
        it does not take the header.

        `most_lines`: a log in memory keeps its header and about so many of its latest lines (None:
        all).
        """
        self.dropped = 0
        """How many lines a log in memory has let go."""
        self._most_lines = most_lines
        self.data = False
        """True if lines of stream `data` are written; whoever owns the log turns it on."""
        self.wire = True
        """True if lines of stream `wire` about requests are written; where nobody reads them, they
        are numbered only."""
        self.heard: Callable[[str, str], None] | None = None
        """Told the type of every line, and the line; it must not write lines itself."""
        self.run = run if run is not None else f"{seed or 0:x}"
        self.seq = 0
        self.name = name
        self.lines: list[str] = []
        """In memory: every line so far. With a file: those that wait for `flush`."""
        self.writable = True
        """True if lines reach the file. While they do not, nothing that is logged may change."""
        self.gathers = False
        """True if `flush` lets lines wait until there are many: where nobody could read them before
        whoever writes them goes on."""
        self.tell: Callable[[str], None] = lambda message: None
        """Told, in a sentence, when the file stops and when it begins again to take lines; the
        driver gives it."""
        self.followers: list[Callable[[str], None]] = []
        """Each is called with every line, as it stands in the log, when it is written."""
        self._file = file
        # accepted, on its way to a file that does not take it; may begin in the midst of a line
        self._unwritten = b""
        self._left_out: list[
            int
            # how many wire lines are left out while it does not; the first and last one's instant
        ] = []
        self._run = text(self.run)
        self.lines.append(
            value_text(
                {
                    "seq": 0,
                    "at_ms": 0,
                    "run": self.run,
                    "stream": HEADER_STREAM,
                    "type": HEADER_TYPE,
                    "cause": None,
                    "format": FORMAT_VERSION,
                    "product": f"coordinator {__version__}",
                    "kafka_version": kafka_version,
                    "seed": seed,
                    "epoch_ms": epoch_ms,
                    "config": dict(sorted((config or {}).items())),
                }
            )
        )
        failure = self._hand_over()
        if failure is not None:
            raise failure

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
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
                name=fspath(path),
            )
        except OSError:
            if file.seekable():
                file.truncate(size)
            file.close()
            raise

    def append(
        self, stream: str, kind: str, /, *, at_ms: int, cause: int | None = None, **fields: Any
    ) -> int:
        """Write one line and return its number. `at_ms`: when it happened, since the driver's zero.
        `cause`: the number of what made it happen; None for what came from outside.

        Of `fields`, those that are places (`group`, `generation`, `member`, `broker`, `topic`,
        `partition`) move to the front and are left out when None; the others follow as they are
        given. Bytes become hex.
        """
        rest = ""
        for key, before, is_place in _in_order(kind, tuple(fields)):
            value = fields[key]
            kind_of_value = type(value)
            if kind_of_value is str:
                rest += before + text(value)
            elif kind_of_value is int:
                rest += f"{before}{value}"
            elif value is not None or not is_place:
                rest += before + value_text(value)
        return self.add(stream, kind, at_ms, cause, rest)

    def add(self, stream: str, kind: str, at_ms: int, cause: int | None, rest: str) -> int:
        """As `append`, for who has made the text of the places and of the fields: `,"key":value`
        each, in this order."""
        self.seq = seq = self.seq + 1
        assert cause is None or cause < seq, f"{kind}: its cause {cause} has not happened yet"
        line = (
            f'{{"seq":{seq},"at_ms":{at_ms},"run":{self._run},"stream":"{stream}","type":"{kind}",'
            f'"cause":{"null" if cause is None else cause}{rest}}}'
        )
        if self.heard is not None:
            self.heard(kind, line)
        self.lines.append(line)
        if self.followers:
            for follow in self.followers:
                follow(line)
        if self._file is not None and len(self.lines) >= _ENOUGH_LINES:
            self.flush()
        return seq

    def group_event(
        self,
        group: str,
        generation: int | None,
        event: Event,
        at_ms: int,
        cause: int | None,
        broker: int | None = None,
    ) -> int:
        """Write one event of a group, `generation` being the group's after it (None: a consumer
        group); returns its number.

        `broker`: which of several brokers coordinates the group.
        """
        how = GROUP_WRITING[type(event)]
        values: tuple[Any, ...] = event
        if how.generation is not None:
            generation = values[how.generation]
        places = (
            f',"group":{text(group)}'
            if generation is None
            else f',"group":{text(group)},"generation":{generation}'
        )
        if how.member is not None and (member := values[how.member]):
            places += f',"member":{text(member)}'
        if broker is not None:
            places += f',"broker":{broker}'
        return self.add(
            "group", how.name, at_ms, cause, f'{places},"durable":{how.durable}{how.rest(event)}'
        )

    def listener_event(
        self,
        kind: str,
        at_ms: int,
        group: str,
        generation: int | None,
        member: str,
        client: str,
        member_epoch: int | None,
        partitions: Iterable[tuple[str, int]],
    ) -> int:
        """Write what a member's listener was told of partitions, topic and number each; returns its
        number.

        `generation`: of a member of a classic group; `member_epoch`: of one of a consumer group.
        `member`: its id, empty if it has none.
        """
        rows = ",".join(
            [f'{{"topic":{text(topic)},"partition":{number}}}' for topic, number in partitions]
        )
        of = "" if generation is None else f',"generation":{generation}'
        who = f',"member":{text(member)}' if member else ""
        epoch = "" if member_epoch is None else f',"member_epoch":{member_epoch}'
        rest = (
            f',"group":{text(group)}{of}{who},"client":{text(client)}{epoch},"partitions":[{rows}]'
        )
        return self.add("member", kind, at_ms, None, rest)

    def transaction_event(
        self, event: TransactionEvent, at_ms: int, cause: int | None, broker: int | None = None
    ) -> int:
        """Write one event of a transactional id, of several brokers' by `broker`; returns its
        number."""
        return self._plain_event(
            "transaction", TRANSACTION_WRITING[type(event)], event, at_ms, cause, broker
        )

    def coordinator_event(
        self, event: AvailabilityEvent, at_ms: int, cause: int | None, broker: int | None = None
    ) -> int:
        """Write one event of the group coordinator itself, of several that of `broker`; returns its
        number."""
        return self._plain_event(
            "coordinator", COORDINATOR_WRITING[type(event)], event, at_ms, cause, broker
        )

    def share_event(
        self,
        group: str,
        topic: str,
        partition: int,
        event: SharePartitionEvent | ShareStateEvent,
        at_ms: int,
        cause: int | None,
        broker: int | None = None,
    ) -> int:
        """Write one event of a share partition, of several brokers' by `broker`; returns its
        number. `topic`: its name, empty if it is known by its id only."""
        how = SHARE_WRITING[type(event)]
        places = f',"group":{text(group)}'
        if how.member is not None and (member := event[how.member]):
            places += f',"member":{text(str(member))}'
        if broker is not None:
            places += f',"broker":{broker}'
        places += f',"topic":{text(topic)},"partition":{partition}'
        return self.add(
            "share", how.name, at_ms, cause, f'{places},"durable":{how.durable}{how.rest(event)}'
        )

    def _plain_event(
        self,
        stream: str,
        how: Writing,
        event: Any,
        at_ms: int,
        cause: int | None,
        broker: int | None,
    ) -> int:
        of = "" if broker is None else f',"broker":{broker}'
        return self.add(stream, how.name, at_ms, cause, of + how.rest(event))

    def leave_out(self, at_ms: int) -> None:
        """Count a line of stream `wire` that is not written because the file takes none now."""
        self._left_out = (
            [self._left_out[0] + 1, self._left_out[1], at_ms]
            if self._left_out
            else [1, at_ms, at_ms]
        )

    def flush(self) -> None:
        """Hand what waits to the operating system. Cheap when nothing waits. What cannot be written
        waits for the next time."""
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
        """Write what waits, as much of it as the file takes; why it does not take the rest, if
        so."""
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
        """The file takes lines again: say what is missing between them."""
        self.writable = True
        missing = ""
        if self._left_out:
            count, first_ms, last_ms = self._left_out
            self._left_out = []
            self.append("wire", GAP_TYPE, at_ms=last_ms, left_out=count, since_ms=first_ms)
            missing = f"; {count} line{'s' if count > 1 else ''} about requests meanwhile {'are' if count > 1 else 'is'} left out"
        self.tell(
            f"the event log {self.name} can be written again, and nothing that changed is missing{missing}"
        )
        self.flush()

    def close(self) -> None:
        """Flush and end. A log in memory stays readable."""
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

    def events(self) -> Iterator[dict[str, Any]]:
        """The events of a log in memory, as `read` gives it."""
        return read_lines((line + "\n" for line in self.lines), "log in memory")


@lru_cache(maxsize=1024)
def _in_order(kind: str, fields: tuple[str, ...]) -> tuple[tuple[str, str, bool], ...]:
    """The fields of a type of lines as they stand in one, each with what stands before its value,
    and whether it is a place."""
    own = [key for key in fields if key not in PLACES]
    assert _ENVELOPE.isdisjoint(own), f"{kind}: a field of the envelope cannot be an event's own"
    places = [key for key in PLACES if key in fields]
    return tuple([(key, f",{text(key)}:", key in PLACES) for key in (*places, *own)])


def _free_name(name: str, taken: Collection[str]) -> str:
    """A run's name that no other run of the file has: its own, or with a number after it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
