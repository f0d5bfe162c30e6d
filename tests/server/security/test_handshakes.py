"""TLS handshakes that are refused, cut in the middle or delayed: as clients see it, and others do
not."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import pytest

pytest.importorskip("trustme")

from coordinator import Emulator
from coordinator.kit.in_process_requests import ControlError

PATIENCE_S = 120


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(["orders"], security="SSL", remember=10_000) as running:
        yield running


def shake_hands(kafka: Emulator) -> str | None:
    """The protocol that is spoken then."""
    host, _, port = kafka.bootstrap_servers.partition(":")
    context = ssl.create_default_context(cafile=kafka.ca_file)
    with socket.create_connection((host, int(port)), PATIENCE_S) as raw:
        with context.wrap_socket(raw, server_hostname="localhost") as tls:
            return tls.version()


def test_a_refusal_is_an_alert(kafka: Emulator, caplog: pytest.LogCaptureFixture) -> None:
    kafka.fail_handshakes(times=2)
    for _ in range(2):
        with pytest.raises(ssl.SSLError, match=r"(?i)handshake.failure"):
            shake_hands(kafka)
    assert shake_hands(kafka) == "TLSv1.3"
    assert "TLS handshake refused (asked for by the testing kit)" in caplog.text


def test_one_that_is_cut_ends_in_the_middle(kafka: Emulator) -> None:
    kafka.fail_handshakes("cut")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shake_hands(kafka)
    assert shake_hands(kafka) == "TLSv1.3"


def test_one_that_is_delayed_holds_nobody_up(kafka: Emulator) -> None:
    held = kafka.delay_handshakes(600)
    host, _, port = kafka.bootstrap_servers.partition(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as slow:
        context = ssl.create_default_context(cafile=kafka.ca_file)
        slow_tls = context.wrap_socket(
            slow, server_hostname="localhost", do_handshake_on_connect=False
        )
        slow_tls.setblocking(False)
        with pytest.raises(ssl.SSLWantReadError):
            slow_tls.do_handshake()
        while kafka.run(lambda: bool(kafka.server.guard.security._handshakes)):  # type: ignore[union-attr]
            pass  # its hello has not arrived yet
        assert shake_hands(kafka) == "TLSv1.3"
        with pytest.raises(ssl.SSLWantReadError):
            slow_tls.do_handshake()
        slow_tls.close()
    held.undo()


def test_a_delay_ends(kafka: Emulator) -> None:
    kafka.delay_handshakes(0.05)
    assert shake_hands(kafka) == "TLSv1.3"


def test_what_is_left_is_undone(kafka: Emulator) -> None:
    with kafka.fail_handshakes(times=5):
        with pytest.raises(ssl.SSLError):
            shake_hands(kafka)
    assert shake_hands(kafka) == "TLSv1.3"
    kafka.fail_handshakes(times=5)
    kafka.reset()
    assert shake_hands(kafka) == "TLSv1.3"


def test_a_client_tries_again(kafka: Emulator) -> None:
    kafka.fail_handshakes("cut", times=2)
    with kafka.peer("own", topics=["orders"]) as own:
        own.wait_stable()  # by the kit's own listener, in the clear
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shake_hands(kafka)


def test_what_cannot_be(kafka: Emulator) -> None:
    for words, told in (
        ({"how": "lose"}, "one of refuse, cut, delay"),
        ({"times": -1}, "give a whole number"),
        ({"times": True}, "give a whole number"),
    ):
        with pytest.raises(ControlError, match=told):
            kafka.fail_handshakes(**words)  # type: ignore[arg-type]
    with Emulator() as plain, pytest.raises(ControlError, match="no listener speaks TLS"):
        plain.fail_handshakes()
