"""A long log is folded without reading its commits, and shows what a short one would show, but the
dots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator.lab.page.engine import play
from coordinator.lab.page.following import Follower
from coordinator.lab.page.lessons import SEED, load

from .marks import marks

KILLED = [{"kind": "kill", "member": "app-2", "at_ms": 40_000}]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many commits, and a member that is killed after one: its last sign of life."""
    lesson = load("07_commit_in_each_half")
    path = tmp_path_factory.mktemp("long") / "run.jsonl"
    path.write_text("\n".join(play(lesson.scenario, "x", SEED, ("duration=60s",), KILLED)) + "\n")
    return path


def followed(
    log: Path, monkeypatch: pytest.MonkeyPatch, long_bytes: int
) -> tuple[Follower, dict[str, Any]]:
    monkeypatch.setattr("coordinator.lab.page.following.LONG_BYTES", long_bytes)
    monkeypatch.setattr("coordinator.lab.page.picture.MOST_STEPS_AT_ONCE", 10)
    follower = Follower(log)
    picture: dict[str, Any] = json.loads(follower.plain())["picture"]
    return follower, picture


def without_dots(picture: dict[str, Any]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = picture["groups"]
    for group in groups:
        for lane in group["lanes"]:
            lane["marks"] = [
                mark for mark in marks(lane) if not mark[1].startswith(("commit", "event"))
            ]
            del lane["signs"]
    return groups


def test_the_picture_is_the_same_but_for_the_commits(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, one = followed(log, monkeypatch, 1 << 40)
    long, other = followed(log, monkeypatch, 0)
    assert other["commits_not_drawn"] > 300 and one["commits_not_drawn"] == 0
    assert other["step_index"] == one["step_index"] and other["end_ms"] == one["end_ms"]
    assert without_dots(other) == without_dots(one)
    told = [
        [step["say"] for step in json.loads(each.steps(0, one["step_count"]))["steps"]]
        for each in (short, long)
    ]
    assert told[0] == told[1]
    assert any("its last sign of life was an offset commit" in say for say in told[1])


def test_steps_are_read_from_the_file(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long, picture = followed(log, monkeypatch, 0)
    some = json.loads(long.steps(200, 260))["steps"]
    assert [step["at_ms"] for step in some] == picture["step_index"][200:260]
    assert any(step["type"] == "OffsetsCommitted" for step in some)


def test_what_is_damaged_is_found_all_the_same(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = log.read_text().split("\n")
    at = next(number for number, line in enumerate(lines) if '"api":"offset_commit"' in line)
    path = tmp_path / "damaged.jsonl"
    path.write_text("\n".join([*lines[: at + 1], lines[at], *lines[at + 1 :]]))
    monkeypatch.setattr("coordinator.lab.page.following.LONG_BYTES", 0)
    with pytest.raises(ValueError, match=f"line {at + 2}: seq .* numbers only grow"):
        Follower(path)
