"""The frame around a body on a connection: the size prefix, and the headers of requests and
responses.

Owns the choice of header version, and the client ids that Kafka accepts in a request header:
null, of any negative length, or not UTF-8. Knows the keys and the first flexible versions of
APIs, nothing of their bodies. Splitting a connection into frames is its reader's task.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct, error
from typing import Final, NamedTuple

from .java_text import JAVA
from .messages import ENTRIES, flexible_version
from .primitives import WireError, read_tags, uvarint

MIN_FRAME_BYTES: Final = 8
"""A frame needs room for key, version and correlation id; Kafka closes the connection on anything
shorter."""

_API_VERSIONS: Final = 18
_NEVER: Final = 1 << 15
_FLEXIBLE: Final = {
    key: _NEVER if entry.flexible is None else entry.flexible for key, entry in ENTRIES.items()
}
_FIXED = Struct(">hhih")  # key, version, correlation id, length of the client id
_FIXED_BYTES = _FIXED.size
_SHORT = Struct(">hhi")
_INT32 = Struct(">i")
_INT16 = Struct(">h")


class RequestHeader(NamedTuple):
    """The header of a request: API, version, correlation id and client id. A null client id is read
    as "" (ENT-8).
    """

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str


@lru_cache(maxsize=512)
def request_header_version(key: int, version: int) -> int:
    """Return 2 for flexible versions (KIP-482), else 1. Raises `WireError` if there is no such key."""
    flexible = flexible_version(key)
    return 2 if flexible is not None and version >= flexible else 1


def response_header_version(key: int, version: int) -> int:
    """Return 1 for flexible versions, else 0; for ApiVersions always 0, so that a client that sent
    too high a version can read it (KIP-511).
    """
    return 0 if key == _API_VERSIONS else request_header_version(key, version) - 1


def parse_request_header(frame: bytes, pos: int = 0) -> tuple[RequestHeader, int]:
    """Read the header of a frame without its size prefix. Return it with the position of the body.

    The version may be one without a table. Raises `WireError` on an unknown key and on an early
    end.
    """
    *header, pos = read_request_header(frame, pos)
    return RequestHeader._make(header), pos


def read_request_header(frame: bytes, pos: int = 0) -> tuple[int, int, int, str, int]:
    """Do the same as `parse_request_header`, but return one tuple: key, version, correlation id,
    client id, position of the body.
    """
    try:
        key, version, correlation_id, length = _FIXED.unpack_from(frame, pos)
    except error:
        raise WireError(f"a request header in {len(frame) - pos} bytes") from None
    flexible = _FLEXIBLE.get(key)
    if flexible is None:
        first = flexible_version(key)
        flexible = _NEVER if first is None else first
    pos += _FIXED_BYTES
    client_id = ""
    if length > 0:
        end = pos + length
        client_id = frame[pos:end].decode("utf-8", JAVA)
        pos = end
    if version >= flexible:
        if frame[pos : pos + 1] == b"\0":  # no tagged fields: so it is with every client
            pos += 1
        else:
            _, pos = read_tags(frame, pos)
    elif pos > len(frame):
        raise WireError("ends within the client id")
    return key, version, correlation_id, client_id, pos


def request_header(key: int, version: int, correlation_id: int, client_id: str | None) -> bytes:
    """Encode the header of a request, for a client. Raises `WireError` on an unknown key or a value
    out of range.
    """
    try:
        raw = b"" if client_id is None else client_id.encode()
        head = (
            _SHORT.pack(key, version, correlation_id)
            + _INT16.pack(-1 if client_id is None else len(raw))
            + raw
        )
    except (error, UnicodeEncodeError) as fault:
        raise WireError(f"a request header cannot be encoded: {fault}") from fault
    return head + uvarint(0) if request_header_version(key, version) == 2 else head


def response_header(key: int, version: int, correlation_id: int) -> bytes:
    """Encode the header of a response. Raises `WireError` on an unknown key."""
    head = _INT32.pack(correlation_id)
    return head + uvarint(0) if response_header_version(key, version) else head


def parse_response_header(frame: bytes, key: int, version: int, pos: int = 0) -> tuple[int, int]:
    """Read the header of the response to a request of this key and version. Return the correlation
    id and the position of the body.

    Raises `WireError` on an unknown key and on an early end.
    """
    try:
        correlation_id: int = _INT32.unpack_from(frame, pos)[0]
    except error:
        raise WireError(f"a response header in {len(frame) - pos} bytes") from None
    pos += 4
    if response_header_version(key, version):
        _, pos = read_tags(frame, pos)
    return correlation_id, pos


def frame(header: bytes, body: bytes) -> bytes:
    """Return a whole frame: size, header, body."""
    return b"".join((_INT32.pack(len(header) + len(body)), header, body))
