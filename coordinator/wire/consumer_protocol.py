"""The embedded consumer protocol: the Subscription and Assignment that consumers put into JoinGroup
and SyncGroup, versions 0 to 3 (KIP-429, 792, 881).

The coordinator does not interpret them, except for the topics (`topics_only`, EXP-8). Reading is
as lenient as Kafka's: a version above 3 is read as 3, unknown fields at the end are ignored,
fields that an older version lacks get their defaults (CPB-3). Writing gives the bytes that
Kafka's own consumer writes (CPB-1). Does not depend on assignors and groups.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Self
from weakref import WeakValueDictionary

from coordinator.base.slices import Slices

from .java_text import JAVA
from .primitives import MAX_STRING_BYTES
from .primitives import WireError as WireError  # what reading raises

HIGHEST_VERSION: Final = 3

NO_GENERATION: Final = -1
"""The value in a subscription that belongs to no generation (CPB-4)."""
_MANY: Final = 16
"""From so many strings on it is worth while to look whether all are ASCII."""


MANY_TOPICS_BYTES: Final = 1 << 16
"""A subscription of so many bytes can name ten thousand topics."""
_TOPICS_AT: Final = 2  # behind the version
_NAMES_A_STEP: Final = 256
_MOST_KEPT: Final = 256
"""The bytes of so many topics at most are kept, to be written again."""


class EndsEarly(WireError):
    """The bytes end within a number. Kafka distinguishes this error from all others (K8-MIG-1)."""


class TopicPartitions(NamedTuple):
    """Partitions of one topic."""

    topic: str
    partitions: tuple[int, ...]


class Subscription(NamedTuple):
    """A consumer's subscription, and the partitions that it still owns.

    `owned_partitions` is in versions 1 and up, `generation_id` (-1: none) in 2, `rack_id` in 3
    ("" is read as None).
    """

    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned_partitions: tuple[TopicPartitions, ...] = ()
    generation_id: int = NO_GENERATION
    rack_id: str | None = None

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read any version. Raises `WireError` on a version below 0, an early end, or a null where
        none may be."""
        reader = Reader(data)
        version = reader.version()
        return cls._rest(reader, version, reader.strings())

    @classmethod
    def decode_all(cls, blobs: Iterable[bytes]) -> list[Self]:
        """Decode many subscriptions. Most have the same topics as the one before: those are not
        read again.
        """
        found: list[Self] = []
        known, topics = b"", tuple[str, ...]()
        for data in blobs:
            reader = Reader(data)
            version = reader.version()
            if known and data.startswith(known, _TOPICS_AT):
                reader.pos += len(known)
            else:
                topics = reader.strings()
                known = data[_TOPICS_AT : reader.pos]
            found.append(cls._rest(reader, version, topics))
        return found

    @classmethod
    def _rest(cls, reader: Reader, version: int, topics: tuple[str, ...]) -> Self:
        """Read the fields after the topics."""
        user_data = reader.nullable_bytes()
        owned = reader.topic_partitions() if version >= 1 else ()
        generation_id = reader.int32() if version >= 2 else NO_GENERATION
        rack_id = reader.nullable_string() if version >= 3 else None
        return cls(topics, user_data, owned, generation_id, rack_id or None)

    def encode(self, version: int = HIGHEST_VERSION) -> bytes:
        """Encode in a version from 0 to 3: topics sorted, owned partitions by topic and number, as
        Kafka does (CPB-1).

        Raises `WireError` on another version or a value that is too long.
        """
        out = _Writer(version)
        topics = tuple(sorted(self.topics))
        out.data += _names(topics) if len(topics) <= _MOST_KEPT else _names.__wrapped__(topics)
        out.nullable_bytes(self.user_data)
        if version >= 1:
            by_topic: dict[str, list[int]] = {}
            for topic, partitions in self.owned_partitions:
                by_topic.setdefault(topic, []).extend(partitions)
            out.topic_partitions([(topic, sorted(by_topic[topic])) for topic in sorted(by_topic)])
        if version >= 2:
            out.int32(self.generation_id)
        if version >= 3:
            out.nullable_string(self.rack_id or None)
        return bytes(out.data)


class Assignment(NamedTuple):
    """The leader's assignment for one member. All versions have the same fields; topics and
    partitions keep their order (CPB-2).
    """

    partitions: tuple[TopicPartitions, ...]
    user_data: bytes | None = None

    @classmethod
    def of(cls, partitions: Mapping[str, Iterable[int]], user_data: bytes | None = None) -> Self:
        """Return an assignment of partitions by topic, in the mapping's order."""
        return cls(
            tuple(
                [TopicPartitions(topic, tuple(numbers)) for topic, numbers in partitions.items()]
            ),
            user_data,
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read any version. Raises `WireError` on a version below 0, an early end, or a null where
        none may be."""
        reader = Reader(data)
        reader.version()
        return cls(reader.topic_partitions(), reader.nullable_bytes())

    def encode(self, version: int = HIGHEST_VERSION) -> bytes:
        """Encode in a version from 0 to 3. Raises `WireError` on another version or a value that is
        too long.
        """
        out = _Writer(version)
        out.topic_partitions(self.partitions)
        out.nullable_bytes(self.user_data)
        return bytes(out.data)


def topics_only(data: bytes) -> tuple[str, ...] | None:
    """Return the topics of a subscription of any version, read as version 0; None if the bytes are
    no subscription (EXP-8).

    The version is skipped without a check, as in Kafka's coordinator.
    """
    reader = Reader(data, 2)
    try:
        topics = reader.strings()
        reader.nullable_bytes()
    except WireError:
        return None
    return topics


class TopicsRead:
    """The topics of one subscription, read in slices. As long as a reference to it exists, reading
    the same bytes again costs nothing.
    """

    __slots__ = ("__weakref__", "end", "topics")

    def __init__(self, topics: tuple[str, ...], end: int) -> None:
        self.topics = topics
        self.end = end


_read: WeakValueDictionary[bytes, TopicsRead] = WeakValueDictionary()


def read_topics_in_slices(data: bytes) -> Slices[TopicsRead | None]:
    """Read the topics of a subscription of any version, in slices; None if the bytes are no
    subscription.

    A caller that decides something about the subscription keeps the result until it has decided.
    """
    reader = Reader(data, _TOPICS_AT)
    found: list[str] = []
    try:
        for _ in reader.some_strings(found):
            yield
    except WireError:
        return None
    read = _read[data] = TopicsRead(tuple(found), reader.pos)
    yield
    frozenset(found)  # each text keeps its hash from now on
    yield
    return read


class Reader:
    """A reader of the fields of an embedded message, one after another. Raises WireError where the
    bytes are malformed.
    """

    __slots__ = ("data", "pos")

    def __init__(self, data: bytes, pos: int = 0) -> None:
        self.data = data
        self.pos = pos

    def number(self, layout: str, size: int) -> int:
        if self.pos + size > len(self.data):
            raise EndsEarly(f"ends at byte {len(self.data)}, within a number")
        value: int = struct.unpack_from(layout, self.data, self.pos)[0]
        self.pos += size
        return value

    def int16(self) -> int:
        return self.number(">h", 2)

    def int32(self) -> int:
        return self.number(">i", 4)

    def version(self) -> int:
        version = self.int16()
        if version < 0:
            raise WireError(f"version {version}: 0 is the lowest")
        return version

    def take(self, size: int) -> bytes:
        end = self.pos + size
        if size < 0 or end > len(self.data):
            raise WireError(f"a field of {size} bytes where {len(self.data) - self.pos} are left")
        value = self.data[self.pos : end]
        self.pos = end
        return value

    def count(self) -> int:
        count = self.int32()
        if not 0 <= count <= len(self.data) - self.pos:
            raise WireError(f"{count} elements where {len(self.data) - self.pos} bytes are left")
        return count

    def string(self) -> str:
        return str(self.take(self.int16()), "utf-8", JAVA)

    def strings(self) -> tuple[str, ...]:
        """Read an array of strings. There may be 100,000, so each is read in place."""
        read = (
            _read.get(self.data)
            if self.pos == _TOPICS_AT and len(self.data) > MANY_TOPICS_BYTES
            else None
        )
        if read is not None:
            self.pos = read.end
            return read.topics
        start, count = self.pos, self.count()
        if count > _MANY and (many := self._ascii_strings(count)) is not None:
            return many
        self.pos = start
        found: list[str] = []
        for _ in self.some_strings(found):
            pass
        return tuple(found)

    def some_strings(self, found: list[str]) -> Generator[None, None, None]:
        """Append the strings of an array to a list, a limited number at a time."""
        data, total, count = self.data, len(self.data), self.count()
        pos = self.pos
        while len(found) < count:
            for _ in range(min(_NAMES_A_STEP, count - len(found))):
                start = pos + 2
                end = start + (data[pos] << 8 | data[pos + 1]) if start <= total else total + 1
                if end > total or data[pos] > 0x7F:
                    self.pos = pos
                    self.string()  # raises
                found.append(str(data[start:end], "utf-8", JAVA))
                pos = end
            yield
        self.pos = pos

    def _ascii_strings(self, count: int) -> tuple[str, ...] | None:
        """Read an array of strings that are all ASCII with a single decoding; None (and nothing is
        read) if one is not, or if too few are left.
        """
        data, pos = self.data, self.pos
        text = str(data, "latin-1")
        found: list[str] = []
        add = found.append
        try:
            for _ in range(count):
                start = pos + 2
                pos = start + (data[pos] << 8 | data[pos + 1])
                add(text[start:pos])
        except IndexError:
            return None
        if pos > len(data) or not text[self.pos : pos].isascii():
            return None
        self.pos = pos
        return tuple(found)

    def nullable_string(self) -> str | None:
        size = self.int16()
        return None if size < 0 else str(self.take(size), "utf-8", JAVA)

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size < 0 else self.take(size)

    def topic_partitions(self) -> tuple[TopicPartitions, ...]:
        return tuple([self.one_topic() for _ in range(self.count())])

    def one_topic(self) -> TopicPartitions:
        return TopicPartitions(self.string(), self.int32s())

    def int32s(self) -> tuple[int, ...]:
        """Read an array of 32-bit integers."""
        count = self.count()
        return struct.unpack(f">{count}i", self.take(4 * count))


class _Writer:
    __slots__ = ("data",)

    def __init__(self, version: int) -> None:
        if not 0 <= version <= HIGHEST_VERSION:
            raise WireError(f"version {version}: 0 to {HIGHEST_VERSION} are known")
        self.data = bytearray(struct.pack(">h", version))

    def int32(self, value: int) -> None:
        try:
            self.data += struct.pack(">i", value)
        except struct.error as fault:
            raise WireError(f"{value!r} is no 32-bit integer") from fault

    def nullable_string(self, value: str | None) -> None:
        raw = b"" if value is None else value.encode()
        if len(raw) > MAX_STRING_BYTES:
            raise WireError(f"a string of {len(raw)} bytes: {MAX_STRING_BYTES} is the most")
        self.data += struct.pack(">h", -1 if value is None else len(raw)) + raw

    def nullable_bytes(self, value: bytes | None) -> None:
        self.int32(-1 if value is None else len(value))
        self.data += value or b""

    def topic_partitions(self, topics: Sequence[tuple[str, Sequence[int]]]) -> None:
        self.int32(len(topics))
        for topic, partitions in topics:
            self.nullable_string(topic)
            self.int32(len(partitions))
            try:
                self.data += struct.pack(f">{len(partitions)}i", *partitions)
            except struct.error:
                for partition in partitions:
                    self.int32(partition)  # raises


@lru_cache(maxsize=64)
def _names(topics: tuple[str, ...]) -> bytes:
    """Encode an array of strings. Cached, because a member writes the same one whenever it joins."""
    out = _Writer(HIGHEST_VERSION)
    out.data.clear()
    out.int32(len(topics))
    for topic in topics:
        out.nullable_string(topic)
    return bytes(out.data)
