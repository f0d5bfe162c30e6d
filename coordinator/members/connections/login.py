"""SASL login of a client: PLAIN or SCRAM, message by message. The caller passes the nonce. Does not
know sockets.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.wire.sasl.plain import PLAIN, plain_token
from coordinator.wire.sasl.scram import MECHANISMS, ScramClient


class Credentials(NamedTuple):
    """Mechanism, user and password of a login."""

    mechanism: str
    user: str
    password: str

    def __repr__(self) -> str:
        """Leave the password out, for tracebacks show it."""
        return f"Credentials({self.mechanism}, {self.user!r})"


class Login:
    """SASL login of one connection. `first`: the client's first message."""

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
        """Return the next message after the server's answer, or None if the login is complete.
        Raises ValueError for a server that fails its proof.
        """
        if self._scram is None:
            return None
        if not self._proved:
            self._proved = True
            return self._scram.final(data)
        self._scram.verify(data)
        return None
