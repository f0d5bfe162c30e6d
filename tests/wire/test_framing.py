"""Headers around bodies, and what Kafka forgives in them."""

from __future__ import annotations

import struct

import pytest

from coordinator.wire.framing import (
    RequestHeader,
    frame,
    parse_request_header,
    parse_response_header,
    request_header,
    request_header_version,
    response_header,
    response_header_version,
)
from coordinator.wire.messages import API_KEYS
from coordinator.wire.primitives import WireError
from tests.wire.samples import vectors


def test_header_versions_are_those_of_kafka() -> None:
    for vector in vectors():
        of = request_header_version if vector.line["dir"] == "request" else response_header_version
        assert of(vector.message.api_key, vector.version) == vector.line["header_version"], vector


@pytest.mark.parametrize(
    ("key", "version"), [(12, 3), (12, 4), (17, 1), (18, 0), (18, 3), (18, 99)]
)
def test_request_header_both_ways(key: int, version: int) -> None:
    header = request_header(key, version, 77, "größe")
    assert parse_request_header(header + b"body") == (
        RequestHeader(key, version, 77, "größe"),
        len(header),
    )
    assert parse_request_header(b"xx" + header, 2)[1] == 2 + len(header)


def test_a_null_client_id_reads_as_empty() -> None:
    """ENT-8."""
    assert parse_request_header(request_header(12, 3, 1, None))[0].client_id == ""


def test_odd_client_ids_are_served() -> None:
    """Any negative length means null; malformed UTF-8 is replaced; unknown tagged fields are
    skipped."""
    head = struct.pack(">hhi", 12, 4, 9)
    assert parse_request_header(head + b"\x80\0" + b"\0body") == (RequestHeader(12, 4, 9, ""), 11)
    assert parse_request_header(head + b"\0\x02\xff\xfe" + b"\0")[0].client_id == "\ufffd\ufffd"
    assert parse_request_header(head + b"\0\x01a" + b"\x02\x05\x01x\x09\0" + b"body") == (
        RequestHeader(12, 4, 9, "a"),
        17,
    )


@pytest.mark.parametrize("version", [3, 4])
def test_truncated_headers_are_refused(version: int) -> None:
    header = request_header(12, version, 1, "client")
    for size in range(len(header)):
        with pytest.raises(WireError):
            parse_request_header(header[:size])


@pytest.mark.parametrize("key", [-1, 4, 95, 0x4745])
def test_unknown_keys_are_refused(key: int) -> None:
    """VER-16. The last is how an HTTP request begins."""
    with pytest.raises(WireError, match=str(key)):
        parse_request_header(struct.pack(">hhih", key, 0, 1, -1))


def test_any_version_gets_through_the_header() -> None:
    """The caller answers ApiVersions of an unknown version, and closes on others."""
    for version in (-1, 99):
        assert parse_request_header(request_header(12, version, 1, "c"))[0].api_version == version


def test_response_headers() -> None:
    assert response_header(12, 3, 5) == b"\0\0\0\5"
    assert response_header(12, 4, 5) == b"\0\0\0\5\0"
    assert response_header(18, 4, 5) == b"\0\0\0\5", (
        "KIP-511: ApiVersions always answers with the oldest header"
    )
    for key in API_KEYS:
        for version in (0, 20):
            header = response_header(key, version, -3)
            assert parse_response_header(header + b"x", key, version) == (-3, len(header))
    with pytest.raises(WireError):
        parse_response_header(b"\0\0\0", 12, 0)


def test_frames() -> None:
    assert frame(b"head", b"body") == b"\0\0\0\x08headbody"


def test_headers_that_cannot_be_written() -> None:
    for client_id in ("x" * 40_000, "\ud800"):
        with pytest.raises(WireError):
            request_header(12, 4, 1, client_id)
