"""The varints of records: read as they are written, and refused where they are too long or end
early."""

from __future__ import annotations

import pytest

from coordinator.wire.primitives import WireError
from coordinator.wire.varints import put_varint, read_varint, read_varlong, signed


@pytest.mark.parametrize(
    "value", [0, -1, 1, 63, -64, 64, -65, 8191, 8192, (1 << 31) - 1, -(1 << 31)]
)
def test_what_is_written_is_read(value: int) -> None:
    out = bytearray(b"x")
    put_varint(out, value)
    for read in (read_varint, read_varlong):
        number, behind = read(bytes(out) + b"y", 1)
        assert (signed(number), behind) == (value, len(out))


@pytest.mark.parametrize("value", [1 << 40, -(1 << 63), (1 << 63) - 1])
def test_a_varlong_has_64_bits(value: int) -> None:
    out = bytearray()
    put_varint(out, value)
    number, behind = read_varlong(bytes(out), 0)
    assert (signed(number), behind) == (value, len(out))


def test_a_number_of_too_many_bytes_is_refused() -> None:
    assert read_varint(b"\xff\xff\xff\xff\x7f", 0) == (
        0xFFFFFFFF,
        5,
    )  # bits beyond 32 are dropped, as Kafka does
    with pytest.raises(WireError, match="a varint of more than five bytes"):
        read_varint(b"\x80" * 5 + b"\x01", 0)
    with pytest.raises(WireError, match="a varlong of more than ten bytes"):
        read_varlong(b"\x80" * 10 + b"\x01", 0)


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x80\x80"])
def test_the_end_of_the_bytes_is_an_index_error(data: bytes) -> None:
    for read in (read_varint, read_varlong):
        with pytest.raises(IndexError):
            read(data, 0)
