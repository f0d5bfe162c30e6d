"""The engine as WebAssembly writes, byte for byte, the log that it writes here, and gives the same
answer to each operation: so the page's tests may take answers from here (engine_here.py)."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from coordinator.lab.page import engine
from coordinator.lab.page.engine import play
from coordinator.lab.page.lessons import SEED, load
from coordinator.lab.simulator.files import catalogue
from tools.page_site.__main__ import HERE

from .chosen import TOGETHER

ACTIONS = [
    {"kind": "freeze", "member": "app-1", "at_ms": 20_000, "lasts_ms": 12_000},
    {"kind": "join", "at_ms": 25_000},
]


class Answers(NamedTuple):
    """Requests to play a lesson or a shipped scenario, requests of each operation, and the answers
    to them in the same order."""

    plays: list[dict[str, Any]]
    to_plays: list[dict[str, Any]]
    others: list[dict[str, Any]]
    to_others: list[dict[str, Any]]


def digest(lines: list[str]) -> str:
    return hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()


def asked(slugs: tuple[str, ...]) -> list[dict[str, Any]]:
    lessons: list[dict[str, Any]] = [
        {"scenario": lesson.scenario, "name": lesson.slug, "actions": [], "script": lesson.script}
        for lesson in map(load, slugs)
    ]
    names = ("long_gc_pause", "rolling_deploy_static")
    shipped: list[dict[str, Any]] = [
        {"scenario": catalogue.text(name), "name": name, "actions": ACTIONS} for name in names
    ]
    return [{"op": "play", "seed": SEED, "log": True, **each} for each in [*lessons, *shipped]]


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest, site: Path) -> Answers:
    """What the site's engine says, in Node: when lessons are played, and to every operation."""
    plays, others = asked(request.param), every_operation()
    told = answered(site, [*plays, *others])
    return Answers(plays, told[: len(plays)], others, told[len(plays) :])


def answered(site: Path, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers of the site's engine to requests."""
    command = ["node", str(HERE / "engine_check.mjs"), str(site)]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("answers", TOGETHER, indirect=True, scope="module")
def test_every_lesson_has_the_same_log_as_webassembly(answers: Answers) -> None:
    here = {
        each["name"]: digest(
            play(
                each["scenario"],
                each["name"],
                each["seed"],
                (),
                each["actions"],
                each.get("script", ()),
            )
        )
        for each in answers.plays
    }
    there = {
        each["name"]: hashlib.sha256(answer["ok"]["log"].encode()).hexdigest()
        for each, answer in zip(answers.plays, answers.to_plays, strict=True)
    }
    assert there == here


CLUSTER = (
    "[2026-03-01 10:00:00,000] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with "
    "old generation 4 (__consumer_offsets-3) (reason: removing member a-1 on heartbeat expiration) "
    "(kafka.coordinator.group.GroupCoordinator)\n"
    "[2026-03-01 10:00:01,000] INFO [GroupCoordinator 1]: Stabilized group g generation 5 (__consumer_offsets-3) with 1 "
    "members (kafka.coordinator.group.GroupCoordinator)\n"
)


def every_operation() -> list[dict[str, Any]]:
    """Requests of each operation, in the ways that the page asks."""
    lesson = load("04_slowest_decides")
    log = "\n".join(lesson.lines) + "\n"
    run = {"scenario": lesson.scenario, "name": lesson.slug, "seed": SEED, "actions": ACTIONS}
    changed = {**run, "settings": ["members.app.assignor=sticky"]}
    beside = {"settings": [], "actions": ACTIONS[:1]}
    (group,) = lesson.plain()["picture"]["groups"]
    name = group["group"]
    return [
        {"op": "play", "as": "main", **changed, "beside": beside},
        {"op": "steps", "begin": 0, "end": 40},
        {"op": "as_file", **changed},
        {"op": "as_test", **changed},
        {"op": "open", "as": "taken", "name": "run.jsonl", "text": log},
        {"op": "copy", "as": "taken", "group": name},
        {"op": "quiz", "as": "taken"},
        {"op": "quiz", "as": "taken", "group": name},
        {"op": "follow", "path": "/log/file", "name": "run.jsonl", "file": log},
        {"op": "read"},
        {"op": "follow", "path": "/log/file", "name": "notes.txt", "file": "this is no log\n"},
        {"op": "play", "scenario": "nmae = 1", "name": "wrong", "seed": SEED},
        {"op": "logs", "files": [{"name": "server.log", "text": CLUSTER}]},
        {"op": "keys"},
        {"op": "version"},
    ]


@pytest.mark.parametrize("answers", TOGETHER, indirect=True, scope="module")
def test_every_operation_has_the_same_answer_as_webassembly(
    answers: Answers, tmp_path: Path
) -> None:
    assert {each["op"] for each in answers.others} == set(engine._OPERATIONS)
    here = []
    for request in answers.others:
        asked = dict(request)
        if "file" in asked:
            file = tmp_path / "file"
            file.write_text(asked.pop("file"))
            asked["path"] = str(file)
        here.append(json.loads(engine.request(json.dumps(asked))))
    assert answers.to_others == here
    assert ["error" in each for each in here].count(True) == 2
