"""Signed tokens of OAUTHBEARER (OAUTH-4 to OAUTH-6). Each verdict is that of a broker 4.4.0, which had
the same JWKS file, claims and clock."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jwt")
pytest.importorskip("cryptography")
pytest.importorskip("confluent_kafka")

import jwt
from confluent_kafka import Consumer
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from coordinator import Emulator
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.server.security.oauthbearer import OAUTHBEARER
from coordinator.server.security.signed_tokens import SignedTokens, SignedTokensError
from tests.server.security.driver import SecuredDriver, unsecured_token

NOW_S = 1_000  # the wall clock at the driver's zero
RSA, EC, OTHER = (
    rsa.generate_private_key(65537, 2048),
    ec.generate_private_key(ec.SECP256R1()),
    rsa.generate_private_key(65537, 2048),
)
ISSUER = "https://issuer"
CLAIMS = {"sub": "alice", "exp": NOW_S + 600, "iat": NOW_S, "iss": ISSUER, "aud": "kafka"}
SETTING = "sasl.oauthbearer."
JWKS = json.dumps(
    {
        "keys": [
            json.loads(RSAAlgorithm.to_jwk(RSA.public_key())) | {"kid": "one", "alg": "RS256"},
            json.loads(ECAlgorithm.to_jwk(EC.public_key())) | {"kid": "two", "alg": "ES256"},
        ]
    }
)


def signed(key: Any = RSA, algorithm: str = "RS256", kid: str | None = "one", **claims: Any) -> str:
    """A token; a claim None is left out."""
    given = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    headers = {} if kid is None else {"kid": kid}
    token: str = jwt.api_jws.encode(json.dumps(given).encode(), key, algorithm, headers)
    return token


def strict(**words: Any) -> SignedTokens:
    return SignedTokens(JWKS, audiences=["kafka", "other"], issuer=ISSUER, **words)


def free(**words: Any) -> SignedTokens:
    return SignedTokens(JWKS, **words)


@pytest.mark.parametrize(
    ("token", "is_good"),
    [
        (signed(), True),
        (signed(EC, "ES256", "two"), True),
        (signed(kid=None), True),
        (signed(EC, "ES256", None), True),
        (signed(algorithm="PS256"), True),
        (signed(algorithm="RS512"), True),
        (signed(kid="three"), False),
        (signed(kid="two"), False),
        (signed(OTHER), False),
        (signed(OTHER, kid=None), False),
        (signed("x" * 64, "HS256"), False),
        (unsecured_token(CLAIMS), False),
        ("abc", False),
        ("", False),
    ],
)
def test_one_of_the_keys_has_signed_it(token: str, is_good: bool) -> None:
    """OAUTH-4: the one that it names, or any if it names none."""
    for tokens in (strict(), free()):
        assert (tokens.claims(token, NOW_S) is not None) == is_good


@pytest.mark.parametrize(
    ("claims", "is_good", "is_good_for_anybody"),
    [
        ({"aud": "other"}, True, True),
        ({"aud": ["x", "kafka"]}, True, True),
        ({"aud": "x"}, False, True),
        ({"aud": None}, False, True),
        ({"aud": 5}, False, True),
        ({"iss": "https://x"}, False, True),
        ({"iss": None}, False, True),
        ({"exp": None}, False, False),
        ({"exp": "soon"}, False, False),
        ({"iat": None}, False, False),
        ({"exp": NOW_S - 29, "iat": 0}, True, True),
        ({"exp": NOW_S - 30, "iat": 0}, False, False),
        ({"iat": NOW_S + 60}, True, True),
        ({"iat": NOW_S + 601}, False, False),
        ({"nbf": NOW_S + 30}, True, True),
        ({"nbf": NOW_S + 31}, False, False),
        ({"scope": ["a", "b"]}, True, True),
        ({"scope": 5}, True, True),
    ],
)
def test_its_claims_hold(claims: dict[str, Any], is_good: bool, is_good_for_anybody: bool) -> None:
    """OAUTH-5."""
    token = signed(**claims)
    assert (strict().claims(token, NOW_S) is not None) == is_good
    assert (free().claims(token, NOW_S) is not None) == is_good_for_anybody


def test_instants_that_no_float_holds() -> None:
    """OAUTH-5: a token may last for ever, as far as it is concerned."""
    assert free().claims(signed(exp=10**400), NOW_S) is not None
    assert free().claims(signed(exp=float("inf")), NOW_S) is None


def test_the_name_may_be_another_claim_and_the_skew_another() -> None:
    found = free(name_claim="email", skew_s=0).claims(signed(email="a@b"), NOW_S)
    assert found is not None and found["sub"] == "a@b"
    assert free(skew_s=0).claims(signed(exp=NOW_S, iat=0), NOW_S) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"keys": []}', '{"keys": 5}', "nonsense"])
def test_what_is_no_set_of_keys(text: str) -> None:
    with pytest.raises(SignedTokensError, match="no JSON Web Key Set"):
        SignedTokens(text)


class TestLogins:
    def test_a_login_and_its_session(self) -> None:
        """OAUTH-6: a session lasts as long as its token; one in the skew is over at once."""
        driver = SecuredDriver(mechanisms=(OAUTHBEARER,))
        driver.security.epoch_ms = driver.broker.epoch_ms
        driver.security.signed = strict()
        for claims, lifetime_ms in (({}, 600_000), ({"exp": NOW_S - 5, "iat": 0}, 0)):
            client = driver.client()
            client.handshake(OAUTHBEARER)
            answer = client.token(f"n,,\x01auth=Bearer {signed(**claims)}\x01\x01".encode())
            assert (answer.error_code, answer.session_lifetime_ms) == (0, lifetime_ms)
            assert client.secured.principal == "User:alice"
            driver.pass_time(1)
            login = client.secured.login
            assert login is not None and login.is_over(driver.now) == (lifetime_ms == 0)

    @pytest.mark.parametrize("claims", [{"sub": None}, {"sub": ""}, {"sub": 5}, {"aud": "x"}])
    def test_a_refusal(self, claims: dict[str, Any]) -> None:
        """OAUTH-1."""
        driver = SecuredDriver(mechanisms=(OAUTHBEARER,))
        driver.security.epoch_ms = driver.broker.epoch_ms
        driver.security.signed = strict()
        client = driver.client()
        client.handshake(OAUTHBEARER)
        answer = client.token(f"n,,\x01auth=Bearer {signed(**claims)}\x01\x01".encode())
        assert (answer.error_code, answer.auth_bytes) == (0, b'{"status":"invalid_token"}')
        assert client.late_token(b"\x01", 100).error_code == 58


def settings(path: object, **more: str) -> dict[str, str]:
    given = {"jwks.endpoint.url": f"file://{path}", "expected.audience": "kafka,other"}
    given |= {"expected.issuer": ISSUER} | {
        name.replace("_", "."): value for name, value in more.items()
    }
    return {SETTING + name: value for name, value in given.items()} | {
        "sasl.enabled.mechanisms": OAUTHBEARER
    }


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    path.write_text(JWKS)
    return path


def test_librdkafka_with_tokens_of_its_own(jwks: Path) -> None:
    def token(_: object) -> tuple[str, float]:
        now = int(time.time())
        return signed(exp=now + 600, iat=now), now + 600.0

    with Emulator(
        ["orders"], security="SASL_PLAINTEXT", config=settings(jwks), remember=1_000
    ) as kafka:
        given: dict[str, Any] = {
            "bootstrap.servers": kafka.bootstrap_servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": OAUTHBEARER,
            "oauth_cb": token,
            "group.id": "g",
        }
        consumer = Consumer(given)
        consumer.subscribe(["orders"])
        try:
            while not kafka.events("Authenticated", principal="User:alice"):
                consumer.poll(0.05)
        finally:
            consumer.close()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda given: {"jwks.endpoint.url": "https://x/jwks"}, "give file:///PATH"),
        (lambda given: {"jwks.endpoint.url": "file:///no/such"}, "No such file"),
        (lambda given: {"expected.audience": ""}, r"give sasl.oauthbearer.expected.audience, or"),
        (lambda given: {"expected.issuer": ""}, r"give sasl.oauthbearer.expected.issuer, or"),
    ],
)
def test_what_cannot_be(change: Callable[[object], dict[str, str]], told: str, jwks: Path) -> None:
    given = settings(jwks)
    for name, value in change(given).items():
        given[SETTING + name] = value
        if not value:
            del given[SETTING + name]
    with pytest.raises(EmulatorError, match=told):
        Emulator(security="SASL_PLAINTEXT", config=given).__enter__()


def test_what_need_not_be_checked(jwks: Path) -> None:
    given = {name: value for name, value in settings(jwks).items() if "expected" not in name} | {
        f"{SETTING}allow.unverified.{what}": "true" for what in ("audience", "issuer")
    }
    with Emulator(security="SASL_PLAINTEXT", config=given):
        pass
