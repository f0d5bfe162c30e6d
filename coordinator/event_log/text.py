"""The text of a line's values, made at once: functions for a type of events, which are compiled
from the events' own field types.

What they write is to the byte what Python's JSON encoder writes of the plain values (`codec`),
without spaces. A line is one text put together of such values, where an encoder would go through a
dictionary that was made for it. Does not depend on what lines there are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from json import JSONEncoder
from json.encoder import encode_basestring_ascii
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

text: Final[Callable[[str], str]] = encode_basestring_ascii
"""A string in quotes."""


def _hex(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    raise TypeError(f"{value!r} cannot stand in the log: plain values and bytes can")


_encode = JSONEncoder(separators=(",", ":"), default=_hex, check_circular=False).encode


def value_text(value: object) -> str:
    """Any plain value."""
    kind = type(value)
    if kind is str:
        return encode_basestring_ascii(value)  # type: ignore[arg-type]
    if kind is int:
        return repr(value)
    if kind is list:
        return f"[{','.join([value_text(each) for each in value])}]"  # type: ignore[attr-defined]
    if kind is bool:
        return "true" if value else "false"
    return "null" if value is None else _encode(value)


def fields_text(kind: type, keys: tuple[tuple[str, str], ...]) -> Callable[[Any], str]:
    """The function that writes these fields of an event, given by name and key: `,"key":value`
    each."""
    hints, env = get_type_hints(kind), _environment()
    names = list(hints)
    pieces = [
        f",{text(key)}:{_braced(_expression(hints[name], f'e[{names.index(name)}]', env))}"
        for name, key in keys
    ]
    return _compiled(pieces, env)


def _environment() -> dict[str, Any]:
    return {"text": encode_basestring_ascii, "join": ",".join}


def _compiled(pieces: list[str], env: dict[str, Any]) -> Callable[[Any], str]:
    made: Callable[[Any], str] = eval(f"lambda e: f'''{''.join(pieces)}'''", env)
    return made


def _braced(expression: str) -> str:
    return "{" + expression + "}"


def _expression(hint: Any, value: str, env: dict[str, Any]) -> str:
    """The expression that makes the text of a value; it holds no quotes and no backslash, for it
    stands within an f-string."""
    if isinstance(hint, UnionType):
        (inner,) = (part for part in get_args(hint) if part is not NoneType)
        env["NULL"] = "null"
        return f"NULL if {value} is None else {_expression(inner, value, env)}"
    if hint is int:
        return value
    if hint is str:
        return f"text({value})"
    if hint is bool:
        env["BOOL"] = ("false", "true")
        return f"BOOL[{value}]"
    name = f"f{len(env)}"
    env[name] = _function(hint)
    return f"{name}({value})"


@cache
def _function(hint: Any) -> Callable[[Any], str]:
    """The function that makes the text of a value of more than one part, or of bytes."""
    if hint is bytes:
        return lambda value: f'"{value.hex()}"'
    env = _environment()
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        if parts[-1] is Ellipsis:
            env["each"] = eval(f"lambda v: f'''{_braced(_expression(parts[0], 'v', env))}'''", env)
            made: Callable[[Any], str] = eval("lambda e: f'[{join([each(v) for v in e])}]'", env)
            return made
        return _object(list(zip(PAIRS[parts], parts, strict=True)), env)
    return _object(list(get_type_hints(hint).items()), env)


def _object(fields: list[tuple[str, Any]], env: dict[str, Any]) -> Callable[[Any], str]:
    rows = [
        f"{text(key)}:{_braced(_expression(hint, f'e[{index}]', env))}"
        for index, (key, hint) in enumerate(fields)
    ]
    return _compiled(["{{", ",".join(rows), "}}"], env)


PAIRS: Final[dict[tuple[type, ...], tuple[str, str]]] = {
    (str, bytes): ("name", "metadata"),
    (str, int): ("topic", "partition"),
}
"""The keys of pairs."""
