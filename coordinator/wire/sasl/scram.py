"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677) as Kafka implements them: credentials, and
both ends of the exchange.

The server's end is that of Kafka's ScramSaslServer: it accepts the patterns of its
ScramMessages, and every refusal has the same text (SCRAM-3). Nonces and salts are given by the
caller; nothing here is random.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from functools import cached_property
from hmac import compare_digest, digest
from typing import TYPE_CHECKING, Final, NamedTuple

from .login import BadLogin, BrokenExchange, ForeignAuthorizationId

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_ITERATIONS: Final = 4096
MOST_ITERATIONS: Final = 16384
"""A credential has no more, and a client of ours follows no server that asks for more."""

_SAFE = r"[\x01-\x2b\x2d-\x3c\x3e-\x7f]"
_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_NAME = rf"(?:{_SAFE}|=2C|=3D)+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_CLIENT_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<authorization>{_NAME}))?,(?:m={_SAFE}+,)?n=(?P<user>{_NAME}),r=(?P<nonce>{_PRINTABLE})(?P<extensions>{_EXTENSIONS})"
)
_CLIENT_FINAL: Final = re.compile(
    rf"c=(?P<channel>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS},p=(?P<proof>{_BASE64})"
)
_SERVER_FIRST: Final = re.compile(
    rf"r=(?P<nonce>{_PRINTABLE}),s=(?P<salt>{_BASE64}),i=(?P<iterations>[0-9]{{1,9}}){_EXTENSIONS}"
)


class Mechanism(NamedTuple):
    """A SCRAM mechanism: its name, its number in KIP-554's requests, its hash."""

    name: str
    number: int
    hash_name: str


SHA_256: Final = Mechanism("SCRAM-SHA-256", 1, "sha256")
SHA_512: Final = Mechanism("SCRAM-SHA-512", 2, "sha512")
MECHANISMS: Final = {each.name: each for each in (SHA_256, SHA_512)}
BY_NUMBER: Final = {each.number: each for each in MECHANISMS.values()}


class Credential:
    """The stored form of a password on the server. Its keys are derived at first use."""

    def __init__(
        self, mechanism: Mechanism, salt: bytes, iterations: int, salted: Callable[[], bytes]
    ) -> None:
        self.mechanism = mechanism
        self.salt = salt
        self.iterations = iterations
        self._salted = salted

    @classmethod
    def of_password(
        cls, mechanism: Mechanism, password: str, salt: bytes, iterations: int = LEAST_ITERATIONS
    ) -> Credential:
        """Return the credential of a password."""
        return cls(
            mechanism, salt, iterations, lambda: salted(mechanism, password, salt, iterations)
        )

    @cached_property
    def keys(self) -> tuple[bytes, bytes]:
        """Return the stored key and the server's key."""
        hash_name, secret = self.mechanism.hash_name, self._salted()
        client_key = digest(secret, b"Client Key", hash_name)
        return hashlib.new(hash_name, client_key).digest(), digest(secret, b"Server Key", hash_name)


def salted(mechanism: Mechanism, password: str, salt: bytes, iterations: int) -> bytes:
    """Return the salted password, as it is in AlterUserScramCredentials."""
    return hashlib.pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, iterations)


class ScramServer:
    """The server's end of one exchange. `find(name, mechanism, by_token)` returns the user and the
    credential of a name, and when the login expires (Unix seconds); `nonce` is the server's
    part.
    """

    user = ""
    complete = False
    ends_at_s: float | None = None
    by_token = False
    """True if the client logs in with a delegation token (TOK-4)."""

    def __init__(
        self,
        mechanism: Mechanism,
        find: Callable[[str, Mechanism, bool], tuple[str, Credential, float | None] | None],
        nonce: str,
    ) -> None:
        self._mechanism = mechanism
        self._find = find
        self._own_nonce = nonce
        self._credential: Credential | None = None
        self._said = self._nonce = ""

    def evaluate(self, token: bytes) -> bytes:
        """Return the next message to the client. Raises BadLogin, ForeignAuthorizationId,
        BrokenExchange.
        """
        text = token.decode("utf-8", "replace")
        return (self._final(text) if self._credential is not None else self._first(text)).encode()

    def _first(self, text: str) -> str:
        read = _CLIENT_FIRST.fullmatch(text)
        if read is None:
            raise BadLogin
        extensions = dict(
            pair.split("=", 1) for pair in read["extensions"].removeprefix(",").split(",") if pair
        )
        name = read["user"].replace("=2C", ",").replace("=3D", "=")
        self.by_token = extensions.get("tokenauth", "").lower() == "true"
        found = self._find(name, self._mechanism, self.by_token)
        if found is None:  # SCRAM-3
            raise BadLogin
        self.user, credential, self.ends_at_s = found
        if read["authorization"] not in (None, name):
            raise ForeignAuthorizationId
        self._credential = credential
        self._nonce = read["nonce"] + self._own_nonce
        shown = "".join(f",{key}={value}" for key, value in extensions.items())
        first = f"r={self._nonce},s={_text(credential.salt)},i={credential.iterations}"
        self._said = f"n={read['user']},r={read['nonce']}{shown},{first}"
        return first

    def _final(self, text: str) -> str:
        read = _CLIENT_FINAL.fullmatch(text)
        if read is None or not read["nonce"].endswith(self._nonce):
            raise BadLogin
        assert self._credential is not None
        stored_key, server_key = self._credential.keys
        # SCRAM-1: the channel binding is not compared with what the client began with.
        message = f"{self._said},c={_text(b64decode(read['channel']))},r={read['nonce']}".encode()
        hash_name = self._mechanism.hash_name
        proof = b64decode(read["proof"])
        signature = digest(stored_key, message, hash_name)
        if len(proof) != len(signature):
            raise BrokenExchange("a proof of the wrong length")  # SCRAM-2
        client_key = _xor(proof, signature)
        if not compare_digest(hashlib.new(hash_name, client_key).digest(), stored_key):
            raise BadLogin
        self.complete = True
        return f"v={_text(digest(server_key, message, hash_name))}"


class ScramClient:
    """The client's end of one exchange: `first`, `final`, then `verify`."""

    def __init__(self, mechanism: Mechanism, user: str, password: str, nonce: str) -> None:
        self._mechanism = mechanism
        self._password = password
        self._bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
        self._nonce = nonce
        self._signature = b""

    def first(self) -> bytes:
        """Return the client's first message."""
        return f"n,,{self._bare}".encode()

    def final(self, answer: bytes) -> bytes:
        """Return the client's proof, in response to the server's first message. Raises ValueError
        for a message that cannot be read, and for more iterations than Kafka allows.
        """
        read = _SERVER_FIRST.fullmatch(answer.decode("utf-8", "replace"))
        if read is None or not read["nonce"].startswith(self._nonce):
            raise ValueError("the server's first SCRAM message cannot be read")
        iterations = int(read["iterations"])
        if not 1 <= iterations <= MOST_ITERATIONS:
            raise ValueError(
                f"the server asks for {iterations} iterations; from 1 to {MOST_ITERATIONS} are done"
            )
        hash_name = self._mechanism.hash_name
        secret = salted(self._mechanism, self._password, b64decode(read["salt"]), iterations)
        client_key = digest(secret, b"Client Key", hash_name)
        begun = f"c=biws,r={read['nonce']}"
        message = f"{self._bare},{read[0]},{begun}".encode()
        signature = digest(hashlib.new(hash_name, client_key).digest(), message, hash_name)
        self._signature = digest(digest(secret, b"Server Key", hash_name), message, hash_name)
        return f"{begun},p={_text(_xor(client_key, signature))}".encode()

    def verify(self, answer: bytes) -> None:
        """Raise ValueError if the server does not know the password."""
        if answer != f"v={_text(self._signature)}".encode():
            raise ValueError("the server's SCRAM signature is wrong: it does not know the password")


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
