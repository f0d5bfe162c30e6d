"""1,704 messages of all APIs and versions, with the bytes that Apache Kafka 4.4.0's own classes
give, and 304 of older versions with those of 3.9.2's (VER-1 to VER-15)."""

from __future__ import annotations

from coordinator.wire.json_values import from_plain, to_plain
from coordinator.wire.messages import ENTRIES
from tests.wire.samples import all_versions, message_types, vectors

CONTROLLER_KEYS = {52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82}
"""Spoken among controllers and brokers only; there are no vectors of them."""


def test_every_vector_decodes_to_its_value() -> None:
    for vector in vectors():
        assert (
            to_plain(vector.message.decode(vector.version, vector.body), vector.version)
            == vector.value
        ), vector


def test_every_value_encodes_to_its_vector() -> None:
    for vector in vectors():
        assert (
            from_plain(vector.message, vector.version, vector.value).encode(vector.version)
            == vector.body
        ), vector


def test_what_was_decoded_encodes_to_the_same_bytes() -> None:
    """Also where a tagged field was sent although at its default, and where tags have no name
    here."""
    for vector in vectors():
        assert (
            vector.message.decode(vector.version, vector.body).encode(vector.version) == vector.body
        ), vector


def test_decoding_starts_at_a_position_and_forgives_trailing_bytes() -> None:
    """Kafka ignores bytes after a whole request."""
    for vector in vectors():
        there = vector.message.decode(
            vector.version, b"\xff\xff\xff" + vector.body + b"\0\xfftrailing", 3
        )
        assert there == vector.message.decode(vector.version, vector.body), vector


def test_the_vectors_reach_every_version_of_every_message() -> None:
    reached = {(vector.message, vector.version) for vector in vectors()}
    missing = {
        (message, version) for message in message_types() for version in all_versions(message)
    } - reached
    assert {message.api_key for message, _ in missing} <= CONTROLLER_KEYS
    assert {vector.message.api_key for vector in vectors()} == set(ENTRIES) - CONTROLLER_KEYS
