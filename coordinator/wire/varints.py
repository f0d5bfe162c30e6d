"""The varints of records (format v2, KIP-98), read and written. Producers, logs and consumers use
them.

A number is read as unsigned; `signed` undoes the zigzag encoding. Reading beyond the end raises
IndexError.
"""

from __future__ import annotations

from .primitives import WireError


class VarintTooLong(WireError):
    """A varint with more bytes than its kind may have."""


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
    """Read an unsigned number of up to five bytes, without the bits beyond 32; return it with the
    position after it. Raises VarintTooLong.
    """
    value = data[pos]
    if value < 0x80:
        return value, pos + 1
    byte = data[pos + 1]
    if byte < 0x80:
        return value & 0x7F | byte << 7, pos + 2
    return _read_long(data, pos, 28, 0xFFFFFFFF, "a varint of more than five bytes")


def read_varlong(data: bytes, pos: int) -> tuple[int, int]:
    """Read the same with up to ten bytes and 64 bits."""
    return _read_long(data, pos, 63, 0xFFFFFFFFFFFFFFFF, "a varlong of more than ten bytes")


def _read_long(data: bytes, pos: int, last_shift: int, mask: int, fault: str) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & mask, pos
        shift += 7
        if shift > last_shift:
            raise VarintTooLong(fault)


def signed(value: int) -> int:
    """Return the signed number of a zigzag-encoded one."""
    return (value >> 1) ^ -(value & 1)


def put_varint(out: bytearray, value: int) -> None:
    """Append a signed number of at most 64 bits, zigzag-encoded."""
    value = (value << 1) ^ (value >> 63)
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def put_sized(out: bytearray, value: bytes | None) -> None:
    """Append the length and the bytes; None has the length -1."""
    if value is None:
        out.append(1)
        return
    size = len(value)
    if size < 0x40:
        out.append(size << 1)
    else:
        put_varint(out, size)
    out += value
