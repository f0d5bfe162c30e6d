"""Batches that lie about their records, or open to more than they are: whoever reads the partition
later is answered."""

from __future__ import annotations

import gzip

import pytest

from benchmarks.hostile_payloads import batch, rows, varint
from coordinator.server.storage import compression
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.server.broker.data import DataDriver, fetch_request, partitions_of, wanted

CONFIGS = {
    "plain": {},
    "append": {"message_timestamp_type": "LogAppendTime"},
    "compacted": {"cleanup_policy": "compact"},
    "recompressed": {"compression_type": "snappy"},
}
HEADERS = b"\0\0\0\x01\0" + varint(2_000) + (varint(1) + b"a\x01") * 2_000
BATCHES = {
    "fewer records than said": batch(1_000, rows(10)),
    "fewer records than said, in gzip": batch(2**31 - 1, gzip.compress(rows(100)), 1),
    "more records than said": batch(3, rows(100)),
    "zeros in gzip": batch(1, gzip.compress(bytes(1 << 22)), 1),
    "2,000 headers": batch(1, varint(len(HEADERS)) + HEADERS),
    "no snappy": batch(10, b"\xff" * 5_000, 2),
    "empty blocks of snappy": batch(10, b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01" + bytes(5_000), 2),
    "no lz4": batch(10, b"\x04\x22\x4d\x18\x60\x70\x73" + b"\xff" * 5_000, 3),
    "no zstd": batch(10, b"\x28\xb5\x2f\xfd" * 1_000, 4),
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each compressed batch was opened to."""
    sizes: list[int] = []
    once = compression._open

    def counting(codec: int, data: bytes, budget: compression.Budget) -> compression.Opened | None:
        found = once(codec, data, budget)
        sizes.append(0 if found is None else len(found.data))
        return found

    monkeypatch.setattr(compression, "_open", counting)
    return sizes


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", BATCHES)
def test_whatever_was_taken_can_be_read_and_asked_by_time(
    config: str, name: str, opened: list[int]
) -> None:
    """23 KiB of gzip held the broker for seven seconds; a batch without the records it told of
    broke every ListOffsets after it."""
    driver = DataDriver()
    driver.topic(
        "one", message_timestamp_after_max_ms=str(2**63 - 1), **CONFIGS[config]
    )  # its clock is at the beginning of 1970
    taken = driver.produce(BATCHES[name], topic="one")
    assert driver.client_.fault is None
    good = driver.produce(batch(5, rows(5)), topic="one")
    assert good.error_code == 0
    for instant in (-3, -2, -1, 0, 1_600_000_000_000, 1_800_000_000_000):
        asked = ListOffsetsTopic(
            name="one", partitions=[ListOffsetsPartition(partition_index=0, timestamp=instant)]
        )
        answer = driver.client_.ask(ListOffsetsRequest(replica_id=-1, topics=[asked]), 7)
        assert isinstance(answer, ListOffsetsResponse)
        assert answer.topics[0].partitions[0].error_code == 0
    (read,) = partitions_of(driver.fetch(fetch_request(wanted(0), topic="one")))
    assert (read.error_code, read.high_watermark) == (0, good.base_offset + 5)
    assert driver.client_.fault is None
    assert (taken.error_code == 0) == (good.base_offset > 0)
    assert sum(opened) <= 4 << 22
