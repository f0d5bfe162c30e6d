"""The lines of the message tables: fields, the specifiers that make them, and the metaclass that
collects them.

Owns the content of a table only. `coordinator.wire.compiler` makes functions of tables, and
`coordinator.wire.schema` has the classes that messages derive from; this module does not depend
on either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, dataclass_transform

from .primitives import ZERO_UUID, WireError

FOREVER: Final = 1 << 15
"""A version above all API versions."""


class Field:
    """One line of a table. `kind` is the specifier's name; `elem` a struct class, or the field of
    an array's elements."""

    __slots__ = ("default", "elem", "kind", "name", "nullable", "since", "tag", "until")

    def __init__(
        self,
        kind: str,
        elem: StructType | Field | None,
        since: int,
        until: int,
        nullable: int,
        tag: int | None,
        default: Any,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.elem = elem
        self.since = since
        self.until = until
        self.nullable = nullable
        self.tag = tag
        self.default = default

    def carried(self, version: int) -> bool:
        """Return whether the field is part of this version."""
        return self.since <= version <= self.until

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name or '?'}>"


# -- field specifiers
# Their result is `Any`: the annotation beside them says the attribute's type, and the type checker
# believes it.


def int8(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed byte."""
    return Field("int8", None, since, until, FOREVER, tag, default)


def int16(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed 16-bit integer."""
    return Field("int16", None, since, until, FOREVER, tag, default)


def uint16(
    *, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0
) -> Any:
    """An unsigned 16-bit integer: ports."""
    return Field("uint16", None, since, until, FOREVER, tag, default)


def int32(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed 32-bit integer."""
    return Field("int32", None, since, until, FOREVER, tag, default)


def int64(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed 64-bit integer."""
    return Field("int64", None, since, until, FOREVER, tag, default)


def float64(
    *, since: int = 0, until: int = FOREVER, tag: int | None = None, default: float = 0.0
) -> Any:
    """A double."""
    return Field("float64", None, since, until, FOREVER, tag, default)


def boolean(
    *, since: int = 0, until: int = FOREVER, tag: int | None = None, default: bool = False
) -> Any:
    """One byte; anything but 0 is true."""
    return Field("boolean", None, since, until, FOREVER, tag, default)


def uuid(
    *, since: int = 0, until: int = FOREVER, tag: int | None = None, default: bytes = ZERO_UUID
) -> Any:
    """Sixteen `bytes`."""
    return Field("uuid", None, since, until, FOREVER, tag, default)


def string(
    *,
    since: int = 0,
    until: int = FOREVER,
    nullable: int = FOREVER,
    tag: int | None = None,
    default: str | None = "",
) -> Any:
    """UTF-8 of 32,767 bytes at most. Malformed bytes are replaced by U+FFFD, as Java does, not
    refused."""
    return Field("string", None, since, until, nullable, tag, default)


def binary(
    *,
    since: int = 0,
    until: int = FOREVER,
    nullable: int = FOREVER,
    tag: int | None = None,
    default: bytes | None = b"",
) -> Any:
    """Opaque `bytes`."""
    return Field("binary", None, since, until, nullable, tag, default)


def record_bytes(
    *,
    since: int = 0,
    until: int = FOREVER,
    nullable: int = FOREVER,
    tag: int | None = None,
    default: bytes | None = None,
) -> Any:
    """Record batches, opaque here."""
    return Field("binary", None, since, until, nullable, tag, default)


def array(
    elem: StructType | Callable[..., Any],
    *,
    since: int = 0,
    until: int = FOREVER,
    nullable: int = FOREVER,
    tag: int | None = None,
    default: tuple[()] | None = (),
) -> Any:
    """A `list` of structs (a class) or of plain values (a specifier, uncalled: `array(int32)`)."""
    return Field(
        "array",
        elem if isinstance(elem, StructType) else elem(),
        since,
        until,
        nullable,
        tag,
        default,
    )


def struct(
    elem: StructType,
    *,
    since: int = 0,
    until: int = FOREVER,
    nullable: int = FOREVER,
    tag: int | None = None,
    default: Any = ...,
) -> Any:
    """One nested struct."""
    return Field("struct", elem, since, until, nullable, tag, default)


# -- classes


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(
        array,
        binary,
        boolean,
        float64,
        int8,
        int16,
        int32,
        int64,
        record_bytes,
        string,
        struct,
        uint16,
        uuid,
    ),
)
class StructType(type):
    """A metaclass that collects the fields of a table into `fields`, in the table's order, and
    gives the class one slot for each.
    """

    fields: tuple[Field, ...]
    versions: tuple[int, int]
    """Lowest and highest version; only of a whole message."""
    flexible: int
    """First flexible version (KIP-482); only of a whole message."""
    bounded: bool
    """True if the encoder of a whole message checks a size limit. Without the check it is faster,
    so messages that cannot be much larger than the request have none."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        key: int | None = None,
        versions: tuple[int, int] | None = None,
        flexible: int | None = None,
        bounded: bool = True,
    ) -> StructType:
        fields = []
        for attribute, value in namespace.items():
            if value.__class__ is Field:
                value.name = attribute
                fields.append(value)
        for field in fields:
            del namespace[field.name]
        namespace.setdefault("__slots__", tuple([field.name for field in fields]))
        cls = super().__new__(mcls, name, bases, namespace)
        cls.fields = tuple(fields)
        if versions is not None:
            cls.api_key = key  # type: ignore[attr-defined]
            cls.versions = versions
            cls.flexible = FOREVER if flexible is None else flexible
            cls.bounded = bounded
            cls._decoders = {}  # type: ignore[attr-defined]
            cls._unlimited_decoders = {}  # type: ignore[attr-defined]
            cls._encoders = {}  # type: ignore[attr-defined]
        return cls

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: object
    ) -> None:
        type.__init__(cls, name, bases, namespace)


def check_version(message: StructType, version: int) -> None:
    """Raise `WireError` if there is no table for this version."""
    lowest, highest = message.versions
    if not lowest <= version <= highest:
        raise WireError(f"{message.__name__} has versions {lowest} to {highest}, not {version}")
