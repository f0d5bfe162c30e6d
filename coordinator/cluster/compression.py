"""Opening compressed record batches, for questions about single records only; logs keep batches as they came.

Owns the four codecs' framings as Kafka's clients write them: gzip by the standard library, snappy (plain, and xerial's
blocks) and lz4 (frame format) in a few plain lines, zstd where Python has it (3.14). Speed is no aim: a look-up by
timestamp opens one batch. Refuses to know what a record is.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_XERIAL = b"\x82SNAPPY\x00"
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_XERIAL_HEADER = 16
_ELEMENTS_LOOKED_AT = 64
_SNAPPY = 2
_LITERAL = -1
_MAGIC = {1: b"\x1f\x8b", 3: _LZ4_MAGIC, 4: b"\x28\xb5\x2f\xfd"}


MAX_PLAIN_BYTES = 1 << 28
"""A batch that would come out larger is not opened: whoever sent it wanted memory."""


def plausible(codec: int, data: bytes) -> bool:
    """Whether bytes that start so can be what the codec wrote.

    Magic numbers; of snappy, which has none, the first elements of the first block: a bounded look, whatever the size.
    """
    return _snappy_begins(data) if codec == _SNAPPY else data.startswith(_MAGIC.get(codec, b""))


def _snappy_begins(data: bytes) -> bool:
    """Do the first elements of a snappy block stay within its bytes and its announced size, and copy only what is there?"""
    framed = data.startswith(_XERIAL)
    if framed and len(data) <= _XERIAL_HEADER:
        return True
    pos = _XERIAL_HEADER + 4 if framed else 0
    end = pos + int.from_bytes(data[pos - 4:pos], "big") if framed else len(data)
    if end > len(data):
        return False
    try:
        size, pos = _snappy_size(data, pos)
        made = 0
        for _ in range(_ELEMENTS_LOOKED_AT):
            if pos >= end:
                return made == size
            length, distance, pos = _snappy_element(data, pos)
            if distance == _LITERAL:
                pos += length
            elif not 0 < distance <= made:
                return False
            made += length
            if made > size or pos > end:
                return False
    except IndexError:
        return False
    return True


def decompress(codec: int, data: bytes) -> bytes | None:
    """The plain bytes, or None when this Python cannot open the codec. Raises ValueError on damaged data."""
    try:
        if codec == 0:
            return data
        if codec == 1:
            import zlib

            try:
                opened = zlib.decompressobj(31)
                plain = opened.decompress(data, MAX_PLAIN_BYTES)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            if not opened.eof:
                raise ValueError("gzip data end early or are too large")
            return plain
        if codec == 2:
            return _snappy(data)
        if codec == 3:
            return _lz4(data)
        return _zstd(data)
    except IndexError:
        raise ValueError("compressed data end early") from None


def _zstd(data: bytes) -> bytes | None:
    try:
        zstd: Any = import_module("compression.zstd")
    except ImportError:
        return None
    try:
        plain: bytes = zstd.decompress(data)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from None
    return plain


def _snappy(data: bytes) -> bytes:
    if not data.startswith(_XERIAL):
        return _snappy_block(data)
    out, pos = [], 16
    while pos < len(data):
        size = int.from_bytes(data[pos:pos + 4], "big")
        out.append(_snappy_block(data[pos + 4:pos + 4 + size]))
        pos += 4 + size
    return b"".join(out)


def _snappy_block(data: bytes) -> bytes:
    size, pos = _snappy_size(data, 0)
    out = bytearray()
    while pos < len(data):
        length, distance, pos = _snappy_element(data, pos)
        if distance == _LITERAL:
            out += data[pos:pos + length]
            pos += length
            if pos > len(data):
                raise ValueError("snappy block ends early")
        else:
            _repeat(out, distance, length)
    if len(out) != size:
        raise ValueError("snappy block of a wrong size")
    return bytes(out)


def _snappy_size(data: bytes, pos: int) -> tuple[int, int]:
    """The size that a block announces, and where its elements begin."""
    size = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return size, pos


def _snappy_element(data: bytes, pos: int) -> tuple[int, int, int]:
    """Length, distance back (or `_LITERAL`), and the position behind: there a literal's bytes begin. IndexError at the end."""
    tag = data[pos]
    pos += 1
    if tag & 3 == 0:
        length = tag >> 2
        if length >= 60:
            extra = length - 59
            length = int.from_bytes(data[pos:pos + extra], "little")
            pos += extra
        if pos > len(data):
            raise IndexError
        return length + 1, _LITERAL, pos
    if tag & 3 == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[pos], pos + 1
    width = 2 if tag & 3 == 2 else 4
    if pos + width > len(data):
        raise IndexError
    return (tag >> 2) + 1, int.from_bytes(data[pos:pos + width], "little"), pos + width


def _repeat(out: bytearray, distance: int, length: int) -> None:
    """Append `length` bytes that begin `distance` bytes back, which may overlap what is being written."""
    start = len(out) - distance
    if distance <= 0 or start < 0:
        raise ValueError("a copy from before the start")
    if start + length > MAX_PLAIN_BYTES:
        raise ValueError("too large")
    piece = out[start:start + length]
    if distance < length:
        piece = (piece * (length // distance + 1))[:length]
    out += piece


def _lz4(data: bytes) -> bytes:
    if not data.startswith(_LZ4_MAGIC):
        raise ValueError("no lz4 frame")
    flags = data[4]
    pos = 6 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0) + 1
    out = bytearray()
    while True:
        size = int.from_bytes(data[pos:pos + 4], "little")
        pos += 4
        if size == 0:
            return bytes(out)
        plain, size = size >> 31, size & 0x7FFFFFFF
        block = data[pos:pos + size]
        if len(block) < size:
            raise ValueError("lz4 frame ends early")
        if plain:
            out += block
        else:
            _lz4_block(block, out)
        pos += size + (4 if flags & 16 else 0)


def _lz4_block(data: bytes, out: bytearray) -> None:
    pos = 0
    while True:
        token = data[pos]
        pos += 1
        length, pos = _lz4_length(data, pos, token >> 4)
        out += data[pos:pos + length]
        pos += length
        if pos >= len(data):
            return
        distance = data[pos] | data[pos + 1] << 8
        length, pos = _lz4_length(data, pos + 2, token & 15)
        _repeat(out, distance, length + 4)


def _lz4_length(data: bytes, pos: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            byte = data[pos]
            pos += 1
            length += byte
            if byte != 255:
                break
    return length, pos
