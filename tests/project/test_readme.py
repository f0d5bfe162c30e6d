"""README.md is true: its Python runs as written, its commands do what it says.

Blocks tagged `python` are run. Blocks tagged `sh` are run line by line: `make` dry, `coordinator
serve`, `watch` and `peers` in the background until the block ends, the server on a free port; every other
`coordinator` command to its end; `pip install` elsewhere. Anything else fails the test: tag it `text`.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ports import kept_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE_S = 300
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "127.0.0.1:9092"


def blocks(root: Path, tag: str) -> list[str]:
    found = [
        text
        for language, text in BLOCK.findall((root / "README.md").read_text())
        if language == tag
    ]
    assert found, f"README.md has no {tag} block"
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where README is followed: the checkout, the folder of whoever follows it, a Python that has
    the package, and how long one step may take."""

    root: Path
    folder: Path
    python: str
    environment: Mapping[str, str]
    patience_s: float = PATIENCE_S


def here(root: Path, folder: Path) -> Place:
    """This Python, with the package as the checkout has it."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONUNBUFFERED": "1"}
    return Place(root=root, folder=folder, python=sys.executable, environment=environment)


def run_python(arguments: list[str], place: Place) -> None:
    done = subprocess.run(
        [place.python, *arguments],
        cwd=place.folder,
        env=place.environment,
        timeout=place.patience_s,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def until_interrupted(arguments: list[str], sign: str, place: Place) -> Iterator[None]:
    """A process that runs until Ctrl-C, which it must take well; it is up once a line of its output
    has `sign` in it."""
    with subprocess.Popen(
        [place.python, "-m", "coordinator", *arguments],
        cwd=place.folder,
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if sign in line:
                    break
            else:
                pytest.fail(f"{arguments}: ended without a line with {sign}")
            yield
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=place.patience_s)
        finally:
            server.kill()
    assert server.returncode == 0


def run_line(line: str, place: Place, running: ExitStack) -> None:
    words = shlex.split(line, comments=True)
    match words[0], words[1:]:
        case "make", [target]:
            assert re.search(rf"^{target}:", (place.root / "Makefile").read_text(), re.MULTILINE), (
                f"no target {target}"
            )
            subprocess.run(
                ["make", "--dry-run", target],
                cwd=place.root,
                check=True,
                capture_output=True,
                timeout=PATIENCE_S,
            )
        case "pip", ["install", *_]:
            pass  # integration_tests/test_installed.py runs it in an empty environment
        case "coordinator", ["serve", *_] as arguments:
            running.enter_context(until_interrupted(arguments, "ready:", place))
        case "coordinator", ["watch", *_] as arguments:
            running.enter_context(until_interrupted(arguments, "http://", place))
        case "coordinator", ["lessons", "serve" | "my-site", *_] as arguments:
            running.enter_context(until_interrupted(arguments, "ready:", place))
        case "coordinator", ["peers", *_] as arguments:
            running.enter_context(until_interrupted(arguments, "members here", place))
        case "coordinator", arguments:
            run_python(["-m", "coordinator", *arguments], place)
        case _:
            pytest.fail(f"nobody knows how to check: {line}")


def follow_commands(place: Place) -> None:
    """All commands of README, one after the other."""
    port = kept_port()
    for block in blocks(place.root, "sh"):
        with ExitStack() as running:
            for line in filter(None, map(str.strip, block.splitlines())):
                run_line(line.replace(PORT, f"127.0.0.1:{port}"), place, running)


def follow_python(place: Place) -> None:
    """All Python of README."""
    for block in blocks(place.root, "python"):
        run_python(["-c", block], place)


def test_commands_run(project_root: Path, tmp_path: Path) -> None:
    follow_commands(here(project_root, tmp_path))


def test_python_runs(project_root: Path, tmp_path: Path) -> None:
    follow_python(here(project_root, tmp_path))


def test_links_lead_somewhere(project_root: Path) -> None:
    """In README.md and in docs/."""
    broken = [
        f"{page.name}: {target}"
        for page in (
            project_root / "README.md",
            project_root / "CONTRIBUTING.md",
            *(project_root / "docs").glob("*.md"),
        )
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []
