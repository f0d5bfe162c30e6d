"""Variable-length integers and tagged fields (KIP-482), at both sides of every boundary."""

from __future__ import annotations

import pytest

from coordinator.wire.primitives import (
    WireError,
    read_string_length,
    read_tags,
    read_uvarint,
    take,
    uvarint,
    write_tags,
)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**21, "80808001"),
        (2**31 - 1, "ffffffff07"),
        (2**28, "8080808001"),
    ],
)
def test_uvarint_both_ways(value: int, encoded: str) -> None:
    assert uvarint(value).hex() == encoded
    assert read_uvarint(b"\xaa" + bytes.fromhex(encoded) + b"\xbb", 1) == (
        value,
        1 + len(encoded) // 2,
    )


@pytest.mark.parametrize("value", [-1, 2**32])
def test_uvarint_refuses_what_has_no_32_bits(value: int) -> None:
    with pytest.raises(WireError):
        uvarint(value)


def test_reading_uvarint_is_as_lenient_as_java() -> None:
    """Needless continuation bytes are accepted; beyond 31 bits the number is negative, beyond 32
    bits are dropped."""
    assert read_uvarint(b"\x81\x80\x00", 0) == (1, 3)
    assert read_uvarint(b"\xff\xff\xff\xff\x0f", 0) == (-1, 5)
    assert read_uvarint(b"\x80\x80\x80\x80\x08", 0) == (-(2**31), 5)
    assert read_uvarint(b"\x80\x80\x80\x80\x7f", 0) == (-(2**28), 5)


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"\xff\xff\xff\xff", b"\x80\x80\x80\x80\x80\x00", b"\xff" * 20]
)
def test_reading_uvarint_refuses(data: bytes) -> None:
    with pytest.raises(WireError):
        read_uvarint(data, 0)


def test_compact_strings_have_the_limit_of_plain_ones() -> None:
    assert read_string_length(uvarint(32768), 0)[0] == 32768
    with pytest.raises(WireError, match="32767"):
        read_string_length(uvarint(32769), 0)


def test_take() -> None:
    assert take(b"abcdef", 1, 2) == (b"bc", 3)
    assert take(b"abc", 3, 0) == (b"", 3)
    for size in (-1, 3, 2**31):
        with pytest.raises(WireError):
            take(b"abc", 1, size)


def test_tags_both_ways() -> None:
    encoded = write_tags({300: b"ab", 5: b""})
    assert encoded.hex() == "020500ac02026162", "ascending by tag"
    assert read_tags(encoded, 0) == ({5: b"", 300: b"ab"}, len(encoded))
    with pytest.raises(WireError):
        read_tags(encoded[:-1], 0)


@pytest.mark.parametrize(
    "tag", [0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455, 268_435_456, 2**32 - 1]
)
@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_152])
def test_tags_of_every_length(tag: int, size: int) -> None:
    """Numbers of up to three bytes are read without a call: there may be 300,000 of them in a
    MiB."""
    value = bytes(size)
    encoded = write_tags({tag: value, 1: b"x"})
    assert read_tags(encoded, 0) == ({tag: value, 1: b"x"}, len(encoded))
    for end in range(1, min(len(encoded), 16)):
        with pytest.raises(WireError):
            read_tags(encoded[:end], 0)


@pytest.mark.parametrize("padding", range(5))
def test_numbers_may_be_longer_than_they_need(padding: int) -> None:
    """As in Kafka: 0x85 0x80 0x00 is 5; a sixth byte is refused."""
    five = bytes([0x85]) + bytes([0x80]) * (padding - 1) + b"\0" if padding else b"\5"
    assert read_uvarint(five, 0) == (5, padding + 1)
    assert read_tags(b"\1" + five + five + bytes(5), 0) == ({5: bytes(5)}, 2 * padding + 8)
    with pytest.raises(WireError, match="ends within"):
        read_uvarint(five[:-1], 0)


def test_a_number_of_six_bytes_is_refused() -> None:
    sixth = b"\x85\x80\x80\x80\x80\0"
    for data in (b"\1" + sixth + b"\0", b"\1\1" + sixth):
        with pytest.raises(WireError, match="more than five bytes"):
            read_tags(data, 0)
