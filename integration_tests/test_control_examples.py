"""The examples in other languages pass as they stand, on a served emulator: examples/java with
Maven, examples/go with the go command.

Skipped with one line where a language's tools are missing, a failure if REQUIRE_REAL_BROKER is set.
What they build on is downloaded once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
LIMIT_S = 900
TOKEN = "of the examples".replace(" ", "-")


@pytest.fixture(scope="module")
def control() -> Iterator[str]:
    """The control port of a served emulator, which asks for a token."""
    command = [
        sys.executable,
        "-m",
        "coordinator",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--control",
        "127.0.0.1:0",
    ]
    environment = os.environ | {"COORDINATOR_CONTROL_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("ready: "))
            yield ready.split()[3]
        finally:
            process.terminate()


def tools(*names: str) -> None:
    """Skip where one is missing, unless everything is required."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        said = f"no {', '.join(missing)} here"
        if os.environ.get("REQUIRE_REAL_BROKER", "") not in ("", "0"):
            pytest.fail(f"REQUIRE_REAL_BROKER is set: {said}", pytrace=False)
        pytest.skip(said)


def run(control: str, folder: Path, *command: str) -> str:
    """What a test run prints; it has to pass."""
    environment = os.environ | {"COORDINATOR_CONTROL": control, "COORDINATOR_CONTROL_TOKEN": TOKEN}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_java(control: str, tmp_path: Path) -> None:
    tools("mvn", "java")
    shutil.copytree(EXAMPLES / "java", tmp_path / "java", ignore=shutil.ignore_patterns("target"))
    said = run(control, tmp_path / "java", "mvn", "--batch-mode", "--no-transfer-progress", "test")
    assert "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0" in said


def test_go(control: str) -> None:
    tools("go")
    said = run(control, EXAMPLES / "go", "go", "test", "-count=1", "-v", "./...")
    assert said.count("--- PASS") == 2
    assert "SKIP" not in said
