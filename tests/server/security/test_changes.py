"""Passwords, sessions and certificates that change while clients run, here and from afar."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.http.remote import RemoteKit
from coordinator.kit.http.serving import ControlPort
from coordinator.kit.in_process_requests import ControlError
from coordinator.wire.sasl.scram import MECHANISMS, ScramClient
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.raw import Closed, RawConnection

PATIENCE_S = 120
USERS = {"billing": "first-secret"}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(
        ["orders"],
        security="SASL_PLAINTEXT",
        users=USERS,
        acls=["User:billing may Read topic orders"],
        config={"connections.max.reauth.ms": 60_000},
        remember=10_000,
    ) as running:
        yield running


@pytest.fixture
def remote(kafka: Emulator) -> Iterator[RemoteKit]:
    """The kit at the other end of the control port."""

    async def opened() -> ControlPort:
        port = ControlPort(kafka, "127.0.0.1:0")
        await port.start()
        return port

    loop = kafka.server.loop
    port = asyncio.run_coroutine_threadsafe(opened(), loop).result(PATIENCE_S)
    yield RemoteKit(port.url, port.token)
    asyncio.run_coroutine_threadsafe(port.stop(), loop).result(PATIENCE_S)


class Logins:
    """Connections of a test, closed in the end."""

    def __init__(self, kafka: Emulator) -> None:
        self.kafka = kafka
        self.opened: list[RawConnection] = []

    def __call__(self, password: str = "first-secret") -> tuple[RawConnection, int]:
        connection = RawConnection(self.kafka.bootstrap_servers, TableCodec())
        self.opened.append(connection)
        return connection, logged_in(connection, password)


@pytest.fixture
def logins(kafka: Emulator) -> Iterator[Logins]:
    made = Logins(kafka)
    yield made
    for connection in made.opened:
        connection.close()


def logged_in(connection: RawConnection, password: str) -> int:
    connection.send("SaslHandshake", 1, {"mechanism": "PLAIN"})
    connection.receive()
    token = f"\0billing\0{password}".encode().hex()
    connection.send("SaslAuthenticate", 2, {"auth_bytes": token})
    return int(connection.receive()[1]["error_code"])


def works(connection: RawConnection) -> bool:
    connection.send("Metadata", 9, {"topics": []})
    try:
        connection.receive()
    except Closed:
        return False
    return True


class TestPasswords:
    def test_one_is_rotated_and_open_connections_live_on(
        self, kafka: Emulator, logins: Logins
    ) -> None:
        """SCRAM-5."""
        connection, _ = logins()
        with kafka.rotate_password("billing", "second-secret"):
            assert works(connection)
            assert logins()[1] == 58
            assert logins("second-secret")[1] == 0
            config = kafka.client_config("java", user="billing")
            assert "second-secret" in config["sasl.jaas.config"]
        assert logins()[1] == 0
        assert logins("second-secret")[1] == 58

    def test_sessions_that_are_over(self, kafka: Emulator, logins: Logins) -> None:
        """REAUTH-1."""
        connection, _ = logins()
        assert works(connection)
        assert kafka.expire_session("billing") == 1
        assert not works(connection)
        assert kafka.expire_session("nobody") == 0

    def test_logins_that_are_denied(self, kafka: Emulator, logins: Logins) -> None:
        mark = kafka.mark()
        kafka.deny_authentication("billing", times=2)
        assert [logins()[1] for _ in range(3)] == [58, 58, 0]
        [line, *_] = kafka.wait_for("AuthenticationFailed", since=mark)
        assert "asked for by the testing kit" in line["why"]
        with kafka.deny_authentication():
            pass
        assert logins()[1] == 0

    def test_faults_of_their_messages(self, kafka: Emulator, logins: Logins) -> None:
        """As of any request, by the same words; afterwards clients get in."""
        fault = kafka.fail("SaslAuthenticate", "SASL_AUTHENTICATION_FAILED", times=2)
        assert [logins()[1] for _ in range(3)] == [58, 58, 0]
        assert fault.hits == 2
        slow = kafka.delay("SaslAuthenticate", seconds=0.05, times=1)
        assert logins()[1] == 0
        assert slow.hits == 1

    def test_one_is_cut_in_the_middle(self, kafka: Emulator, logins: Logins) -> None:
        """Between the two messages of SCRAM."""
        for cuts in (True, False):
            connection = RawConnection(kafka.bootstrap_servers, TableCodec())
            logins.opened.append(connection)
            client = ScramClient(MECHANISMS["SCRAM-SHA-256"], "billing", "first-secret", "n")
            connection.send("SaslHandshake", 1, {"mechanism": "SCRAM-SHA-256"})
            connection.receive()
            connection.send("SaslAuthenticate", 2, {"auth_bytes": client.first().hex()})
            first = bytes.fromhex(connection.receive()[1]["auth_bytes"])
            if cuts:
                kafka.disconnect("SaslAuthenticate", times=1)
            connection.send("SaslAuthenticate", 2, {"auth_bytes": client.final(first).hex()})
            if cuts:
                with pytest.raises(Closed):
                    connection.receive()
            else:
                assert connection.receive()[1]["error_code"] == 0

    @pytest.mark.parametrize(
        ("user", "password"), [("nobody", "x"), ("billing", ""), ("billing", 5)]
    )
    def test_what_cannot_be(self, kafka: Emulator, user: str, password: Any) -> None:
        with pytest.raises(ControlError, match=r"there is no user|is not empty"):
            kafka.rotate_password(user, password)
        with pytest.raises(ControlError, match="whole number"):
            kafka.deny_authentication(times=-1)
        with pytest.raises(ControlError, match="no listener speaks TLS"):
            kafka.expire_certificate()


def test_reset_brings_back_the_start(kafka: Emulator, logins: Logins) -> None:
    kafka.rotate_password("billing", "second-secret")
    kafka.deny_authentication(times=5)
    kafka.grant("User:billing may Read group g")
    kafka.revoke("User:billing may Read topic orders")
    kafka.reset()
    assert kafka.acls() == ["User:billing may Read topic orders"]
    assert logins()[1] == 0


class TestCertificates:
    def test_new_handshakes_are_shown_another(self) -> None:
        with Emulator(["orders"], security="SSL") as kafka:
            context = ssl.create_default_context(cafile=kafka.ca_file)

            def shown() -> tuple[ssl.SSLSocket, dict[str, Any]]:
                host, _, port = kafka.bootstrap_servers.rpartition(":")
                raw = socket.create_connection((host, int(port)), PATIENCE_S)
                try:
                    tls = context.wrap_socket(raw, server_hostname="localhost")
                except ssl.SSLError:
                    raw.close()
                    raise
                found = tls.getpeercert()
                assert found is not None
                return tls, dict(found)

            first, before = shown()
            with first:
                with kafka.expire_certificate():
                    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
                        shown()
                    first.sendall(b"\0\0\0\x0b\0\x12\0\0\0\0\0\x01\xff\xff\0")
                    assert first.recv(4)  # an open connection lives on
            second, after = shown()
            second.close()
            assert after["serialNumber"] != before["serialNumber"]
            kafka.rotate_certificate()
            third, last = shown()
            third.close()
            assert last["serialNumber"] != after["serialNumber"]


def test_from_afar(kafka: Emulator, remote: RemoteKit, logins: Logins) -> None:
    """The remote kit's verbs are the same, and nothing that it is told holds a secret."""
    assert remote.acls() == ["User:billing may Read topic orders"]
    with remote.grant("User:billing may Read group g"):
        assert len(remote.acls()) == 2
    with remote.revoke("User:billing may Read topic orders"):
        assert remote.acls() == []
    with pytest.raises(ControlError, match="no such ACL"):
        remote.revoke("User:billing may Read group g")
    with remote.rotate_password("billing", "second-secret"):
        assert logins("second-secret")[1] == 0
    connection, error = logins()
    assert error == 0
    assert remote.expire_session("billing") >= 1
    assert not works(connection)
    with remote.deny_authentication("billing"):
        assert logins()[1] == 58
    told = json.dumps(
        [remote.events(), remote.explain(), remote.story(), repr(remote.timeline())],
        default=str,
    )
    assert "first-secret" not in told and "second-secret" not in told


class TestQuotas:
    """Set by the kit, here and from afar; as clients feel them: tests/server/broker/test_quotas.py."""

    def test_set_listed_and_undone(self, kafka: Emulator, remote: RemoteKit) -> None:
        for kit in (kafka, remote):
            assert kit.quotas() == []
            with kit.set_quota("billing", "<default>", producer_byte_rate=9, request_percentage=1):
                with kit.set_quota("billing", "<default>", producer_byte_rate=None):
                    assert kit.quotas() == [
                        {
                            "user": "billing",
                            "client_id": "<default>",
                            "quotas": {"request_percentage": 1},
                        }
                    ]
                both = {"producer_byte_rate": 9, "request_percentage": 1}
                assert kit.quotas()[0]["quotas"] == both
            assert kit.quotas() == []

    def test_a_client_waits_until_it_is_undone(self, kafka: Emulator, logins: Logins) -> None:
        quota = kafka.set_quota(user="billing", request_percentage=0.0001)
        one, _ = logins()
        beat: dict[str, Any] = {"group_id": "g", "member_id": "m", "generation_id": 1}
        one.send("Heartbeat", 4, beat)
        assert one.receive()[1]["throttle_time_ms"] == 1000
        quota.undo()
        other, _ = logins()
        other.send("Heartbeat", 4, beat)
        assert other.receive()[1]["throttle_time_ms"] == 0

    def test_a_reset_forgets_them(self, kafka: Emulator) -> None:
        kafka.set_quota(client_id="a", producer_byte_rate=1)
        kafka.reset()
        assert kafka.quotas() == []

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ({"producer_byte_rate": 1}, "whose quota? Give user=, client_id=, or both"),
            ({"user": "a"}, "no quota is given; give producer_byte_rate=1000, say"),
            ({"user": "a", "producer_byte_rate": "1"}, "producer_byte_rate='1': give a number"),
            ({"user": "a", "bytes": 1}, "Invalid configuration key bytes; there are producer_byte"),
            ({"user": "a", "producer_byte_rate": 0}, "must be greater than 0"),
            ({"user": "", "producer_byte_rate": 1}, "Empty user not supported"),
        ],
    )
    def test_what_cannot_be_is_refused(self, kafka: Emulator, words: Any, told: str) -> None:
        with pytest.raises(ControlError, match=re.escape(told)):
            kafka.set_quota(**words)
        assert kafka.quotas() == []
