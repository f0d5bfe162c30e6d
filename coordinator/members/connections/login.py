"""A client's login by SASL: PLAIN or SCRAM, message by message.

Owns what is said next. The nonce is given; does not depend on sockets.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.wire.sasl.plain import PLAIN, plain_token
from coordinator.wire.sasl.scram import MECHANISMS, ScramClient


class Credentials(NamedTuple):
    """User and mechanism of a login."""

    mechanism: str
    user: str
    password: str

    def __repr__(self) -> str:
        """Without the password: tracebacks show it."""
        return f"Credentials({self.mechanism}, {self.user!r})"


class Login:
    """One connection's login. `first` is what the client begins with."""

    def __init__(self, credentials: Credentials, nonce: str) -> None:
        self.mechanism, user, password = credentials
        self._scram: ScramClient | None = None
        self._proved = False
        if self.mechanism == PLAIN:
            self.first = plain_token(user, password)
        else:
            self._scram = ScramClient(MECHANISMS[self.mechanism], user, password, nonce)
            self.first = self._scram.first()

    def answered(self, data: bytes) -> bytes | None:
        """The reply to the server's answer; None: the client is logged in. Raises ValueError for
        a server that is none."""
        if self._scram is None:
            return None
        if not self._proved:
            self._proved = True
            return self._scram.final(data)
        self._scram.verify(data)
        return None
