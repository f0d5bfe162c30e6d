"""Decompression of record batches, to check their records on append and to look up single records.

Owns the framings of the codecs as Kafka's clients write and its broker reads them: gzip by the
standard library, snappy (one block, or xerial's blocks) and lz4 (frame format) in plain Python,
zstd if Python has it (3.14). Few bytes may expand to many, so the work is charged to a `Budget`
that grows with the request; if it ends, the bytes so far are returned, marked as incomplete.
Logs keep batches as received. Does not know records.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LEAST_MEMBER = 18  # a gzip member's header and trailer: after another one Java looks for more
_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = bytes(range(0x50, 0x60))  # the first byte of a frame to be passed over, and
_SKIPPED = b"\x2a\x4d\x18"  # what follows it
_FULL = "whole buffer"
"""cramjam says so where more comes out than there is room for."""
_WINDOW = 8192  # bytes
_LITERAL = -1

FREE_STEPS = 50_000
"""A request's allowed cost whatever its size: some 50 ms."""
STEPS_PER_MIB = 100_000
BYTES_PER_STEP = 512
_MANY_STEPS = 1 << 40


class Budget:
    """Remaining steps of work for one request. A step is a record, a compressed element, or 512
    plain bytes.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = _MANY_STEPS) -> None:
        self.left = left

    @classmethod
    def for_request(cls, size: int) -> Budget:
        """Return the budget of a request of `size` bytes."""
        return cls(FREE_STEPS + STEPS_PER_MIB * size // (1 << 20))

    def spend(self, steps: int) -> None:
        """Subtract steps, down to 0."""
        self.left = max(self.left - steps, 0)


class Opened(NamedTuple):
    """Decompressed bytes, and whether they are complete."""

    data: bytes
    whole: bool = True


class _SpentError(Exception):
    """Error: the budget ended before the data."""


def decompress(codec: int, data: bytes, budget: Budget | None = None) -> Opened | None:
    """Decompress within half of `budget` (None: without limit); the other half is for the records.

    Return None if the codec is not available in this Python. Raises ValueError for data that
    Kafka cannot decompress either.
    """
    if codec == 0:
        return Opened(data)
    if budget is None:
        return _open(codec, data, Budget())
    half = Budget(budget.left // 2)
    kept = budget.left - half.left
    try:
        return _open(codec, data, half)
    finally:
        budget.left = kept + half.left


def _open(codec: int, data: bytes, budget: Budget) -> Opened | None:
    if codec == 1:
        return _gunzip(data, budget)
    if codec == 4:
        return _unzstd(data, budget)
    out = bytearray()
    whole = True
    try:
        if codec == 2:
            _snappy(data, out, budget)
        else:
            _lz4(data, out, budget)
    except IndexError:
        raise ValueError("compressed data end early") from None
    except _SpentError:
        whole = False
    return Opened(bytes(out), whole)


# -- gzip, zstd


def _gunzip(data: bytes, budget: Budget) -> Opened:
    """Decompress all members of a gzip file. Bytes after a member that begin no other are ignored,
    as by Java's GZIPInputStream.
    """
    import zlib

    def another(data: bytes, at: int) -> bool:
        return len(data) - at > _LEAST_MEMBER and data.startswith(b"\x1f\x8b\x08", at)

    return _streams(data, budget, lambda: zlib.decompressobj(31), zlib.error, another)


def _unzstd(data: bytes, budget: Budget) -> Opened | None:
    if not (data.startswith(_ZSTD_FRAME) or (data[:1] in _ZSTD_SKIPPED and data[1:4] == _SKIPPED)):
        raise ValueError("no zstd frame")
    try:
        zstd: Any = import_module("compression.zstd")
    except ImportError:
        return _unzstd_by_cramjam(data, budget)

    def another(data: bytes, at: int) -> bool:
        return at < len(data)

    return _streams(data, budget, zstd.ZstdDecompressor, zstd.ZstdError, another)


def _unzstd_by_cramjam(data: bytes, budget: Budget) -> Opened | None:
    """Like `_unzstd`, before Python 3.14, with the extra `compression`."""
    try:
        cramjam: Any = import_module("cramjam")
    except ImportError:
        return None
    most = budget.left * BYTES_PER_STEP
    size = max(4 * len(data), _WINDOW)
    while True:
        out = bytearray(min(size, most))
        try:
            found = cramjam.zstd.decompress_into(data, out)
        except cramjam.DecompressionError as error:
            if _FULL not in str(error):
                raise ValueError(str(error)) from None
            if size < most:
                size *= 4
                continue
            budget.spend(budget.left)
            return Opened(bytes(out), whole=False)
        budget.spend(1 + found // BYTES_PER_STEP)
        return Opened(bytes(out[:found]))


def _streams(
    data: bytes,
    budget: Budget,
    begin: Callable[[], Any],
    damaged: type[Exception],
    another: Callable[[bytes, int], bool],
) -> Opened:
    """Decompress consecutive streams. `another`: whether one begins at a position. They are fed a
    window at a time, since each copies the bytes that it does not use.
    """
    pieces: list[bytes] = []
    at = 0
    while True:
        stream, full = begin(), False
        while not stream.eof and not full:
            if at >= len(data):
                raise ValueError("compressed data end early")
            window = data[at : at + _WINDOW]
            at += len(window)
            most = budget.left * BYTES_PER_STEP
            try:
                piece = stream.decompress(window, max(most, 1))
            except damaged as error:
                raise ValueError(str(error)) from None
            pieces.append(piece)
            budget.spend(len(piece) // BYTES_PER_STEP)
            full = len(piece) >= most
        budget.spend(1)
        at -= len(stream.unused_data)
        more = stream.eof and another(data, at)
        if not more or not budget.left:
            return Opened(b"".join(pieces), whole=stream.eof and not more)


# -- snappy


def _snappy(data: bytes, out: bytearray, budget: Budget) -> None:
    if not data.startswith(_XERIAL) or len(data) < _XERIAL_HEADER:
        _snappy_block(data, out, budget)
        return
    pos = _XERIAL_HEADER
    while pos + 4 <= len(data):  # a size that is cut short is the end
        if data.startswith(_XERIAL[:4], pos):  # another stream is appended
            sound = data.startswith(_XERIAL, pos)
            version = int.from_bytes(data[pos + 8 : pos + 12], "big", signed=True)
            pos += _XERIAL_HEADER
            if pos > len(data) or (sound and version < 1):
                raise ValueError("an appended snappy stream without a version")
            continue
        end = pos + 4 + int.from_bytes(data[pos : pos + 4], "big")
        if end > len(data):
            raise ValueError("a snappy block ends early")
        _snappy_block(data[pos + 4 : end], out, budget)
        pos = end


def _snappy_block(data: bytes, out: bytearray, budget: Budget) -> None:
    """Decompress a block into `out`. Raises ValueError, IndexError at an early end, _SpentError."""
    size, pos = _snappy_size(data)
    start, length_in = len(out), len(data)
    most = start + min(size, budget.left * BYTES_PER_STEP)
    for step in range(budget.left):
        if pos >= length_in:
            if len(out) - start != size:
                raise ValueError("a snappy block of a wrong size")
            budget.spend(1 + step + (len(out) - start) // BYTES_PER_STEP)
            return
        length, distance, pos = _snappy_element(data, pos)
        if distance == _LITERAL:
            end = pos + length
            if end > length_in:
                raise ValueError("a snappy block ends early")
            out += data[pos:end]
            pos = end
        elif 0 < distance <= len(out) - start:
            _repeat(out, distance, length)
        else:
            raise ValueError("a copy from before the start")
        if len(out) > most:
            if len(out) - start > size:
                raise ValueError("a snappy block of a wrong size")
            break
    budget.left = 0
    raise _SpentError


def _snappy_size(data: bytes) -> tuple[int, int]:
    """Return a block's announced size (below 2**31, five bytes at most) and the position of its
    first element.
    """
    size = 0
    for index, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            if size >> 31:
                break
            return size, index + 1
    raise ValueError("a snappy block without a size")


def _snappy_element(data: bytes, pos: int) -> tuple[int, int, int]:
    """Return an element's length, its distance back (or `_LITERAL`), and the position behind it,
    where a literal's bytes begin. Raises IndexError at the end.
    """
    tag = data[pos]
    pos += 1
    if tag & 3 == 0:
        length = tag >> 2
        if length >= 60:
            extra = length - 59
            length = int.from_bytes(data[pos : pos + extra], "little")
            pos += extra
        if pos > len(data):
            raise IndexError
        return length + 1, _LITERAL, pos
    if tag & 3 == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[pos], pos + 1
    width = 2 if tag & 3 == 2 else 4
    if pos + width > len(data):
        raise IndexError
    return (tag >> 2) + 1, int.from_bytes(data[pos : pos + width], "little"), pos + width


def _repeat(out: bytearray, distance: int, length: int) -> None:
    """Append `length` bytes that begin `distance` bytes back; they may overlap the bytes being
    written.
    """
    start = len(out) - distance
    piece = out[start : start + length]
    if distance < length:
        piece = (piece * (length // distance + 1))[:length]
    out += piece


# -- lz4


def _lz4(data: bytes, out: bytearray, budget: Budget) -> None:
    """Decompress the first frame; bytes after its end mark are ignored, content checksums not
    checked.
    """
    most_in_block, pos = _lz4_descriptor(data)
    checked = data[4] & 0x10
    while True:
        size = int.from_bytes(data[pos : pos + 4], "little")
        if pos + 4 > len(data):
            raise IndexError
        pos += 4
        if size == 0:
            return
        plain, size = size >> 31, size & 0x7FFFFFFF
        block = data[pos : pos + size]
        if len(block) < size or size > most_in_block:
            raise ValueError("an lz4 block of a wrong size")
        if plain:
            out += block
            budget.spend(1 + size // BYTES_PER_STEP)
        else:
            _lz4_block(block, out, most_in_block, budget)
        if not budget.left:
            raise _SpentError
        pos += size + (4 if checked else 0)


def _lz4_descriptor(data: bytes) -> tuple[int, int]:
    """Check a frame's descriptor as Kafka does (version 1, independent blocks, hash); return the
    maximal block size and the position of the first block.
    """
    flags, sizes = data[4], data[5]
    end = 6 + (8 if flags & 8 else 0)
    if not data.startswith(_LZ4_MAGIC) or flags & 0xE3 != 0x60 or sizes & 0x8F or sizes < 0x40:
        raise ValueError("no lz4 frame")
    if data[end] != _short_xxh32(data[4:end]) >> 8 & 0xFF:
        raise ValueError("an lz4 frame whose descriptor has a wrong hash")
    return 1 << 2 * (sizes >> 4) + 8, end + 1


def _lz4_block(data: bytes, out: bytearray, most: int, budget: Budget) -> None:
    pos, start, end = 0, len(out), len(data)
    enough = start + min(most, budget.left * BYTES_PER_STEP)
    for step in range(budget.left):
        token = data[pos]
        pos += 1
        length = token >> 4
        if length == 15:
            length, pos = _lz4_length(data, pos)
        if pos + length > end:
            raise IndexError
        out += data[pos : pos + length]
        pos += length
        if pos == end:
            if len(out) - start > most:
                raise ValueError("an lz4 block that is larger than its frame allows")
            budget.spend(1 + step + (len(out) - start) // BYTES_PER_STEP)
            return
        distance = data[pos] | data[pos + 1] << 8
        pos += 2
        length = token & 15
        if length == 15:
            length, pos = _lz4_length(data, pos)
        length += 4
        if not 0 < distance <= len(out) - start:
            raise ValueError("a copy from before the start")
        if len(out) + length > enough:
            if enough == start + most:
                raise ValueError("an lz4 block that is larger than its frame allows")
            break
        _repeat(out, distance, length)
    budget.left = 0
    raise _SpentError


def _lz4_length(data: bytes, pos: int) -> tuple[int, int]:
    """Return a length of 15 or more, and the position behind it."""
    length = 15
    while True:
        byte = data[pos]
        pos += 1
        length += byte
        if byte != 255:
            return length, pos


_PRIME_1, _PRIME_2, _PRIME_3, _PRIME_4, _PRIME_5 = (
    0x9E3779B1,
    0x85EBCA77,
    0xC2B2AE3D,
    0x27D4EB2F,
    0x165667B1,
)


def _short_xxh32(data: bytes) -> int:
    """XXH32 (seed 0) of fewer than 16 bytes."""
    value = _PRIME_5 + len(data)
    whole = len(data) & ~3
    for pos in range(0, whole, 4):
        value = (
            _rotated(value + int.from_bytes(data[pos : pos + 4], "little") * _PRIME_3, 17)
            * _PRIME_4
        )
    for byte in data[whole:]:
        value = _rotated(value + byte * _PRIME_5, 11) * _PRIME_1
    value &= 0xFFFFFFFF
    value = (value ^ value >> 15) * _PRIME_2 & 0xFFFFFFFF
    value = (value ^ value >> 13) * _PRIME_3 & 0xFFFFFFFF
    return value ^ value >> 16


def _rotated(value: int, bits: int) -> int:
    value &= 0xFFFFFFFF
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF
