"""Values of a line's fields: how each is written as JSON and read back.

All of it is derived from the type hints of the event classes, so a new event needs no code here:
integers, strings and booleans stand as they are, bytes as hexadecimal text, tuples and lists as
arrays, mappings and nested values as objects, a pair of topic and partition as an object.
Reading is exact: a value that was written is read as an equal value of the same types. Does not
know which events there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from json import JSONEncoder
from json.encoder import encode_basestring_ascii
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from coordinator.base.printable import printable

T = TypeVar("T")
LEFT_OUT: Final = "left out of the line if None"
LeftOut: TypeAlias = Annotated[T | None, LEFT_OUT]
"""Type of a field that has no place in the line while it is None."""

PAIRS: Final[Mapping[tuple[Any, ...], tuple[str, str]]] = {
    (str, bytes): ("name", "metadata"),
    (str, int): ("topic", "partition"),
}
"""Pairs that stand as objects, with their keys. Other tuples of a fixed length stand as arrays."""
_SCALARS: Final[Mapping[Any, str]] = {
    int: "an integer",
    str: "a string",
    bool: "true or false",
    bytes: "a string of hex digits",
}
_MOST_SHOWN: Final = 60

text: Final[Callable[[str], str]] = encode_basestring_ascii
"""Return a string in quotes, as JSON has it."""


class BadValue(ValueError):
    """A value that a field cannot hold; the text says what it is, and what would be right."""


def shortened(value: object) -> str:
    """Return a value from outside, shortened and escaped for an error message."""
    if isinstance(value, str):
        shown = value.strip()
        return repr(printable(shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + "..."))
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return (
        f"an array of {len(value)}"
        if isinstance(value, list)
        else "an object"
        if isinstance(value, Mapping)
        else type(value).__name__
    )


# -- type hints


def hints_of(kind: type) -> dict[str, Any]:
    """Return the type hints of a class's fields, in their order, with `LeftOut` where it stands."""
    return get_type_hints(kind, include_extras=True)


def is_left_out(hint: Any) -> bool:
    """Return whether a field of this type is left out of the line while it is None."""
    return get_origin(hint) is Annotated and LEFT_OUT in get_args(hint)


def _bare(hint: Any) -> Any:
    """Return a type hint without its `Annotated`."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _optional(hint: Any) -> Any:
    """Return X for a hint `X | None`; None for any other hint."""
    parts = get_args(hint)
    if isinstance(hint, UnionType) or (parts and NoneType in parts):
        inner = [part for part in parts if part is not NoneType]
        return inner[0] if len(inner) == 1 and len(parts) == 2 else None
    return None


def _element(hint: Any) -> Any:
    """Return the element type of a list or of a tuple of any length; None for any other hint."""
    parts = get_args(hint)
    if get_origin(hint) is list:
        return parts[0]
    return parts[0] if get_origin(hint) is tuple and parts[-1] is Ellipsis else None


def _is_mapping(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


# -- checks of what JSON has


def json_type(hint: Any) -> tuple[type | None, bool]:
    """Return the type of a field's value as JSON's parser gives it (None: any), and whether it may
    be null."""
    hint = _bare(hint)
    inner = _optional(hint)
    if inner is not None:
        return json_type(inner)[0], True
    if hint in (int, bool):
        return hint, False
    if hint in (str, bytes) or get_origin(hint) is Literal:
        return str, False
    if _element(hint) is not None:
        return list, False
    if get_origin(hint) is tuple:
        return (dict if get_args(hint) in PAIRS else list), False
    if _is_mapping(hint) or hasattr(hint, "_fields"):
        return dict, False
    return None, True


def told(hint: Any) -> str:
    """Return a phrase for the values of a field of this type, such as "an integer or null"."""
    hint = _bare(hint)
    inner = _optional(hint)
    if inner is not None:
        return f"{told(inner)} or null"
    if hint in _SCALARS:
        return _SCALARS[hint]
    element = _element(hint)
    if element is not None:
        return f"an array of {_plural(element)}"
    if get_origin(hint) is tuple and get_args(hint) not in PAIRS:
        return f"an array of {len(get_args(hint))}"
    return "an object"


def _plural(hint: Any) -> str:
    hint = _bare(hint)
    if hint in _SCALARS:
        return {int: "integers", str: "strings", bool: "flags", bytes: "strings of hex digits"}[
            hint
        ]
    if _element(hint) is not None or (get_origin(hint) is tuple and get_args(hint) not in PAIRS):
        return "arrays"
    return "objects"


# -- from JSON


@cache
def reading(hint: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a field's value from JSON, None if it needs no conversion.
    The function raises BadValue.
    """
    hint = _bare(hint)
    inner = _optional(hint)
    if inner is not None:
        read = reading(inner)
        return None if read is None else lambda value: None if value is None else read(value)
    if hint is bytes:
        return _hex
    if hint in _SCALARS or get_origin(hint) is Literal:
        return None
    element = _element(hint)
    if element is not None:
        return _array(list if get_origin(hint) is list else tuple, element)
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        return _pair(PAIRS[parts], parts) if parts in PAIRS else _row(parts)
    if hasattr(hint, "_fields"):
        return _nested(hint)
    return None


def checking(hint: Any) -> Callable[[Any], Any]:
    """Return the function that checks and converts a value nested in another one. It raises
    BadValue.
    """
    kind, optional = json_type(hint)
    read = reading(hint)

    def check(value: Any) -> Any:
        if kind is not None and type(value) is not kind and not (optional and value is None):
            raise BadValue(f"{shortened(value)} is not {told(hint)}")
        return value if read is None else read(value)

    return check


def _hex(value: Any) -> bytes:
    try:
        return bytes.fromhex(value)
    except (TypeError, ValueError):
        raise BadValue(f"{shortened(value)} is not {_SCALARS[bytes]}") from None


def _array(kind: Callable[[list[Any]], Any], element: Any) -> Callable[[Any], Any]:
    check = checking(element)
    wanted, read = json_type(element)[0], reading(element)
    if wanted is None:
        return lambda values: kind([check(value) for value in values])
    if read is not None:
        return lambda values: kind(
            [read(value) if type(value) is wanted else check(value) for value in values]
        )

    def as_it_is(values: Any) -> Any:
        for value in values:
            if type(value) is not wanted:
                check(value)  # raises, unless the element may be null
        return kind(values)

    return as_it_is


def _row(parts: tuple[Any, ...]) -> Callable[[Any], Any]:
    checks = [checking(part) for part in parts]

    def read(values: Any) -> tuple[Any, ...]:
        if len(values) != len(checks):
            raise BadValue(f"{shortened(values)} is not an array of {len(checks)}")
        return tuple([check(value) for check, value in zip(checks, values, strict=True)])

    return read


def _pair(keys: tuple[str, str], parts: tuple[Any, ...]) -> Callable[[Any], Any]:
    (one, other), first, second = keys, checking(parts[0]), checking(parts[1])

    def read(value: Any) -> tuple[Any, Any]:
        if one not in value or other not in value:
            raise BadValue(f'{shortened(value)} has no "{one}" and "{other}"')
        return first(value[one]), second(value[other])

    return read


def _nested(kind: Any) -> Callable[[Any], Any]:
    rows = [
        (
            name,
            json_type(hint)[0],
            reading(hint),
            checking(hint),
            kind._field_defaults.get(name, _REQUIRED),
        )
        for name, hint in hints_of(kind).items()
    ]

    def read(value: Any) -> Any:
        made = []
        for name, wanted, made_of, check, default in rows:
            found = value.get(name, _REQUIRED)
            if type(found) is wanted:
                made.append(found if made_of is None else made_of(found))
            elif found is not _REQUIRED:
                made.append(check(found))
            elif default is _REQUIRED:
                raise BadValue(f'"{name}" is missing in {shortened(value)}')
            else:
                made.append(default)
        return kind(*made)

    return read


_REQUIRED: Final = object()


# -- to JSON


def _plain_bytes(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    raise TypeError(f"{value!r} cannot stand in the log: plain values and bytes can")


_encode = JSONEncoder(separators=(",", ":"), default=_plain_bytes, check_circular=False).encode


def value_text(value: object) -> str:
    """Return a plain value as JSON, without spaces. Raises TypeError for a value that JSON cannot
    hold.
    """
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


class Environment(dict[str, Any]):
    """The names that a compiled expression uses, with their values."""

    def __init__(self) -> None:
        super().__init__(text=encode_basestring_ascii, join=",".join)

    def name(self, value: Any) -> str:
        """Return a fresh name for a value."""
        name = f"f{len(self)}"
        self[name] = value
        return name


def expression(hint: Any, value: str, env: Environment) -> str:
    """Return a Python expression that makes the JSON of `value`. It has no quotes and no backslash,
    because it stands in an f-string.
    """
    hint = _bare(hint)
    inner = _optional(hint)
    if inner is not None:
        env["NULL"] = "null"
        return f"NULL if {value} is None else {expression(inner, value, env)}"
    if hint is int:
        return value
    if hint is str:
        return f"text({value})"
    if hint is bool:
        env["BOOL"] = ("false", "true")
        return f"BOOL[{value}]"
    return f"{env.name(_text_function(hint))}({value})"


@cache
def _text_function(hint: Any) -> Callable[[Any], str]:
    """Return the function that makes the JSON of a value of several parts, or of bytes."""
    if hint is bytes:
        return lambda value: f'"{value.hex()}"'
    env = Environment()
    element = _element(hint)
    if element is not None:
        env["each"] = eval(f"lambda v: f'''{braced(expression(element, 'v', env))}'''", env)
        made: Callable[[Any], str] = eval("lambda e: f'[{join([each(v) for v in e])}]'", env)
        return made
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        if parts in PAIRS:
            return _object_text(list(zip(PAIRS[parts], parts, strict=True)), env)
        rows = [braced(expression(part, f"e[{at}]", env)) for at, part in enumerate(parts)]
        return compiled(["[", ",".join(rows), "]"], env)
    if hasattr(hint, "_fields"):
        return _object_text(list(hints_of(hint).items()), env)
    return value_text


def _object_text(fields: list[tuple[str, Any]], env: Environment) -> Callable[[Any], str]:
    rows = [
        f"{text(key)}:{braced(expression(hint, f'e[{at}]', env))}"
        for at, (key, hint) in enumerate(fields)
    ]
    return compiled(["{{", ",".join(rows), "}}"], env)


def braced(code: str) -> str:
    """Return an expression in braces, as a part of an f-string."""
    return "{" + code + "}"


def compiled(pieces: list[str], env: Environment, arguments: str = "e") -> Callable[..., str]:
    """Compile the function with these arguments that joins the pieces of an f-string."""
    made: Callable[..., str] = eval(f"lambda {arguments}: f'''{''.join(pieces)}'''", env)
    return made
