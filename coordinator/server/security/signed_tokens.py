"""Validation of signed OAUTHBEARER tokens (RFC 7519) with the keys of a JWKS file, as in Kafka's
BrokerJwtValidator (OAUTH-4 to OAUTH-6).

PyJWT checks signatures; times are compared with the clock that the caller passes. Owns the rules
for claims. Does not read files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final

_ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512"),
)
"""With a key pair: `none` and shared secrets are refused."""


class SignedTokensError(Exception):
    """Error for keys that cannot be loaded; the message says what would be right."""


class SignedTokens:
    """Validator of tokens. `audiences` empty, `issuer` None: any is accepted."""

    def __init__(
        self,
        keys: str,
        *,
        audiences: Iterable[str] = (),
        issuer: str | None = None,
        skew_s: int = 30,
        name_claim: str = "sub",
    ) -> None:
        try:
            import jwt
        except ImportError:
            from coordinator.base.installing import lacks

            raise SignedTokensError(lacks("signed tokens need PyJWT", "security")) from None
        try:
            found = jwt.PyJWKSet.from_json(keys).keys
        except (jwt.PyJWTError, ValueError, AttributeError) as error:
            raise SignedTokensError(
                f'no JSON Web Key Set: {error}; write {{"keys": [...]}} with public keys'
            ) from None
        self._jws: Any = jwt.PyJWS(list(_ALGORITHMS))
        self._wrong: Any = jwt.PyJWTError
        self._keys: list[tuple[str | None, Any]] = [(each.key_id, each.key) for each in found]
        self._audiences = frozenset(audiences)
        self._issuer = issuer
        self._skew_s = skew_s
        self._name_claim = name_claim

    def claims(self, token: str, now_s: float) -> Mapping[str, Any] | None:
        """Return the claims of a valid token, with its user as `sub`, or None."""
        claims = self._signed(token)
        if claims is None:
            return None
        now = int(now_s)
        until, issued = _second(claims.get("exp")), _second(claims.get("iat"))
        since = _second(claims.get("nbf", now))
        if until is None or issued is None or since is None:
            return None
        if until + self._skew_s <= now or since - self._skew_s > now or issued > until:
            return None
        meant = claims.get("aud")
        meant = meant if isinstance(meant, list) else [meant]
        if self._audiences and not any(
            isinstance(each, str) and each in self._audiences for each in meant
        ):
            return None
        if self._issuer is not None and claims.get("iss") != self._issuer:
            return None
        return {**claims, "exp": until, "sub": claims.get(self._name_claim)}

    def _signed(self, token: str) -> dict[str, Any] | None:
        """Return the claims if one of the keys signed the token: the key that it names, or any
        (OAUTH-4).
        """
        try:
            named = self._jws.get_unverified_header(token).get("kid")
        except self._wrong:
            return None
        for name, key in self._keys:
            if named is not None and name != named:
                continue
            try:
                claims = json.loads(self._jws.decode(token, key, algorithms=list(_ALGORITHMS)))
            except (self._wrong, ValueError, TypeError, AttributeError, RecursionError):
                continue  # signed by another one, or of another kind
            return claims if isinstance(claims, dict) else None
        return None


def _second(instant: Any) -> int | None:
    """Return an instant in whole seconds (OAUTH-5), or None if it is invalid."""
    if isinstance(instant, float) and isfinite(instant):
        return int(instant)
    return instant if isinstance(instant, int) and not isinstance(instant, bool) else None
