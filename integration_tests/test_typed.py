"""A user's program is checked by `mypy --strict` against the installed wheel: what is public has types there, not in the checkout alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
_PROGRAM: Final = """\
from assignors import Subscription, by_name
from coordinator import Emulator

with Emulator(topics={"orders": 12}) as kafka:
    address: str = kafka.bootstrap_servers
    kafka.create_topic("more", partitions=2)
    kafka.produce("orders", ["coffee"], partition=0)
    group = kafka.group("billing")
    group.wait(state="Stable", members=1, assigned="all", lag=0)
    with group.peer(["orders"]) as peer:
        peer.pause()
    kafka.advance(seconds=45)
    group.verify().single_owner().no_stale_commit()
    committed: int = group.committed["orders", 0].offset
plan = by_name("sticky").assign({"orders": 12}, {"m1": Subscription(topics=("orders",))})
topic: str = plan["m1"].partitions[0].topic
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel alone, in its folder."""
    folder = tmp_path_factory.mktemp("user")
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(hatchling, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    make = [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")]
    subprocess.run(make, check=True)
    python = str(folder / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    return folder


def checked(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program)
    python = str(folder / "venv" / "bin" / "python")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python]
    return subprocess.run(
        [*command, "--config-file=", "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def test_what_a_user_writes_has_types(user: Path) -> None:
    done = checked(user, _PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("partitions=2", 'partitions="two"'),
        ("address: str", "address: int"),
        ("topic: str", "topic: bytes"),
    ],
)
def test_a_mistake_is_found(user: Path, right: str, wrong: str) -> None:
    assert right in _PROGRAM
    done = checked(user, _PROGRAM.replace(right, wrong))
    assert done.returncode == 1
    assert "Found 1 error" in done.stdout
