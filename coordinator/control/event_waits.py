"""Waiting for lines of the event log: which lines are meant, as data, and who waits for them.

A waiter sees the lines that are there already, and each one that is written after that. Called
between two requests; how long to wait is the waiter's own affair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..event_log.field_names import unknown_field
from ..event_log.types import TYPES, unknown_type
from .waiting import WaitTimeoutError, not_in_time
from .waits.expectations import ExpectationError

if TYPE_CHECKING:
    from ..event_log import EventLog
    from .session import KitSession

Line = dict[str, Any]
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class EventPattern:
    """Lines of a type, group and stream, with these fields, from a `mark` on; `count` of them are
    waited for. None does not matter."""

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
        """A line's wanted values, by its keys."""
        given = {"type": self.kind, "group": self.group, "stream": self.stream}
        return {name: value for name, value in given.items() if value is not None} | dict(
            self.fields
        )

    def matches(self, line: Line) -> bool:
        """Is this line meant?"""
        return line["seq"] >= self.since and self.fits(line)

    def fits(self, line: Line) -> bool:
        """Is it such a line, whenever it was written?"""
        return all(line.get(name) == value for name, value in self.wanted.items())

    def __str__(self) -> str:
        what = ", ".join(f"{name} {value}" for name, value in self.wanted.items())
        return f"{self.count} events with {what}" if self.count > 1 else f"an event with {what}"


def check_words(
    kind: object, group: object, stream: object, fields: Iterable[str], since: object
) -> None:
    """Raise ExpectationError, which says what there is, for a type, a stream or a field that no
    line can have, or what is no mark."""
    if type(since) is not int or since < 0:
        raise ExpectationError(
            f"since: {since!r}; what mark() answered is meant, a whole number from 0 on"
        )
    for name, value in (("kind", kind), ("group", group), ("stream", stream)):
        if value is not None and not isinstance(value, str):
            raise ExpectationError(f"{name}: {value!r} is no text")
    if stream is not None and stream not in TYPES:
        raise ExpectationError(f"there is no stream {stream!r}; there are: {', '.join(TYPES)}")
    why = "" if kind is None else unknown_type(str(kind), None if stream is None else str(stream))
    for reason in (why, *map(unknown_field, fields)):
        if reason:
            raise ExpectationError(reason)


def begin(
    session: KitSession, pattern: EventPattern, log: EventLog, lines: Callable[[], list[Line]]
) -> Future[list[Line]]:
    """Wait for events; the future has the first `count` of them."""
    found = [line for line in lines() if pattern.matches(line)]
    hint = f'"type":{json.dumps(pattern.kind)}' if pattern.kind is not None else ""

    def follow(text: str) -> None:
        if hint in text:
            line = json.loads(text)
            if pattern.matches(line):
                found.append(line)

    def unmet() -> tuple[str, ...]:
        return () if len(found) >= pattern.count else ("it has not happened",)

    future: Future[list[Line]] = session.waits.begin(unmet, lambda: found[: pattern.count])
    if not future.done():
        log.followers.append(follow)

        def forget(_: Future[list[Line]]) -> None:
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
) -> WaitTimeoutError:
    """The error of a wait whose time is over: what came instead, the nearest misses first."""
    session.waits.end(future)
    future.cancel()
    since = [line for line in lines if line["seq"] >= pattern.since]
    found = sum(map(pattern.matches, since))
    text = f"{pattern} did not come within {timeout:g} s"
    if found:
        text += f"; {found} did"
    before = [line for line in lines if line["seq"] < pattern.since and pattern.fits(line)]
    if before:
        text += (
            f"; it had come before, {len(before)} times, last"
            if len(before) > 1
            else "; it had come before"
        )
        text += f" as line {before[-1]['seq']} at {before[-1]['at_ms']} ms: give since= a mark() from before that"
    wanted = pattern.wanted
    about = [line for line in since if pattern.group is None or line.get("group") == pattern.group]
    near = [line for line in since if line["type"] == pattern.kind and not pattern.matches(line)]
    told = [
        f"\n  line {line['seq']}, at {line['at_ms']} ms: {line['type']} with "
        + ", ".join(
            f"{name} {line.get(name)!r}, not {value!r}"
            for name, value in wanted.items()
            if line.get(name) != value
        )
        for line in near[-_SHOWN:]
    ]
    if near:
        return not_in_time(f"{text}.\nNearly:{''.join(told)}")
    happened = ", ".join(dict.fromkeys(line["type"] for line in about[-20:])) or "nothing"
    whose = "" if pattern.group is None else f" to group {pattern.group!r}"
    return not_in_time(f"{text}.\nWhat happened{whose} meanwhile: {happened}.")
