"""PLAIN (RFC 4616) as Kafka's PlainSaslServer implements it: one message, five texts of refusal
(SASL-7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .login import ForeignAuthorizationId, LoginRefused

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN: Final = "PLAIN"
"""The mechanism's name on the wire."""
_MOST_PARTS = 4


class PlainServer:
    """The server's end of a PLAIN login. `is_right(user, password)` checks the password."""

    user = ""
    complete = False
    ends_at_s: float | None = None

    def __init__(self, is_right: Callable[[str, str], bool]) -> None:
        self._is_right = is_right

    def evaluate(self, token: bytes) -> bytes:
        """Check the client's message; return an empty response. Raises LoginRefused."""
        parts = token.decode("utf-8", "replace").split("\0", _MOST_PARTS - 1)
        if len(parts) != 3:
            raise LoginRefused(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        authorization_id, user, password = parts
        if not user:
            raise LoginRefused("Authentication failed: username not specified")
        if not password:
            raise LoginRefused("Authentication failed: password not specified")
        self.user = user
        if not self._is_right(user, password):
            raise LoginRefused("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise ForeignAuthorizationId
        self.complete = True
        return b""


def plain_token(user: str, password: str) -> bytes:
    """Return the client's message."""
    return f"\0{user}\0{password}".encode()
