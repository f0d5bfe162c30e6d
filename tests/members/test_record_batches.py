"""Record batches of clients against those of brokers: two codecs that share nothing."""

from __future__ import annotations

from zlib import MAX_WBITS, compressobj

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.members import record_batches
from coordinator.members.record_batches import NewRecord, ReadRecord, read_batches
from coordinator.server.storage.record_codec import Record, build_batch, read_records
from coordinator.server.storage.records import CONTROL, GZIP, TRANSACTIONAL, ZSTD, parse_header
from coordinator.wire.primitives import WireError


def test_what_a_client_builds_a_broker_reads() -> None:
    at = 1_700_000_000_000
    records = [
        NewRecord(b"k", b"v" * 300, at),
        NewRecord(None, None, at + 500),
        NewRecord(b"", b"", at - 1),
    ]
    data = record_batches.build_batch(
        records, producer_id=1 << 40, producer_epoch=3, base_sequence=7, transactional=True
    )
    header = parse_header(data)
    assert (
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.record_count,
    ) == (1 << 40, 3, 7, 3)
    assert header.max_timestamp == 1_700_000_000_500
    assert header.attributes == TRANSACTIONAL
    found = list(read_records(header, data[61:]))
    assert [(each.key, each.value, each.timestamp) for each in found] == [
        tuple(each) for each in records
    ]


SIZES = st.sampled_from([0, 1, 63, 64, 127, 128, 8_191, 8_192])
"""On both sides of where a length takes one byte more."""
OFTEN_NONE = st.one_of(st.none(), SIZES.map(bytes))
RECORDS = st.lists(
    st.tuples(OFTEN_NONE, OFTEN_NONE, st.integers(-1 << 40, 1 << 40)), min_size=1, max_size=70
)


@given(RECORDS, st.integers(0, 1 << 40))
def test_both_codecs_say_the_same_of_random_records(
    given_: list[tuple[bytes | None, bytes | None, int]], base: int
) -> None:
    at = 1 << 41
    records = [NewRecord(key, value, at + since) for key, value, since in given_]
    built = record_batches.build_batch(records)
    assert [tuple(each)[1:] for each in next(read_batches(built)).records] == [
        (at + since, key, value) for key, value, since in given_
    ]
    kept = build_batch(
        [
            Record(base + number, record.timestamp, record.key, record.value)
            for number, record in enumerate(records)
        ],
        timestamp=records[0].timestamp,
        base_offset=base,
    )
    assert kept[61:] == built[61:]
    [batch] = read_batches(kept)
    assert batch.records == tuple(
        ReadRecord(base + number, record.timestamp, record.key, record.value)
        for number, record in enumerate(records)
    )


def test_what_a_broker_keeps_a_client_reads() -> None:
    plain = build_batch(
        [Record(10, 5, b"a", b"b", (("h", b"x"),)), Record(12, 3, None, b"c")],
        timestamp=5,
        base_offset=10,
        leader_epoch=4,
    )
    commit = build_batch(
        [(b"\0\0\0\1", b"\0\0\0\0\0\0")],
        base_offset=13,
        producer_id=9,
        attributes=TRANSACTIONAL | CONTROL,
    )
    abort = build_batch(
        [(b"\0\0\0\0", b"\0\0\0\0\0\0")],
        base_offset=14,
        producer_id=9,
        attributes=TRANSACTIONAL | CONTROL,
    )
    first, second, third = read_batches(plain + commit + abort + plain[:30])
    assert (
        first.base_offset,
        first.last_offset,
        first.leader_epoch,
        first.transactional,
        first.control,
    ) == (10, 12, 4, False, False)
    assert first.records == (ReadRecord(10, 5, b"a", b"b"), ReadRecord(12, 3, None, b"c"))
    assert (second.control, second.aborts, second.producer_id, second.records) == (
        True,
        False,
        9,
        (),
    )
    assert (third.control, third.aborts) == (True, True)


def test_gzip_is_opened_and_other_compressions_are_named() -> None:
    def gzip(data: bytes) -> bytes:
        packer = compressobj(wbits=MAX_WBITS | 16)
        return packer.compress(data) + packer.flush()

    [batch] = read_batches(build_batch([b"x" * 100], compress=gzip, attributes=GZIP))
    assert batch.records[0].value == b"x" * 100
    with pytest.raises(
        WireError, match="compressed with zstd: this consumer reads plain and gzip batches"
    ):
        list(read_batches(build_batch([b"x"], compress=lambda data: data, attributes=ZSTD)))


def test_damage_is_told_in_words() -> None:
    data = bytearray(build_batch([b"value"]))
    data[-1] ^= 1
    with pytest.raises(WireError, match="fails its checksum"):
        list(read_batches(bytes(data)))
