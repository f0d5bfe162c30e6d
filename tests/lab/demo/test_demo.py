"""The demo itself: one whole performance, and what it says when it cannot be given or goes
wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli import demo, main
from coordinator.event_log import read
from coordinator.lab.demo import play, processes
from coordinator.lab.demo.processes import Company, PlayerError, start_server

KAFKA_CLIENTS = ("kafka", "aiokafka", "confluent_kafka")


@pytest.mark.slow
def test_a_whole_performance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It passes, its log can be explained, all that the issue promises is in it, and nobody is left
    behind."""
    for client in KAFKA_CLIENTS:
        pytest.importorskip(client)
    monkeypatch.setattr(
        demo.signal, "signal", lambda *_: None
    )  # the test's own process keeps its handlers
    log = tmp_path / "run.jsonl"
    status = main(["demo", "--log", str(log)])
    said = capsys.readouterr().out
    assert status == 0, said
    verdict = said.strip().splitlines()[-1]
    assert verdict.startswith("PASSED")
    assert str(log) in verdict
    lines = list(read(log))
    assert [line["partitions"] for line in lines if line["type"] == "PartitionsAdded"] == [16]
    assert {line["reason"] for line in lines if line["type"] == "MemberRemoved"} == {
        "left",
        "session expired",
    }
    assert {line["client_id"] for line in lines if line["type"] == "MemberJoined"} == {
        "kafka-python",
        "aiokafka",
        "confluent-kafka",
    }
    assert main(["explain", str(log), "--group", play.GROUP]) == 0


@pytest.mark.parametrize("missing", [("aiokafka",), KAFKA_CLIENTS])
def test_missing_clients_are_named(
    missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None if name in missing else object())
    assert main(["demo"]) == 2
    error = capsys.readouterr().err
    assert "aiokafka" in error
    assert "pip install" in error
    assert ("confluent-kafka" in error) == ("confluent_kafka" in missing)


def test_a_log_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: object())
    assert main(["demo", "--log", str(tmp_path / "no" / "such" / "folder")]) == 2
    assert "cannot write there: No such file or directory" in capsys.readouterr().err


def test_a_player_that_ends_unasked_is_told_with_its_last_words(tmp_path: Path) -> None:
    with Company(tmp_path) as company:
        player = company.start("confused", "coordinator", "serve", "--nonsense")
        player.wait(120)
        with pytest.raises(PlayerError, match=r"confused ended with status 2: .*--nonsense"):
            company.listen()


def test_a_player_that_talks_nonsense(tmp_path: Path) -> None:
    with Company(tmp_path) as company:
        company.start("chatty", "coordinator", "--version").wait(120)
        with pytest.raises(
            PlayerError, match="chatty said something that is no report: 'coordinator"
        ):
            company.listen()


def test_a_server_that_does_not_start(tmp_path: Path) -> None:
    with (
        Company(tmp_path) as company,
        pytest.raises(PlayerError, match=r"the server did not start: .*no such"),
    ):
        start_server(company, "orders", 1, tmp_path / "no such" / "run.jsonl")


def test_nobody_is_left_behind(tmp_path: Path) -> None:
    with Company(tmp_path) as company:
        start_server(company, "orders", 1, tmp_path / "run.jsonl")
        server = company.players[processes.SERVER]
        assert server.running
    assert not server.running


def test_what_does_not_come_about_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plot that cannot go on says for what it waited, and that it failed."""
    said: list[str] = []
    monkeypatch.setattr(play, "_PATIENCE_S", 0.0)
    log = tmp_path / "run.jsonl"
    assert not play.run(tmp_path, log, said.append)
    assert said[-1].startswith("FAILED: waited 0 s for the first records, in vain")
    assert said[-1].endswith(f"Log: {log}")
