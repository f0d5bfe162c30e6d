"""Writing the log: lines are numbered, kept in order, and handed to the file when `flush` is called.

Same calls, same bytes: nothing here reads a clock or a random number, and keys come in a fixed order. The driver calls
`flush` before replies leave, so a log never knows less than a client does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import JSONEncoder
from os import PathLike
from typing import Any, BinaryIO, Final

from coordinator import __version__

from ..groups.events import Event
from ..transactions.events import Event as TransactionEvent
from .codec import shapes, transaction_shapes
from .envelope import FORMAT_VERSION, HEADER_STREAM, HEADER_TYPE, PLACES
from .reader import read_lines

_ENOUGH_LINES: Final = 1024
"""So many lines wait at most for a flush."""


def _hex(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    raise TypeError(f"{value!r} cannot stand in the log: plain values and bytes can")


_encode = JSONEncoder(separators=(",", ":"), default=_hex).encode


class EventLog:
    """One run's log, in a file (`EventLog.open`) or in memory (`EventLog()`).

    `run` names the run (default: the seed in hexadecimal), `epoch_ms` is the wall clock of the driver's zero, `config` what
    is in force. `now_ms` is the instant of lines that are appended without one; whoever tells the time keeps it up to date.
    """

    def __init__(
        self, file: BinaryIO | None = None, *, run: str | None = None, seed: int | None = None, epoch_ms: int = 0,
        config: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        self.run = run if run is not None else f"{seed or 0:x}"
        self.seq = 0
        self.now_ms = 0
        self.lines: list[str] = []
        """In memory: every line so far. With a file: those that wait for `flush`."""
        self._file = file
        self._shapes = shapes()
        self.lines.append(
            _encode(
                {
                    "seq": 0, "at_ms": 0, "run": self.run, "stream": HEADER_STREAM, "type": HEADER_TYPE, "cause": None,
                    "format": FORMAT_VERSION, "product": f"coordinator {__version__}", "seed": seed, "epoch_ms": epoch_ms,
                    "config": dict(sorted((config or {}).items())),
                }
            )
        )  # fmt: skip
        self.flush()

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, run: str | None = None, seed: int | None = None, epoch_ms: int = 0,
        config: Mapping[str, object] | None = None,
    ) -> EventLog:  # fmt: skip
        """Begin a log in a file; one that is there is replaced. Raises OSError."""
        return cls(open(path, "wb"), run=run, seed=seed, epoch_ms=epoch_ms, config=config)

    def append(self, stream: str, kind: str, /, *, at_ms: int | None = None, cause: int | None = None, **fields: Any) -> int:
        """Write one line and return its number. `cause`: the number of what made it happen; None for what came from outside.

        Of `fields`, those that are places (`group`, `generation`, `member`, `broker`, `topic`, `partition`) move to the front and
        are left out when None; the others follow as they are given. Bytes become hex.
        """
        self.seq += 1
        assert cause is None or cause < self.seq, f"{kind}: its cause {cause} has not happened yet"
        at_ms = self.now_ms if at_ms is None else at_ms
        line = {"seq": self.seq, "at_ms": at_ms, "run": self.run, "stream": stream, "type": kind, "cause": cause}
        for place in PLACES:
            value = fields.pop(place, None)
            if value is not None:
                line[place] = value
        assert line.keys().isdisjoint(fields), f"{kind}: a field of the envelope cannot be an event's own"
        line.update(fields)
        self._write(line)
        return self.seq

    def group_event(self, group: str, generation: int, event: Event, at_ms: int, cause: int | None) -> int:
        """Write one event of a group, `generation` being the group's after it; returns its number."""
        self.seq += 1
        shape = self._shapes[type(event)]
        line = {
            "seq": self.seq, "at_ms": at_ms, "run": self.run, "stream": "group", "type": shape.name, "cause": cause, "group": group,
            "generation": generation, "member": None, "durable": shape.durable,
        }  # fmt: skip
        for (_, key, write, _, _), value in zip(shape.fields, event, strict=True):
            line[key] = value if write is None or value is None else write(value)
        if not line["member"]:
            del line["member"]
        self._write(line)
        return self.seq

    def transaction_event(self, event: TransactionEvent, at_ms: int, cause: int | None) -> int:
        """Write one event of a transactional id; returns its number."""
        self.seq += 1
        shape = transaction_shapes()[type(event)]
        line = {"seq": self.seq, "at_ms": at_ms, "run": self.run, "stream": "transaction", "type": shape.name, "cause": cause}
        for (_, key, write, _, _), value in zip(shape.fields, event, strict=True):
            line[key] = value if write is None else write(value)
        self._write(line)
        return self.seq

    def _write(self, line: dict[str, Any]) -> None:
        self.lines.append(_encode(line))
        if self._file is not None and len(self.lines) >= _ENOUGH_LINES:
            self.flush()

    def flush(self) -> None:
        """Hand what waits to the operating system. Cheap when nothing waits. Raises OSError."""
        if self._file is not None and self.lines:
            self._file.write(("\n".join(self.lines) + "\n").encode("ascii"))
            self._file.flush()
            self.lines.clear()

    def close(self) -> None:
        """Flush and end. A log in memory stays readable."""
        if self._file is not None:
            self.flush()
            self._file.close()
            self._file = None

    def events(self) -> Iterator[dict[str, Any]]:
        """What a log in memory holds, as `read` gives it."""
        return read_lines((line + "\n" for line in self.lines), "log in memory")
