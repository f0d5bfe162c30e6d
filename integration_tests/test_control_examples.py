"""The examples in other languages pass as they stand, on a served emulator: examples/java with
Maven, examples/go with the go command, the cookbook's recipe with Go and Node at the same time.

Skipped with one line where a language's tools are missing, a failure if REQUIRE_REAL_BROKER is set.
What they build on is downloaded once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
EXAMPLES = PROJECT / "examples"
KAFKAJS = "kafkajs@2.2.4"
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


def recipe(name: str) -> str:
    """A file of the cookbook's recipe for suites that share a server."""
    page = (PROJECT / "docs" / "testing_cookbook.md").read_text()
    (block,) = re.findall(
        rf"^```\w+\n// {re.escape(name)}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    return str(block)


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


def test_go_and_node_share_a_server(control: str, tmp_path: Path) -> None:
    """At the same time, twice each: none of them sees the others' topics, groups and faults."""
    tools("go", "node", "npm")
    go, node = tmp_path / "go", tmp_path / "node"
    go.mkdir()
    node.mkdir()
    for name in ("go.mod", "go.sum"):
        shutil.copy(EXAMPLES / "go" / name, go)
    (go / "shared_test.go").write_text(recipe("shared_test.go"))
    (node / "shared.test.mjs").write_text(recipe("shared.test.mjs"))
    assert KAFKAJS in (PROJECT / "docs" / "testing_cookbook.md").read_text()
    run(control, node, "npm", "install", "--no-audit", "--no-fund", KAFKAJS)
    commands = [(go, "go", "test", "-count=1", "-v", "./..."), (node, "node", "--test")] * 2
    with ThreadPoolExecutor() as pool:
        said = list(pool.map(lambda command: run(control, *command), commands))
    assert sum(each.count("--- PASS") for each in said) == 2
    assert sum(each.count("\n# pass 1\n") for each in said) == 2
