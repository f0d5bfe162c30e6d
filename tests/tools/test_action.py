"""The GitHub Action in action/: its script starts the emulator, says where it is, and fails with the emulator's own words."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coordinator.kit.http.client import Client

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")


def start(root: Path, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    commands = folder / "bin"
    commands.mkdir()
    (commands / "coordinator").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m coordinator "$@"\n'
    )
    (commands / "coordinator").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "output"),
        "TOPICS": "",
        "PORT": "0",
        "OPTIONS": "",
        **inputs,
    }
    return subprocess.run(
        [str(root / "action" / "start")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_it_starts_with_topics_and_says_where(project_root: Path, tmp_path: Path) -> None:
    done = start(
        project_root,
        tmp_path,
        TOPICS="orders:12 payments",
        OPTIONS="--loop asyncio --config group.max.size=5",
    )
    assert done.returncode == 0, done.stderr
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    try:
        client = Client(told["control"])
        assert client.get("/")["bootstrap_servers"] == told["bootstrap-servers"]
        topics = client.get("/topics")
        assert {"orders", "payments"} <= set(re.findall(r"orders|payments", str(topics)))
        assert Path(told["log"]).is_file()
    finally:
        os.kill(int(told["pid"]), signal.SIGTERM)


def test_what_cannot_be_is_said(project_root: Path, tmp_path: Path) -> None:
    done = start(project_root, tmp_path, TOPICS="orders:none")
    assert done.returncode == 1
    assert "orders:none" in done.stderr


def test_its_description_has_what_the_script_reads(project_root: Path) -> None:
    told = (project_root / "action" / "action.yml").read_text()
    script = (project_root / "action" / "start").read_text()
    for name in ("TOPICS", "PORT", "OPTIONS"):
        assert f"        {name}: ${{{{ inputs.{name.lower()} }}}}" in told
        assert f"${name}" in script
    outputs = re.findall(r"steps\.start\.outputs\.([\w-]+)", told)
    assert outputs == ["bootstrap-servers", "control", "log"]
    assert all(f'echo "{name}=' in script for name in outputs)
