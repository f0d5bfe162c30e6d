"""The blobs inside JoinGroup and SyncGroup (CPB-1 to CPB-4, EXP-8)."""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.consumer_protocol_assignment.v3.data import ConsumerProtocolAssignment
from kio.schema.consumer_protocol_subscription.v3.data import ConsumerProtocolSubscription
from kio.serial import entity_reader, entity_writer

from coordinator.wire.consumer_protocol import (
    Assignment,
    Subscription,
    TopicPartitions,
    topics_only,
)
from coordinator.wire.primitives import WireError

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PARTITIONS = st.lists(
    st.builds(TopicPartitions, NAMES, st.lists(st.integers(0, 2**31 - 1), max_size=5).map(tuple)),
    max_size=4,
).map(tuple)
OWNED = (TopicPartitions("b", (2, 0)), TopicPartitions("a", (1,)))


def test_subscription_bytes() -> None:
    """CPB-1: topics sorted; owned partitions sorted by topic, then number."""
    subscription = Subscription(("orders", "a"), b"\7", OWNED, 5, "r1")
    v0 = "00000002" + "000161" + "00066f7264657273" + "0000000107"
    v1 = "00000002" + "00016100000001" + "00000001" + "00016200000002" + "0000000000000002"
    assert subscription.encode(0).hex() == "0000" + v0
    assert subscription.encode(1).hex() == "0001" + v0 + v1
    assert subscription.encode(2).hex() == "0002" + v0 + v1 + "00000005"
    assert subscription.encode(3).hex() == "0003" + v0 + v1 + "00000005" + "00027231"
    assert subscription.encode() == subscription.encode(3)
    assert (
        Subscription((), None).encode().hex()
        == "0003" + "00000000" + "ffffffff" + "00000000" + "ffffffff" + "ffff"
    )


def test_fields_missing_in_an_older_version_take_defaults() -> None:
    """CPB-3."""
    subscription = Subscription(("a",), None, OWNED, 5, "r1")
    owned = (TopicPartitions("a", (1,)), TopicPartitions("b", (0, 2)))
    assert Subscription.decode(subscription.encode(0)) == Subscription(("a",))
    assert Subscription.decode(subscription.encode(1)) == Subscription(("a",), None, owned)
    assert Subscription.decode(subscription.encode(2)) == Subscription(("a",), None, owned, 5)
    assert Subscription.decode(subscription.encode(3)) == Subscription(("a",), None, owned, 5, "r1")


def test_newer_versions_read_as_the_newest_known() -> None:
    """CPB-3: what stands after the known fields is ignored."""
    body = Subscription(("a",), b"u", (), 7, "r").encode(3)[2:]
    for version in (4, 999, 32767):
        assert Subscription.decode(
            struct.pack(">h", version) + body + b"new fields"
        ) == Subscription(("a",), b"u", (), 7, "r")
    given_partitions = Assignment((TopicPartitions("t", (3, 1)),), b"u")
    assert (
        Assignment.decode(b"\0\x63" + given_partitions.encode()[2:] + b"new fields")
        == given_partitions
    )


def test_negative_versions_are_refused() -> None:
    """CPB-3."""
    for decode in (Subscription.decode, Assignment.decode):
        with pytest.raises(WireError, match="version -1"):
            decode(b"\xff\xff" + bytes(40))


def test_no_generation_and_no_rack() -> None:
    """CPB-4."""
    decoded = Subscription.decode(Subscription(("a",), rack_id="").encode())
    assert decoded.generation_id == -1
    assert decoded.rack_id is None
    empty_rack = Subscription(("a",)).encode()[:-2] + b"\0\0"
    assert Subscription.decode(empty_rack).rack_id is None


def test_assignment_keeps_its_order() -> None:
    """CPB-2."""
    assignment = Assignment.of({"b": [2, 0], "a": [1]}, b"\7")
    expected = "0000000200016200000002000000020000000000016100000001000000010000000107"
    for version in range(4):
        assert assignment.encode(version).hex() == f"{version:04x}" + expected
        assert Assignment.decode(assignment.encode(version)) == assignment


@pytest.mark.parametrize(
    "blob", [Subscription(("orders",), b"u", OWNED, 5, "r1"), Assignment(OWNED, b"user")]
)
def test_truncated_blobs_are_refused(blob: Subscription | Assignment) -> None:
    """CPB-3."""
    data = blob.encode()
    for size in range(len(data)):
        with pytest.raises(WireError):
            type(blob).decode(data[:size])


@pytest.mark.parametrize(
    "body",
    [
        "7fffffff",
        "ffffffff",
        "00000001ffff",
        "000000017fff61",
        "00000000" + "7fffffff",
        "00000000ffffffff" + "0000000100016100000009",
    ],
)
def test_lengths_that_lie_are_refused(body: str) -> None:
    with pytest.raises(WireError):
        Subscription.decode(b"\0\3" + bytes.fromhex(body))


@pytest.mark.parametrize("odd", ["", "ä", "\N{GRINNING FACE}", "n" * 300])
def test_many_topics_are_read_as_few_are(odd: str) -> None:
    """Of many, ASCII is decoded in one piece: bytes behind the topics and names that are not ASCII,
    or long, make no difference (CPB-1)."""
    topics = tuple(sorted([*(f"topic-{number}" for number in range(200)), odd]))
    data = Subscription(topics, b"\xff\xfe", generation_id=-1).encode()
    assert Subscription.decode(data).topics == topics == topics_only(data)
    assert Subscription.decode(data).user_data == b"\xff\xfe"


@pytest.mark.parametrize("kept", [10, 500, 1_203, 1_204, 1_205])
def test_many_topics_that_end_early_are_refused(kept: int) -> None:
    data = Subscription(tuple(f"{number:04}" for number in range(200))).encode()[:kept]
    with pytest.raises(WireError):
        Subscription.decode(data)
    assert topics_only(data) is None


def test_names_of_many_that_are_not_utf_8_are_read_with_a_sign_for_what_cannot_be() -> None:
    data = bytearray(Subscription(tuple(f"{number:04}" for number in range(200))).encode())
    data[8:10] = b"\xff1"
    assert Subscription.decode(bytes(data)).topics[:2] == ("\ufffd100", "0001")


def test_topics_only() -> None:
    """EXP-8: read as version 0, whatever version the blob claims, with its user data; anything else
    is unknown."""
    for version in range(4):
        assert topics_only(Subscription(("b", "a"), b"u", OWNED, 5, "r").encode(version)) == (
            "a",
            "b",
        )
    body = Subscription(("a",)).encode(0)[2:]
    assert topics_only(b"\xff\xff" + body) == ("a",)
    assert topics_only(b"\x7f\xff" + body + b"more") == ("a",)
    for size in (0, 1, 2, 3, 5):
        assert topics_only(bytes(size)) is None
    for broken in (
        body[:-1],
        b"\x7f\xff\xff\xff",
        b"\xff\xff\xff\xff" + bytes(4),
        b"\0\0\0\1\x7f\xffa",
    ):
        assert topics_only(b"\0\0" + broken) is None


def test_what_cannot_be_written() -> None:
    for faulty in (
        Subscription(("x" * 40_000,)),
        Subscription((), generation_id=2**31),
        Assignment((TopicPartitions("t", (2**31,)),)),
    ):
        with pytest.raises(WireError):
            faulty.encode()
    for version in (-1, 4):
        with pytest.raises(WireError, match=str(version)):
            Subscription(()).encode(version)


def through_kio(schema: Any, data: bytes) -> bytes:
    entity, _ = entity_reader(schema)(data, 0)
    buffer = io.BytesIO()
    entity_writer(schema)(buffer, entity)
    return buffer.getvalue()


@settings(deadline=None)
@given(
    NAMES.map(lambda name: (name,)),
    st.none() | st.binary(max_size=50),
    PARTITIONS,
    st.integers(-1, 2**31 - 1),
    st.none() | NAMES,
)
def test_another_codec_reads_and_writes_the_same(
    topics: tuple[str, ...],
    user_data: bytes | None,
    owned: tuple[TopicPartitions, ...],
    generation_id: int,
    rack_id: str | None,
) -> None:
    subscription = Subscription(topics, user_data, owned, generation_id, rack_id).encode()
    assert through_kio(ConsumerProtocolSubscription, subscription[2:]) == subscription[2:]
    assignment = Assignment(owned, user_data).encode()
    assert through_kio(ConsumerProtocolAssignment, assignment[2:]) == assignment[2:]
    assert Assignment.decode(assignment) == Assignment(owned, user_data)
    assert Subscription.decode(subscription).encode() == subscription
