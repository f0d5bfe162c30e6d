"""Logins by signed tokens, checked with the keys of a JWKS file (OAUTH-1, OAUTH-4, OAUTH-5)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from integration_tests.wire import secured
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import TOKENS

HOUR_S = 3_600
SKEW_S = 30
"""sasl.oauthbearer.clock.skew.seconds, unless it is set."""


def signed(
    kid: str | None = "one", key: Any = None, algorithm: str = "ES256", **claims: Any
) -> str:
    """A token of now; a claim None is left out."""
    import jwt

    now_s = int(time.time())
    given = {
        "sub": "alice",
        "aud": "kafka",
        "iss": "https://issuer",
        "iat": now_s,
        "exp": now_s + HOUR_S,
        **claims,
    }
    said = {name: value for name, value in given.items() if value is not None}
    headers = {} if kid is None else {"kid": kid}
    key = secured.signer() if key is None else key
    token: str = jwt.api_jws.encode(json.dumps(said).encode(), key, algorithm, headers)
    return token


def other_key() -> Any:
    """One that is in no file."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def cases() -> Iterator[tuple[str, str]]:
    """Tokens, each with what is special about it. Instants are far from the limits, or at one that
    time only moves away from; `tests/server/security/token_clocks.py` has both sides of each."""
    now_s = int(time.time())
    yield "right", signed()
    yield "without a key's id", signed(kid=None)
    yield "one of several audiences", signed(aud=["x", "kafka"])
    yield "another audience", signed(aud="x")
    yield "no audience", signed(aud=None)
    yield "another issuer", signed(iss="https://x")
    yield "no issuer", signed(iss=None)
    yield "an unknown key's id", signed(kid="two")
    yield "another key", signed(key=other_key())
    yield "no signature", signed(kid=None, key="", algorithm="none")
    yield "a shared secret", signed(key="x" * 64, algorithm="HS256")
    yield "over for an hour", signed(iat=now_s - 2 * HOUR_S, exp=now_s - HOUR_S)
    yield "not yet for an hour", signed(nbf=now_s + HOUR_S)
    yield "over for just the skew", signed(iat=now_s - HOUR_S, exp=now_s - SKEW_S)
    yield "not yet for just the skew", signed(nbf=now_s + SKEW_S)
    yield "issued with its end", signed(iat=now_s + HOUR_S, exp=now_s + HOUR_S)
    yield "issued after its end", signed(iat=now_s + HOUR_S + 1, exp=now_s + HOUR_S)
    yield "no end", signed(exp=None)
    yield "no beginning", signed(iat=None)
    yield "nobody", signed(sub=None)


def logged_in(s: Session, label: str, token: str) -> Link | None:
    """A login; the connection, if the refusal is still to be asked for."""
    link = s.connect(label, broker=TOKENS)
    link.ask("SaslHandshake", 1, mechanism="OAUTHBEARER")
    data = f"n,,\x01auth=Bearer {token}\x01\x01".encode()
    answer = link.ask_quietly("SaslAuthenticate", 2, auth_bytes=data.hex())
    told = bytes.fromhex(answer["auth_bytes"]).decode()
    lasts = answer["session_lifetime_ms"] > 0
    s.say(label, [answer["error_code"], answer["error_message"], told, lasts])
    return link if told else None


@scenario("security", since="4.4")
def claims(s: Session) -> None:
    """What is believed of a token: its signature, for whom and by whom it is, and when."""
    refused = [link for case in cases() if (link := logged_in(s, *case)) is not None]
    for link in refused:
        link.connection.send("SaslAuthenticate", 2, {"auth_bytes": "01"})
    for link in refused:
        link.expect()
        link.ends()
