"""Delegation tokens (KIP-48): owner, expiry and renewers of each.

A token's secret is the HMAC of its id with the cluster's key; a client with both authenticates
by SCRAM as the token's owner (TOK-4). An expired token is described until it is swept (TOK-2).
Rules: TOK-1 to TOK-4. Instants are Unix milliseconds, passed by the caller. Does not know
requests or rights.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from coordinator.base.errors import ErrorCode
from coordinator.wire.sasl.scram import Credential, Mechanism


class TokenPrincipal(str):
    """Principal of a client that authenticated with a delegation token: it may not ask for tokens
    (TOK-1).
    """

    __slots__ = ()


class TokenRefused(Exception):
    """Error code with which a request about a token is refused."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.message)
        self.code = code


@dataclass(slots=True)
class Token:
    """A delegation token. Its secret is never shown."""

    id: str
    secret: bytes = field(repr=False)
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    max_ms: int
    expires_ms: int
    credentials: dict[str, Credential] = field(default_factory=dict, repr=False)

    def concerns(self, principal: str) -> bool:
        """Return whether the principal owns, requested or may renew the token."""
        return principal in (self.owner, self.requester) or principal in self.renewers


class Tokens:
    """Delegation tokens of a cluster. `key`: delegation.token.secret.key."""

    def __init__(
        self,
        key: str,
        *,
        max_lifetime_ms: int,
        renew_ms: int,
        sweep_ms: int,
        new_salt: Callable[[], bytes],
    ) -> None:
        self._key = key.encode()
        self._max_lifetime_ms = max_lifetime_ms
        self._renew_ms = renew_ms
        self._sweep_ms = sweep_ms
        self._new_salt = new_salt
        self._tokens: dict[str, Token] = {}

    def create(
        self,
        token_id: str,
        owner: str,
        requester: str,
        renewers: Iterable[str],
        lifetime_ms: int,
        now_ms: int,
    ) -> Token:
        """Create a token. Its lifetime is limited to the maximum, which 0 and less mean too
        (TOK-1).
        """
        lasts_ms = min(lifetime_ms, self._max_lifetime_ms) if lifetime_ms > 0 else None
        max_ms = now_ms + (self._max_lifetime_ms if lasts_ms is None else lasts_ms)
        token = self._tokens[token_id] = Token(
            token_id,
            hmac.digest(self._key, token_id.encode(), hashlib.sha512),
            owner,
            requester,
            tuple(renewers),
            now_ms,
            max_ms,
            min(max_ms, now_ms + self._renew_ms),
        )
        return token

    def renew(self, secret: bytes, principal: str, period_ms: int, now_ms: int) -> int:
        """Renew a token; return its new expiry. Raises TokenRefused."""
        token = self._mine(secret, principal, now_ms, expired_first=True)
        lasts_ms = min(period_ms, self._renew_ms) if period_ms > 0 else self._renew_ms
        token.expires_ms = min(token.max_ms, now_ms + lasts_ms)
        return token.expires_ms

    def expire(self, secret: bytes, principal: str, period_ms: int, now_ms: int) -> int:
        """Let a token expire after a period, or at once (negative); return its expiry. Raises
        TokenRefused.
        """
        token = self._mine(secret, principal, now_ms, expired_first=period_ms >= 0)
        if period_ms < 0:
            del self._tokens[token.id]
            return now_ms
        token.expires_ms = min(token.max_ms, now_ms + period_ms)
        return token.expires_ms

    def all(self, now_ms: int) -> list[Token]:
        """Return the tokens that are not swept yet."""
        swept_ms = now_ms - now_ms % self._sweep_ms
        for token in [each for each in self._tokens.values() if each.expires_ms < swept_ms]:
            del self._tokens[token.id]
        return list(self._tokens.values())

    def credential(
        self, token_id: str, mechanism: Mechanism, now_ms: int
    ) -> tuple[Token, Credential] | None:
        """Return a token and its SCRAM credential, or None if it does not exist."""
        token = next((each for each in self.all(now_ms) if each.id == token_id), None)
        if token is None:
            return None
        found = token.credentials.get(mechanism.name)
        if found is None:
            password = b64encode(token.secret).decode()
            found = token.credentials[mechanism.name] = Credential.of_password(
                mechanism, password, self._new_salt()
            )
        return token, found

    def clear(self) -> None:
        """Remove all tokens."""
        self._tokens.clear()

    def _mine(self, secret: bytes, principal: str, now_ms: int, *, expired_first: bool) -> Token:
        token = next(
            (each for each in self.all(now_ms) if hmac.compare_digest(each.secret, secret)), None
        )
        if token is None:
            raise TokenRefused(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        if not token.concerns(principal):
            raise TokenRefused(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        if expired_first and min(token.max_ms, token.expires_ms) < now_ms:
            raise TokenRefused(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        return token
