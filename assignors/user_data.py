"""User data that the sticky assignors put into a member's subscription.

Owns two formats, both big-endian and both without a version field:

* sticky (UD-1, UD-2): the partitions of the member's last assignment, in two forms. V1 ends with
a
  generation, V0 has none. A reader tries V1 first and V0 if V1 does not fit; bytes left over are
  ignored.
* cooperative-sticky (UD-3): one generation and nothing else.

range and roundrobin send no user data at all (UD-4). Does not depend on the subscription around
these bytes, or on how assignors use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import Struct, error, unpack_from
from typing import Final, NamedTuple

DEFAULT_GENERATION: Final = -1
"""The generation of a member that was never assigned anything (STK-3)."""

Partitions = dict[str, list[int]]
"""Topic -> partition numbers, both in the order in which they stand in the bytes."""

Runs = list[tuple[str, Sequence[int]]]
"""Topics and partition numbers, both in the order in which they stand in the bytes; a topic may be
there twice."""

_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")
_PYTHON_VERSION: Final = b"\0\1"
_MAX_TOPIC_BYTES: Final = 0x7FFF


class StickyUserData(NamedTuple):
    """A member's claim: owned partitions by topic, and the generation in which it got them.

    `generation` is None if the bytes are of form V0, which has none.
    """

    owned: Partitions
    generation: int | None


def encode_sticky(owned: Mapping[str, Sequence[int]], generation: int) -> bytes:
    """Encode form V1, the only one that is written (UD-1). The order of `owned` is kept.

    Raises ValueError for a topic name that is longer than 32,767 bytes of UTF-8.
    """
    parts = [_INT32.pack(len(owned))]
    for topic, partitions in owned.items():
        name = topic.encode()
        if len(name) > _MAX_TOPIC_BYTES:
            raise ValueError(f"topic name of {len(name)} bytes; at most {_MAX_TOPIC_BYTES} fit")
        parts += (_INT16.pack(len(name)), name, _INT32.pack(len(partitions)))
        parts += map(_INT32.pack, partitions)
    return b"".join((*parts, _INT32.pack(generation)))


def decode_sticky(data: bytes | None) -> StickyUserData:
    """Decode form V1, else V0; bytes after the last field are ignored (UD-2, STK-1).

    None and b"" give no partitions and no generation. Bytes of neither form give no partitions
    and generation -1.
    """
    runs, generation = read_sticky(data)
    owned: Partitions = {}
    for topic, numbers in runs:
        owned.setdefault(topic, []).extend(numbers)
    return StickyUserData(owned, generation)


def read_sticky(data: bytes | None) -> tuple[Runs, int | None]:
    """Decode as `decode_sticky` does, but keep each topic as often as the bytes name it, in their
    order.
    """
    if not data:
        return [], None
    try:
        runs, pos = _decode_owned(data)
    except (error, ValueError):
        return [], DEFAULT_GENERATION
    try:
        return runs, _INT32.unpack_from(data, pos)[0]
    except error:
        return runs, None


def java_form(data: bytes | None) -> bytes | None:
    """Convert kafka-python's user data to Java's format; return other bytes unchanged.

    kafka-python 3 puts an int16 version, 1, before Java's format, so that neither understands
    the other. A leader that wants its members to keep their partitions passes the result to
    `sticky`. Bytes are converted only if Java cannot read them and all of them are in
    kafka-python's format.
    """
    if not data or data[:2] != _PYTHON_VERSION or read_sticky(data) != ([], DEFAULT_GENERATION):
        return data
    try:
        _, end = _decode_owned(data[2:])
    except (error, ValueError):
        return data
    return data[2:] if end + 4 == len(data) - 2 else data


def encode_cooperative(generation: int) -> bytes:
    """Encode the user data of cooperative-sticky: the generation, -1 before the first assignment;
    always written (UD-3).
    """
    return _INT32.pack(generation)


def decode_cooperative(data: bytes | None) -> int | None:
    """Return the generation in cooperative-sticky's user data: None if there are no bytes, -1 if
    they cannot be decoded (STK-2).
    """
    if data is None:
        return None
    try:
        generation: int = _INT32.unpack_from(data)[0]
    except error:
        return DEFAULT_GENERATION
    return generation


def _decode_owned(data: bytes) -> tuple[Runs, int]:
    """Decode the part that both forms share, and return it with its end. Raises struct.error or
    ValueError if that is impossible.
    """
    runs: Runs = []
    int16, int32 = _INT16.unpack_from, _INT32.unpack_from
    limit = len(data)
    (count,), pos = int32(data), 4
    for _ in range(_checked(count, limit - pos)):
        (length,) = int16(data, pos)
        start = pos + 2
        pos = start + length
        if length < 0 or pos > limit:
            raise ValueError(f"a name of {length} bytes where {limit - start} are left")
        name = _decode_name(data[start:pos])
        (size,) = int32(data, pos)
        pos += 4
        if size == 1:  # the usual case in large groups
            runs.append((name, int32(data, pos)))
        else:
            _checked(4 * size, limit - pos)
            runs.append((name, unpack_from(f">{size}i", data, pos)))
        pos += 4 * size
    return runs, pos


@lru_cache(maxsize=1 << 12)
def _decode_name(name: bytes) -> str:
    return name.decode(errors="replace")


def _checked(count: int, available: int) -> int:
    """Return the count if it is possible: not negative, and not more than the bytes that are left.
    So a malicious count allocates nothing. Raises ValueError otherwise.
    """
    if not 0 <= count <= available:
        raise ValueError(f"a count of {count} where {available} bytes are left")
    return count
