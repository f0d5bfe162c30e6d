"""Waits for lines of the event log: a pattern of lines, as data, and the waiter for it.

A waiter sees the lines that exist already and each one that is written later. Everything here is
called between two requests. How long to wait is the caller's decision.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coordinator.events.line import Line
from coordinator.events.vocabulary import STREAMS, unknown_field, unknown_type

from .waiting import WaitTimeoutError, not_in_time
from .waits import names_by_protocol
from .waits.expectations import ExpectationError

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from .session import KitSession

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class EventPattern:
    """A pattern of lines: type, group, stream and fields, written after `mark`. `count`: the
    number of lines to wait for. None does not matter."""

    kind: str | None = None
    group: str | None = None
    stream: str | None = None
    since: int = 0
    count: int = 1
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_words(self.kind, self.group, self.stream, self.fields, self.since)
        if self.kind is None and self.group is None and self.stream is None and not self.fields:
            raise ExpectationError(
                "wait for which event? Give its type, such as MemberRemoved, a group, a stream or fields"
            )
        if type(self.count) is not int or self.count < 1:
            raise ExpectationError(f"count: {self.count!r}; a whole number from 1 on")

    @property
    def wanted(self) -> dict[str, Any]:
        """The wanted values of a line, by field."""
        given = {"type": self.kind, "group": self.group, "stream": self.stream}
        return {name: value for name, value in given.items() if value is not None} | dict(
            self.fields
        )

    def matches(self, line: Line) -> bool:
        """Return True if the pattern selects this line."""
        return line.seq >= self.since and self.fits(line)

    def fits(self, line: Line) -> bool:
        """Return True if the pattern selects this line apart from its place in the log."""
        plain = line.plain
        return all(plain.get(name) == value for name, value in self.wanted.items())

    def __str__(self) -> str:
        what = ", ".join(f"{name} {value}" for name, value in self.wanted.items())
        return f"{self.count} events with {what}" if self.count > 1 else f"an event with {what}"


def check_words(
    kind: object, group: object, stream: object, fields: Iterable[str], since: object
) -> None:
    """Raise ExpectationError for a type, a stream or a field that no line can have, or for an
    invalid mark; the error names what exists."""
    if type(since) is not int or since < 0:
        raise ExpectationError(
            f"since: {since!r}; give what mark() returned, a whole number from 0 on"
        )
    for name, value in (("kind", kind), ("group", group), ("stream", stream)):
        if value is not None and not isinstance(value, str):
            raise ExpectationError(f"{name}: {value!r} is no text")
    if stream is not None and stream not in STREAMS:
        raise ExpectationError(f"there is no stream {stream!r}; there are: {', '.join(STREAMS)}")
    why = "" if kind is None else unknown_type(str(kind), None if stream is None else str(stream))
    for reason in (why, *map(unknown_field, fields)):
        if reason:
            raise ExpectationError(reason)


def begin(
    session: KitSession, pattern: EventPattern, log: EventLog, lines: Callable[[], list[Line]]
) -> Future[list[dict[str, Any]]]:
    """Wait for lines; the future gets the first `count` of them as plain dictionaries. Raises
    ExpectationError for a type that has another name in this kind of group."""
    found = [line for line in lines() if pattern.matches(line)]
    if pattern.kind is not None and pattern.group is not None and len(found) < pattern.count:
        shard = session.serving(pattern.group).coordinator.shard_of(pattern.group)
        membership = None if shard is None else shard.groups[pattern.group].membership
        why = names_by_protocol.refused(membership, pattern.kind)
        if why:
            raise ExpectationError(f"group {pattern.group!r}: {why}")
    hint = f'"type":{json.dumps(pattern.kind)}' if pattern.kind is not None else ""

    def follow(text: str) -> None:
        if hint in text:
            line = Line.of(json.loads(text))
            if pattern.matches(line):
                found.append(line)

    def unmet() -> tuple[str, ...]:
        return () if len(found) >= pattern.count else ("it has not happened",)

    future: Future[list[dict[str, Any]]] = session.waits.begin(
        unmet, lambda: [line.plain for line in found[: pattern.count]]
    )
    if not future.done():
        log.followers.append(follow)

        def forget(_: object) -> None:
            with suppress(ValueError):
                log.followers.remove(follow)

        future.add_done_callback(forget)
    return future


def timed_out(
    session: KitSession,
    pattern: EventPattern,
    future: Future[Any],
    timeout: float,
    lines: list[Line],
    obstacles: Sequence[str],
) -> WaitTimeoutError:
    """Return the error of a wait whose time is over: what came instead, the nearest misses
    first, and obstacles."""
    session.waits.end(future)
    future.cancel()
    since = [line for line in lines if line.seq >= pattern.since]
    found = sum(map(pattern.matches, since))
    text = f"{pattern} did not come within {timeout:g} s"
    if found:
        text += f"; {found} did"
    before = [line for line in lines if line.seq < pattern.since and pattern.fits(line)]
    if before:
        text += (
            f"; it had come before, {len(before)} times, last"
            if len(before) > 1
            else "; it had come before"
        )
        text += f" as line {before[-1].seq} at {before[-1].at_ms} ms: give since= a mark() from before that"
    wanted = pattern.wanted
    about = [line for line in since if pattern.group is None or line.group == pattern.group]
    near = [line for line in since if line.name == pattern.kind and not pattern.matches(line)]
    told = [
        f"\n  line {line.seq}, at {line.at_ms} ms: {line.name} with "
        + ", ".join(
            f"{name} {line.plain.get(name)!r}, not {value!r}"
            for name, value in wanted.items()
            if line.plain.get(name) != value
        )
        for line in near[-_SHOWN:]
    ]
    if near:
        return not_in_time("\n".join([f"{text}.\nNearly:{''.join(told)}", *obstacles]))
    happened = ", ".join(dict.fromkeys(line.name for line in about[-20:])) or "nothing"
    whose = "" if pattern.group is None else f" to group {pattern.group!r}"
    text += f".\nWhat happened{whose} meanwhile: {happened}."
    if pattern.kind is not None and pattern.group is not None:
        of_type = session.group(pattern.group).type
        named = names_by_protocol.other_name(pattern.kind, of_type)
        text += f"\n{named}." if named else ""
    return not_in_time("\n".join([text, *obstacles]))
