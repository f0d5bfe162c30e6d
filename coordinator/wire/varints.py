"""The signed varints of records (format v2, KIP-98), written. Both who produces batches and who keeps them write them so."""

from __future__ import annotations


def put_varint(out: bytearray, value: int) -> None:
    """Append a signed number of at most 64 bits, zigzag-encoded."""
    value = (value << 1) ^ (value >> 63)
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def put_sized(out: bytearray, value: bytes | None) -> None:
    """Append bytes behind their length; None has the length -1."""
    if value is None:
        out.append(1)
        return
    put_varint(out, len(value))
    out += value
