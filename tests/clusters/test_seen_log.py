"""`coordinator diagnose --log`: what is told as an event log, and what is made of that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.clusters.diagnosis import diagnose
from coordinator.event_log import read
from coordinator.events.files import read as lines_of
from coordinator.events.seen import cause
from coordinator.history.explain.narrator import Narrator
from coordinator.lab.page.fold import Fold
from coordinator.lab.pipeline.fold.pieces import fold_texts
from coordinator.lab.pipeline.schemas import TABLES

from .test_stories import STORIES

NAMES = sorted(path.name for path in STORIES.iterdir())


def files(story: str) -> list[str]:
    return [
        str(path) for path in sorted((STORIES / story).iterdir()) if path.name != "expected.json"
    ]


def logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], paths: list[str], *options: str
) -> Path:
    log = tmp_path / "run.jsonl"
    assert main(["diagnose", *paths, "--log", str(log), *options]) == 0
    capsys.readouterr()
    return log


@pytest.mark.parametrize("story", NAMES)
def test_explain_tells_the_same_causes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], story: str
) -> None:
    log = logged(tmp_path, capsys, files(story))
    assert main(["explain", str(log), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = diagnose(files(story)).groups
    assert {group["group"] for group in told["groups"]} == set(found)
    for group in told["groups"]:
        story_of = found[group["group"]]
        assert [one["generation"] for one in group["rebalances"]] == [
            one.generation for one in story_of.rebalances
        ]
        for one, each in zip(group["rebalances"], story_of.rebalances, strict=True):
            assert (one["because"] is None) == (each.cause == "unknown")
            assert one["certainty"] == each.certainty
            assert one["join_phase_ms"] == each.join_phase_ms
            assert one["leader"] is one["assignor"] is one["assignments"] is None
        notes = [note["text"] for note in group["notes"]]
        assert sum(text.startswith("Not known: ") for text in notes) == len(story_of.not_known)


def test_a_client_alone_says_what_it_does_not_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logged(tmp_path, capsys, [str(STORIES / "missed-max-poll-java" / "inv-app-0.log")])
    assert main(["explain", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "state not known" in shown
    assert "join phase not known" in shown
    assert "leader, assignor and assignment not known" in shown
    for invented in ("eager", "nothing", "range"):
        assert invented not in shown


def test_one_generation_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = logged(tmp_path, capsys, files("missed-max-poll-java"))
    assert main(["explain", str(log), "--generation", "2", "--format", "json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert [one["generation"] for one in group["rebalances"]] == [2]
    assert main(["explain", str(log), "--generation", "99"]) == 2


@pytest.mark.parametrize("story", NAMES)
def test_the_page_and_the_narrator_take_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], story: str
) -> None:
    log = logged(tmp_path, capsys, files(story))
    narrator, picture = Narrator(), Fold()
    said = [row for line in lines_of(log) for row in narrator.tell(line)]
    picture.feed_all(lines_of(log))
    groups = diagnose(files(story)).groups.values()
    for group in groups:
        for each in group.rebalances:
            assert any(f"generation {each.generation}: " in row for row in said)


def test_the_table_has_null_for_what_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logged(tmp_path, capsys, [str(STORIES / "missed-max-poll-java" / "inv-app-0.log")])
    rows: list[dict[str, object]] = []

    def take(table: str, row: tuple[object, ...]) -> None:
        if table == "seen_rebalances":
            rows.append(dict(zip(TABLES[table].names(), row, strict=True)))

    fold_texts(log.read_text().splitlines(keepends=True), "log", take)
    causes = {row["generation"]: row["cause"] for row in rows}
    assert causes[1] == "first-join"
    assert None in causes.values()
    assert {row["join_phase_ms"] for row in rows} == {None}


def test_names_are_redacted_there_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = logged(tmp_path, capsys, files("missed-max-poll-java"), "--redact")
    text = log.read_text()
    assert "inv-app" not in text and "invoices" not in text and "missed-max-poll" not in text


def test_lines_without_stamps_have_no_instant_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(
        "INFO:aiokafka.consumer.group_coordinator:Joined group 'g' (generation 3) with member_id a\n"
    )
    log = logged(tmp_path, capsys, [str(paste)])
    (line,) = (line for line in read(log) if line["type"] == "RebalanceSeen")
    assert (line["stamped"], line["at_ms"]) == (False, 0)
    assert main(["explain", str(log)]) == 0
    assert "instant not known" in capsys.readouterr().out


def test_a_log_that_exists_is_not_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "run.jsonl"
    log.write_text("mine\n")
    assert main(["diagnose", *files("missed-max-poll-java"), "--log", str(log)]) == 2
    assert log.read_text() == "mine\n"
    assert str(log) in capsys.readouterr().err


def test_a_cause_of_a_stranger_is_shown_as_it_is() -> None:
    assert cause("{member.__class__} {0} \x1b", "a") == "{member.__class__} {0} \\x1b"
