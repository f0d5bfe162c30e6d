"""Logging in over SASL, request by request (SASL-1 to SASL-7, SCRAM-2, SCRAM-5, REAUTH-1 to REAUTH-3)."""

from __future__ import annotations

from struct import pack

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.metadata import MetadataRequest, MetadataResponse
from coordinator.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from coordinator.wire.messages.scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from coordinator.wire.sasl.scram import MECHANISMS, ScramClient, salted
from tests.server.security.driver import USERS, SecuredDriver

DELAY_MS = 100  # Kafka's default of connection.failed.authentication.delay.ms
ALL = ["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"]  # in the order of a java.util.HashSet
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_user_logs_in_and_is_served(mechanism: str, version: int) -> None:
    driver = SecuredDriver(["t:2"])
    client = driver.client()
    assert isinstance(client.ask(VERSIONS, 3), ApiVersionsResponse)
    assert client.log_in("alice", mechanism, version) == 0
    assert isinstance(client.ask(MetadataRequest(topics=None), 12), MetadataResponse)
    assert client.closed is None
    (line,) = driver.lines("Authenticated")
    assert line["principal"] == "User:alice" and line["mechanism"] == mechanism
    assert "secret" not in str(list(driver.log.events()))


def test_success_has_an_empty_text() -> None:
    """SASL-3."""
    client = SecuredDriver().client()
    client.handshake("PLAIN")
    answer = client.token(b"\0alice\0alice-secret")
    assert (answer.error_message, answer.auth_bytes) == ("", b"")


class TestBeforeTheHandshake:
    """SASL-1, SASL-2."""

    def test_a_second_api_versions_closes(self) -> None:
        client = SecuredDriver().client()
        client.ask(VERSIONS, 3)
        client.send(VERSIONS, 3)
        assert client.closed is not None and not client.writes

    def test_one_of_a_version_that_is_not_known_does_not_count(self) -> None:
        client = SecuredDriver().client()
        client.asked.append((1, 18, 0))
        client.feed(pack(">ihhihb", 11, 18, 99, 1, -1, 0))
        (answer,) = client.answers()
        assert isinstance(answer, ApiVersionsResponse)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        client.ask(VERSIONS, 3)
        assert client.closed is None

    def test_another_request_closes_unanswered(self) -> None:
        client = SecuredDriver().client()
        client.send(MetadataRequest(topics=None), 12)
        assert client.closed is not None and not client.writes

    def test_a_token_closes_unanswered(self) -> None:
        client = SecuredDriver().client()
        client.send(SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"), 2)
        assert client.closed is not None and not client.writes


class TestAfterTheHandshake:
    """SASL-2, SASL-4, SASL-5."""

    def test_another_request_is_refused_in_its_own_shape_late(self) -> None:
        driver = SecuredDriver()
        client = driver.client()
        client.handshake("PLAIN")
        client.send(HeartbeatRequest(group_id="g"), 4)
        driver.pass_time(DELAY_MS - 1)
        assert not client.writes and client.closed is None
        driver.pass_time(1)
        (answer,) = client.answers()
        assert isinstance(answer, HeartbeatResponse)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert client.closed is not None

    def test_metadata_comes_back_empty(self) -> None:
        driver = SecuredDriver(["t"])
        client = driver.client()
        client.handshake("PLAIN")
        client.send(MetadataRequest(topics=None), 9)
        driver.pass_time(DELAY_MS)
        (answer,) = client.answers()
        assert isinstance(answer, MetadataResponse)
        assert not answer.topics and not answer.brokers
        assert client.closed is not None

    @pytest.mark.parametrize("mechanism", ["plain", "GSSAPI", "", "SCRAM-SHA-1"])
    def test_an_unknown_mechanism_is_told_which_there_are_late(self, mechanism: str) -> None:
        driver = SecuredDriver()
        client = driver.client()
        client.send(SaslHandshakeRequest(mechanism=mechanism), 1)
        driver.pass_time(DELAY_MS - 1)
        assert not client.writes and client.closed is None
        driver.pass_time(1)
        (answer,) = client.answers()
        assert isinstance(answer, SaslHandshakeResponse)
        assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert answer.mechanisms == ALL
        assert client.closed is not None

    def test_bare_tokens(self) -> None:
        driver = SecuredDriver()
        client = driver.client()
        client.handshake("SCRAM-SHA-256", 0)
        scram = ScramClient(MECHANISMS["SCRAM-SHA-256"], "alice", USERS["alice"], "nonce")
        client.feed(_bare(scram.first()))
        first = client.writes.pop()
        assert first[:4] == pack(">i", len(first) - 4)
        client.feed(_bare(scram.final(first[4:])))
        scram.verify(client.writes.pop()[4:])
        assert isinstance(client.ask(MetadataRequest(topics=None), 12), MetadataResponse)

    def test_a_bare_token_of_plain_is_answered_by_nothing(self) -> None:
        client = SecuredDriver().client()
        client.handshake("PLAIN", 0)
        client.feed(_bare(b"\0alice\0alice-secret"))
        assert client.writes == [bytes(4)]
        assert client.secured.principal == "User:alice"

    def test_a_wrong_bare_token_closes_without_a_byte_late(self) -> None:
        driver = SecuredDriver()
        client = driver.client()
        client.handshake("PLAIN", 0)
        client.feed(_bare(b"\0alice\0wrong"))
        assert client.closed is None
        driver.pass_time(DELAY_MS)
        assert client.closed is not None and not client.writes

    def test_a_bare_token_after_v1_closes(self) -> None:
        client = SecuredDriver().client()
        client.handshake("PLAIN", 1)
        client.feed(_bare(b"\0alice\0alice-secret"))
        assert client.closed is not None and not client.writes

    def test_sasl_authenticate_after_v0_closes(self) -> None:
        driver = SecuredDriver()
        client = driver.client()
        client.handshake("PLAIN", 0)
        client.send(SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"), 2)
        driver.pass_time(DELAY_MS)
        assert client.closed is not None and not client.writes

    def test_what_follows_a_login_in_the_same_bytes_is_served(self) -> None:
        client = SecuredDriver(["t"]).client()
        client.handshake("PLAIN")
        token = client.frame(SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"), 2)
        client.feed(token + client.frame(MetadataRequest(topics=None), 12))
        login, metadata = client.answers()
        assert isinstance(login, SaslAuthenticateResponse)
        assert isinstance(metadata, MetadataResponse) and metadata.topics

    def test_bytes_one_at_a_time(self) -> None:
        client = SecuredDriver().client()
        data = client.frame(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        data += client.frame(SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"), 2)
        data += client.frame(MetadataRequest(topics=[]), 12)
        for index in range(len(data)):
            client.feed(data[index : index + 1])
        assert len(client.answers()) == 3


class TestOnConnectionsThatAreLoggedIn:
    """SASL-6."""

    def test_both_requests_are_refused_and_it_lives_on(self) -> None:
        client = SecuredDriver().client()
        client.log_in()
        assert client.handshake("PLAIN") == SaslHandshakeResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE
        )
        assert client.token(b"").error_code == ErrorCode.ILLEGAL_SASL_STATE
        client.ask(VERSIONS, 3)
        client.ask(VERSIONS, 3)
        assert client.closed is None


WRONG_PLAIN = {
    b"\0alice\0wrong": "Authentication failed: Invalid username or password",
    b"\0nobody\0alice-secret": "Authentication failed: Invalid username or password",
    b"\0\0alice-secret": "Authentication failed: username not specified",
    b"\0alice\0": "Authentication failed: password not specified",
    b"bob\0alice\0alice-secret": "Authentication failed: Client requested an authorization id that is different from username",
    b"Alice\0alice\0alice-secret": "Authentication failed: Client requested an authorization id that is different from username",
    b"\0alice": "Invalid SASL/PLAIN response: expected 3 tokens, got 2",
    b"\0alice\0alice-secret\0": "Invalid SASL/PLAIN response: expected 3 tokens, got 4",
    b"\0alice\0alice-secret\0\0\0": "Invalid SASL/PLAIN response: expected 3 tokens, got 4",
    b"": "Invalid SASL/PLAIN response: expected 3 tokens, got 1",
    b"\0alice\0\xff\xfe": "Authentication failed: Invalid username or password",
}


@pytest.mark.parametrize(("token", "text"), WRONG_PLAIN.items())
def test_plain_is_refused_late_with_its_text(token: bytes, text: str) -> None:
    """SASL-3, SASL-7."""
    driver = SecuredDriver()
    client = driver.client()
    client.handshake("PLAIN")
    answer = client.late_token(token, DELAY_MS)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert (answer.error_message, answer.auth_bytes) == (text, b"")
    (line,) = driver.lines("AuthenticationFailed")
    assert line["why"] == text and line["mechanism"] == "PLAIN"
    assert "secret" not in str(line)


def test_the_authorization_id_may_be_the_user() -> None:
    """SASL-7."""
    client = SecuredDriver().client()
    client.handshake("PLAIN")
    assert client.token(b"alice\0alice\0alice-secret").error_code == 0


class TestScram:
    """SCRAM-2, SCRAM-3, SCRAM-5."""

    @pytest.mark.parametrize("mechanism", ALL[1:])
    def test_nobody_is_refused_late_at_the_first_message(self, mechanism: str) -> None:
        client = SecuredDriver().client()
        client.handshake(mechanism)
        answer = client.late_token(b"n,,n=nobody,r=nonce", DELAY_MS)
        assert answer.error_message == (
            f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
        )

    def test_a_proof_of_the_wrong_length_closes_at_once(self) -> None:
        client = SecuredDriver().client()
        client.handshake("SCRAM-SHA-256")
        first = client.token(b"n,,n=alice,r=nonce").auth_bytes.split(b",")[0]
        client.send(SaslAuthenticateRequest(auth_bytes=b"c=biws," + first + b",p=AAAA"), 2)
        assert client.closed is not None and not client.writes

    def test_a_credential_that_is_set_logs_in_and_one_that_is_deleted_does_not(self) -> None:
        """SCRAM-5: connections that are open live on."""
        driver = SecuredDriver()
        admin = driver.client()
        admin.log_in()
        mechanism = MECHANISMS["SCRAM-SHA-256"]
        admin.ask(
            AlterUserScramCredentialsRequest(
                upsertions=[
                    ScramCredentialUpsertion(
                        name="carol",
                        mechanism=1,
                        iterations=5000,
                        salt=b"salt",
                        salted_password=salted(mechanism, "of carol", b"salt", 5000),
                    )
                ]
            ),
            0,
        )
        carol = driver.client()
        carol.handshake("SCRAM-SHA-256")
        scram = ScramClient(mechanism, "carol", "of carol", "nonce")
        carol.token(scram.final(carol.token(scram.first()).auth_bytes))
        assert carol.secured.principal == "User:carol"
        admin.ask(
            AlterUserScramCredentialsRequest(
                deletions=[ScramCredentialDeletion(name="carol", mechanism=1)]
            ),
            0,
        )
        late = driver.client()
        late.handshake("SCRAM-SHA-256")
        assert late.late_token(b"n,,n=carol,r=nonce", DELAY_MS).error_code == 58
        assert isinstance(carol.ask(MetadataRequest(topics=[]), 12), MetadataResponse)


class TestRenewal:
    """REAUTH-1 to REAUTH-3."""

    def test_a_session_that_is_over_ends_with_the_next_request(self) -> None:
        driver = SecuredDriver(max_reauth_ms=3_000)
        client = driver.client()
        assert client.log_in() == 3_000
        driver.pass_time(3_000)
        client.ask(MetadataRequest(topics=[]), 12)
        driver.pass_time(1)
        assert client.closed is None
        client.send(MetadataRequest(topics=[]), 12)
        assert client.closed is not None and not client.writes

    def test_v0_cannot_say_it_but_its_session_ends_too(self) -> None:
        driver = SecuredDriver(max_reauth_ms=3_000)
        client = driver.client()
        assert client.log_in(version=0) == 0
        driver.pass_time(3_001)
        client.send(MetadataRequest(topics=[]), 12)
        assert client.closed is not None

    def test_a_handshake_renews_even_a_session_that_is_over(self) -> None:
        driver = SecuredDriver(max_reauth_ms=3_000)
        client = driver.client()
        client.log_in()
        driver.pass_time(3_001)
        assert client.log_in() == 3_000
        client.ask(MetadataRequest(topics=[]), 12)
        assert len(driver.lines("Authenticated")) == 2

    def test_the_second_renewal_within_a_second_is_refused(self) -> None:
        driver = SecuredDriver(max_reauth_ms=3_000)
        client = driver.client()
        client.log_in()
        client.log_in()
        driver.pass_time(999)
        assert client.handshake("PLAIN").error_code == ErrorCode.ILLEGAL_SASL_STATE
        driver.pass_time(1)
        client.log_in()
        assert client.closed is None

    def test_another_user(self) -> None:
        client = SecuredDriver(max_reauth_ms=3_000).client()
        client.log_in()
        client.handshake("PLAIN")
        answer = client.late_token(b"\0bob\0bob-secret", DELAY_MS)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert (
            answer.error_message
            == "Cannot change principals during re-authentication from User.alice: User.bob"
        )

    def test_another_mechanism(self) -> None:
        driver = SecuredDriver(max_reauth_ms=3_000)
        client = driver.client()
        client.log_in()
        assert client.handshake("SCRAM-SHA-256").error_code == 0
        client.send(SaslAuthenticateRequest(auth_bytes=b"n,,n=alice,r=nonce"), 2)
        assert client.closed is None
        driver.pass_time(DELAY_MS)
        assert client.closed is not None and not client.writes

    def test_an_unknown_mechanism_closes_at_once(self) -> None:
        client = SecuredDriver(max_reauth_ms=3_000).client()
        client.log_in()
        client.send(SaslHandshakeRequest(mechanism="NONE"), 1)
        assert client.closed is not None and not client.writes

    def test_api_versions_meanwhile(self) -> None:
        driver = SecuredDriver(max_reauth_ms=3_000)
        client = driver.client()
        client.log_in()
        client.handshake("PLAIN")
        client.send(VERSIONS, 3)
        driver.pass_time(DELAY_MS)
        (answer,) = client.answers()
        assert isinstance(answer, ApiVersionsResponse)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert client.closed is not None

    def test_a_token_without_a_handshake(self) -> None:
        client = SecuredDriver(max_reauth_ms=3_000).client()
        client.log_in()
        assert client.token(b"").error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert client.closed is None


class TestHostileBytes:
    @pytest.mark.parametrize("size", [524_289, 1 << 24, -1, 1 << 30])
    def test_frames_before_a_login_are_bounded(self, size: int) -> None:
        client = SecuredDriver().client()
        client.feed(pack(">i", size))
        assert client.closed is not None and not client.writes

    def test_the_bound_is_kafkas_setting(self) -> None:
        client = SecuredDriver(config={"sasl.server.max.receive.size": "100"}).client()
        client.feed(pack(">i", 101))
        assert client.closed is not None
        assert "sasl.server.max.receive.size" in client.closed

    def test_after_a_login_larger_ones_are_taken(self) -> None:
        client = SecuredDriver(config={"sasl.server.max.receive.size": "100"}).client()
        client.log_in()
        client.feed(pack(">i", 101))
        assert client.closed is None

    def test_a_client_that_speaks_tls_is_told_of(self) -> None:
        client = SecuredDriver().client()
        client.feed(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        assert client.closed is not None and "TLS hello" in client.closed

    def test_a_large_first_message_is_read_in_time(self) -> None:
        """No pattern takes more than linear time."""
        client = SecuredDriver().client()
        client.handshake("SCRAM-SHA-256")
        token = b"n,,n=" + b"=2C" * 100_000 + b",r=" + b"x" * 100_000 + b",a=" * 30_000
        assert client.late_token(token, DELAY_MS).error_code == 58


def _bare(token: bytes) -> bytes:
    return pack(">i", len(token)) + token
