"""What clients are given to get in, by the control port: as `Emulator.client_config` gives it."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import main as coordinator
from coordinator.kit.emulator.options import EmulatorError
from coordinator.kit.http.remote import RemoteKit
from coordinator.kit.http.serving import opened

pytest.importorskip("trustme")


@pytest.fixture(scope="module")
def secured() -> Iterator[tuple[Emulator, str]]:
    with (
        Emulator(
            ["orders:2"], security="SASL_SSL", users={"billing": "secret"}, remember=1_000
        ) as kafka,
        opened(kafka) as port,
    ):
        yield kafka, port.url


@pytest.mark.parametrize("library", ["kafka-python", "confluent-kafka", "java"])
def test_settings_are_the_same_but_for_the_file(
    secured: tuple[Emulator, str], library: str
) -> None:
    kafka, url = secured
    here = kafka.client_config(library, user="billing")
    far = RemoteKit(url)
    there = far.client_config(library, user="billing")
    assert there.pop(_file_of(there)) == far.ca_file != kafka.ca_file
    here.pop(_file_of(here))
    assert here == there
    assert Path(far.ca_file).read_text() == Path(kafka.ca_file).read_text()


def test_a_clients_certificate_is_copied_too() -> None:
    with (
        Emulator(security="SSL", config={"ssl.client.auth": "required"}, remember=10) as kafka,
        opened(kafka) as port,
    ):
        here = kafka.client_config("java", user="billing")["ssl.keystore.location"]
        far = RemoteKit(port.url)
        there = Path(far.client_config("java", user="billing")["ssl.keystore.location"])
        assert str(there) != here and there.read_text() == Path(here).read_text()
        assert there.stat().st_mode & 0o077 == 0  # it holds a key
        again = far.client_config("librdkafka", user="billing")
        assert again["ssl.key.location"] == again["ssl.certificate.location"] == str(there)


def _file_of(settings: dict[str, str]) -> str:
    (name,) = (name for name, value in settings.items() if str(value).endswith(".pem"))
    return name


def test_the_certificate_by_itself(secured: tuple[Emulator, str]) -> None:
    kafka, url = secured
    with urllib.request.urlopen(f"{url}/ca.pem") as answer:
        assert answer.read().decode() == Path(kafka.ca_file).read_text()


def test_on_the_command_line(
    secured: tuple[Emulator, str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, url = secured
    words = ["client-config", "kafka-python", "--user", "billing", "--control", url]
    assert coordinator(["ctl", *words]) == 0
    assert "sasl_plain_username=billing" in capsys.readouterr().out


def test_without_an_event_log_nothing_is_left_open() -> None:
    with Emulator() as kafka, pytest.raises(EmulatorError, match="no event log"), opened(kafka):
        pass


def test_what_cannot_be(secured: tuple[Emulator, str]) -> None:
    _, url = secured
    with pytest.raises(EmulatorError, match=r"settings are known for aiokafka"):
        RemoteKit(url).client_config("pykafka", user="billing")
    with Emulator(remember=1_000) as plain, opened(plain) as port:
        with pytest.raises(EmulatorError, match="no listener speaks TLS"):
            RemoteKit(port.url).ca_file  # noqa: B018
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{port.url}/ca.pem")
        assert refused.value.code == 409
        with refused.value as answer:
            assert "no listener speaks TLS" in answer.read().decode()
