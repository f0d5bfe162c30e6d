"""The recorded stories as they reach somebody who is asked: wrapped, cut, twice, with other clocks.

A cause may become unknown; it never becomes another one, and nobody else is accused.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coordinator.clusters.diagnosis import diagnose

from .test_stories import STORIES, expected

Lines = list[str]
POD = "a-pod-for-each-file"
NAMES = sorted(path.name for path in STORIES.iterdir())
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)([,.]\d{3})")
_EPOCH = re.compile(r"^%(\d)\|(\d{10})\.")


def _files(story: str) -> dict[str, Lines]:
    return {
        path.name: path.read_text().splitlines()
        for path in sorted((STORIES / story).iterdir())
        if path.name != "expected.json"
    }


def _instants(lines: Lines) -> Lines:
    """ISO instants of the lines, that of the line before where one has none."""
    last, found = "2026-11-28T20:50:00.000", []
    for line in lines:
        stamp = _STAMP.search(line)
        if stamp:
            last = f"{stamp[1]}T{stamp[3]}.{stamp[4][1:]}"
        found.append(last)
    return found


def _docker(lines: Lines) -> Lines:
    return [
        json.dumps({"log": line + "\n", "stream": "stdout", "time": f"{at}123456Z"})
        for line, at in zip(lines, _instants(lines), strict=True)
    ]


def _cloudwatch(lines: Lines) -> Lines:
    found = []
    for line, at in zip(lines, _instants(lines), strict=True):
        ms = int(datetime.fromisoformat(f"{at}+00:00").timestamp() * 1000)
        found.append(json.dumps({"timestamp": ms, "message": line, "ingestionTime": ms + 900}))
    return found


def _pretty_json(lines: Lines) -> Lines:
    return [
        part
        for line in lines
        for part in (
            "    {",
            f'        "message": {json.dumps(line)},',
            '        "id": "1"',
            "    },",
        )
    ]


def _journald(lines: Lines) -> Lines:
    return [
        f"Nov 28 {at[11:19]} {POD} kafka[812]: {line}"
        for line, at in zip(lines, _instants(lines), strict=True)
    ]


def _logback(lines: Lines) -> Lines:
    found = []
    for line in lines:
        parts = re.match(
            r"\[?(\S+)[ T]([\d:]+)[,.](\d{3})\]? (\w+) +(.*?)(?: \(([\w.$]+)\))?$", line
        )
        if parts is None:
            found.append(line)
            continue
        logger = (
            parts[6] or "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
        ).split(".")
        short = ".".join([*(part[0] for part in logger[:-1]), logger[-1]])
        found.append(
            f"{parts[1]}T{parts[2]}.{parts[3]}  {parts[4]} 1 --- [ntainer#0-0-C-1] {short} : {parts[5]}"
        )
    return found


def _words_wrapped(width: int) -> Callable[[Lines], Lines]:
    def wrap(lines: Lines) -> Lines:
        found = []
        for line in lines:
            while len(line) > width:
                cut = line.rfind(" ", 1, width)
                cut = cut if cut > 0 else width
                found.append(line[:cut])
                line = line[cut:].removeprefix(" ")
            found.append(line)
        return found

    return wrap


def _columns_wrapped(lines: Lines) -> Lines:
    return [
        line[begin : begin + 120] for line in lines for begin in range(0, max(len(line), 1), 120)
    ]


def _quoted_mail(lines: Lines) -> Lines:
    return [f"> {line}" for line in _words_wrapped(76)(lines)]


def _without_day(lines: Lines) -> Lines:
    return [
        re.sub(r"\[?\d{4}-\d\d-\d\d[ T](\d\d:\d\d:\d\d[,.]\d{3})\]?", r"\1", line) for line in lines
    ]


def _without_stamp(lines: Lines) -> Lines:
    return [re.sub(r"^\[?\d{4}-\d\d-\d\d[ T][\d:]{8}[,.]\d{3}Z?\]? ?", "", line) for line in lines]


WRAPPINGS: dict[str, Callable[[Lines], Lines]] = {
    "docker": _docker,
    "cloudwatch": _cloudwatch,
    "pretty-json": _pretty_json,
    "journald": _journald,
    "logback": _logback,
    "kubectl": lambda lines: [f"[pod/{POD}-0/app] {line}" for line in lines],
    "compose": lambda lines: [f"{POD}-1  | {line}" for line in lines],
    "ansi": lambda lines: [f"\x1b[2m{line}\x1b[0m" for line in lines],
    "crlf": lambda lines: [f"{line}\r" for line in lines],
    "indented": lambda lines: [f"    {line}" for line in lines],
    "markdown": lambda lines: ["```", *lines, "```"],
    "wrapped at words": _words_wrapped(120),
    "wrapped at columns": _columns_wrapped,
    "quoted mail": _quoted_mail,
    "no day": _without_day,
    "no stamp": _without_stamp,
    "newest first": lambda lines: lines[::-1],
    "stern": lambda lines: [f"{POD}-0 main {line}" for line in lines],
    "csv": lambda lines: [
        f'"Nov 28, 2026 @ {at[11:]}","{line}"'
        for line, at in zip(lines, _instants(lines), strict=True)
    ],
    "twice": lambda lines: [*lines, *lines],
}
CUTS: dict[str, Callable[[Lines], Lines]] = {
    "first half": lambda lines: lines[: len(lines) // 2],
    "second half": lambda lines: lines[len(lines) // 2 :],
    "from a third on": lambda lines: lines[len(lines) // 3 :],
    "every other line": lambda lines: lines[::2],
}


def _judge(tmp_path: Path, story: str, files: dict[str, Lines]) -> int:
    """How many causes are right; none may be wrong, nobody else accused."""
    paths = []
    for name, lines in files.items():
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        paths.append(str(path))
    found = diagnose(paths)
    right = 0
    for group, truth in expected(story).items():
        told = found.groups.get(group)
        if told is None:
            continue
        generations = {each["generation"]: each for each in truth["generations"]}
        numbers = [each.generation for each in told.rebalances]
        assert len(numbers) == len(set(numbers)), "a generation is told twice"
        for each in told.rebalances:
            real = generations[each.generation]
            if each.cause in (real["cause"], *real.get("also", [])):
                right += 1
                names = (real["member"], real["member_id"], None)
                assert each.member in names or each.certainty == "likely"
            else:
                assert each.cause == "unknown" or each.certainty == "likely", each
        worst = {
            name
            for each in truth["generations"]
            if each["member"] == truth["worst_member"]
            for name in (each["member"], each["member_id"])
        }
        for finding in told.findings:
            assert finding.member in (truth["worst_member"], *worst, None), finding
            if finding.id != "migration-unfinished":  # it is so where a part of the log ends
                assert finding.setting in (truth["setting"], None), finding
    return right


def _generations(story: str) -> int:
    return sum(len(group["generations"]) for group in expected(story).values())


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("story", NAMES)
def test_a_wrapping_changes_no_cause(tmp_path: Path, story: str, wrapping: str) -> None:
    files = {
        name: [line.replace(POD, name.partition(".")[0]) for line in WRAPPINGS[wrapping](lines)]
        for name, lines in _files(story).items()
    }
    assert _judge(tmp_path, story, files) == _generations(story)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("story", NAMES)
def test_a_part_accuses_nobody_wrongly(tmp_path: Path, story: str, cut: str) -> None:
    _judge(tmp_path, story, {name: CUTS[cut](lines) for name, lines in _files(story).items()})


@pytest.mark.parametrize("story", NAMES)
def test_one_file_alone_and_all_but_one(tmp_path: Path, story: str) -> None:
    files = _files(story)
    for name in files:
        _judge(tmp_path, story, {name: files[name]})
        _judge(tmp_path, story, {other: files[other] for other in files if other != name})


@pytest.mark.parametrize("story", NAMES)
def test_the_same_files_twice_are_told_once(tmp_path: Path, story: str) -> None:
    files = _files(story)
    copies = {f"copy-{name}": lines for name, lines in files.items()}
    assert _judge(tmp_path, story, {**files, **copies}) == _generations(story)


def _shifted(lines: Lines, seconds: int) -> Lines:
    def moved(stamp: re.Match[str]) -> str:
        instant = datetime.fromisoformat(f"{stamp[1]}T{stamp[3]}").replace(tzinfo=UTC)
        later = instant + timedelta(seconds=seconds)
        return later.strftime(f"%Y-%m-%d{stamp[2]}%H:%M:%S") + stamp[4]

    return [
        _EPOCH.sub(lambda found: f"%{found[1]}|{int(found[2]) + seconds}.", _STAMP.sub(moved, line))
        for line in lines
    ]


@pytest.mark.parametrize("seconds", [37, -37, 7_200, -7_200])
@pytest.mark.parametrize("story", NAMES)
def test_a_clock_that_differs_changes_no_cause(tmp_path: Path, story: str, seconds: int) -> None:
    files = _files(story)
    for name in files:
        moved = {**files, name: _shifted(files[name], seconds)}
        assert _judge(tmp_path, story, moved) == _generations(story)


@pytest.mark.parametrize("story", NAMES)
def test_lines_that_are_lost_make_no_cause_another_one(tmp_path: Path, story: str) -> None:
    """Whoever pastes, greps first: any line may be missing."""
    names = _clients_are_pods(story)
    for seed in range(24):
        draw = random.Random(seed)
        share = draw.choice([0.1, 0.3, 0.6, 0.85])
        files = {
            name: [line for line in lines if draw.random() < share or _any(line, names)]
            for name, lines in _files(story).items()
        }
        _judge(tmp_path, story, files)


def _clients_are_pods(story: str) -> tuple[str, ...]:
    """Lines of kafka-python that name the client: without them the pod or the file stands for it."""
    return ("client_id=",) if story.startswith("kubectl") or story.endswith("kafka-python") else ()


def _any(line: str, words: tuple[str, ...]) -> bool:
    return any(word in line for word in words)


def test_lines_of_several_groups_in_one_file(tmp_path: Path) -> None:
    """Brokers coordinate many groups."""
    stories = ["join-leave-expire-scala", "kubectl-prefix-static-restart-too-late"]
    lines = [
        (at, story, line)
        for story in stories
        for name, text in _files(story).items()
        if name != "orders-1.log"
        for line, at in zip(text, _instants(text), strict=True)
    ]
    mixed = [line for _, _, line in sorted(lines, key=lambda each: each[0])]
    for story in stories:
        assert _judge(tmp_path, story, {"all.log": mixed}) == _generations(story)
