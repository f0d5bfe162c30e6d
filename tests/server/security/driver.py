"""A broker whose listener asks something of its clients, without sockets: time is what the test
says."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from coordinator.base.releases import NEWEST, Release
from coordinator.events import EventLog
from coordinator.server.connections.secured import SecuredConnection
from coordinator.server.security.listeners import ListenerSecurity, SecurityProtocol
from coordinator.server.security.security import KNOWN_MECHANISMS, Security
from coordinator.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from coordinator.wire.sasl.scram import MECHANISMS, ScramClient
from tests.server.broker.driver import Client, Driver

USERS = {"alice": "alice-secret", "bob": "bob-secret"}


class SecuredDriver(Driver):
    """A broker with a listener that speaks SASL."""

    def __init__(
        self,
        topics: Iterable[str] = (),
        config: Mapping[str, str] | None = None,
        *,
        users: Mapping[str, str] = USERS,
        mechanisms: tuple[str, ...] = KNOWN_MECHANISMS,
        max_reauth_ms: int = 0,
        release: Release = NEWEST,
    ) -> None:
        super().__init__(topics, config, release=release)
        self.listener = ListenerSecurity(
            "PLAINTEXT",
            SecurityProtocol.SASL_PLAINTEXT,
            mechanisms,
            dict.fromkeys(mechanisms, max_reauth_ms),
        )
        salts = count()
        self.security = Security(
            {"PLAINTEXT": self.listener}, users, lambda size: b"%0*d" % (size, next(salts))
        )
        self.broker.security = self.security
        self.security.keep_credentials(self.broker.cluster.scram_credentials)
        self.broker.log = self.log = EventLog(
            seed=1, epoch_ms=0, config={}, kafka_version="4.4.0", most_lines=1_000
        )

    def client(self, peer: str = "127.0.0.1:50000") -> SecuredClient:
        return SecuredClient(self, peer)

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The lines of the log of a type."""
        return [line for line in self.log.events() if line["type"] == kind]


class SecuredClient(Client):
    """One connection that has to log in."""

    def __init__(self, driver: SecuredDriver, peer: str) -> None:
        super().__init__(driver, peer)
        self.connection = self.secured = SecuredConnection(
            driver.broker,
            driver.security,
            driver.listener,
            peer=peer,
            client_host="/127.0.0.1",
            listener="PLAINTEXT",
            write=self.writes.append,
            close=self._close,
        )

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The lines of the broker's log of a type."""
        assert isinstance(self.driver, SecuredDriver)
        return self.driver.lines(kind)

    def handshake(self, mechanism: str, version: int = 1) -> SaslHandshakeResponse:
        """SaslHandshake."""
        answer = self.ask(SaslHandshakeRequest(mechanism=mechanism), version)
        assert isinstance(answer, SaslHandshakeResponse)
        return answer

    def token(self, data: bytes, version: int = 2) -> SaslAuthenticateResponse:
        """SaslAuthenticate, answered at once."""
        answer = self.ask(SaslAuthenticateRequest(auth_bytes=data), version)
        assert isinstance(answer, SaslAuthenticateResponse)
        return answer

    def late_token(self, data: bytes, delay_ms: int, version: int = 2) -> SaslAuthenticateResponse:
        """SaslAuthenticate, refused so much later and not before."""
        self.send(SaslAuthenticateRequest(auth_bytes=data), version)
        self.driver.pass_time(delay_ms - 1)
        assert not self.writes and self.closed is None
        self.driver.pass_time(1)
        (answer,) = self.answers()
        assert isinstance(answer, SaslAuthenticateResponse)
        assert self.closed is not None
        return answer

    def log_in(self, user: str = "alice", mechanism: str = "PLAIN", version: int = 2) -> int:
        """Log in with the right password; how long the session lasts."""
        assert self.handshake(mechanism).error_code == 0
        if mechanism == "PLAIN":
            done = self.token(f"\0{user}\0{USERS[user]}".encode(), version)
        else:
            scram = ScramClient(MECHANISMS[mechanism], user, USERS[user], "n0nce")
            first = self.token(scram.first(), version)
            done = self.token(scram.final(first.auth_bytes), version)
            scram.verify(done.auth_bytes)
        assert done.error_code == 0
        return done.session_lifetime_ms


def unsecured_token(claims: dict[str, Any]) -> str:
    """A token that says this, without a signature."""

    def part(value: dict[str, Any]) -> str:
        return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part(claims)}."
