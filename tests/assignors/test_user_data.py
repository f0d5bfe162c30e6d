"""UD-1..UD-4, and the reading half of STK-1 and STK-2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.user_data import (
    DEFAULT_GENERATION,
    StickyUserData,
    decode_cooperative,
    decode_sticky,
    encode_cooperative,
    encode_sticky,
)

V1 = bytes.fromhex("00000001 0002 7431 00000002 00000000 00000001 00000005".replace(" ", ""))
INT32 = st.integers(-(2**31), 2**31 - 1)
OWNED = st.dictionaries(
    st.text(max_size=20).filter(lambda name: name.isprintable()),
    st.lists(INT32, max_size=5),
    max_size=5,
)


def test_the_bytes_of_v1() -> None:
    """UD-1, with the example of UD-2."""
    assert encode_sticky({"t1": [0, 1]}, 5) == V1
    assert decode_sticky(V1) == StickyUserData({"t1": [0, 1]}, 5)


def test_v1_without_its_generation_reads_as_v0() -> None:
    """UD-2: no generation is not the same as generation -1."""
    assert decode_sticky(V1[:-4]) == StickyUserData({"t1": [0, 1]}, None)
    assert decode_sticky(V1[:-1]) == StickyUserData({"t1": [0, 1]}, None)


def test_trailing_bytes_are_ignored() -> None:
    """UD-2."""
    assert decode_sticky(V1 + b"more") == decode_sticky(V1)


@pytest.mark.parametrize("data", [None, b""])
def test_no_user_data_owns_nothing(data: bytes | None) -> None:
    """STK-1, UD-4: null and empty alike, and without any generation."""
    assert decode_sticky(data) == StickyUserData({}, None)


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        bytes.fromhex("00000001 ffff 00000000".replace(" ", "")),
        bytes.fromhex("00000001 0002 7431 7fffffff".replace(" ", "")),
        bytes.fromhex("00000001 0002 7431 ffffffff".replace(" ", "")),
        V1[:-5],
    ],
    ids=[
        "short",
        "negative count",
        "hostile count",
        "negative length",
        "hostile partitions",
        "negative partitions",
        "cut",
    ],
)
def test_unreadable_bytes_own_nothing_in_the_default_generation(data: bytes) -> None:
    """STK-1: failing both forms means generation -1."""
    assert decode_sticky(data) == StickyUserData({}, DEFAULT_GENERATION)


def test_order_is_kept() -> None:
    """UD-1: topics and partitions stand as the caller ordered them."""
    owned = {"zz": [2, 0, 1], "a": [1]}
    assert list(decode_sticky(encode_sticky(owned, 1)).owned.items()) == list(owned.items())


def test_a_topic_name_too_long_for_its_length_field_is_refused() -> None:
    assert decode_sticky(encode_sticky({"t" * 32767: [0]}, 1)).generation == 1
    with pytest.raises(ValueError, match="32768 bytes"):
        encode_sticky({"t" * 32768: [0]}, 1)


def test_cooperative_is_a_bare_generation() -> None:
    """UD-3, STK-2."""
    assert encode_cooperative(-1) == b"\xff\xff\xff\xff"
    assert encode_cooperative(7) == b"\0\0\0\7"
    assert decode_cooperative(b"\0\0\0\7") == 7
    assert decode_cooperative(b"\0\0\0\7more") == 7
    assert decode_cooperative(None) is None
    assert decode_cooperative(b"") == DEFAULT_GENERATION
    assert decode_cooperative(b"\0\0\7") == DEFAULT_GENERATION


@given(owned=OWNED, generation=INT32)
def test_round_trip(owned: dict[str, list[int]], generation: int) -> None:
    """UD-1."""
    assert decode_sticky(encode_sticky(owned, generation)) == (owned, generation)


@given(data=st.binary(max_size=60))
def test_reading_never_fails(data: bytes) -> None:
    """STK-1: whatever a member sends, the leader goes on."""
    owned, generation = decode_sticky(data)
    assert sum(map(len, owned.values())) * 4 <= len(data)
    assert generation is None or -(2**31) <= generation < 2**31
