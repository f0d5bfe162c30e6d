"""Bodies of requests as dataclasses: read from JSON, with errors that say what is wrong, and
described as JSON Schema.

A field's type is one of str, int, float, bool, Any, `X | None`, `list[X]`, `dict[str, X]`, a
Literal, or another such dataclass. Its description for users is in `field(metadata={"doc":
...})`, which `told` makes. This module must not know HTTP.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

T = TypeVar("T")
_PLAIN: dict[Any, tuple[str, str]] = {
    str: ("string", "a text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
}


class ShapeError(ValueError):
    """A request's body is wrong; the message names the place, the wrong value, and the values
    that are right."""


class Option(NamedTuple):
    """The form of a field as an option of `coordinator ctl`, if it does not follow from name and
    type.

    `read`: function from the option's name, its texts and all other arguments to the field's
    value; raises ShapeError. `spread`: the value sets further fields, too. `hidden`: there is no
    option.
    """

    name: str = ""
    metavar: str = ""
    read: Callable[[str, Any, Any], Any] | None = None
    spread: bool = False
    hidden: bool = False


HIDDEN = Option(hidden=True)


def told(doc: str, default: Any = MISSING, option: Option | None = None) -> Any:
    """Return a field of a body with its meaning. A field without default is required. A mutable
    default is copied."""
    metadata = {"doc": doc, "option": option or Option()}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=metadata)
    return (
        field(metadata=metadata)
        if default is MISSING
        else field(default=default, metadata=metadata)
    )


def hints(kind: Any) -> dict[str, Any]:
    """Return the types of a body's fields."""
    return _hints(kind)


@lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def read(kind: type[T], plain: object, where: str = "the body") -> T:
    """Read a value from JSON. `where`: the beginning of errors, "" for none. Raises ShapeError."""
    if not isinstance(plain, Mapping):
        raise ShapeError(f"{where}: {_shown(plain)}; a JSON object is meant")
    begins = f"{where}: " if where else ""
    known = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    for name in plain:
        if name not in known:
            close = get_close_matches(str(name), known, 1)
            hint = (
                f"did you mean {close[0]}?" if close else f"there are: {', '.join(known) or 'none'}"
            )
            raise ShapeError(f"{begins}there is no field {name!r}; {hint}")
    missing = [name for name, entry in known.items() if name not in plain and _required(entry)]
    if missing:
        raise ShapeError(
            f"{begins}the field {missing[0]!r} is missing: {known[missing[0]].metadata.get('doc', 'it is needed')}"
        )
    types_of = hints(kind)
    at = "" if where in ("", "the body") else f"{where}."
    return kind(
        **{name: _value(types_of[name], value, f"{at}{name}") for name, value in plain.items()}
    )


def _required(entry: Field[Any]) -> bool:
    return entry.default is MISSING and entry.default_factory is MISSING


def _value(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(hint), value, where)
    if origin is Literal:
        if value not in get_args(hint):
            raise ShapeError(
                f"{where}: {_shown(value)}; one of {', '.join(map(str, get_args(hint)))}"
            )
        return value
    if origin is list:
        if not isinstance(value, list):
            raise ShapeError(
                f"{where}: {_shown(value)}; a list is meant, such as [{_shown(value)}]"
            )
        return [
            _value(get_args(hint)[0], item, f"{where}[{number}]")
            for number, item in enumerate(value)
        ]
    if origin is dict:
        if not isinstance(value, dict):
            raise ShapeError(f"{where}: {_shown(value)}; a JSON object is meant")
        return {
            name: _value(get_args(hint)[1], item, f"{where}.{name}") for name, item in value.items()
        }
    if is_dataclass(hint):
        return read(typing.cast("type", hint), value, where)
    fits = isinstance(value, int | float if hint is float else hint) and (
        hint is bool or not isinstance(value, bool)
    )
    if not fits:
        raise ShapeError(f"{where}: {_shown(value)}; {_PLAIN[hint][1]} is meant")
    return value


def _one_of(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in hints:
        return None
    options = [hint for hint in hints if hint is not type(None)]
    for hint in options:
        try:
            return _value(hint, value, where)
        except ShapeError:
            if len(options) == 1:
                raise
    meant = " or ".join(_meant(hint) for hint in options)
    raise ShapeError(f"{where}: {_shown(value)}; {meant} is meant")


def _meant(hint: Any) -> str:
    if hint in _PLAIN:
        return _PLAIN[hint][1]
    return "a list" if get_origin(hint) is list else "a JSON object"


def _shown(value: object) -> str:
    text = (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    )
    return text if len(text) <= 80 else f"{text[:77]}..."


# -- as JSON Schema


def schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a body, or of any type that a field may have."""
    if not is_dataclass(kind):
        return _schema(kind)
    properties = {}
    for entry in fields(kind):
        said = _schema(hints(kind)[entry.name])
        if "doc" in entry.metadata:
            said = said | {"description": entry.metadata["doc"]}
        if entry.default is not MISSING and entry.default is not None:
            said = said | {"default": entry.default}
        properties[entry.name] = said
    required = [entry.name for entry in fields(kind) if _required(entry)]
    about: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return about | ({"required": required} if required else {})


def _schema(hint: Any) -> dict[str, Any]:
    origin = get_origin(hint)
    if hint is Any:
        return {}
    if origin in (Union, types.UnionType):
        options = [
            _schema(option) if option is not type(None) else {"type": "null"}
            for option in get_args(hint)
        ]
        return {"anyOf": options}
    if origin is Literal:
        return {"enum": list(get_args(hint))}
    if origin is list:
        return {"type": "array", "items": _schema(get_args(hint)[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(get_args(hint)[1])}
    if is_dataclass(hint):
        return schema(hint)
    return {"type": _PLAIN[hint][0]}
