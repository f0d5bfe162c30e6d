"""One line of a log: the envelope and the places as attributes, and the event.

The event is made from the line's JSON at first use: most readers look at few types of lines.
Lines of a log that is not written to a file hold the event from the start, without JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from coordinator.base.contradictions import what_failed
from coordinator.base.printable import printable

from .envelope import PLACES
from .values import BadValue, text
from .vocabulary import TYPES, EventType, type_of, unknown


class LogError(ValueError):
    """A text that is not an event log; the message says where, what stands there, and what would be
    right.
    """

    def __init__(self, name: str, number: int, what: str) -> None:
        super().__init__(printable(f"{name}, line {number}: {what}"))
        self.number = number
        self.what = what


class Line:
    """A line of a log. Places (`group`, `generation`, `member`, `broker`, `topic`, `partition`) are
    None where they do not apply.

    `cause`: the `seq` of the line that caused it, None for an event from outside. `kind`: the
    class of its event. Two lines are equal if their JSON is.
    """

    __slots__ = (
        "_event",
        "_plain",
        "_where",
        "at_ms",
        "broker",
        "cause",
        "generation",
        "group",
        "kind",
        "member",
        "partition",
        "run",
        "seq",
        "stream",
        "topic",
        "type",
    )

    def __init__(
        self,
        seq: int,
        at_ms: int,
        run: str,
        type_: EventType,
        cause: int | None,
        group: str | None,
        generation: int | None,
        member: str | None,
        broker: int | None,
        topic: str | None,
        partition: int | None,
        event: Any,
        plain: dict[str, Any] | None,
        where: tuple[str, int] | None = None,
    ) -> None:
        self.seq = seq
        self.at_ms = at_ms
        self.run = run
        self.type = type_
        self.stream = type_.stream
        self.kind = type_.kind
        self.cause = cause
        self.group = group
        self.generation = generation
        self.member = member
        self.broker = broker
        self.topic = topic
        self.partition = partition
        self._event = event
        self._plain = plain
        self._where = where

    @classmethod
    def of(cls, plain: dict[str, Any], where: tuple[str, int] | None = None) -> Line:
        """Return the line of a dictionary with the keys of a line's JSON, whose envelope is right.
        `where`: name of its log and number of the line, for errors."""
        get = plain.get
        stream, name = plain["stream"], plain["type"]
        return cls(
            plain["seq"],
            plain["at_ms"],
            plain["run"],
            TYPES.get((stream, name)) or unknown(stream, name),
            get("cause"),
            get("group"),
            get("generation"),
            get("member"),
            get("broker"),
            get("topic"),
            get("partition"),
            None,
            plain,
            where,
        )

    @property
    def name(self) -> str:
        """Name of the line's type, as `type` in its JSON has it."""
        return self.type.name

    @property
    def event(self) -> Any:
        """The event. Raises LogError, with the line, if a field is missing or its value cannot be
        read."""
        event = self._event
        if event is None:
            try:
                event = self._event = self.type.event(self.plain)
            except BadValue as error:
                name, number = self._where or ("log", self.seq)
                what = f"{error}: no {self.name} as docs/event_log.md has it"
                raise LogError(name, number, what) from None
        return event

    def contradicts(self, error: Exception, whom: str) -> LogError:
        """Return the error for a line that a reader could not fold; `whom` names the reader."""
        name, number = self._where or ("log", self.seq)
        what = f"seq {self.seq}: {self.name} contradicts what {whom} knows from the lines before it"
        return LogError(name, number, f"{what} ({what_failed(error)})")

    @property
    def extra(self) -> Mapping[str, Any]:
        """Fields that this version does not know, by their keys."""
        return {} if self._plain is None else self.type.extra(self._plain)

    @property
    def plain(self) -> dict[str, Any]:
        """Return the line as the dictionary of its JSON. Callers must not change it."""
        plain = self._plain
        if plain is None:
            plain = self._plain = json.loads(self.text)
        return plain

    @property
    def text(self) -> str:
        """Return the line's JSON."""
        if self._plain is not None:
            return json.dumps(self._plain, separators=(",", ":"))
        rest = self.type.text(self._event, *(getattr(self, place) for place in PLACES))
        return line_text(self.seq, self.at_ms, text(self.run), self.type, self.cause, rest)

    def without(self, field: str) -> Line:
        """Return a copy of the line in which a field with several values is empty, for readers that
        keep many lines in order to look up causes.
        """
        event, plain = self._event, self._plain
        if event is not None:
            event, plain = event._replace(**{field: ()}), None
        elif plain is not None:
            plain = {**plain, field: []}
        return self._with(event, plain)

    def keep(self, plain: dict[str, Any]) -> None:
        """Hold another dictionary with the same keys and values, which takes less memory."""
        self._plain = plain

    def _with(self, event: Any, plain: dict[str, Any] | None) -> Line:
        return Line(
            self.seq,
            self.at_ms,
            self.run,
            self.type,
            self.cause,
            self.group,
            self.generation,
            self.member,
            self.broker,
            self.topic,
            self.partition,
            event,
            plain,
            self._where,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self.plain == other.plain

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Line.of, (self.plain, self._where)

    def __repr__(self) -> str:
        return f"Line({self.seq}, {self.at_ms} ms, {self.stream} {self.name})"


def line_of(
    event: Any,
    *,
    seq: int = 0,
    at_ms: int = 0,
    run: str = "0",
    cause: int | None = None,
    group: str | None = None,
    generation: int | None = None,
    member: str | None = None,
    broker: int | None = None,
    topic: str | None = None,
    partition: int | None = None,
) -> Line:
    """Return the line of an event. A place that the event names itself need not be given."""
    type_ = type_of(event)
    return Line(
        seq,
        at_ms,
        run,
        type_,
        cause,
        *type_.places(event, group, generation, member, broker, topic, partition),
        event,
        None,
    )


def lines_of(plains: Iterable[dict[str, Any]]) -> list[Line]:
    """Return the lines of dictionaries with the keys of lines' JSON, whose envelopes are right."""
    return [Line.of(plain) for plain in plains]


def line_text(
    seq: int, at_ms: int, run: str, type_: EventType, cause: int | None, rest: str
) -> str:
    """Return the JSON of a line. `run`: as JSON has it; `rest`: places and fields, as
    `EventType.text` gives them."""
    return (
        f'{{"seq":{seq},"at_ms":{at_ms},"run":{run},"stream":"{type_.stream}","type":"{type_.name}",'
        f'"cause":{"null" if cause is None else cause}{rest}}}'
    )
