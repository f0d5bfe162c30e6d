"""One connection at the client's end, as bytes: requests in, frames out, answers matched to their
requests.

Begins with ApiVersions (KIP-511: a version that is too new is answered in version 0, and asked
again); requests wait for its answer. Each request is sent in the highest common version, each
answer is returned in the newest form. Does not know sockets; invalid bytes raise WireError, and
the connection must be closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from coordinator.base.errors import ErrorCode
from coordinator.wire.framing import (
    frame,
    parse_response_header,
    request_header,
    response_header_version,
)
from coordinator.wire.messages import response_type
from coordinator.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.metadata import MetadataRequest, MetadataResponse
from coordinator.wire.messages.produce import ProduceRequest
from coordinator.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response

from ..requests import Ranges, Unsupported, choose, fit, lift, plain_versions

if TYPE_CHECKING:
    from ..group_member import Heartbeat
    from .login import Login

_SIZE = Struct(">i")
_INT16 = Struct(">h")
_HEAD = Struct(">ihhi")  # size, key, version, correlation id
_PRODUCE: Final = ProduceRequest.api_key
_METADATA: Final = MetadataRequest.api_key
_FETCH: Final = FetchRequest.api_key
_MOST_REPEATED_BYTES: Final = 1024
"""Larger fetches, and answers to them, are not kept."""
_API_VERSIONS: Final = ApiVersionsRequest.api_key
_HANDSHAKE: Final = SaslHandshakeRequest.api_key
_AUTHENTICATE: Final = SaslAuthenticateRequest.api_key
_OF_ITS_OWN: Final = (_API_VERSIONS, _HANDSHAKE, _AUTHENTICATE)
"""Requests that a channel makes by itself."""
_MOST_ANSWER_BYTES: Final = 256 << 20
SOFTWARE_NAME: Final = "kafka-group-coordinator"
_ASKED_VERSION: Final = 4


@lru_cache(maxsize=256)
def _has_plain_header(key: int, version: int) -> bool:
    """Return True if the response header is the correlation id alone."""
    return not response_header_version(key, version)


@lru_cache(maxsize=8)
def _hello_body(software_version: str, version: int) -> bytes:
    """Return the ApiVersions request of every connection of this software."""
    hello = ApiVersionsRequest(
        client_software_name=SOFTWARE_NAME, client_software_version=software_version
    )
    return hello.encode(version)


@lru_cache(maxsize=8)
def _ranges(body: bytes, version: int) -> Ranges:
    """Return the version ranges of an ApiVersions response; cached, for a broker sends the same
    bytes to all.
    """
    return {
        row.api_key: (row.min_version, row.max_version)
        for row in ApiVersionsResponse.decode(version, body).api_keys
    }


@lru_cache(maxsize=8)
def _plain_versions(body: bytes, version: int) -> Mapping[int, int]:
    """Return the plain versions of an ApiVersions response."""
    return plain_versions(_ranges(body, version))


@lru_cache(maxsize=4)
def _metadata(body: bytes, version: int) -> tuple[bytes, MetadataResponse]:
    """Decode a Metadata response; shared by all clients, because it is large, equal for all until
    something changes, and never modified.
    """
    return body, MetadataResponse.decode(version, body)


class Channel:
    """One connection. `output`: frames to be written; the writer clears it."""

    __slots__ = (
        "_asked",
        "_buffer",
        "_client_id",
        "_correlation",
        "_fetched",
        "_fetches",
        "_headers",
        "_heartbeats",
        "_highest",
        "_login",
        "_plain",
        "_ranges",
        "_sized",
        "_version",
        "_waiting",
        "metadata",
        "output",
    )

    def __init__(
        self,
        client_id: str,
        software_version: str,
        highest: Mapping[int, int] | None = None,
        login: Login | None = None,
    ) -> None:
        """`highest`: the highest version of an API for this client, if below `requests.OURS`.
        `login`: the SASL login to do first, if any.
        """
        self._login = login
        self._highest = highest or {}
        self._heartbeats: tuple[tuple[str, str], tuple[int, int]] | None = None
        self._sized: tuple[Request, int] | None = None
        self._fetches: tuple[Request, int, bytes] | None = None
        """The latest fetch, its version and body: a consumer with nothing to read repeats it."""
        self._fetched: tuple[bytes, int, Response] | None = None
        """The body of the latest answer to one, its version, and what it says."""
        self._client_id = client_id
        self._headers: dict[int, tuple[int, bytes]] = {}
        """Of each API the version, and what stands between the correlation id and the body of a
        request."""
        self._version = software_version
        self._correlation = 0
        self._ranges: Ranges | None = None
        self._plain: Mapping[int, int] = {}
        """See `requests.plain_versions`."""
        self._waiting: list[tuple[Request, Any]] = []
        self._asked: dict[int, tuple[int, int, Any]] = {}
        """Correlation id -> key, version, and what the asker gave along."""
        self._buffer = b""
        self.output: list[bytes] = []
        self.metadata = b""
        """The body of the latest answer to Metadata."""
        self._hello(_ASKED_VERSION)

    def ask(self, message: Request, context: Any) -> None:
        """Send a request; its answer is returned with `context`. Raises Unsupported (WireError) if
        no common version can express it.
        """
        if self._ranges is None or self._login is not None:
            self._waiting.append((message, context))
            return
        key = message.api_key
        version = self._plain.get(key)
        if version is None:
            version = choose(message, self._ranges)
            message = fit(message, version)
        body = self._fetch(message, version) if key == _FETCH else message.encode(version)
        unanswered = key == _PRODUCE and isinstance(message, ProduceRequest) and message.acks == 0
        self._put(key, version, body, context, is_answered=not unanswered)

    def receive(self, data: bytes | memoryview) -> list[tuple[Any, Response | Unsupported]]:
        """Take bytes; return the answers in them, in order. Raises WireError for bytes that answer
        no request.
        """
        buffer = self._buffer + bytes(data) if self._buffer else bytes(data)
        answers: list[tuple[Any, Response | Unsupported]] = []
        pos, end = 0, len(buffer)
        while end - pos >= 4:
            (size,) = _SIZE.unpack_from(buffer, pos)
            if not 4 <= size <= _MOST_ANSWER_BYTES:
                raise WireError(f"an answer of {size} bytes")
            if end - pos - 4 < size:
                break
            self._take(buffer[pos + 4 : pos + 4 + size], answers)
            pos += 4 + size
        self._buffer = buffer[pos:]
        return answers

    def unanswered(self) -> list[Any]:
        """Return the contexts of all requests that will not be answered, after the connection is
        lost.
        """
        contexts = [context for key, _, context in self._asked.values() if key not in _OF_ITS_OWN]
        return contexts + [context for _, context in self._waiting]

    @property
    def is_idle(self) -> bool:
        """True if versions are known, no answer is awaited and nothing must be written."""
        return self._ranges is not None and not (
            self._asked or self._waiting or self._buffer or self.output
        )

    @property
    def correlation(self) -> int:
        """The correlation id of the latest request."""
        return self._correlation

    def version(self, message: Request) -> int:
        """Return the version in which this request is sent. Raises Unsupported."""
        assert self._ranges is not None
        return choose(message, self._ranges)

    def sizes(self, message: Request, response: Response | bytes) -> tuple[int, int]:
        """Return the sizes in bytes of this request and its response, whose body suffices. Raises
        Unsupported, WireError.
        """
        key, version = message.api_key, self.version(message)
        if self._sized is None or self._sized[0] is not message:
            self._sized = (
                message,
                len(
                    frame(
                        request_header(key, version, 0, self._client_id),
                        fit(message, version).encode(version),
                    )
                ),
            )
        answer = response if isinstance(response, bytes) else response.encode(version)
        return self._sized[1], 8 + response_header_version(key, version) + len(answer)

    def heartbeat_sizes(self, message: Heartbeat, response: Response) -> tuple[int, int]:
        """Like `sizes`, for a heartbeat without news and its answer, which have the same sizes each
        time.
        """
        whom = (message.group_id, message.member_id)
        if self._heartbeats is None or self._heartbeats[0] != whom:
            self._heartbeats = (whom, self.sizes(message, response))
        return self._heartbeats[1]

    def skip(self, requests: int) -> None:
        """Count requests as sent and answered."""
        self._correlation = (self._correlation + requests) & 0x7FFFFFFF

    def _put(
        self, key: int, version: int, body: bytes, context: Any, *, is_answered: bool = True
    ) -> None:
        self._correlation = (self._correlation + 1) & 0x7FFFFFFF
        known = self._headers.get(key)
        if known is None or known[0] != version:
            known = self._headers[key] = (
                version,
                request_header(key, version, 0, self._client_id)[_HEAD.size - 4 :],
            )
        rest = known[1]
        if is_answered:
            self._asked[self._correlation] = (key, version, context)
        self.output.append(
            _HEAD.pack(_HEAD.size - 4 + len(rest) + len(body), key, version, self._correlation)
            + rest
            + body
        )

    def _fetch(self, message: Request, version: int) -> bytes:
        known = self._fetches
        if known is not None and known[0] is message and known[1] == version:
            return known[2]
        body = message.encode(version)
        if len(body) <= _MOST_REPEATED_BYTES:
            self._fetches = message, version, body
        return body

    def _answer_to_fetch(self, body: bytes, version: int) -> Response:
        """Decode a Fetch response, reusing the previous one if the bytes are equal, as at the end
        of a log.
        """
        known = self._fetched
        if known is not None and known[0] == body and known[1] == version:
            return known[2]
        response = response_type(_FETCH).decode(version, body)
        if len(body) <= _MOST_REPEATED_BYTES:
            self._fetched = body, version, response
        return response

    def _hello(self, version: int) -> None:
        self._put(_API_VERSIONS, version, _hello_body(self._version, version), None)

    def _take(self, data: bytes, answers: list[tuple[Any, Response | Unsupported]]) -> None:
        (correlation,) = _SIZE.unpack_from(data)
        if correlation not in self._asked:
            raise WireError(f"an answer to correlation id {correlation}, which was not asked")
        key, version, context = self._asked.pop(correlation)
        pos = 4 if _has_plain_header(key, version) else 5
        if pos == 5 and data[4:5] != b"\0":  # tagged fields
            _, pos = parse_response_header(data, key, version)
        if key == _API_VERSIONS:
            self._greeted(data[pos:], version, answers)
            return
        if key == _METADATA:
            response: Response
            self.metadata, response = _metadata(data[pos:], version)
        elif key == _FETCH:
            response = self._answer_to_fetch(data[pos:], version)
        else:
            response = response_type(key).decode(version, data, pos)
        if key in _OF_ITS_OWN:
            self._logs_in(response, answers)
            return
        answers.append((context, response if key in self._plain else lift(response, version)))

    def _greeted(
        self, body: bytes, version: int, answers: list[tuple[Any, Response | Unsupported]]
    ) -> None:
        if len(body) >= 2 and _INT16.unpack_from(body)[0] == ErrorCode.UNSUPPORTED_VERSION:
            highest = _ranges(body, 0).get(_API_VERSIONS, (0, 0))[1]
            if highest >= version:
                raise WireError("the broker refuses the version of ApiVersions that it names")
            self._hello(highest)
            return
        self._ranges = _ranges(body, version)
        if self._highest:
            self._ranges = {
                key: (low, min(high, self._highest.get(key, high)))
                for key, (low, high) in self._ranges.items()
            }
        else:
            self._plain = _plain_versions(body, version)
        if self._login is not None:
            handshake = SaslHandshakeRequest(mechanism=self._login.mechanism)
            self._put(_HANDSHAKE, 1, handshake.encode(1), None)
            return
        self._send_waiting(answers)

    def _logs_in(
        self, response: Response, answers: list[tuple[Any, Response | Unsupported]]
    ) -> None:
        """Continue the login with an answer. Raises WireError if it is refused."""
        login = self._login
        assert login is not None
        if isinstance(response, SaslHandshakeResponse):
            if response.error_code:
                there = ", ".join(response.mechanisms)
                raise WireError(f"the broker has no {login.mechanism}; it has {there}")
            said: bytes | None = login.first
        else:
            assert isinstance(response, SaslAuthenticateResponse)
            if response.error_code:
                raise WireError(f"the login was refused: {response.error_message}")
            try:
                said = login.answered(response.auth_bytes)
            except ValueError as error:
                raise WireError(str(error)) from None
        if said is not None:
            self._put(_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=said).encode(2), None)
            return
        self._login = None
        self._send_waiting(answers)

    def _send_waiting(self, answers: list[tuple[Any, Response | Unsupported]]) -> None:
        waiting, self._waiting = self._waiting, []
        for message, context in waiting:
            try:
                self.ask(message, context)
            except Unsupported as fault:
                answers.append((context, fault))
