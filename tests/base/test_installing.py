"""What error messages and pages say of installing: always a command that works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator.base import installing
from coordinator.base.installing import lacks, page_line, page_words, pip_install, see_agents, where

Installed = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """As it would be installed elsewhere, with this address of its origin."""

    def install(address: str | None) -> None:
        information = tmp_path / "site" / "kafka_group_coordinator-0.1.0.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(
            "Metadata-Version: 2.4\nName: kafka-group-coordinator\nVersion: 0.1.0\n"
            "Requires-Dist: google-crc32c>=1.7\n"
            "Requires-Dist: uvloop>=0.21; (sys_platform != 'win32') and extra == 'fast'\n"
            'Requires-Dist: trustme>=1.2; extra == "security"\n'
            'Requires-Dist: pyjwt[crypto]>=2.10; extra == "security"\n'
        )
        if address is not None:
            (information / "direct_url.json").write_text(json.dumps({"url": address}))
        monkeypatch.setattr(installing, "_ROOT", tmp_path / "site")
        monkeypatch.setattr("sys.path", [str(tmp_path / "site")])

    return install


def test_in_a_checkout_it_is_the_checkout(project_root: Path) -> None:
    assert pip_install("control") == f"pip install -e '{project_root}[control]'"


def test_a_wheel_that_is_still_there_is_named(installed: Installed, tmp_path: Path) -> None:
    wheel = tmp_path / "a folder" / "kafka_group_coordinator-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    installed(wheel.as_uri())
    assert pip_install("security") == f"pip install '{wheel}[security]'"


@pytest.mark.parametrize("address", [None, "file:///nowhere/x.whl", "https://localhost/x.whl"])
def test_else_the_packages_of_the_extra_are(installed: Installed, address: str | None) -> None:
    installed(address)
    assert pip_install("security") == "pip install 'trustme>=1.2' 'pyjwt[crypto]>=2.10'"
    assert pip_install("fast") == "pip install 'uvloop>=0.21'"


def test_copied_packages_send_to_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "_ROOT", tmp_path)
    monkeypatch.setattr("sys.path", [])
    monkeypatch.setattr(installing, "PUBLISHED", False)
    assert pip_install("test") == page_words("test")


def test_once_published_the_name_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "PUBLISHED", True)
    assert pip_install("test") == "pip install 'kafka-group-coordinator[test]'"
    assert page_line("test", published=True) == pip_install("test")
    assert page_words("test", published=True) == page_line("test", published=True)
    assert page_words("test", published=False) == "pip install '.[test]' in a checkout"


def test_a_page_is_an_address_or_a_file() -> None:
    assert where("testing", documentation="") == "docs/testing.md"
    assert (
        where("testing", documentation="https://example.org/docs/")
        == "https://example.org/docs/testing/"
    )


def test_an_extra_that_is_missing_is_told_with_its_command_and_the_page() -> None:
    install, page = pip_install("security"), where("agents")
    assert lacks("tokens need PyJWT", "security") == f"tokens need PyJWT (see {page}): {install}"
    assert (
        lacks("TLS needs trustme", "security", "PEM files need nothing")
        == f"TLS needs trustme (see {page}); PEM files need nothing; or: {install}"
    )
    assert see_agents() == f"see {page}"
