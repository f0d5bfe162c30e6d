"""The command that compares a release with the emulator and the reference, on few scenarios: an
emulator as 4.3 stands for a real broker of that release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator.base.releases import NEWEST, release_named
from integration_tests import release as command
from integration_tests.java_broker import FOR_TESTS
from integration_tests.release import Played, facts_apart, keep, play_release, rows, told
from integration_tests.targets import EmulatorTarget, NoBroker
from integration_tests.wire.advertised import OF_THE_MACHINE
from integration_tests.wire.record import load

SAME, VERSIONS, NEWER = (
    "metadata.find_coordinator",
    "metadata.api_versions",
    "newer_versions.deleted_groups_are_told_about",
)
OLD = release_named("4.3")


@pytest.fixture(scope="module")
def older() -> Iterator[EmulatorTarget]:
    """What stands for the release's real brokers."""
    target = EmulatorTarget(OLD.name)
    yield target
    target.close()


@pytest.fixture(scope="module")
def newest() -> Iterator[EmulatorTarget]:
    """The emulator before it is taught the release."""
    target = EmulatorTarget()
    yield target
    target.close()


@pytest.fixture(scope="module")
def played(older: EmulatorTarget) -> Played:
    return play_release(older, (SAME, VERSIONS, NEWER), OLD.name)


def test_what_a_release_advertises_otherwise_is_told(
    played: Played, newest: EmulatorTarget
) -> None:
    """V44-1, V44-3, CFG-44-3."""
    apart = facts_apart(played, newest)
    assert ("api 28 TxnOffsetCommit", "0-5", "0-6") in apart
    assert ("feature share.version", "0-1 at 1", "0-2 at 2") in apart
    assert ("api 94 UnregisterController", "-", "0-0") in apart
    assert ("group setting streams.assignor.name", "-", "string 'sticky'") in apart


def test_what_real_brokers_of_tests_are_started_with_is_none_of_their_facts() -> None:
    assert {*FOR_TESTS} <= OF_THE_MACHINE


def test_what_a_release_does_otherwise_is_told(played: Played, newest: EmulatorTarget) -> None:
    """V44-6: a scenario that asks for what the release does not have is told with it."""
    apart = {row.name: row for row in rows(played, newest, NEWEST)}
    assert set(apart) == {VERSIONS, NEWER}
    assert all(row.reference and row.emulator for row in apart.values())
    page = told(played, facts_apart(played, newest), list(apart.values()), OLD.number)
    assert f"| {NEWER} | differs | differs | asks for DeleteGroups v3 |" in page
    assert f"| {VERSIONS} | differs | differs |  |" in page
    assert "3 scenarios, 1 as the emulator" in page


def test_a_release_that_the_emulator_knows_is_the_same(
    played: Played, older: EmulatorTarget
) -> None:
    assert facts_apart(played, older) == []
    assert [row.name for row in rows(played, older, OLD) if row.emulator] == []


def test_what_differs_beside_others_is_decided_by_a_play_alone(
    played: Played, newest: EmulatorTarget
) -> None:
    """The target that answers beside others is of another release here; the play alone is not."""
    assert [row.name for row in rows(played, newest, OLD) if row.emulator] == []


def test_what_does_not_repeat_is_told(played: Played, newest: EmulatorTarget) -> None:
    unsteady = played._replace(unsteady={VERSIONS: "after ApiVersions v3"})
    page = told(unsteady, [], rows(unsteady, newest, NEWEST), OLD.number)
    assert f"{VERSIONS} does not repeat\nafter ApiVersions v3" in page
    assert f"| {VERSIONS} | differs | differs | does not repeat |" in page


def test_kept_is_what_differs_from_the_reference(
    played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "home_of", lambda release: tmp_path / release)
    keep(played, OLD.name)
    kept = load(tmp_path / OLD.name)
    assert set(kept) == {VERSIONS, NEWER}
    assert kept[NEWER].steps == played.steps[NEWER]
    again = played._replace(steps={NEWER: load()[NEWER].steps})
    keep(again, OLD.name)
    assert set(load(tmp_path / OLD.name)) == {VERSIONS}, "what became the same is kept no longer"


def test_the_command_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(version: str) -> EmulatorTarget:
        raise NoBroker(f"there is no Kafka {version}")

    monkeypatch.setattr(command, "BUILD", tmp_path)
    monkeypatch.setattr(command, "KafkaTarget", none)
    assert command.main(["9.9.9"]) == 2
    assert "no broker of 9.9.9: there is no Kafka 9.9.9" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        command.main(["9.9.9", "no_such_scenario"])
    assert ended.value.code == 2
    assert "no scenario's name contains 'no_such_scenario'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["9.9.9", "--again"])
    assert "nothing was played on 9.9.9 yet: leave out --again" in capsys.readouterr().err


def test_what_was_played_is_compared_again_without_brokers(
    played: Played,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "BUILD", tmp_path)
    command._saved(played, tmp_path / "4.3.1.json")
    assert command.main(["4.3.1", "--again", "find_coordinator", "api_versions"]) == 0
    told = capsys.readouterr().out
    assert "2 scenarios, 2 as the emulator" in told
    assert f"| {VERSIONS} | differs | same |  |" in told
