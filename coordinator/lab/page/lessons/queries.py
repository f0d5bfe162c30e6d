"""Queries of a run's log, written in TOML: the facts of a lesson without Python.

A query selects lines by type, member and fields, and takes an instant, a field, a number of lines,
or the time between two other facts; or it reads the picture (`picture_queries`): what was lost, who
owned what, what a member did. `read_query` checks one before anything is played; `ask` answers it
from a run. What is wrong with a query is said with its file and line. Does not know what a lesson
is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from coordinator.events.envelope import PLACES
from coordinator.events.line import Line
from coordinator.events.vocabulary import EventType, named, unknown_type
from coordinator.history.explain.formatting import duration, listed

from ...named import client_of as client_in_line
from .picture_queries import ACTIVITY, KEPT, LOST, OWNED, OWNER, Drawn, read_drawn
from .places import nearest
from .query_parts import At, Plain, Value, fact_of, instant_of, moment_of, text_of
from .runs import Run, s

# -- the kinds of queries


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of the log: the n-th of them (from 1 on; -1: the last), or, with `counts`, how many
    there are."""

    types: tuple[EventType, ...]
    member: str | None
    where: Mapping[str, Any]
    after: str | int | None
    before: str | int | None
    nth: int
    field: str | None
    shown_as: str | None
    counts: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The time from one instant to a later one."""

    begin: str
    end: str


Query: TypeAlias = Lines | Span | Drawn


def _clients(run: Run, value: Any) -> str:
    return listed([run.client(each) for each in ([value] if isinstance(value, str) else value)])


_SHOWN: Final[Mapping[str, tuple[tuple[type, ...], str, Callable[[Run, Any], Any]]]] = {
    "instant": ((int,), "an instant in ms", lambda _, value: s(value)),
    "duration": ((int,), "a number of ms", lambda _, value: duration(value)),
    "client": ((str, list), "a member id, or several", _clients),
    "number": ((list, dict), "an array", lambda _, value: len(value)),
}
"""Ways to show a field: which values can be shown so, in words, and how."""


# -- reading


def read_query(given: object, at: At, known: Sequence[str]) -> Query:
    """Return the query of a table. `known`: the facts that it may name. Raises LessonError."""
    if not isinstance(given, dict):
        raise at.error(f'a fact is a query, such as {{ type = "MemberJoined" }}, not {given!r}')
    kinds = [kind for kind in _KINDS if kind in given]
    if not kinds:
        ways = " or ".join(f"`{kind}`" for kind in _KINDS)
        raise at.error(f"a query has {ways}; this one has {', '.join(given) or 'nothing'}")
    keys, read = _KINDS[kinds[0]]
    for key in given:
        if key not in keys:
            right = nearest(key, keys, f"the keys of a query with `{kinds[0]}`")
            raise at.error(f"{key!r} is no key of a query with `{kinds[0]}`: {right}", key)
    return read(given, at, known)


def _read_lines(given: Plain, at: At, known: Sequence[str]) -> Query:
    name, stream = text_of(given, "type", at), text_of(given, "stream", at)
    assert name is not None
    wrong = unknown_type(name, stream)
    if wrong:
        raise at.error(wrong, "type")
    types = named(name, stream)
    where = given.get("where", {})
    if not isinstance(where, dict):
        raise at.error(
            f'{where!r}: give fields and values, such as {{ api = "heartbeat" }}', "where"
        )
    for field, value in where.items():
        _check_value(types, field, value, at)
    counts, nth = given.get("count", False), given.get("nth", 1)
    if counts is not True and counts is not False:
        raise at.error(f"{counts!r}: give true, or leave it out", "count")
    if nth == "last":
        nth = -1
    if type(nth) is not int or nth == 0:
        raise at.error(f'{nth!r}: give a number from 1 on, or "last"', "nth")
    if counts and {"nth", "field", "as"} & given.keys():
        raise at.error("a number of lines has no `nth`, `field` or `as`", "count")
    field, shown = text_of(given, "field", at), text_of(given, "as", at)
    if field is not None:
        _check_field(types, field, at, "field")
    if shown is not None:
        if shown not in _SHOWN:
            right = nearest(shown, _SHOWN, "the ways to show a field")
            raise at.error(f"{shown!r} is no way to show a field: {right}", "as")
        if field is None:
            raise at.error("`as` says how a field is shown: name one with `field`", "as")
    return Lines(
        types,
        text_of(given, "member", at),
        where,
        moment_of(given, "after", at, known),
        moment_of(given, "before", at, known),
        nth,
        field,
        shown,
        counts,
    )


def _check_field(types: Sequence[EventType], field: str, at: At, key: str) -> None:
    fields = [*PLACES, *(each for of in types for each in of.expected)]
    if field not in fields:
        right = nearest(field, fields, f"the fields of {types[0].name}")
        raise at.error(f"{field!r} is no field of {types[0].name}: {right}", key)


def _check_value(types: Sequence[EventType], field: str, value: object, at: At) -> None:
    _check_field(types, field, at, f"where.{field}")
    kind, _, meant = types[0].expected.get(field, (None, True, ""))
    if kind is dict:
        raise at.error(f"{field} of {types[0].name} is an object, which is not compared", "where")
    if kind is list:  # one of its elements
        return
    if kind is not None and type(value) is not kind:
        raise at.error(f"{value!r}: {field} of {types[0].name} is {meant}", f"where.{field}")


def _read_span(given: Plain, at: At, known: Sequence[str]) -> Query:
    for key in ("from", "to"):
        if key not in given:
            raise at.error("a time between two facts has `from` and `to`")
    return Span(*(fact_of(given[key], key, at, known) for key in ("from", "to")))


_OF_LINES: Final = (
    "type",
    "stream",
    "member",
    "where",
    "after",
    "before",
    "nth",
    "field",
    "as",
    "count",
)
_KINDS: Final[Mapping[str, tuple[Sequence[str], Callable[[Plain, At, Sequence[str]], Query]]]] = {
    "type": (_OF_LINES, _read_lines),
    **{kind: (keys, read_drawn) for kind, keys in (LOST, OWNER, OWNED, KEPT, ACTIVITY)},
    "from": (("from", "to"), _read_span),
}
"""By the key that a query of the kind has: all its keys, and how it is read."""


# -- answering


def ask(
    query: Query, run: Run, facts: Mapping[str, Value], at: At, base: Run | None = None
) -> Value:
    """Answer a query from a run. `facts`: what it may name. `base`: the lesson's run, beside that of
    a try. Raises LessonError if no line is selected, or something is no instant."""
    if isinstance(query, Lines):
        return _ask_lines(query, run, facts, at)
    if isinstance(query, Drawn):
        return query.answer(run, facts, at, base)
    begin, end = (instant_of(facts[name], name, at) for name in (query.begin, query.end))
    if end < begin:
        raise at.error(f"{query.end} ({s(end)}) comes before {query.begin} ({s(begin)})")
    return Value(end - begin, duration(end - begin))


def _ask_lines(query: Lines, run: Run, facts: Mapping[str, Value], at: At) -> Value:
    if query.member is not None:
        clients = dict.fromkeys(filter(None, map(client_in_line, run.lines)))
        if query.member not in clients:
            right = nearest(query.member, clients, "the members of this run")
            raise at.error(f"{query.member!r} is no member of this run: {right}", "member")
    of_type = [line for line in run.lines if line.type in query.types]
    after, before = (_bound(moment, facts, at) for moment in (query.after, query.before))
    found = [
        line
        for line in of_type
        if (query.member is None or run.is_of(line, query.member))
        and all(_has(line, field, value) for field, value in query.where.items())
        and (after is None or _place(line, after) > after)
        and (before is None or _place(line, before) < before)
    ]
    if query.counts:
        return Value(len(found), len(found))
    if len(found) < abs(query.nth):
        raise at.error(_why_none(query, of_type, found))
    line = found[query.nth - 1 if query.nth > 0 else query.nth]
    if query.field is None:
        return Value(line.at_ms, s(line.at_ms), True, line)
    raw = line.plain.get(query.field)
    if raw is None:
        raise at.error(f"this {line.name}, at {s(line.at_ms)}, has no {query.field}", "field")
    if query.shown_as is None:
        return Value(raw, _shown(raw), False, line)
    kinds, meant, show = _SHOWN[query.shown_as]
    if type(raw) not in kinds:
        raise at.error(f"{query.field} is {raw!r}; {query.shown_as!r} shows {meant}", "as")
    shown = show(run, raw)
    compared = raw if query.shown_as in ("instant", "duration") else shown
    return Value(compared, shown, query.shown_as == "instant", line)


def _has(line: Line, field: str, value: object) -> bool:
    there = line.plain.get(field)
    return value in there if isinstance(there, list) else there == value


_Bound: TypeAlias = tuple[int, int]
"""An instant and, of an event of this run, the number of its line, else -1: of two lines of one
instant the later one in the log comes after the other."""


def _bound(moment: str | int | None, facts: Mapping[str, Value], at: At) -> _Bound | None:
    if moment is None or isinstance(moment, int):
        return None if moment is None else (moment, -1)
    value = facts[moment]
    at_ms, line = instant_of(value, moment, at), value.line
    return at_ms, line.seq if line is not None and line.at_ms == at_ms else -1


def _place(line: Line, beside: _Bound) -> _Bound:
    """Where a line stands, to be compared with a bound."""
    return line.at_ms, -1 if beside[1] < 0 else line.seq


def _why_none(query: Lines, of_type: Sequence[Line], found: Sequence[Line]) -> str:
    """Why a query selects no line, and what would select one."""
    name = query.types[0].name
    if not of_type:
        return f"this run has no {name}"
    if found:
        return f"`nth`: there are {len(found)} such lines of {name}, not {abs(query.nth)}"
    for field, value in query.where.items():
        there: dict[str, None] = {}
        for line in of_type:
            held = line.plain.get(field)
            there |= dict.fromkeys(map(str, held if isinstance(held, list) else [held]))
        if str(value) not in there:
            right = nearest(str(value), there, f"the values of {field}")
            return f"no {name} of this run has {field} = {value!r}: {right}"
    at = ", ".join(str(s(line.at_ms)) for line in of_type[:8])
    return f"of the {name} lines of this run (at {at}) none is as this query wants it"


def _shown(raw: Any) -> Any:
    """A field's value in a text."""
    if isinstance(raw, list):
        return listed([str(_shown(each)) for each in raw])
    if isinstance(raw, dict) and raw.keys() == {"topic", "partition"}:
        return f"{raw['topic']}-{raw['partition']}"
    return raw
