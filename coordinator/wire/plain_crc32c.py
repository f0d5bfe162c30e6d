"""CRC-32C (Castagnoli) in plain Python, byte by byte, for platforms without a build of the library,
such as WebAssembly. About 10 MB a second.
"""

from __future__ import annotations

from typing import Final

_POLYNOMIAL: Final = 0x82F63B78  # reversed, as RFC 3720 has it


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE: Final = tuple(map(_entry, range(256)))


def value(data: bytes) -> int:
    """Return the checksum, as `google_crc32c.value` does."""
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum = checksum >> 8 ^ _TABLE[(checksum ^ byte) & 0xFF]
    return checksum ^ 0xFFFFFFFF
