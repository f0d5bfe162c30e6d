"""The same seed gives the same bytes with every Python there is: those under ~/.pyenv, and
Pyodide's, where npm has brought it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import google_crc32c
import pytest

SCRIPT = """
from hashlib import sha256
from coordinator.events import EventLog
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.files.scenario import read_scenario
for name in ("one_crash_one_join", "commit_crash"):
    log = EventLog(seed=3)
    run_scenario(read_scenario(catalogue.text(name), name, ("duration=35s",)), 3, log)
    print(name, sha256("\\n".join(log.lines).encode()).hexdigest())
"""


def others() -> list[Path]:
    """Pythons of other minor versions that are new enough."""
    found = {}
    for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python")):
        version = tuple(
            int(part) for part in path.parent.parent.name.split(".")[:2] if part.isdecimal()
        )
        if version >= (3, 11) and version != sys.version_info[:2]:
            found[version] = path
    return list(found.values())


def digests(python: Path, project_root: Path, folder: Path, hash_seed: str) -> list[str]:
    package = folder / "google_crc32c"
    if (
        not package.exists()
    ):  # what the simulator needs beside the standard library; it works without its compiled part
        package.symlink_to(Path(google_crc32c.__file__).parent)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{project_root}{os.pathsep}{folder}",
        "PYTHONHASHSEED": hash_seed,
    }
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", SCRIPT],
        env=environment,
        check=True,
        timeout=1200,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


@cache
def expected(project_root: Path, folder: Path) -> list[str]:
    return digests(Path(sys.executable), project_root, folder, "1")


@pytest.mark.parametrize("python", others(), ids=lambda path: path.parent.parent.name)
def test_every_python_writes_the_same_log(
    python: Path, project_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "one-package"
    folder.mkdir(exist_ok=True)
    assert digests(python, project_root, folder, "2") == expected(project_root, folder)
