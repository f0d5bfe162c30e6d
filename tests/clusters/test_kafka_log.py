"""`Emulator(kafka_log=...)`: the file that a tool for Kafka's logs reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.clusters.diagnosis import diagnose
from coordinator.kit.emulator.options import EmulatorError


def story(path: Path, version: str | None, protocol: str) -> None:
    """One member joins, another one too; this one leaves, then the first one."""
    with Emulator({"orders": 2}, kafka_log=path, kafka_version=version) as kafka:
        group = kafka.group("g")
        first = kafka.peer(
            "g", ["orders"], config={"client.id": "first", "group.protocol": protocol}
        )
        group.wait(state="Stable", members=1, assigned="all")
        second = kafka.peer(
            "g", ["orders"], config={"client.id": "second", "group.protocol": protocol}
        )
        group.wait(state="Stable", members=2, assigned="all")
        second.stop()
        group.wait(state="Stable", members=1, assigned="all")
        first.stop()
        group.wait(state="Empty")


@pytest.mark.parametrize(
    ("version", "dialect"), [("3.9", "kafka-broker-scala"), (None, "kafka-broker-java")]
)
def test_a_classic_group(tmp_path: Path, version: str | None, dialect: str) -> None:
    path = tmp_path / "server.log"
    story(path, version, "classic")
    told = diagnose([str(path)])
    (report,) = told.reports.values()
    assert report.dialect == dialect
    assert report.understood == report.lines
    assert [(each.cause, each.member, each.members) for each in told.groups["g"].rebalances] == [
        ("first-join", "first", 1),
        ("joined", "second", 2),
        ("left", "second", 1),
        ("left", "first", 0),
    ]


def test_a_consumer_group(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    story(path, None, "consumer")
    causes = [each.cause for each in diagnose([str(path)]).groups["g"].rebalances]
    assert causes == ["first-join", "joined", "left", "left"]


def test_lines_are_appended_and_no_event_log_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text("a line of before\n")
    story(path, None, "classic")
    first, *rest = path.read_text().splitlines()
    assert first == "a line of before" and rest
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(EmulatorError, match="cannot write the Kafka log"):
        Emulator(kafka_log=tmp_path).__enter__()
    assert main(["serve", "--listen", "127.0.0.1:0", "--kafka-log", str(tmp_path)]) == 2
    assert "cannot write the Kafka log" in capsys.readouterr().err
