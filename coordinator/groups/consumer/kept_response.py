"""A response to a heartbeat that is sent many times."""

from __future__ import annotations

from ...wire.schema import Response


class KeptResponse(Response):
    """A response that is sent many times: its bytes are kept. It shows no fields;
    `Renewal.response` has them."""

    __slots__ = ("_bodies", "_response")

    def __init__(self, response: Response) -> None:
        self._response = response
        self._bodies: dict[int, bytes] = {}

    def encode(self, version: int, most: int = 1 << 62) -> bytes:
        """The body in this version."""
        body = self._bodies.get(version)
        if body is None:
            body = self._bodies[version] = self._response.encode(version, most)
        return body
