"""The language of the message tables: a class for each struct, a line for each field.

    class HeartbeatRequest(Request, key=12, versions=(0, 4), flexible=4):
        group_id: str = string(default="")
        group_instance_id: str | None = string(since=3, nullable=3, default=None)

`since` and `until` bound the API versions that carry a field, `nullable` is the first version in
which it may be null, `tag` makes it a tagged field, `default` is its value where a version
leaves it out (VER-15). `()` is an empty list and `...` a struct of defaults, both fresh for each
instance. `flexible` is the first version with compact lengths and tagged fields (KIP-482).

Making a class only collects its fields: functions that decode, encode and construct are compiled
at first use, each for one class and one version (`coordinator.wire.compiler`). Values are
mutable and slotted; every field has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from coordinator.base.slices import whole

from .compiler import (
    compile_decoder,
    compile_encoder,
    compile_init,
    compile_sliced_decoder,
    compile_sliced_encoder,
)
from .fields import (
    Field,
    StructType,
    array,
    binary,
    boolean,
    check_version,
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
)
from .primitives import MAX_STRING_BYTES, ZERO_UUID, ResponseTooLarge, WireError

__all__ = [
    "ZERO_UUID",
    "Field",
    "Message",
    "Request",
    "Response",
    "Struct",
    "StructType",
    "array",
    "binary",
    "boolean",
    "check_version",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "record_bytes",
    "string",
    "struct",
    "uint16",
    "uuid",
]


class Struct(metaclass=StructType):
    """A value of the protocol. Constructed by keyword; compared by value.

    `unknown_tags` keeps the bytes of tagged fields that have no name here (and of those sent
    although they have their default), so that a message that is decoded and encoded again is the
    same, byte for byte.
    """

    __slots__ = ("unknown_tags",)

    if TYPE_CHECKING:
        unknown_tags: dict[int, bytes] | None = binary(default=None)

    else:

        def __init__(self, **values: Any) -> None:
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
        """Return the fields that differ from their default."""
        plain = type(self)()
        said = [
            field.name
            for field in type(self).fields
            if getattr(self, field.name) != getattr(plain, field.name)
        ]
        if self.unknown_tags:
            said.append("unknown_tags")
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in said)})"


def _shortened(field: str, text: str) -> str:
    """Return a text short enough to be written, if it can be shortened; else the same text."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= MAX_STRING_BYTES:
        return text
    if field == "error_message":
        return data[: MAX_STRING_BYTES - 3].decode("utf-8", "ignore") + "..."
    return text.replace("\ufffd", "?")


def shorten(value: Struct) -> Generator[None, Any, bool]:
    """Shorten strings that became too long to be written; return False if there are none. Stops
    before each nested struct.

    Bytes that are not UTF-8 are read as U+FFFD, which has three bytes when it is written: an id
    of 32,767 such bytes could be received and never be sent. In such a string each becomes a
    question mark. An error message that quotes too much is cut off (docs/divergences.md).
    """
    found = False
    for field in type(value).fields:
        inner = getattr(value, field.name)
        if isinstance(inner, str):
            if (fitting := _shortened(field.name, inner)) != inner:
                setattr(value, field.name, fitting)
                found = True
        elif isinstance(inner, Struct):
            found |= yield from shorten(inner)
        elif isinstance(inner, list):
            for at, one in enumerate(inner):
                if isinstance(one, Struct):
                    yield
                    found |= yield from shorten(one)
                elif isinstance(one, str) and (fitting := _shortened("", one)) != one:
                    inner[at] = fitting
                    found = True
    return found


class Message(Struct):
    """A whole request or response body: a struct that has a key, versions and bytes."""

    __slots__ = ()

    api_key: ClassVar[int]
    versions: ClassVar[tuple[int, int]]
    """Lowest and highest version that have tables."""
    flexible: ClassVar[int]
    """First flexible version (KIP-482)."""
    _decoders: ClassVar[dict[int, Callable[[bytes, int], Any]]]
    _unlimited_decoders: ClassVar[dict[int, Callable[[bytes, int], Any]]]
    _encoders: ClassVar[dict[int, Callable[..., bytes]]]

    @classmethod
    def decode(cls, version: int, data: bytes, pos: int = 0) -> Self:
        """Decode a body of this version that starts at `pos`. Bytes after it are ignored, as in
        Kafka.

        Raises `WireError` on a version without a table and on malformed bytes: an early end, a
        null where none may be, an array that claims more elements than bytes are left. Allocates
        nothing that only a length claims. Like Kafka from 4.4 on, it refuses arrays of more than
        a million elements, and sections with more than 10,000 tagged fields or a negative number
        of them (V44-7).
        """
        decoder = cls._decoders.get(version)
        if decoder is None:
            decoder = cls._decoders[version] = compile_decoder(cls, version)
        message: Self = decoder(data, pos)
        return message

    @classmethod
    def decode_unlimited(cls, version: int, data: bytes, pos: int = 0) -> Self:
        """Decode as `decode` does, with any number of elements and of tagged fields, like Kafka
        4.3.
        """
        decoder = cls._unlimited_decoders.get(version)
        if decoder is None:
            decoder = compile_decoder(cls, version, limited=False)
            cls._unlimited_decoders[version] = decoder
        message: Self = decoder(data, pos)
        return message

    def encode(self, version: int, most: int = 1 << 62) -> bytes:
        """Encode the body in this version. Fields that the version does not carry are left out.

        Raises `ResponseTooLarge` where it becomes much longer than `most` bytes (it may be a
        little longer, or `bounded` be False); `WireError` on a version without a table, on null
        where none may be, and on values out of range.
        """
        encoder = self._encoders.get(version)
        if encoder is None:
            encoder = self._encoders[version] = compile_encoder(type(self), version)
        try:
            return encoder(self, most)
        except ResponseTooLarge:
            raise
        except WireError:
            if not whole(shorten(self), 0):
                raise
            return encoder(self, most)

    @classmethod
    def decode_in_slices(
        cls, version: int, data: bytes, pos: int = 0, *, limited: bool = True
    ) -> Generator[None, Any, Self]:
        """Decode as `decode` does, with a stop after every few hundred elements of arrays; return
        the message.
        """
        message: Self = yield from compile_sliced_decoder(cls, version, limited)(data, pos)
        return message

    def encode_in_slices(self, version: int, most: int = 1 << 62) -> Generator[None, Any, bytes]:
        """Encode as `encode` does, with a stop after every few hundred elements of arrays; return
        the bytes.
        """
        encoder = compile_sliced_encoder(type(self), version)
        try:
            return (yield from encoder(self, most))
        except ResponseTooLarge:
            raise
        except WireError:
            if not (yield from shorten(self)):
                raise
            return (yield from encoder(self, most))


class Request(Message):
    """The body of a request."""

    __slots__ = ()


class Response(Message):
    """The body of a response."""

    __slots__ = ()


class KeptResponse(Response):
    """A response that is sent many times, such as a heartbeat's: its encoded bytes are cached. It
    has no fields of its own.
    """

    __slots__ = ("_bodies", "_response")

    def __init__(self, response: Response) -> None:
        self._response = response
        self._bodies: dict[int, bytes] = {}

    def encode(self, version: int, most: int = 1 << 62) -> bytes:
        """Return the body in this version."""
        body = self._bodies.get(version)
        if body is None:
            body = self._bodies[version] = self._response.encode(version, most)
        return body


MessageType = TypeVar("MessageType", bound=Message)
