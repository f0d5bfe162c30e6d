"""Delegation tokens (TOK-1 to TOK-4): over the wire, and their lifetimes. The scenarios of
`integration_tests/wire/scenarios/tokens.py` are a real broker's."""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.events.acls import read_acl
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.security.tokens import TokenRefused, Tokens
from coordinator.wire.messages.delegation_tokens import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.sasl.scram import MECHANISMS, SHA_256, ScramClient
from tests.server.security.driver import SecuredClient, SecuredDriver

KEY, MOST, RENEWED, SWEPT = "master", 10_000, 1_000, 500
EPOCH_MS = 1_000_000  # the driver's wall clock at its zero


def new_tokens() -> Tokens:
    return Tokens(
        KEY, max_lifetime_ms=MOST, renew_ms=RENEWED, sweep_ms=SWEPT, new_salt=lambda: b"salt"
    )


def driver(*rights: str) -> SecuredDriver:
    made = SecuredDriver()
    made.security.epoch_ms = made.broker.epoch_ms
    made.security.tokens = new_tokens()
    made.security.authorizer = Authorizer([read_acl(each) for each in rights], [])
    return made


def logged_in(made: SecuredDriver, user: str = "alice") -> SecuredClient:
    client = made.client()
    client.log_in(user)
    return client


def create(client: SecuredClient, *renewers: str, lasts: int = -1, owner: str = "") -> Any:
    people = [CreatableRenewers(principal_type="User", principal_name=each) for each in renewers]
    request = CreateDelegationTokenRequest(
        owner_principal_type="User",
        owner_principal_name=owner,
        renewers=people,
        max_lifetime_ms=lasts,
    )
    return client.ask(request, 3)


def log_in_by(client: SecuredClient, token: Any, mechanism: str = "SCRAM-SHA-512") -> Any:
    client.handshake(mechanism)
    scram = ScramClient(
        MECHANISMS[mechanism], token.token_id, b64encode(token.hmac).decode(), "n0nce"
    )
    scram._bare += ",tokenauth=true"
    first = client.token(scram.first())
    return client.token(scram.final(first.auth_bytes))


class TestLifetimes:
    @pytest.mark.parametrize(
        ("asked", "most"), [(-1, MOST), (0, MOST), (700, 700), (MOST + 1, MOST)]
    )
    def test_of_a_new_one(self, asked: int, most: int) -> None:
        """TOK-1."""
        token = new_tokens().create("id", "User:a", "User:a", (), asked, 5)
        assert (token.max_ms, token.expires_ms) == (5 + most, 5 + min(most, RENEWED))
        assert token.secret == hmac.digest(KEY.encode(), b"id", "sha512")

    def test_of_a_renewed_one(self) -> None:
        """TOK-2."""
        tokens = new_tokens()
        token = tokens.create("id", "User:a", "User:a", ["User:r"], 3_000, 0)
        assert tokens.renew(token.secret, "User:a", 400, 100) == 500
        assert tokens.renew(token.secret, "User:r", -1, 400) == 1_400
        assert tokens.renew(token.secret, "User:a", 9_999, 1_000) == 2_000
        assert tokens.renew(token.secret, "User:a", 0, 2_000) == 3_000
        with pytest.raises(TokenRefused) as refused:
            tokens.renew(token.secret, "User:a", 0, 3_001)
        assert refused.value.code is ErrorCode.DELEGATION_TOKEN_EXPIRED

    def test_one_that_is_over_is_there_until_it_is_swept(self) -> None:
        """TOK-2."""
        tokens = new_tokens()
        tokens.create("id", "User:a", "User:a", (), 700, 0)
        assert len(tokens.all(999)) == 1
        assert tokens.credential("id", SHA_256, 999) is not None
        assert tokens.all(1_000) == []
        assert tokens.credential("id", SHA_256, 1_000) is None

    def test_who_may_not_and_what_is_not_there(self) -> None:
        """TOK-2."""
        tokens = new_tokens()
        token = tokens.create("id", "User:a", "User:b", ["User:r"], -1, 0)
        for secret, who, code in (
            (b"", "User:a", ErrorCode.DELEGATION_TOKEN_NOT_FOUND),
            (token.secret, "User:c", ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
        ):
            for act in (tokens.renew, tokens.expire):
                with pytest.raises(TokenRefused) as refused:
                    act(secret, who, 5, 0)
                assert refused.value.code is code
        assert tokens.expire(token.secret, "User:b", 5, 0) == 5
        assert tokens.expire(token.secret, "User:r", -1, 3) == 3
        assert tokens.all(3) == []


class TestRequests:
    def test_a_token_is_logged_in_with_and_its_session_ends_with_it(self) -> None:
        """TOK-4."""
        made = driver()
        token = create(logged_in(made))
        assert token.error_code == 0 and token.issue_timestamp_ms == EPOCH_MS
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            client = made.client()
            done = log_in_by(client, token, mechanism)
            assert (done.error_code, done.session_lifetime_ms) == (0, RENEWED)
            assert client.secured.principal == "User:alice"
        made.pass_time(RENEWED)
        beat = HeartbeatRequest(group_id="g", member_id="m", generation_id=1)
        client.ask(beat, 4)
        made.pass_time(1)
        client.send(beat, 4)
        assert client.closed == "its session is over, and this request does not renew it"

    def test_who_came_with_a_token_gets_no_other(self) -> None:
        """TOK-1."""
        made = driver()
        token = create(logged_in(made))
        client = made.client()
        log_in_by(client, token)
        asked: Any = (
            (CreateDelegationTokenRequest(), 3),
            (RenewDelegationTokenRequest(hmac=token.hmac), 2),
            (ExpireDelegationTokenRequest(hmac=token.hmac), 2),
            (DescribeDelegationTokenRequest(owners=None), 3),
        )
        for request, version in asked:
            answer: Any = client.ask(request, version)
            assert answer.error_code == 64
            assert getattr(answer, "expiry_timestamp_ms", -1) == -1

    def test_a_cluster_without_a_key_has_none(self) -> None:
        """TOK-1."""
        made = driver()
        made.security.tokens = None
        client = logged_in(made)
        assert create(client).error_code == 61
        answer: Any = client.ask(DescribeDelegationTokenRequest(owners=None), 3)
        assert answer.error_code == 61 and answer.tokens == []
        answer = client.ask(RenewDelegationTokenRequest(hmac=b"x"), 2)
        assert answer.error_code == 61
        answer = client.ask(ExpireDelegationTokenRequest(hmac=b"x"), 2)
        assert answer.error_code == 61

    def test_for_others_and_of_others(self) -> None:
        """TOK-3."""
        made = driver(
            "User:alice may CreateTokens user User:bob",
            "User:alice may DescribeTokens user User:bob",
        )
        alice, bob = logged_in(made), logged_in(made, "bob")
        own, of_bob = create(alice), create(alice, owner="bob")
        assert (of_bob.principal_name, of_bob.token_requester_principal_name) == ("bob", "alice")
        refused = create(bob, owner="alice")
        assert (refused.error_code, refused.issue_timestamp_ms, refused.hmac) == (65, -1, b"")
        [line] = made.lines("AuthorizationRefused")
        assert (line["operation"], line["name"]) == ("CreateTokens", "User:alice")
        for client, ids in ((alice, {own.token_id, of_bob.token_id}), (bob, {of_bob.token_id})):
            answer: Any = client.ask(DescribeDelegationTokenRequest(owners=None), 3)
            assert {each.token_id for each in answer.tokens} == ids
        answer = bob.ask(DescribeDelegationTokenRequest(owners=[]), 3)
        assert answer.tokens == []

    def test_no_secret_stands_in_the_log(self) -> None:
        made = driver()
        token = create(logged_in(made), "bob")
        log_in_by(made.client(), token)
        made.security.reset()
        assert log_in_fails(made, token)
        told = str(list(made.log.events()))
        assert token.hmac.hex() not in told and b64encode(token.hmac).decode() not in told
        assert "secret" not in repr(new_tokens().create("i", "User:a", "User:a", (), -1, 0))


def log_in_fails(made: SecuredDriver, token: Any) -> bool:
    """After a reset nothing of the token is left."""
    client = made.client()
    client.handshake("SCRAM-SHA-256")
    scram = ScramClient(SHA_256, token.token_id, b64encode(token.hmac).decode(), "n0nce")
    scram._bare += ",tokenauth=true"
    return client.late_token(scram.first(), 100).error_code == 58
