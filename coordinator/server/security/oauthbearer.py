"""Server side of OAUTHBEARER (RFC 7628), like Kafka's OAuthBearerSaslServer: with signed tokens
(`signed_tokens`), or unsecured ones as Kafka's unsecured validator accepts.

An unsecured token is two parts of JSON without a signature, so any client can claim any name. A
refused token is answered with JSON, and the login fails after the client's 0x01 (OAUTH-1). The
caller passes the wall clock.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from coordinator.wire.sasl.login import BadLogin, BrokenExchange, LoginRefused

if TYPE_CHECKING:
    from .signed_tokens import SignedTokens

OAUTHBEARER: Final = "OAUTHBEARER"
_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<authorization>{_NAME}))?,\x01(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*)\x01"
)
_AUTH: Final = re.compile(r"(?P<scheme>\w+)[ ]+(?P<token>[-_.a-zA-Z0-9]+)")
_INVALID: Final = '{"status":"invalid_token"}'
_SKEW_S: Final = 1
_LATEST_S: Final = 1 << 40
"""A token that lasts longer lasts so long: for ever, as far as sessions go."""
_ACKNOWLEDGED: Final = b"\x01"


class OAuthBearerServer:
    """Server side of one login. `now_s`: the wall clock in seconds."""

    user = ""
    complete = False
    ends_at_s: float | None = None
    """The expiry of the token, and with it of the session."""

    def __init__(
        self, now_s: float, signed: SignedTokens | None = None, required_scope: Iterable[str] = ()
    ) -> None:
        """`signed`: validator of signed tokens; None: tokens are unsecured. `required_scope`: the
        scope that unsecured tokens must have.
        """
        self._now_s = now_s
        self._signed = signed
        self._required = dict.fromkeys(required_scope).keys()
        self._refused = ""

    def evaluate(self, token: bytes) -> bytes:
        """Return the answer to a client's message. Raises LoginRefused, BadLogin, BrokenExchange."""
        if self._refused:
            if token == _ACKNOWLEDGED:
                raise LoginRefused(self._refused)
            raise BadLogin
        read = _FIRST.fullmatch(token.decode("utf-8", "replace"))
        if read is None:
            raise BadLogin
        pairs = dict(pair.split("=", 1) for pair in read["pairs"].split("\x01") if pair)
        auth = _AUTH.fullmatch(pairs.get("auth", ""))
        if auth is None:
            raise BadLogin
        if auth["scheme"].lower() != "bearer":
            raise BrokenExchange("a scheme other than Bearer")
        if self._signed is None:
            claims: Mapping[str, Any] | None = self._unsecured(auth["token"])
        else:
            claims = self._signed.claims(auth["token"], self._now_s)
        user: Any = None if claims is None else claims.get("sub")
        if claims is None or not isinstance(user, str) or not user:
            self._refused = _INVALID
        elif self._signed is None and not self._required <= (_scope(claims) or set()):
            scope = ", ".join(self._required)
            self._refused = f'{{"status":"insufficient_scope", "scope":"[{scope}]"}}'
        if self._refused or claims is None:
            return self._refused.encode()
        until: float = claims["exp"]
        asked = read["authorization"]
        if asked not in (None, user):
            raise LoginRefused(
                f"Authentication failed: Client requested an authorization id ({asked}) that is different from the token's "
                f"principal name ({user})"
            )
        self.user, self.ends_at_s = user, float(min(until, _LATEST_S))
        self.complete = True
        return b""

    def _unsecured(self, token: str) -> dict[str, Any] | None:
        claims = _claims(token)
        until, since = claims.get("exp"), claims.get("iat", self._now_s)
        if not _is_number(until) or until <= self._now_s:
            return None
        if not _is_number(since) or since > self._now_s + _SKEW_S:
            return None
        return None if _scope(claims) is None else claims


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _scope(claims: Mapping[str, Any]) -> set[str] | None:
    """Return the scope of an unsecured token: a string is one item, blanks included, a list is
    several (OAUTH-2). None: invalid.
    """
    scope = claims.get("scope")
    each = [scope] if isinstance(scope, str) else [] if scope is None else scope
    if not isinstance(each, list) or not all(isinstance(one, str) for one in each):
        return None
    return {one.strip() for one in each}


def _claims(token: str) -> dict[str, Any]:
    """Return the claims of an unsecured token; empty if it is invalid."""
    parts = token.split(".")
    if len(parts) != 3 or parts[2]:
        return {}
    try:
        header, claims = (json.loads(urlsafe_b64decode(part + "==")) for part in parts[:2])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(header, dict) or not isinstance(claims, dict) or header.get("alg") != "none":
        return {}
    return claims
