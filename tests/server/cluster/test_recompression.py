"""CMP-10: batches in the codec of their topic."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.storage import encoders, recompression
from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.compression import Budget, decompress
from coordinator.server.storage.partition_log import PartitionLog
from coordinator.server.storage.record_codec import Record, build_batch, read_records
from coordinator.server.storage.records import (
    HEADER_SIZE,
    BatchRefused,
    crc32c,
    parse_header,
    sole_batch,
)

NOW = 1_000_000
RECORDS = [Record(at, NOW + 7 * at, b"k", b"coffee " * 20) for at in range(3)]
CODECS = (0, 1, 2, 3, 4)


def appended(data: bytes, config: LogConfig) -> tuple[Any, list[Record]]:
    """The header and the records of a batch as a log keeps it."""
    log = PartitionLog()
    placed = log.append(data, sole_batch(data, 12), config, leader_epoch=0, now_ms=NOW)
    kept = log.read(0, 1 << 20)
    header = parse_header(kept)
    assert crc32c(kept[21:]) == header.crc and header.size == len(kept) == log.size
    assert (placed.sent is None) == (config.codec in (None, sole_batch(data, 12).codec))
    opened = decompress(header.codec, kept[HEADER_SIZE:])
    assert opened is not None
    return header, list(read_records(header, opened.data))


def sent(codec: int) -> bytes:
    """A batch as its producer compressed it."""
    if codec > 1:
        pytest.importorskip("cramjam")
    return build_batch(
        RECORDS, attributes=codec,
        compress=None if not codec else lambda plain: encoders.compress(codec, plain) or b"",
    )  # fmt: skip


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("wanted", CODECS)
def test_from_each_codec_to_each(codec: int, wanted: int) -> None:
    if wanted > 1:
        pytest.importorskip("cramjam")
    header, records = appended(sent(codec), LogConfig(codec=wanted))
    assert (header.codec, records) == (wanted, RECORDS)
    assert (header.base_timestamp, header.max_timestamp) == (NOW, NOW + 14)


def test_in_its_own_codec_it_stays_byte_by_byte() -> None:
    data = build_batch(RECORDS, attributes=1, compress=lambda plain: gzip.compress(plain, 1))
    log = PartitionLog()
    log.append(
        data, sole_batch(data, 12), LogConfig(codec=1, compression_level=9),
        leader_epoch=0, now_ms=NOW,
    )  # fmt: skip
    assert log.read(0, 1 << 20)[21:] == data[21:]


def test_the_limit_counts_before_and_after() -> None:
    data = sent(1)
    for config in (
        LogConfig(codec=0, max_message_bytes=len(data)),
        LogConfig(codec=1, max_message_bytes=len(data) - 1),
    ):
        with pytest.raises(BatchRefused) as refusal:
            appended(data, config)
        assert refusal.value.error == ErrorCode.MESSAGE_TOO_LARGE


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "_cramjam", lambda: None)
    with pytest.raises(BatchRefused) as refusal:
        appended(sent(0), LogConfig(codec=3))
    assert refusal.value.error == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert "kafka-group-coordinator[compression]" in (refusal.value.message or "")
    monkeypatch.setattr(recompression, "decompress", lambda *_: None)
    with pytest.raises(BatchRefused, match="zstd cannot be used here"):
        header = parse_header(sent(0))._replace(attributes=4)
        recompression.recompressed(header, b"", 0, None)


def test_zstd_is_opened_as_far_as_the_budget_goes() -> None:
    pytest.importorskip("cramjam")
    packed = encoders.compress(4, bytes(50_000_000)) or b""
    opened = decompress(4, packed, Budget.for_request(len(packed)))
    assert opened is not None and not opened.whole and len(opened.data) < 50_000_000
    for wrong in (packed[:-3], packed + b"more"):
        with pytest.raises(ValueError):
            decompress(4, wrong)
