"""Record batches: the header, what Kafka 4.4.0 was seen to refuse with which code, single records,
the four codecs."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from pathlib import Path

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.storage.compression import FREE_STEPS, Budget, Opened, decompress
from coordinator.server.storage.record_codec import Record, build_batch, read_records, survey
from coordinator.server.storage.records import (
    HEADER_SIZE,
    LOG_APPEND_TIME,
    ZSTD,
    BatchHeader,
    BatchRefused,
    check_header,
    crc32c,
    is_transactional,
    parse_header,
    seal,
    sole_batch,
    stamp,
    with_max_timestamp,
)

BATCH = build_batch([b"a", b"b"], timestamp=1_000)
PAYLOAD = BATCH[HEADER_SIZE:]
VECTORS = json.loads(
    (Path(__file__).parents[2] / "vectors" / "compressed_batches.json").read_text()
)


def header(**changes: int) -> BatchHeader:
    return parse_header(BATCH)._replace(**changes)


def patched(at: int, new: bytes) -> bytes:
    return BATCH[:at] + new + BATCH[at + len(new) :]


def test_header_round_trip() -> None:
    """KIP-98: what was built is what is read, and the checksum covers everything from the
    attributes on."""
    batch = build_batch(
        [(b"k", b"v"), (b"k", None)],
        timestamp=7,
        base_offset=3,
        producer_id=9,
        producer_epoch=2,
        base_sequence=5,
    )
    parsed = parse_header(batch)
    assert parsed.size == len(batch)
    assert parsed.crc == crc32c(batch[21:])
    assert (parsed.base_offset, parsed.last_offset, parsed.record_count) == (3, 4, 2)
    assert (
        parsed.producer_id,
        parsed.producer_epoch,
        parsed.base_sequence,
        parsed.last_sequence,
    ) == (9, 2, 5, 6)
    assert str(parsed) == f"batch 3..4, 2 records, {len(batch)} bytes"


def test_crc32c_check_value() -> None:
    """The check value of CRC-32C in every catalogue."""
    assert crc32c(b"123456789") == 0xE3069283


def test_last_sequence_wraps() -> None:
    assert header(base_sequence=0x7FFFFFFF, last_offset_delta=1).last_sequence == 0
    assert header(base_sequence=-1).last_sequence == -1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ErrorCode.INVALID_RECORD),
        (b"12345", ErrorCode.INVALID_RECORD),
        (BATCH + BATCH, ErrorCode.INVALID_RECORD),
        (BATCH[:-1], ErrorCode.INVALID_RECORD),
        (patched(16, b"\1"), ErrorCode.INVALID_RECORD),
        (patched(16, b"\3"), ErrorCode.CORRUPT_MESSAGE),
        (patched(16, b"\xff"), ErrorCode.CORRUPT_MESSAGE),
        (patched(8, b"\0\0\0\3"), ErrorCode.CORRUPT_MESSAGE),
        (patched(8, b"\xff\xff\xff\xff"), ErrorCode.CORRUPT_MESSAGE),
        (BATCH + bytes(16), ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_not_exactly_one_batch(data: bytes, code: ErrorCode) -> None:
    """A Produce request carries one whole batch of format 2 for a partition; codes as Kafka 4.4.0
    gave them."""
    with pytest.raises(BatchRefused) as refusal:
        sole_batch(data, 12)
    assert refusal.value.error == code


@pytest.mark.parametrize("tail", [b"", b"12345", BATCH[:-1]])
def test_what_is_no_whole_batch_behind_the_first_is_forgiven(tail: bytes) -> None:
    assert sole_batch(BATCH + tail, 12) == parse_header(BATCH)


def test_zstd_needs_produce_v7() -> None:
    """KIP-110."""
    data = seal(header(attributes=ZSTD), PAYLOAD)
    assert sole_batch(data, 7).codec == ZSTD
    with pytest.raises(BatchRefused) as refusal:
        sole_batch(data, 6)
    assert refusal.value.error == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_an_unknown_compression_is_seen_at_once_before_produce_v7() -> None:
    data = seal(header(attributes=5), PAYLOAD)
    assert sole_batch(data, 7).codec == 5
    with pytest.raises(BatchRefused) as refusal:
        sole_batch(data, 6)
    assert refusal.value.error == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("size", [26, 51, 60])
def test_a_batch_that_ends_within_its_header_is_one_batch(size: int) -> None:
    """What is missing reads 0; several batches and zstd before v7 are refused first."""
    short = patched(8, (size - 12).to_bytes(4, "big"))[:size]
    found = sole_batch(short, 12)
    assert (found.size, found.magic, found.record_count) == (size, 2, 0)
    with pytest.raises(BatchRefused) as refusal:
        sole_batch(short + BATCH, 12)
    assert refusal.value.error == ErrorCode.INVALID_RECORD
    with pytest.raises(BatchRefused) as refusal:
        sole_batch(short[:22] + b"\4" + short[23:], 6)
    assert refusal.value.error == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_transactional_flag_is_seen_before_anything_else() -> None:
    assert not is_transactional(BATCH)
    assert not is_transactional(b"")
    assert is_transactional(seal(header(attributes=0x10), PAYLOAD))
    with pytest.raises(BatchRefused) as refusal:
        is_transactional(patched(16, b"\3"))
    assert refusal.value.message == "Invalid magic found in record: 3"
    with pytest.raises(BatchRefused) as refusal:
        is_transactional(patched(16, b"\xff"))
    assert refusal.value.message == "Invalid magic found in record: -1"
    with pytest.raises(BatchRefused) as refusal:
        is_transactional(patched(8, b"\0\0\0\3"))
    assert refusal.value.message == "Record size 3 is less than the minimum record overhead (14)"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"record_count": 0, "last_offset_delta": -1}, ErrorCode.INVALID_RECORD),
        ({"record_count": 3}, ErrorCode.INVALID_RECORD),
        ({"last_offset_delta": -1}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x20}, ErrorCode.INVALID_RECORD),
        ({"producer_id": 5, "producer_epoch": 0}, ErrorCode.INVALID_RECORD),
        ({"attributes": 5}, ErrorCode.UNKNOWN_SERVER_ERROR),
        ({"attributes": 7}, ErrorCode.UNKNOWN_SERVER_ERROR),
        ({"attributes": 0x25, "record_count": 0}, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_headers_that_lie(changes: dict[str, int], code: ErrorCode) -> None:
    with pytest.raises(BatchRefused) as refusal:
        check_header(header(**changes))
    assert refusal.value.error == code


@pytest.mark.parametrize(
    "changes",
    [{}, {"leader_epoch": 5}, {"attributes": 0x40}, {"producer_id": -3, "base_sequence": -1}],
)
def test_headers_that_kafka_takes(changes: dict[str, int]) -> None:
    check_header(header(**changes))


def test_stamping_leaves_the_checksum_right() -> None:
    parsed = parse_header(BATCH)
    stored = stamp(77, 3, parsed) + BATCH[21:]
    assert parse_header(stored)[:3] == (77, parsed.length, 3)
    assert parse_header(stored).crc == crc32c(stored[21:])


def test_append_time_changes_type_and_maximum_only() -> None:
    """KIP-32."""
    parsed, body = with_max_timestamp(parse_header(BATCH), BATCH[21:], 5_000, append_time=True)
    stored = stamp(0, 0, parsed) + body
    assert parse_header(stored).attributes == LOG_APPEND_TIME
    assert parse_header(stored).crc == crc32c(stored[21:])
    assert [
        record.timestamp for record in read_records(parse_header(stored), stored[HEADER_SIZE:])
    ] == [5_000, 5_000]
    again, body = with_max_timestamp(parsed, body, 1_000, append_time=False)
    assert stamp(0, -1, again) + body == BATCH


@pytest.mark.parametrize("append_time", [False, True])
def test_attribute_bits_without_a_meaning_are_lost_with_the_maximum(append_time: bool) -> None:
    """Kafka 4.4.0 puts the attributes together anew: compression, timestamp type, transaction,
    control, delete horizon."""
    sent = header(attributes=-1 & ~0x38)
    changed, body = with_max_timestamp(
        sent, seal(sent, PAYLOAD)[21:], 5_000, append_time=append_time
    )
    assert changed.attributes == (0x4F if append_time else 0x47)
    stored = stamp(0, 0, changed) + body
    assert parse_header(stored).attributes == changed.attributes
    assert parse_header(stored).crc == crc32c(stored[21:])


def test_records_round_trip() -> None:
    records = [
        Record(0, 1_000, None, None),
        Record(1, 900, b"", b""),
        Record(2, 1 << 40, b"key", b"v" * 70_000, (("h", b"1"), ("", None))),
    ]
    batch = build_batch(records)
    assert list(read_records(parse_header(batch), batch[HEADER_SIZE:])) == records
    seen = survey(batch, 3, HEADER_SIZE)
    assert (seen.max_timestamp_delta, seen.min_timestamp_delta) == ((1 << 40) - 1_000, -100)
    assert seen.keyless == (0,)


@pytest.mark.parametrize(
    "payload",
    [
        PAYLOAD[:-1],
        PAYLOAD + b"\0",
        b"\0" + PAYLOAD,
        b"\1" + PAYLOAD[1:],
        bytes([PAYLOAD[0] + 2]) + PAYLOAD[1:],
        PAYLOAD[:4] + b"\x0a" + PAYLOAD[5:],
        b"\xff" * 4,
        b"\xff\xff\xff\xff\x0f" + PAYLOAD,
    ],
)
def test_records_that_do_not_fill_their_bytes(payload: bytes) -> None:
    with pytest.raises(BatchRefused) as refusal:
        survey(payload, 2)
    assert refusal.value.error == ErrorCode.INVALID_RECORD


def test_numbers_are_no_longer_than_they_may_be() -> None:
    """Lengths take five bytes at most and timestamps ten, each with leading zeros if one likes.

    Beyond that Kafka 4.4.0 trips over the size of a record (-1), and refuses what is inside of one
    (87).
    """
    body = b"\0\0\0\1\2a\0"
    survey(b"\x0e" + body, 1)
    survey(b"\x8e\x80\x80\x80\x00" + body, 1)
    for size in (b"\x8e\x80\x80\x80\x80\x00", b"\xff" * 5):
        with pytest.raises(BatchRefused) as refusal:
            survey(size + body, 1)
        assert refusal.value.error == ErrorCode.UNKNOWN_SERVER_ERROR
        with pytest.raises(BatchRefused) as refusal:
            list(read_records(header(record_count=1), size + body))
        assert refusal.value.error == ErrorCode.UNKNOWN_SERVER_ERROR
    long = b"\x81" + b"\x80" * 8
    assert survey(b"\x20\0" + long + b"\0" + body[2:], 1).max_timestamp_delta == -1
    with pytest.raises(BatchRefused):
        survey(b"\x22\0" + long + b"\x80\0" + body[2:], 1)
    with pytest.raises(BatchRefused) as refusal:
        survey(b"\x18\0\0" + b"\x80" * 5 + b"\0" + body[3:], 1)
    assert refusal.value.error == ErrorCode.INVALID_RECORD


def test_timestamps_wrap() -> None:
    batch = build_batch([Record(0, 5, None, b"x"), Record(1, 6, None, b"x")])
    last = parse_header(batch)._replace(base_timestamp=(1 << 63) - 1)
    assert [record.timestamp for record in read_records(last, batch[HEADER_SIZE:])] == [
        (1 << 63) - 1,
        -1 << 63,
    ]


def test_header_without_a_key_is_refused() -> None:
    good = build_batch([Record(0, 0, b"k", b"v", (("h", b"x"),))])[HEADER_SIZE:]
    survey(good, 1)
    bad = bytearray(good)
    bad[bad.index(b"h") - 1] = 1
    with pytest.raises(BatchRefused):
        survey(bytes(bad), 1)


def test_mutated_records_are_taken_by_the_walk_only_if_they_can_be_read() -> None:
    """Whatever `survey` lets through, `read_records` can read; nothing else than BatchRefused is
    ever raised."""
    draw = random.Random(5)
    whole = build_batch(
        [Record(i, i, b"k" * i, b"v" * 30, (("a", b"b"),) * (i % 3)) for i in range(5)]
    )
    parsed, good = parse_header(whole), whole[HEADER_SIZE:]
    taken = 0
    for _ in range(3_000):
        payload = bytearray(good)
        for _ in range(draw.choice((1, 1, 2))):
            payload[draw.randrange(len(payload))] = draw.choice(
                (0, 1, 2, 0x7F, 0x80, 0xFF, draw.randrange(256))
            )
        try:
            survey(bytes(payload), 5)
        except BatchRefused:
            continue
        taken += 1
        assert len(list(read_records(parsed, bytes(payload)))) == 5
    assert taken > 100


@pytest.mark.parametrize(
    "vector", VECTORS, ids=[f"{vector['writer']}-{vector['codec']}" for vector in VECTORS]
)
def test_batches_compressed_by_real_clients(vector: dict[str, object]) -> None:
    """Java's and librdkafka's framings of gzip, snappy and lz4 can be opened; zstd where Python
    can."""
    batch = bytes.fromhex(str(vector["hex"]))
    parsed = parse_header(batch)
    payload = batch[HEADER_SIZE:]
    assert parsed.crc == crc32c(batch[21:])
    opened = decompress(parsed.codec, payload)
    if parsed.codec == ZSTD and opened is None:
        pytest.skip("this Python has no zstd")
    assert opened is not None
    assert opened.whole
    values = [record.value or b"" for record in read_records(parsed, opened.data)]
    assert len(values) == parsed.record_count == 6
    assert all(b"abcabcabcabcabcabcabcabcabc" in value for value in values)


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_damaged_compression_is_a_value_error(codec: int) -> None:
    good = next(
        bytes.fromhex(vector["hex"])[HEADER_SIZE:] for vector in VECTORS if vector["codec"] == codec
    )
    draw = random.Random(codec)
    for _ in range(300):
        data = bytearray(good)
        data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            decompress(codec, bytes(data[: draw.randrange(len(data) + 1)]))
        except ValueError:
            continue


@pytest.mark.parametrize(
    "data",
    [
        b"\x26\x00\x00\x00not really compressed",
        b"",
        b"\xff" * 1_000_000,
        b"\xff\xff\xff\xff\x0f\x00a",
        b"\x80" * 5 + b"\x01\x00a",
        b"\x82SNAPPY\x00" + bytes(8) + b"\x00\x00\x01\x00ab",
        b"\x82SNAPPY\x00" + bytes(8) + bytes(4),
    ],
)
def test_snappy_that_cannot_be_opened(data: bytes) -> None:
    """An endless size, too: a million bytes of it once took half a minute (scenario
    compressed_batches.snappy_sizes)."""
    with pytest.raises(ValueError, match=r"snappy|early|copy"):
        decompress(2, data)


def test_a_snappy_stream_behind_another_has_a_version() -> None:
    """Only its header is looked at; one of another name is passed over."""
    head, block = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2, b"\x00\x00\x00\x03\x01\x00a"
    for between in (b"", head, b"\x82SNA" + bytes(12)):
        data = head[:8] + bytes(8) + block + between + block
        assert decompress(2, data) == (b"aa", True)
    for behind in (head[:15], head[:8] + bytes(8), head[:8] + b"\xff" * 8):
        with pytest.raises(ValueError, match="appended"):
            decompress(2, head + block + behind)


def copies(count: int) -> bytes:
    """A snappy block whose every two bytes stand for four."""
    size = 1 + 4 * count
    number = bytearray()
    while size > 127:
        number.append(size & 127 | 128)
        size >>= 7
    return bytes(number) + bytes((size, 0)) + b"a" + b"\x01\x01" * count


def lz4_copies(count: int) -> bytes:
    """The same as an lz4 block: three bytes for four, and five at the end."""
    block = b"\x10a\x01\x00" + b"\x00\x01\x00" * (count - 1) + b"\x50aaaaa"
    return b"\x04\x22\x4d\x18\x60\x70\x73" + len(block).to_bytes(4, "little") + block + bytes(4)


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_opening_ends_where_its_budget_does(codec: int) -> None:
    """23 KiB of gzip stand for 23 MB, 1 MiB of snappy for half a million elements: the work is
    bounded by what came in."""

    data = {1: gzip.compress(bytes(60_000_000)), 2: copies(300_000), 3: lz4_copies(300_000)}[codec]
    budget = Budget.for_request(len(data))
    granted = budget.left = budget.left & ~1
    assert granted < FREE_STEPS + 100 + len(data) // 10
    opened = decompress(codec, data, budget)
    assert opened is not None
    assert not opened.whole
    assert 0 < len(opened.data) <= (FREE_STEPS + 110_000) * 512
    assert budget.left * 2 == granted
    every = decompress(codec, data)
    assert every is not None
    assert every.whole
    assert every.data.startswith(opened.data)


def test_a_gzip_file_of_several_members() -> None:
    """As Java reads it: what follows a member and does not begin another one is ignored."""

    two = gzip.compress(b"one") + gzip.compress(b"two")
    for data, plain in (
        (two, b"onetwo"),
        (two + bytes(100), b"onetwo"),
        (gzip.compress(b"one") + b"x", b"one"),
        (gzip.compress(b"one") + b"\x1f\x8b\x08" + bytes(15), b"one"),
    ):
        assert decompress(1, data) == (plain, True)
    with pytest.raises(ValueError, match="early"):
        decompress(1, two[:-1])


def test_members_of_a_file_are_not_copied_with_all_that_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A decompressor copies what it was given too much: 50,000 members in 1 MB took 0.9 s."""
    given = 0
    begin = zlib.decompressobj

    class Counting:
        def __init__(self, bits: int) -> None:
            self._of = begin(bits)

        def decompress(self, data: bytes, most: int) -> bytes:
            nonlocal given
            given += len(data)
            return self._of.decompress(data, most)

        eof = property(lambda self: self._of.eof)
        unused_data = property(lambda self: self._of.unused_data)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    members = 5_000
    opened = decompress(1, gzip.compress(b"x", mtime=0) * members)
    assert opened == Opened(b"x" * members)
    assert given < members * 10_000


@pytest.mark.parametrize("first", [0x4F, 0x60, 0x00])
def test_a_zstd_frame_begins_with_its_magic(first: int) -> None:
    """Also where this Python cannot open it."""
    with pytest.raises(ValueError, match="no zstd frame"):
        decompress(4, bytes([first]) + b"\x2a\x4d\x18" + bytes(8))


def test_a_zstd_file_of_several_frames() -> None:
    """As Java reads it: frames may be passed over, and nothing else may follow."""
    zstd = pytest.importorskip("compression.zstd")
    passed_over = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    two = zstd.compress(b"one") + zstd.compress(b"two")
    for data in (two, passed_over + two, two + passed_over):
        assert decompress(4, data) == (b"onetwo", True)
    assert decompress(4, two * 1_000, Budget(20)) == (b"onetwo" * 5, False)
    for data in (two + b"\0", two[:-1], passed_over[:-1]):
        with pytest.raises(ValueError, match=r"(?i)early|zstandard"):
            decompress(4, data)
