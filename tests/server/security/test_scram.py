"""SCRAM as Kafka speaks it: the examples of the RFCs, and what is refused how (SCRAM-1 to SCRAM-4)."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest

from coordinator.wire.sasl.login import BadLogin, BrokenExchange, ForeignAuthorizationId
from coordinator.wire.sasl.scram import (
    MECHANISMS,
    SHA_256,
    SHA_512,
    Credential,
    Mechanism,
    ScramClient,
    ScramServer,
)


def server(
    mechanism: Mechanism = SHA_256, password: str = "pencil", nonce: str = "server"
) -> ScramServer:
    credential = Credential.of_password(mechanism, password, b"salty")

    def find(name: str, asked: Mechanism, by_token: bool) -> tuple[str, Credential, None] | None:
        return (name, credential, None) if name != "nobody" and not by_token else None

    return ScramServer(mechanism, find, nonce)


def test_the_example_of_rfc_7677() -> None:
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    credential = Credential.of_password(SHA_256, "pencil", salt)
    at_server = ScramServer(
        SHA_256, lambda name, _, __: (name, credential, None), "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    )
    client = ScramClient(SHA_256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    first = at_server.evaluate(client.first())
    assert (
        first
        == b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    final = client.final(first)
    assert final.endswith(b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    last = at_server.evaluate(final)
    assert last == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    client.verify(last)
    assert at_server.complete and at_server.user == "user"


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=str)
@pytest.mark.parametrize("user", ["alice", "a,b=c", "Zoë"])
def test_both_ends_agree(mechanism: Mechanism, user: str) -> None:
    at_server = server(mechanism)
    client = ScramClient(mechanism, user, "pencil", "nonce")
    if not user.isascii():  # Kafka's patterns take ASCII names only
        with pytest.raises(BadLogin):
            at_server.evaluate(client.first())
        return
    client.verify(at_server.evaluate(client.final(at_server.evaluate(client.first()))))
    assert at_server.complete and at_server.user == user


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=str)
def test_a_wrong_password_is_refused_at_the_end(mechanism: Mechanism) -> None:
    at_server = server(mechanism)
    client = ScramClient(mechanism, "alice", "pen", "nonce")
    final = client.final(at_server.evaluate(client.first()))
    with pytest.raises(BadLogin):
        at_server.evaluate(final)
    assert not at_server.complete


@pytest.mark.parametrize("binding", [b"n,,", b"y,,", b""])
def test_the_channel_binding_is_not_compared(binding: bytes) -> None:
    """SCRAM-1."""
    at_server = server()
    client = ScramClient(SHA_256, "alice", "pencil", "nonce")
    first = at_server.evaluate(client.first())
    final = _with_binding(client, first, b64encode(binding).decode())
    at_server.evaluate(final)
    assert at_server.complete


def _with_binding(client: ScramClient, first: bytes, binding: str) -> bytes:
    """The client's final message, signed for another channel binding."""
    from hashlib import new
    from hmac import digest

    from coordinator.wire.sasl.scram import salted

    nonce, salt, _ = first.decode().split(",")
    secret = salted(SHA_256, "pencil", b64decode(salt[2:]), 4096)
    key = digest(secret, b"Client Key", "sha256")
    bare = f"c={binding},{nonce}"
    message = f"n=alice,r=nonce,{first.decode()},{bare}".encode()
    signature = digest(new("sha256", key).digest(), message, "sha256")
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    return f"{bare},p={b64encode(proof).decode()}".encode()


@pytest.mark.parametrize(
    "first",
    [
        b"y,,n=alice,r=nonce",
        b"p=tls-unique,,n=alice,r=nonce",
        b"n,,n=nobody,r=nonce",
        b"n,,n=alice,r=nonce,tokenauth=true",
        b"n,,n=alice",
        b"n,,r=nonce",
        b"",
        b"\xff\xfe",
    ],
)
def test_what_is_refused_at_once(first: bytes) -> None:
    """SCRAM-1, SCRAM-3, SCRAM-4: there is no pretended salt for nobody."""
    with pytest.raises(BadLogin):
        server().evaluate(first)


def test_another_authorization_id_has_its_own_text() -> None:
    """SCRAM-3."""
    with pytest.raises(ForeignAuthorizationId):
        server().evaluate(b"n,a=bob,n=alice,r=nonce")
    assert server().evaluate(b"n,a=alice,n=alice,r=nonce").startswith(b"r=nonceserver,")


def test_unknown_extensions_are_ignored() -> None:
    """SCRAM-4."""
    assert server().evaluate(b"n,,n=alice,r=nonce,x=1").startswith(b"r=nonceserver,")


@pytest.mark.parametrize(
    ("mechanism", "size"), [(SHA_256, 31), (SHA_256, 33), (SHA_256, 0), (SHA_512, 32)]
)
def test_a_proof_of_the_wrong_length_breaks_the_exchange(mechanism: Mechanism, size: int) -> None:
    """SCRAM-2."""
    at_server = server(mechanism)
    at_server.evaluate(b"n,,n=alice,r=nonce")
    proof = b64encode(bytes(size))
    with pytest.raises(BrokenExchange):
        at_server.evaluate(b"c=biws,r=nonceserver,p=" + proof)


@pytest.mark.parametrize(
    "final",
    [
        b"c=biws,r=nonceserver",  # no proof
        b"c=biws,r=nonce,p=" + b64encode(bytes(32)),  # not the server's nonce
        b"c=biws,r=nonceserver,p=" + b64encode(bytes(32)),  # a wrong one
        b"c=biws,r=nonceserver,p=!",
    ],
)
def test_a_wrong_proof_or_none(final: bytes) -> None:
    """SCRAM-2."""
    at_server = server()
    at_server.evaluate(b"n,,n=alice,r=nonce")
    with pytest.raises(BadLogin):
        at_server.evaluate(final)


class TestOurClient:
    @pytest.mark.parametrize(
        "answer",
        [
            b"r=nonceX,s=c2FsdA==,i=10000000",
            b"r=nonceX,s=c2FsdA==,i=0",
            b"r=other,s=c2FsdA==,i=4096",
            b"no message",
            b"r=nonceX,s=c2FsdA==,i=99999999999999999999",
        ],
    )
    def test_follows_no_server_that_asks_for_too_much(self, answer: bytes) -> None:
        with pytest.raises(ValueError, match=r"iterations|cannot be read"):
            ScramClient(SHA_256, "alice", "pencil", "nonce").final(answer)

    def test_trusts_no_server_that_does_not_know_the_password(self) -> None:
        client = ScramClient(SHA_256, "alice", "pencil", "nonce")
        client.final(server().evaluate(client.first()))
        with pytest.raises(ValueError, match="does not know the password"):
            client.verify(b"v=" + b64encode(bytes(32)))
