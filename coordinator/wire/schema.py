"""The language of the message tables: one class a struct, one line a field.

    class HeartbeatRequest(Request, key=12, versions=(0, 4), flexible=4):
        group_id: str = string(default="")
        group_instance_id: str | None = string(since=3, nullable=3, default=None)

`since` and `until` bound the API versions that carry a field, `nullable` is the first version in which it may be null,
`tag` makes it a tagged field, `default` stands in where a version leaves it out (VER-15). `()` is an empty list and
`...` a struct of defaults, both fresh for each instance. `flexible` is the first version with compact lengths and
tagged fields (KIP-482).

Making a class only collects its fields: functions that decode, encode and construct are compiled at first use, each
for one class and one version (`coordinator.wire.compiler`). Values are mutable and slotted; every field has a default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar, dataclass_transform

from coordinator.wire.primitives import ZERO_UUID, WireError

__all__ = [
    "ZERO_UUID", "Field", "Message", "Request", "Response", "Struct", "StructType",
    "array", "binary", "boolean", "float64", "int8", "int16", "int32", "int64", "record_bytes", "string", "struct", "uint16", "uuid",
]  # fmt: skip

FOREVER: Final = 1 << 15
"""A version above all API versions."""


class Field:
    """One line of a table. `kind` is the specifier's name; `elem` a struct class, or the field of an array's elements."""

    __slots__ = ("default", "elem", "kind", "name", "nullable", "since", "tag", "until")

    def __init__(
        self, kind: str, elem: StructType | Field | None, since: int, until: int, nullable: int, tag: int | None, default: Any
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
        """Is the field part of this version?"""
        return self.since <= version <= self.until

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name or '?'}>"


# -- field specifiers ----------------------------------------------------------------------------------------------
# Their result is `Any`: the annotation beside them says the attribute's type, and the type checker believes it.


def int8(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed byte."""
    return Field("int8", None, since, until, FOREVER, tag, default)


def int16(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed 16-bit integer."""
    return Field("int16", None, since, until, FOREVER, tag, default)


def uint16(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """An unsigned 16-bit integer: ports."""
    return Field("uint16", None, since, until, FOREVER, tag, default)


def int32(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed 32-bit integer."""
    return Field("int32", None, since, until, FOREVER, tag, default)


def int64(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: int = 0) -> Any:
    """A signed 64-bit integer."""
    return Field("int64", None, since, until, FOREVER, tag, default)


def float64(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: float = 0.0) -> Any:
    """A double."""
    return Field("float64", None, since, until, FOREVER, tag, default)


def boolean(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: bool = False) -> Any:
    """One byte; anything but 0 is true."""
    return Field("boolean", None, since, until, FOREVER, tag, default)


def uuid(*, since: int = 0, until: int = FOREVER, tag: int | None = None, default: bytes = ZERO_UUID) -> Any:
    """Sixteen `bytes`."""
    return Field("uuid", None, since, until, FOREVER, tag, default)


def string(*, since: int = 0, until: int = FOREVER, nullable: int = FOREVER, tag: int | None = None, default: str | None = "") -> Any:
    """UTF-8 of 32,767 bytes at most. Malformed bytes are replaced by U+FFFD, as Java does, not refused."""
    return Field("string", None, since, until, nullable, tag, default)


def binary(*, since: int = 0, until: int = FOREVER, nullable: int = FOREVER, tag: int | None = None, default: bytes | None = b"") -> Any:
    """Opaque `bytes`."""
    return Field("binary", None, since, until, nullable, tag, default)


def record_bytes(
    *, since: int = 0, until: int = FOREVER, nullable: int = FOREVER, tag: int | None = None, default: bytes | None = None
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
    return Field("array", elem if isinstance(elem, StructType) else elem(), since, until, nullable, tag, default)


def struct(
    elem: StructType, *, since: int = 0, until: int = FOREVER, nullable: int = FOREVER, tag: int | None = None, default: Any = ...
) -> Any:
    """One nested struct."""
    return Field("struct", elem, since, until, nullable, tag, default)


# -- classes -------------------------------------------------------------------------------------------------------


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(array, binary, boolean, float64, int8, int16, int32, int64, record_bytes, string, struct, uint16, uuid),
)
class StructType(type):
    """Collects the fields of a table into `fields`, in the table's order, and gives the class one slot for each."""

    fields: tuple[Field, ...]

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        key: int | None = None,
        versions: tuple[int, int] | None = None,
        flexible: int | None = None,
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
            cls.versions = versions  # type: ignore[attr-defined]
            cls.flexible = FOREVER if flexible is None else flexible  # type: ignore[attr-defined]
            cls._decoders = {}  # type: ignore[attr-defined]
            cls._encoders = {}  # type: ignore[attr-defined]
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: object) -> None:
        type.__init__(cls, name, bases, namespace)


class Struct(metaclass=StructType):
    """A value of the protocol. Constructed by keyword; compared by value.

    `unknown_tags` keeps the bytes of tagged fields that have no name here (and of those sent although at their default),
    so that a message decoded and encoded again is the same, byte for byte.
    """

    __slots__ = ("unknown_tags",)

    if TYPE_CHECKING:
        unknown_tags: dict[int, bytes] | None = binary(default=None)

    else:

        def __init__(self, **values: Any) -> None:
            from coordinator.wire.compiler import compile_init

            # The compiled constructor takes this one's place on the class at the first call.
            compile_init(type(self))(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        for field in type(self).fields:
            if getattr(self, field.name) != getattr(other, field.name):
                return False
        return (self.unknown_tags or None) == (other.unknown_tags or None)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The fields that differ from their default."""
        plain = type(self)()
        said = [field.name for field in type(self).fields if getattr(self, field.name) != getattr(plain, field.name)]
        if self.unknown_tags:
            said.append("unknown_tags")
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in said)})"


class Message(Struct):
    """A whole request or response body: a struct that has a key, versions and bytes."""

    __slots__ = ()

    api_key: ClassVar[int]
    versions: ClassVar[tuple[int, int]]
    """Lowest and highest version there are tables for."""
    flexible: ClassVar[int]
    """First flexible version (KIP-482)."""
    _decoders: ClassVar[dict[int, Callable[[bytes, int], Any]]]
    _encoders: ClassVar[dict[int, Callable[[Any], bytes]]]

    @classmethod
    def decode(cls, version: int, data: bytes, pos: int = 0) -> Self:
        """Read a body of this version that starts at `pos`. Bytes after it are ignored, as in Kafka.

        Raises `WireError` on a version there is no table for and on anything malformed: an early end, a null where
        none may be, an array that claims more elements than bytes are left. Allocates nothing a length only promises.
        """
        decoder = cls._decoders.get(version)
        if decoder is None:
            from coordinator.wire.compiler import compile_decoder

            decoder = compile_decoder(cls, version)
        message: Self = decoder(data, pos)
        return message

    def encode(self, version: int) -> bytes:
        """The body in this version. What the version does not carry is left out.

        Raises `WireError` on a version there is no table for, on null where none may be, and on values out of range.
        """
        encoder = self._encoders.get(version)
        if encoder is None:
            from coordinator.wire.compiler import compile_encoder

            encoder = compile_encoder(type(self), version)
        return encoder(self)


class Request(Message):
    """What a client sends."""

    __slots__ = ()


class Response(Message):
    """What a broker answers."""

    __slots__ = ()


MessageType = TypeVar("MessageType", bound=Message)


def check_version(message: type[Message], version: int) -> None:
    """Raise `WireError` unless there is a table for this version."""
    lowest, highest = message.versions
    if not lowest <= version <= highest:
        raise WireError(f"{message.__name__} has versions {lowest} to {highest}, not {version}")
