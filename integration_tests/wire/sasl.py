"""Users of a scenario's own, and their logins, on a broker that asks who a client is: address 1 of
a session is its listener in the clear, whose clients are super users, address 2 the one with SASL.

SCRAM is written out here from RFC 5802, apart from the emulator's.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session

SASL = 2
"""The address of the listener with SASL."""
REAUTH = 3
"""That of the one whose sessions end."""
TLS = 4
"""That of the one with SASL over TLS, for clients."""
TOKENS = 5
"""That of the one for signed tokens."""
PASSWORD, SALT, ITERATIONS = "secret", b"salt", 4096
HASHES = {"SCRAM-SHA-256": ("sha256", 1), "SCRAM-SHA-512": ("sha512", 2)}


def salted(
    hash_name: str, password: str = PASSWORD, salt: bytes = SALT, iterations: int = ITERATIONS
) -> bytes:
    """A salted password."""
    return hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)


def new_user(s: Session, label: str) -> str:
    """A user of this run, with credentials for both mechanisms; its name."""
    user = s.name(label)
    new_password(s, user, PASSWORD)
    return user


def new_password(s: Session, user: str, password: str, iterations: int = ITERATIONS) -> None:
    """Give a user a password for both mechanisms, and wait until it counts: what is shown of it are
    its iterations."""
    stage = s.stage()
    for hash_name, number in HASHES.values():
        stage.ask_quietly(
            "AlterUserScramCredentials",
            0,
            deletions=[],
            upsertions=[
                {
                    "name": user,
                    "mechanism": number,
                    "iterations": iterations,
                    "salt": SALT.hex(),
                    "salted_password": salted(hash_name, password, iterations=iterations).hex(),
                }
            ],
        )

    def shown() -> list[int]:
        told = stage.ask_quietly("DescribeUserScramCredentials", 0, users=[{"name": user}])
        return [each["iterations"] for each in told["results"][0]["credential_infos"]]

    s.until(lambda: shown() == [iterations] * len(HASHES), "no credentials")


class Scram:
    """The client's messages of one login."""

    def __init__(
        self, user: str, mechanism: str = "SCRAM-SHA-256", password: str = PASSWORD
    ) -> None:
        self.hash_name = HASHES[mechanism][0]
        self.password = password
        self.bare = f"n={user},r=nonce"

    def first(self, gs2: str = "n,,", extensions: str = "") -> bytes:
        """The first message."""
        self.bare += extensions
        return (gs2 + self.bare).encode()

    def final(
        self, server_first: bytes, channel: str = "biws", proof: bytes | None = None
    ) -> bytes:
        """The last one, with the proof or another."""
        fields = dict(part.split("=", 1) for part in server_first.decode().split(","))
        secret = hashlib.pbkdf2_hmac(
            self.hash_name,
            self.password.encode(),
            base64.b64decode(fields["s"]),
            int(fields["i"]),
        )
        client_key = hmac.digest(secret, b"Client Key", self.hash_name)
        stored_key = hashlib.new(self.hash_name, client_key).digest()
        bare = f"c={channel},r={fields['r']}"
        message = f"{self.bare},{server_first.decode()},{bare}".encode()
        signature = hmac.digest(stored_key, message, self.hash_name)
        right = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{bare},p={base64.b64encode(right if proof is None else proof).decode()}".encode()


def log_in(link: Link, user: str, mechanism: str = "SCRAM-SHA-256") -> None:
    """Log a connection in, without a step."""
    scram = Scram(user, mechanism)
    link.ask_quietly("SaslHandshake", 1, mechanism=mechanism)
    first = link.ask_quietly("SaslAuthenticate", 2, auth_bytes=scram.first().hex())
    done = link.ask_quietly(
        "SaslAuthenticate",
        2,
        auth_bytes=scram.final(bytes.fromhex(first["auth_bytes"])).hex(),
    )
    assert done["error_code"] == 0, done


def as_user(s: Session, user: str, name: str = "a") -> Link:
    """A connection that is logged in."""
    link = s.connect(name, broker=SASL)
    log_in(link, user)
    return link


TYPES = {"topic": 2, "group": 3, "cluster": 4, "transactional_id": 5, "token": 6, "user": 7}
OPERATIONS = {
    "All": 2,
    "Read": 3,
    "Write": 4,
    "Create": 5,
    "Delete": 6,
    "Alter": 7,
    "Describe": 8,
    "ClusterAction": 9,
    "DescribeConfigs": 10,
    "AlterConfigs": 11,
    "IdempotentWrite": 12,
    "CreateTokens": 13,
    "DescribeTokens": 14,
}


def rule(user: str, right: str, **other: Any) -> Plain:
    """An ACL of `Operation type name [prefixed]`; without a name the cluster's."""
    operation, kind, *rest = right.split(" ")
    name = rest[0] if rest else "kafka-cluster"
    return {
        "resource_type": TYPES[kind],
        "resource_name": name,
        "resource_pattern_type": 4 if "prefixed" in rest else 3,
        "principal": f"User:{user}",
        "host": "*",
        "operation": OPERATIONS[operation],
        "permission_type": 2 if "denied" in rest else 3,
        **other,
    }


def grant(s: Session, user: str, *rights: str) -> None:
    """Make ACLs, and wait until they are seen."""
    stage, wanted = s.stage(), [rule(user, right) for right in rights]
    stage.ask_quietly("CreateAcls", 3, creations=wanted)
    s.until(lambda: count(stage, user) >= len(rights), "no rights")


def revoke_all(s: Session, user: str) -> None:
    """Delete all ACLs of a user, and wait until they are gone."""
    stage = s.stage()
    stage.ask_quietly("DeleteAcls", 3, filters=[found(user)])
    s.until(lambda: count(stage, user) == 0, "rights that stay")


def found(user: str | None, **other: Any) -> Plain:
    """A filter for the ACLs of a user."""
    return {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "pattern_type_filter": 1,
        "principal_filter": None if user is None else f"User:{user}",
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
        **other,
    }


def count(link: Link, user: str) -> int:
    """How many ACLs a user has."""
    answer = link.ask_quietly("DescribeAcls", 3, **found(user))
    return sum(len(each["acls"]) for each in answer["resources"])
