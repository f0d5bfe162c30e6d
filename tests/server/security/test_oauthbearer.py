"""OAUTHBEARER with unsecured tokens (OAUTH-1 to OAUTH-3)."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.server.security.oauthbearer import OAUTHBEARER, OAuthBearerServer
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.messages.sasl import SaslAuthenticateRequest
from coordinator.wire.sasl.login import LoginRefused
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.raw import RawConnection
from tests.server.security.driver import SecuredClient, SecuredDriver, unsecured_token

pytest.importorskip("confluent_kafka")
from confluent_kafka import Consumer

NOW_S = 1_000  # the wall clock at the driver's zero
DELAY_MS = 100


def client(max_reauth_ms: int = 0) -> SecuredClient:
    driver = SecuredDriver(mechanisms=("PLAIN", OAUTHBEARER), max_reauth_ms=max_reauth_ms)
    driver.security.epoch_ms = driver.broker.epoch_ms
    made = driver.client()
    assert made.handshake(OAUTHBEARER).error_code == 0
    return made


def first(
    claims: dict[str, Any] | None = None, authorization: str = "", scheme: str = "Bearer"
) -> bytes:
    claims = {"sub": "alice", "exp": NOW_S + 60} if claims is None else claims
    who = f"a={authorization}" if authorization else ""
    return f"n,{who},\x01auth={scheme} {unsecured_token(claims)}\x01\x01".encode()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_says_who_it_is(scheme: str) -> None:
    made = client()
    answer = made.token(first(scheme=scheme))
    assert (answer.error_code, answer.auth_bytes) == (0, b"")
    assert made.secured.principal == "User:alice"


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"sub": "alice"},
        {"exp": NOW_S + 60},
        {"sub": "", "exp": NOW_S + 60},
        {"sub": 5, "exp": NOW_S + 60},
        {"sub": "alice", "exp": NOW_S - 1},
        {"sub": "alice", "exp": "soon"},
        {"sub": "alice", "exp": NOW_S + 60, "iat": NOW_S + 30},
        {"sub": "alice", "exp": NOW_S + 60, "scope": 5},
    ],
)
def test_a_refused_token_is_told_twice(claims: dict[str, Any]) -> None:
    """OAUTH-1."""
    made = client()
    answer = made.token(first(claims))
    assert (answer.error_code, answer.auth_bytes) == (0, b'{"status":"invalid_token"}')
    refused = made.late_token(b"\x01", DELAY_MS)
    assert (refused.error_code, refused.error_message) == (58, '{"status":"invalid_token"}')


@pytest.mark.parametrize(
    ("scope", "is_enough"),
    [
        (["kafka", "more"], True),
        (["more", "x", "kafka"], True),
        (["kafka"], False),
        ("kafka more", False),
        ("kafka", False),
        (None, False),
    ],
)
def test_a_token_is_for_what_its_listener_wants(scope: Any, is_enough: bool) -> None:
    """OAUTH-2, as a broker answers: of a text with a blank in it each word counts for nothing."""
    server = OAuthBearerServer(NOW_S, required_scope=("kafka", "more"))
    answer = server.evaluate(first({"sub": "alice", "exp": NOW_S + 60, "scope": scope}))
    told = b'{"status":"insufficient_scope", "scope":"[kafka, more]"}'
    assert (answer, server.complete) == ((b"", True) if is_enough else (told, False))
    if not is_enough:
        with pytest.raises(LoginRefused, match="insufficient_scope"):
            server.evaluate(b"\x01")


def test_a_listener_of_its_own_takes_tokens_of_a_scope() -> None:
    """Its setting alone names the mechanism."""
    jaas = 'X required unsecuredValidatorRequiredScope="kafka more";'
    options = Emulator(
        listen=["SCOPE://127.0.0.1:0"],
        config={
            "listener.security.protocol.map": "SCOPE:SASL_PLAINTEXT",
            "listener.name.scope.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.scope.oauthbearer.sasl.jaas.config": jaas,
        },
    )
    with options as kafka:
        config = kafka.client_config("librdkafka", user="anybody")
        assert config["sasl.mechanism"] == "OAUTHBEARER"
        connection = RawConnection(kafka.bootstrap_servers, TableCodec())
        connection.send("SaslHandshake", 1, {"mechanism": "OAUTHBEARER"})
        connection.receive()
        # the wall clock's, which the emulator asks
        claims = {"sub": "alice", "exp": time.time() + 3_600}
        connection.send("SaslAuthenticate", 2, {"auth_bytes": first(claims).hex()})
        told = bytes.fromhex(connection.receive()[1]["auth_bytes"])
        assert told == b'{"status":"insufficient_scope", "scope":"[kafka, more]"}'
        connection.close()


@pytest.mark.parametrize("data", [b"", b"hello", b"n,,\x01\x01", b"n,,\x01auth=Bearer\x01\x01"])
def test_what_is_no_message(data: bytes) -> None:
    """OAUTH-1."""
    assert client().late_token(data, DELAY_MS).error_code == 58


@pytest.mark.parametrize("token", ["a.b.", "a.b.c", "x", "bm8.bm8."])
def test_what_is_no_token(token: str) -> None:
    made = client()
    answer = made.token(f"n,,\x01auth=Bearer {token}\x01\x01".encode())
    assert answer.auth_bytes == b'{"status":"invalid_token"}'


def test_another_scheme_closes_unanswered() -> None:
    """OAUTH-1."""
    made = client()
    made.send(SaslAuthenticateRequest(auth_bytes=first(scheme="Basic")), 2)
    assert made.closed is not None and not made.writes


def test_another_authorization_id() -> None:
    assert client().token(first(authorization="alice")).error_code == 0
    answer = client().late_token(first(authorization="bob"), DELAY_MS)
    assert answer.error_message is not None and "(bob)" in answer.error_message


@pytest.mark.parametrize("until", [1e300, 10**400, float("inf")])
def test_a_token_that_lasts_for_ever(until: float) -> None:
    """A number that is too large for a clock is no fault of the broker's."""
    answer = client(max_reauth_ms=1_000).token(first({"sub": "alice", "exp": until}))
    assert answer.error_code == 0
    assert answer.session_lifetime_ms == 1_000
    assert client().token(first({"sub": "alice", "exp": until})).session_lifetime_ms > 1 << 40


@pytest.mark.parametrize("claims", ["[" * 50_000, '{"sub": "a", "exp": ' + "9" * 5_000 + "}"])
def test_claims_that_no_reader_takes(claims: str) -> None:
    parts = (urlsafe_b64encode(text.encode()).decode() for text in ('{"alg":"none"}', claims))
    token = ".".join(part.rstrip("=") for part in parts)
    answer = client().token(f"n,,\x01auth=Bearer {token}.\x01\x01".encode())
    assert answer.auth_bytes == b'{"status":"invalid_token"}'


@pytest.mark.parametrize(
    ("max_reauth_ms", "lifetime_ms"), [(0, 60_000), (5_000, 5_000), (90_000, 60_000)]
)
def test_a_session_ends_with_its_token(max_reauth_ms: int, lifetime_ms: int) -> None:
    """OAUTH-3."""
    made = client(max_reauth_ms)
    assert made.token(first()).session_lifetime_ms == lifetime_ms
    made.driver.pass_time(lifetime_ms + 1)
    made.send(MetadataRequest(topics=[]), 9)
    assert made.closed is not None


MECHANISM = {"sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER"}


def test_librdkafka_logs_in_by_a_token() -> None:
    with Emulator({"orders": 1}, security="SASL_SSL", config=MECHANISM, remember=1_000) as kafka:
        kafka.produce("orders", [b"x"])
        config = kafka.client_config("confluent-kafka", user="anybody")
        consumer = Consumer(config | {"group.id": "g", "auto.offset.reset": "earliest"})
        try:
            consumer.subscribe(["orders"])
            record = consumer.poll(120)
            assert record is not None and record.value() == b"x"
        finally:
            consumer.close()
        principals = {line["principal"] for line in kafka.events("Authenticated")}
        assert principals == {"User:anybody"}


def test_settings_of_clients() -> None:
    with Emulator(security="SASL_PLAINTEXT", config=MECHANISM, users={"a": "b"}) as kafka:
        config = kafka.client_config("java", user="anybody")
        assert 'unsecuredLoginStringClaim_sub="anybody"' in config["sasl.jaas.config"]
        assert kafka.client_config("java", user="a")["sasl.mechanism"] == "PLAIN"
        with pytest.raises(EmulatorError, match="an object of your own"):
            kafka.client_config("aiokafka", user="anybody")
