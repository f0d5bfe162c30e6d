"""A log's file that a reader dropped on the page: the worker reads it slice by slice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator.lab.page.engine import picture_of, play, request

from .test_picture import SCENARIO


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return play(SCENARIO, "test", 1)


def asked(op: str, **others: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(request(json.dumps({"op": op, **others})))
    return answer


def opened(path: Path) -> dict[str, Any]:
    """What is said of a file that was read to its end."""
    said = asked("follow", path=str(path), name="mine.jsonl")
    while "ok" in said and "reading" in said["ok"]:
        said = asked("read")
    return said


def test_slices_make_the_picture_of_the_whole(
    tmp_path: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.lab.page.following.MOST_AT_ONCE", 2000)
    path = tmp_path / "file"
    path.write_text("\n".join(lines) + "\n")
    seen = [asked("follow", path=str(path), name="mine.jsonl")["ok"]]
    while "reading" in seen[-1]:
        seen.append(asked("read")["ok"])
    progress = [each["reading"][0] for each in seen[:-1]]
    assert progress == sorted(set(progress)) and len(progress) > 10
    assert {each["reading"][1] for each in seen[:-1]} == {path.stat().st_size}
    pictures = [each["picture"] for each in seen if "picture" in each]
    assert 3 < len(pictures) < len(seen), "one is made from time to time, not for each slice"
    assert pictures[-1] == json.loads(json.dumps(picture_of(lines).plain()))
    assert seen[-1]["cut"] is False and seen[-1]["name"] == "mine.jsonl"
    steps = asked("steps", begin=3, end=9)["ok"]["steps"]
    assert steps == pictures[-1]["steps"][3:9]
    assert "scenario" in asked("copy", group="app")["ok"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_last_line_needs_no_newline(tmp_path: Path, lines: list[str], end: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + end.encode())
    said = opened(path)["ok"]
    assert said["picture"] == json.loads(json.dumps(picture_of(lines).plain()))
    assert said["cut"] is False


def test_a_line_that_is_cut_short_is_left_out_and_said(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "file"
    path.write_text("\n".join(lines)[:-5])
    said = opened(path)["ok"]
    assert said["cut"] is True
    assert said["picture"]["step_count"] == len(picture_of(lines[:-1]).fold.steps)


def test_the_header_alone_is_a_log(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "file"
    path.write_text(lines[0])
    assert opened(path)["ok"]["picture"]["groups"] == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "line 1: empty: the first line of a log is its run header"),
        (b"\n\n", "line 1: empty"),
        (b"this is no log", "line 1: not JSON"),
        (b"\x00\xff\xfe\x80" * 50, "line 1: "),
        (b'[{"a": 1}]', "is JSON, but no object"),
        (b'{"name": "package", "version": "1.0"}\n', 'line 1: "seq": no such field'),
        (b'{"name":\n "package"}\n', "line 1: not JSON"),
        (b'{"seq":4,"at_ms":0,"run":"1","stream":"x","type":"Y","cause":null}', "comes first"),
        (b" " * 3_000_000, "line 1: a line of more than 1 MiB"),
    ],
)
def test_what_is_no_log_is_told_by_the_readers_name_for_it(
    tmp_path: Path, data: bytes, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.lab.page.following.MOST_AT_ONCE", 1 << 18)
    monkeypatch.setattr("coordinator.lab.page.following.MOST_LINE", 1 << 20)
    path = tmp_path / "file"
    path.write_bytes(data)
    said = opened(path)
    problem = said.get("error") or said["ok"]["error"]
    assert problem.startswith("mine.jsonl, line ") and told in problem
    assert len(problem) < 300 and problem.isprintable()


def test_a_log_that_is_damaged_in_its_midst_says_where_and_is_shown(
    tmp_path: Path, lines: list[str]
) -> None:
    path = tmp_path / "file"
    path.write_text("\n".join([*lines[:40], "hello", *lines[40:]]))
    said = opened(path)["ok"]
    count, first = said["damaged"]
    assert count == 1
    assert "mine.jsonl, line 41: not JSON" in first
    assert said["picture"]["groups"]
