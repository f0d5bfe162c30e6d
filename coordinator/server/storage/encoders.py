"""Compression of batches, where the broker has to: for compression.type, and for compacted batches.

gzip is the standard library's; snappy, lz4 and zstd are cramjam's, from the extra `compression`,
imported when first needed. The bytes may differ from Java's for the same records; codec, frame
format and content are the same.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib import import_module
from typing import Any

from .records import GZIP, LZ4, SNAPPY, ZSTD

NAMES = {GZIP: "gzip", SNAPPY: "snappy", LZ4: "lz4", ZSTD: "zstd"}
MISSING = "pip install 'kafka-group-coordinator[compression]' (cramjam) to let the broker compress with {}"
_SNAPPY_HEADER = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
_SNAPPY_BLOCK = 32_768
_LZ4_BLOCK = 65_536
_LZ4_HEADER = b"\x04\x22\x4d\x18\x60\x40\x82"
"""Magic; version 1 with independent blocks; blocks of 64 KiB; the hash of the two."""
_DEFAULT_LEVELS = {LZ4: 9, ZSTD: 3}


def compress(codec: int, data: bytes, level: int | None = None) -> bytes | None:
    """Compress a batch's payload; return None if the codec is not installed. `level`: as in
    compression.*.level, None for Kafka's default.
    """
    if codec == GZIP:
        return gzip.compress(data, 6 if level in (None, -1) else int(level or 0), mtime=0)
    packer = _cramjam()
    if packer is None:
        return None
    level = _DEFAULT_LEVELS.get(codec) if level is None else level
    if codec == SNAPPY:
        blocks = [data[at : at + _SNAPPY_BLOCK] for at in range(0, len(data), _SNAPPY_BLOCK)]
        packed = [bytes(packer.snappy.compress_raw(block)) for block in blocks]
        return _SNAPPY_HEADER + b"".join(len(one).to_bytes(4, "big") + one for one in packed)
    if codec == LZ4:
        return _lz4_frame(packer, data, level or _DEFAULT_LEVELS[LZ4])
    return bytes(packer.zstd.compress(data, level=level))


def _lz4_frame(packer: Any, data: bytes, level: int) -> bytes:
    """Return a frame in the form of Kafka's clients: independent blocks of at most 64 KiB."""
    pieces = [_LZ4_HEADER]
    for at in range(0, len(data), _LZ4_BLOCK):
        block = data[at : at + _LZ4_BLOCK]
        packed = bytes(
            packer.lz4.compress_block(
                block, mode="high_compression", compression=level, store_size=False
            )
        )
        if len(packed) < len(block):
            pieces.append(len(packed).to_bytes(4, "little") + packed)
        else:
            pieces.append((len(block) | 1 << 31).to_bytes(4, "little") + block)
    return b"".join((*pieces, bytes(4)))


def can_compress(codec: int) -> bool:
    """Return True if batches can be compressed with this codec here."""
    return codec in (0, GZIP) or _cramjam() is not None


@cache
def _cramjam() -> Any:
    try:
        return import_module("cramjam")
    except ImportError:
        return None
