"""The smallest parts of Kafka's wire format: variable-length integers, UUIDs, tagged fields, and
the error for malformed bytes.

Owns `WireError`, the only exception that bytes from a peer may raise in `coordinator.wire`.
Knows nothing of messages; fixed-width integers, strings and arrays are laid out inline by
`coordinator.wire.compiler`.
"""

from __future__ import annotations

from typing import Final

ZERO_UUID: Final = bytes(16)
"""The UUID that stands for "none" (KIP-516)."""

MAX_STRING_BYTES: Final = 0x7FFF
"""Longest string, UTF-8 encoded, in any version: the compact form could say more, Kafka refuses it
all the same."""

MOST_ELEMENTS: Final = 1_000_000
MOST_TAGS: Final = 10_000
"""The most entries of an array, and of a section of tagged fields (V44-7)."""

SMALL: Final = tuple(bytes((n,)) for n in range(128))
"""The variable-length integers of one byte."""


def fits(text: str) -> bool:
    """Return whether a string is short enough to be written. Bytes that are not UTF-8 are read as
    U+FFFD, which has three bytes, so a string that was received may be too long.
    """
    return (
        3 * len(text) <= MAX_STRING_BYTES
        or len(text.encode("utf-8", "surrogatepass")) <= MAX_STRING_BYTES
    )


class WireError(ValueError):
    """Bytes that are not the expected message, or a value that cannot be encoded.

    The peer's fault on decode (its connection is closed, VER-16), ours on encode.
    """


class ResponseTooLarge(WireError):
    """A response that exceeds the allowed number of bytes. Its connection is closed; `str()` has
    the limit.
    """


def uvarint(value: int) -> bytes:
    """Encode an unsigned 32-bit integer, seven bits a byte, lowest first (KIP-482).

    Raises `WireError` below 0 and from 2**32 on.
    """
    if 0 <= value < 128:
        return SMALL[value]
    if not 0 <= value < 1 << 32:
        raise WireError(f"{value} is no unsigned 32-bit integer")
    out = bytearray()
    while value > 127:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(data: bytes, pos: int) -> tuple[int, int]:
    """Decode the integer at `pos`; return it with the position after it.

    Like Kafka's reader it takes five bytes at most, drops bits beyond 32 and returns the rest as
    a signed number: lengths above 2**31 - 1 become negative, which means null. Raises
    `WireError` on a sixth byte or an early end.
    """
    try:
        value = data[pos]
        if value < 0x80:
            return value, pos + 1
        value += (data[pos + 1] << 7) - 0x80
        if value < 0x4000:
            return value, pos + 2
        value += (data[pos + 2] << 14) - 0x4000
        if value < 0x20_0000:
            return value, pos + 3
        value += (data[pos + 3] << 21) - 0x20_0000
        if value < 0x1000_0000:
            return value, pos + 4
        last = data[pos + 4]
    except IndexError:
        raise WireError("ends within a variable-length integer") from None
    if last > 0x7F:
        raise WireError("a variable-length integer of more than five bytes")
    value = value + (last << 28) - 0x1000_0000 & 0xFFFFFFFF
    return (value - (1 << 32) if value >> 31 else value), pos + 5


def read_string_length(data: bytes, pos: int) -> tuple[int, int]:
    """Decode the length (plus one) of a compact string; return it with the position after it.
    Raises `WireError` if the string is too long.
    """
    length, pos = read_uvarint(data, pos)
    if length > MAX_STRING_BYTES + 1:
        raise WireError(f"a string of {length - 1} bytes: {MAX_STRING_BYTES} is the most")
    return length, pos


def string_length(length: int) -> bytes:
    """Encode the length (plus one) of a compact string. Raises `WireError` if the string is too
    long."""
    if length > MAX_STRING_BYTES + 1:
        raise WireError(f"a string of {length - 1} bytes: {MAX_STRING_BYTES} is the most")
    return uvarint(length)


def read_tags(data: bytes, pos: int) -> tuple[dict[int, bytes], int]:
    """Decode tagged fields as `read_any_tags` does, but at most `MOST_TAGS` of them, and no
    negative number (V44-7).
    """
    count = read_uvarint(data, pos)[0]
    if not 0 <= count <= MOST_TAGS:
        raise WireError(f"{count} tagged fields, where 0 to {MOST_TAGS} are taken")
    return read_any_tags(data, pos)


def read_any_tags(data: bytes, pos: int) -> tuple[dict[int, bytes], int]:
    """Decode tagged fields without a known one, from their number on: (tag -> bytes, position after
    them).

    Raises `WireError`.
    """
    tags: dict[int, bytes] = {}
    count, pos = read_uvarint(data, pos)
    end = len(data)
    try:
        for _ in range(
            count
        ):  # there may be 300,000 in a MiB: numbers of up to three bytes are read here
            tag = data[pos]
            pos += 1
            if tag > 0x7F:
                tag += (data[pos] << 7) - 0x80
                pos += 1
                if tag > 0x3FFF:
                    tag += (data[pos] << 14) - 0x4000
                    pos += 1
                    if tag > 0x1F_FFFF:
                        tag, pos = read_uvarint(data, pos - 3)
                        tag &= 0xFFFFFFFF
            size = data[pos]
            pos += 1
            if not size:
                tags[tag] = b""
                continue
            if size > 0x7F:
                size += (data[pos] << 7) - 0x80
                pos += 1
                if size > 0x3FFF:
                    size, pos = read_uvarint(data, pos - 2)
            if size < 0 or pos + size > end:
                take(data, pos, size)  # raises
            tags[tag] = data[pos : pos + size]
            pos += size
    except IndexError:
        raise WireError("ends within a variable-length integer") from None
    return tags, pos


def take(data: bytes, pos: int, size: int) -> tuple[bytes, int]:
    """Return `size` bytes from `pos` on, and the position after them. Raises `WireError` if there
    are fewer.
    """
    end = pos + size
    if size < 0 or end > len(data):
        raise WireError(f"a field of {size} bytes where {max(len(data) - pos, 0)} are left")
    return data[pos:end], end


def write_tags(tags: dict[int, bytes]) -> bytes:
    """Encode tagged fields: their number, then each as tag, size, bytes; ascending by tag
    (KIP-482)."""
    parts = [uvarint(len(tags))]
    for tag in sorted(tags):
        value = tags[tag]
        parts += (uvarint(tag), uvarint(len(value)), value)
    return b"".join(parts)
