"""The engine as WebAssembly writes, byte for byte, the log that it writes here."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coordinator.page.engine import play
from coordinator.page.lessons import SEED, load
from coordinator.simulator.files import catalogue
from tools.page_site.__main__ import HERE

from .chosen import TOGETHER

ACTIONS = [
    {"kind": "freeze", "member": "app-1", "at_ms": 20_000, "lasts_ms": 12_000},
    {"kind": "join", "at_ms": 25_000},
]


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


@pytest.mark.parametrize("lessons", TOGETHER)
def test_every_lesson_has_the_same_log_as_webassembly(site: Path, lessons: tuple[str, ...]) -> None:
    plays = asked(lessons)
    command = ["node", str(HERE / "engine_check.mjs"), str(site)]
    done = subprocess.run(
        command, input=json.dumps(plays), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout)
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
        for each in plays
    }
    there = {
        each["name"]: hashlib.sha256(answer["ok"]["log"].encode()).hexdigest()
        for each, answer in zip(plays, answers, strict=True)
    }
    assert there == here
