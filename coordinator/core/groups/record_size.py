"""Size of a group's records in a batch of __consumer_offsets, in Kafka's layout (PST-2, PST-3). A
batch that is larger than allowed is not written, and its request fails as a whole (ERR-1,
ERR-2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.events.groups.classic import GenerationStored
from coordinator.events.groups.offsets import CommittedOffset

_LENGTH: Final = 2
"""Bytes of a text's length. A text that is null has no others."""
_BATCH_HEADER: Final = 61
_MOST_OF_A_COMMIT: Final = 1_000
"""Bytes that one partition's part of a commit has at most, but for its metadata and three times the
length of the group's id."""
_VALUE_OF_AN_OFFSET: Final = 2 + 8 + 4 + 8 + 1
"""Version, offset, leader epoch, instant, number of tagged fields; without the metadata."""
_TOPIC_ID: Final = 1 + 1 + 16
"""A tagged field of commits that belong to no transaction."""
_VALUE_THAT_EXPIRES: Final = 2 + 8 + _LENGTH + 8 + 8
"""The value of a commit that says how long it is to be kept: an older version, without leader epoch
and topic id."""


def generation_size(group_id: str, record: GenerationStored) -> int:
    """Return the size of a batch with the record of a classic group's generation."""
    value = 2 + 4 + 8 + 4 + 3 * _LENGTH
    texts = [record.protocol_type, record.protocol_name or "", record.leader or ""]
    for m in record.members:
        texts += (m.member_id, m.group_instance_id or "", m.client_id, m.client_host)
        value += 4 * _LENGTH + 4 + 4 + 4 + len(m.subscription) + 4 + len(m.assignment)
    value += _utf8_size("".join(texts))
    return _BATCH_HEADER + _record_size(0, 2 + _LENGTH + _utf8_size(group_id), value)


def commit_exceeds(
    group_id: str, offsets: tuple[CommittedOffset, ...], limit: int, *, pending: bool
) -> bool:
    """Return True if the batch of a commit, with a record for each partition, exceeds `limit`.
    `pending`: it is part of a transaction.
    """
    if (
        len(offsets) * (_MOST_OF_A_COMMIT + 3 * len(group_id))
        + 3 * sum([len(each.metadata) for each in offsets])
        <= limit
    ):
        return False
    return _commit_size(group_id, offsets, pending) > limit


def _commit_size(group_id: str, offsets: Iterable[CommittedOffset], pending: bool) -> int:
    size, of_group = _BATCH_HEADER, _utf8_size(group_id)
    of_topic = 0 if pending else _TOPIC_ID
    for number, each in enumerate(offsets):
        key = 2 + _LENGTH + of_group + _LENGTH + _utf8_size(each.topic) + 4
        metadata = _utf8_size(each.metadata)
        if each.expire_ms is None:
            value = _VALUE_OF_AN_OFFSET + of_topic + _unsigned_size(metadata + 1) + metadata
        else:
            value = _VALUE_THAT_EXPIRES + metadata
        size += _record_size(number, key, value)
    return size


def _record_size(number: int, key: int, value: int) -> int:
    """Return the size of one record: length, attributes, time and offset deltas, key, value, no
    headers.
    """
    body = 1 + 1 + _varint_size(number) + _varint_size(key) + key + _varint_size(value) + value + 1
    return _varint_size(body) + body


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _varint_size(value: int) -> int:
    return _unsigned_size(value << 1)


def _unsigned_size(value: int) -> int:
    return max(1, (value.bit_length() + 6) // 7)
