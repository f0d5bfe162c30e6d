"""Bytes from anybody: an early end, lengths that lie, mutations. `WireError` or a message, nothing
else, and no allocation that only a length asked for (VER-16)."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from coordinator.base.releases import RELEASES
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.messages.produce import ProduceRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.primitives import WireError, uvarint
from coordinator.wire.schema import Message
from tests.fuzz import run
from tests.wire.samples import SERVED, all_versions, message_types, tame, vectors, wild

KIB = 1024


@contextmanager
def at_most(limit_bytes: int) -> Iterator[None]:
    """The peak of memory allocated inside stays under the limit."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < limit_bytes


@pytest.mark.unmeasured
def test_every_truncation_is_refused() -> None:
    """Each shorter body of a sample ends too early, wherever it is cut."""
    for vector in vectors():
        if len(vector.body) > 400:
            continue
        for size in range(len(vector.body)):
            with pytest.raises(WireError):
                vector.message.decode(vector.version, vector.body[:size])


@pytest.mark.unmeasured
def test_every_truncation_of_served_requests_is_refused() -> None:
    random = Random(3)
    for message in message_types(SERVED):
        for version in all_versions(message):
            body = wild(message, version, random).encode(version)
            step = max(len(body) // 200, 1)
            for size in range(0, len(body), step):
                with pytest.raises(WireError):
                    message.decode(version, body[:size])


COMPACT_HUGE = uvarint(2**31 - 1)
HUGE = struct.pack(">i", 2**31 - 1)


@pytest.mark.parametrize(
    ("message", "version", "body"),
    [
        (MetadataRequest, 1, HUGE),
        (MetadataRequest, 9, COMPACT_HUGE),
        (FetchRequest, 4, struct.pack(">iiiibi", -1, 0, 0, 0, 0, 2**31 - 1)),
        (FetchRequest, 13, struct.pack(">iiiibii", -1, 0, 0, 0, 0, 0, 0) + COMPACT_HUGE),
        (JoinGroupRequest, 0, b"\0\x01g" + bytes(4) + b"\0\0\0\0" + HUGE),
        (
            ProduceRequest,
            3,
            b"\xff\xff\0\x01" + bytes(4) + b"\0\0\0\x01\0\x01t\0\0\0\x01" + bytes(4) + HUGE,
        ),
        (ProduceRequest, 9, b"\0\0\x01" + bytes(4) + b"\x02\x02t\x02" + bytes(4) + COMPACT_HUGE),
        (ProduceRequest, 9, b"\0\0\x01" + bytes(4) + b"\x01" + COMPACT_HUGE),
        (ProduceRequest, 9, b"\0\0\x01" + bytes(4) + b"\x01\x01\x05" + COMPACT_HUGE),
    ],
)
def test_hostile_lengths_allocate_nothing(
    message: type[Message], version: int, body: bytes
) -> None:
    """Array counts, strings, bytes and tags that claim two thousand million."""
    padded = body + bytes(2000)
    for data in (body, padded):
        with pytest.raises(WireError):
            message.decode(version, data)  # and compiles it
        with at_most(64 * KIB), pytest.raises(WireError):
            message.decode(version, data)


@pytest.mark.parametrize("count", [-1, -2, -(2**31), 2**31 - 1, 17])
def test_array_counts_beyond_what_is_left(count: int) -> None:
    """A null array where none may be, or more elements than bytes."""
    with pytest.raises(WireError):
        MetadataRequest.decode(0, struct.pack(">i", count) + bytes(16))


def test_an_array_may_be_as_long_as_the_bytes_that_are_left() -> None:
    assert len(MetadataRequest.decode(0, struct.pack(">i", 8) + bytes(16)).topics or ()) == 8
    with pytest.raises(WireError):
        MetadataRequest.decode(0, struct.pack(">i", 9) + bytes(16))


def test_arrays_of_integers_are_checked_by_their_width() -> None:
    """Forgotten partitions of Fetch: four bytes each."""
    head = struct.pack(">iiiibiii", -1, 0, 0, 0, 0, 0, 0, 0) + struct.pack(">i", 1) + b"\0\x01t"
    assert FetchRequest.decode(7, head + struct.pack(">i", 2) + bytes(8)).forgotten_topics_data[
        0
    ].partitions == [0, 0]
    for count in (3, 2**29, 2**31 - 1, -1):
        with at_most(64 * KIB), pytest.raises(WireError):
            FetchRequest.decode(7, head + struct.pack(">i", count) + bytes(8))


HTTP_REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
TLS_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(200)


@pytest.mark.parametrize("data", [HTTP_REQUEST, TLS_HELLO, b"", b"\xff" * 1000])
def test_bytes_that_are_not_kafka(data: bytes) -> None:
    for message in message_types(SERVED):
        for version in all_versions(message):
            said = why_refused(message, version, data)
            assert said is None or said.startswith(f"{message.__name__} v{version}: ")


def why_refused(message: type[Message], version: int, data: bytes) -> str | None:
    try:
        message.decode(version, data)
    except WireError as fault:
        return str(fault)
    return None


def test_tagged_fields_by_the_thousand_take_linear_time() -> None:
    """V44-7: more than 10,000 in a section are refused, but in releases without the rule."""
    tags = b"".join(uvarint(tag) + b"\0" for tag in range(100, 50_100))
    body = tame(FetchRequest, 12, Random(1)).encode(12)
    bare = FetchRequest().encode(12)[:-1]
    with pytest.raises(WireError, match=r"50000.*0 to 10000 are taken"):
        FetchRequest.decode(12, bare + uvarint(50_000) + tags)
    decoded = FetchRequest.decode_unlimited(12, bare + uvarint(50_000) + tags)
    assert decoded.unknown_tags is not None
    assert len(decoded.unknown_tags) == 50_000
    assert FetchRequest.decode(12, body).encode(12) == body


@pytest.mark.parametrize("message", [FetchRequest, SyncGroupRequest])
def test_a_negative_number_of_tagged_fields_is_refused(message: type[Message]) -> None:
    """V44-7; releases without the rule read none. The first type knows tagged fields, the second
    none."""
    version = 12 if message is FetchRequest else 5
    bare = message().encode(version)[:-1]
    with pytest.raises(WireError, match=r"-1.*0 to 10000 are taken"):
        message.decode(version, bare + b"\xff\xff\xff\xff\x0f\0")
    decoded = message.decode_unlimited(version, bare + b"\xff\xff\xff\xff\x0f\0")
    assert not decoded.unknown_tags


def test_the_bounds_of_decoding_by_release() -> None:
    """V44-7: 4.2.2 has them, and 4.3.1 has not."""
    have = {name for name, release in RELEASES.items() if release.has("V44-7")}
    assert have == {"4.4", "4.2"}


@pytest.mark.unmeasured
def test_mutated_frames() -> None:
    """A bounded run; `make fuzz` runs a million."""
    outcome = run(count=20_000, seed=4)
    assert outcome.accepted > 1000
    assert outcome.refused > 1000
