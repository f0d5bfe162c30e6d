"""Messages as plain values that JSON can hold: for people, captured messages and test vectors. Not
fast.

A struct is a dict by field name, bytes and UUIDs are hex, and tagged fields are present only if
they are on the wire; those without a name are under `_unknown_tags` (tag -> hex). Both
directions are exact: a message from these values is encoded to the bytes that it came from. A
plain field that is missing, or one that the version does not have, is an error.
"""

from __future__ import annotations

import math
from typing import Any, Final

from .compiler import encode_field
from .primitives import MAX_STRING_BYTES, WireError
from .schema import Field, Message, Struct, StructType

UNKNOWN_TAGS: Final = "_unknown_tags"

_BITS: Final = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "int64": 64}


def to_plain(message: Message, version: int) -> dict[str, Any]:
    """Return the fields that this version carries, as plain values."""
    return _Context(type(message), version).struct_to_plain(message)


def from_plain(message: type[Message], version: int, value: object) -> Any:
    """Return the message that `value` describes. Raises `WireError` that names the field and says
    what would be right.
    """
    return _Context(message, version).struct_from_plain(message, value, "value")


class _Context:
    """The message class and version that are the same for all nested values."""

    def __init__(self, message: type[Message], version: int) -> None:
        self.message = message
        self.version = version
        self.flexible = version >= message.flexible

    def fields(self, cls: StructType) -> list[Field]:
        return [
            field
            for field in cls.fields
            if field.carried(self.version) and (field.tag is None or self.flexible)
        ]

    # -- out

    def struct_to_plain(self, value: Struct) -> dict[str, Any]:
        cls = type(value)
        kept = dict(value.unknown_tags or {})
        plain = {}
        for field in self.fields(cls):
            own = getattr(value, field.name)
            if (
                field.tag is None
                or kept.pop(field.tag, None) is not None
                or own != default_of(field)
            ):
                plain[field.name] = self.value_to_plain(field, own)
        if kept:
            plain[UNKNOWN_TAGS] = {str(tag): kept[tag].hex() for tag in sorted(kept)}
        return plain

    def value_to_plain(self, field: Field, value: Any) -> Any:
        if value is None:
            return None
        if field.kind in ("binary", "uuid"):
            return value.hex()
        if field.kind == "struct":
            return self.struct_to_plain(value)
        if field.kind == "array":
            elem = field.elem
            return [
                self.value_to_plain(elem, item)
                if isinstance(elem, Field)
                else self.struct_to_plain(item)
                for item in value
            ]
        return value

    # -- in

    def struct_from_plain(self, cls: StructType, value: object, path: str) -> Any:
        if not isinstance(value, dict):
            raise wrong(
                path,
                value,
                "an object with the fields " + ", ".join(field.name for field in self.fields(cls)),
            )
        fields = {field.name: field for field in self.fields(cls)}
        for name in value:
            if name not in fields and (name != UNKNOWN_TAGS or not self.flexible):
                raise WireError(
                    f"{path}: version {self.version} has no field {name!r}; it has {', '.join(fields) or 'none'}"
                )
        made: dict[str, Any] = {}
        tags = self.tags_from_plain(value.get(UNKNOWN_TAGS, {}), f"{path}.{UNKNOWN_TAGS}")
        for name, field in fields.items():
            if name in value:
                made[name] = self.value_from_plain(field, value[name], f"{path}.{name}")
                if field.tag is not None and made[name] == default_of(field):
                    tags[field.tag] = encode_field(self.message, self.version, field, made[name])
            elif field.tag is None:
                raise WireError(
                    f"{path}: the field {name!r} is missing; version {self.version} has {', '.join(fields)}"
                )
        return cls(**made, unknown_tags=tags or None)

    def tags_from_plain(self, value: object, path: str) -> dict[int, bytes]:
        if not isinstance(value, dict):
            raise wrong(path, value, "an object of hex strings by tag")
        tags = {}
        for tag, content in value.items():
            if not (tag.isascii() and tag.isdecimal() and int(tag) < 1 << 31):
                raise WireError(
                    f"{path}: {tag!r} is no tag: give a number from 0 to {(1 << 31) - 1}"
                )
            tags[int(tag)] = from_hex(content, f"{path}.{tag}")
        return tags

    def value_from_plain(self, field: Field, value: object, path: str) -> Any:
        if value is None:
            if self.version < field.nullable:
                raise WireError(
                    f"{path}: null is not allowed in version {self.version}; give {expected(field)}"
                )
            return None
        if field.kind == "struct":
            assert isinstance(field.elem, StructType)
            return self.struct_from_plain(field.elem, value, path)
        if field.kind == "array":
            return self.array_from_plain(field, value, path)
        return scalar_from_plain(field, value, path)

    def array_from_plain(self, field: Field, value: object, path: str) -> list[Any]:
        elem = field.elem
        if not isinstance(value, list):
            raise wrong(path, value, "an array")
        if isinstance(elem, Field):
            return [
                self.value_from_plain(elem, item, f"{path}[{i}]") for i, item in enumerate(value)
            ]
        assert elem is not None
        return [self.struct_from_plain(elem, item, f"{path}[{i}]") for i, item in enumerate(value)]


def scalar_from_plain(field: Field, value: object, path: str) -> Any:
    """Read a value that is no struct, array or null."""
    if field.kind == "string" and isinstance(value, str):
        try:
            size = len(value.encode())
        except UnicodeEncodeError as fault:
            raise WireError(f"{path}: {fault.reason}: {value!r} has no UTF-8 form") from fault
        if size <= MAX_STRING_BYTES:
            return value
    elif field.kind in ("binary", "uuid"):
        raw = from_hex(value, path)
        if field.kind == "binary" or len(raw) == 16:
            return raw
    elif field.kind == "boolean" and isinstance(value, bool):
        return value
    elif field.kind == "float64" and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.copysign(math.inf, value)
    elif field.kind in _BITS and isinstance(value, int) and not isinstance(value, bool):
        low, high = bounds(field.kind)
        if low <= value <= high:
            return value
    raise wrong(path, value, expected(field))


def default_of(field: Field) -> Any:
    """Return the value of the field where it is absent."""
    if field.default is ...:
        assert isinstance(field.elem, StructType)
        return field.elem()
    return [] if field.default == () else field.default


def bounds(kind: str) -> tuple[int, int]:
    """Return the lowest and the highest value of an integer kind."""
    bits = _BITS[kind]
    return (0, (1 << bits) - 1) if kind[0] == "u" else (-1 << bits - 1, (1 << bits - 1) - 1)


def expected(field: Field) -> str:
    """Return a phrase for the valid values of a field."""
    if field.kind in _BITS:
        low, high = bounds(field.kind)
        return f"an integer from {low} to {high}"
    return {
        "string": f"a string of {MAX_STRING_BYTES} bytes at most",
        "binary": "bytes in hex",
        "uuid": "16 bytes in hex",
        "boolean": "true or false",
        "float64": "a number",
        "array": "an array",
        "struct": "an object",
    }[field.kind]


def from_hex(value: object, path: str) -> bytes:
    """Read bytes from an even number of hex digits and nothing else. Raises `WireError`."""
    if not isinstance(value, str) or (value and not value.isalnum()):
        raise wrong(path, value, "bytes in hex")
    try:
        return bytes.fromhex(value)
    except ValueError:
        raise wrong(path, value, "bytes in hex, two digits each") from None


def wrong(path: str, value: object, right: str) -> WireError:
    """Return the error for an invalid value."""
    shown = repr(value)
    return WireError(
        f"{path}: {shown if len(shown) <= 60 else shown[:57] + '...'} is wrong here; give {right}"
    )
