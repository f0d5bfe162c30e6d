"""Lines of a log for tests: events in part, whose other fields have values that say nothing."""

from __future__ import annotations

import json
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from coordinator.events import EventLog
from coordinator.events.envelope import PLACES
from coordinator.events.line import Line, line_of
from coordinator.events.values import hints_of
from coordinator.events.vocabulary import TYPES, EventType, type_of

_NEUTRAL: dict[Any, Any] = {int: 0, str: "", bool: False, bytes: ""}


def _neutral(hint: Any) -> Any:
    """The JSON value of a type that says nothing: null where it may be, else zero or empty."""
    if get_origin(hint) is Annotated:
        return _neutral(get_args(hint)[0])
    if isinstance(hint, UnionType) or type(None) in get_args(hint):
        return None
    if hint in _NEUTRAL:
        return _NEUTRAL[hint]
    if hasattr(hint, "_fields") or "Mapping" in str(get_origin(hint)):
        return {}
    return []


def _filled(hint: Any, value: Any) -> Any:
    """A JSON value with the fields of nested values that it leaves out."""
    if get_origin(hint) is Annotated or type(None) in get_args(hint):
        return value if value is None else _filled(get_args(hint)[0], value)
    if isinstance(value, list) and get_args(hint):
        return [_filled(get_args(hint)[0], each) for each in value]
    if isinstance(value, dict) and hasattr(hint, "_fields"):
        rest = {
            name: _neutral(of)
            for name, of in hints_of(hint).items()
            if name not in hint._field_defaults
        }
        return rest | {key: _filled(hints_of(hint).get(key), of) for key, of in value.items()}
    return value


def whole(plain: dict[str, Any]) -> dict[str, Any]:
    """A line as a dictionary, with what its type needs and a test does not care about."""
    of = TYPES[plain.get("stream", "group"), plain["type"]]
    filled = {
        field.key: _filled(field.hint, plain[field.key])
        if field.key in plain
        else _neutral(field.hint)
        for field in of.fields
        if field.required or field.key in plain
    }
    return {"seq": 0, "at_ms": 0, "run": "0", "stream": "group", "cause": None, **plain, **filled}


def line_from(plain: dict[str, Any]) -> Line:
    """The line of a dictionary that gives its fields in part."""
    return Line.of(whole(plain))


def event(kind: type[Any], **fields: Any) -> Any:
    """An event of a class of which a test names some fields, by their names in Python."""
    of: EventType = next(each for each in TYPES.values() if each.kind is kind)
    plain = {field.key: _neutral(field.hint) for field in of.fields if field.required}
    made = of.event(plain)
    return made._replace(**fields) if hasattr(made, "_replace") else kind(**fields)


def line(of: Any, /, **envelope: Any) -> Line:
    """The line of an event; `envelope`: `seq`, `at_ms`, places and so on."""
    assert type_of(of)
    return line_of(of, **envelope)


def write(log: EventLog, stream: str, name: str, /, *, at_ms: int, **plain: Any) -> int:
    """Write a line of which a test names some fields, by their keys; also one of a type that is not
    known. Returns its number."""
    if (stream, name) not in TYPES:
        log.seq += 1
        envelope = {"seq": log.seq, "at_ms": at_ms, "run": log.run, "stream": stream, "type": name}
        log.lines.append(json.dumps({**envelope, "cause": None, **plain}))
        return log.seq
    made = line_from({"stream": stream, "type": name, **plain})
    places = {place: getattr(made, place) for place in PLACES}
    return log.append(made.event, at_ms=at_ms, cause=made.cause, **places)
