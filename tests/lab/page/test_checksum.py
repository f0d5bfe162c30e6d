"""CRC-32C in plain Python, which stands in where the library has no build, gives what the library
gives."""

from __future__ import annotations

from google_crc32c import value as library
from hypothesis import given
from hypothesis import strategies as st

from coordinator.wire.plain_crc32c import value


def test_the_check_value() -> None:
    assert value(b"123456789") == 0xE3069283


@given(st.binary(max_size=300))
def test_it_agrees_with_the_library(data: bytes) -> None:
    assert value(data) == library(data)
