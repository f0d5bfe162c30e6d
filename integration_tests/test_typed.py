"""A user's program is checked by `mypy --strict` and by Pyright's strict rules against the
installed wheel: what is public has types there, not in the checkout alone.

Pyright is brought by `make typed`; without it those tests are skipped.
"""

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
from coordinator.testing.asynchronous import AsyncKafka


async def members(kafka: AsyncKafka) -> int:
    seen = await kafka.group("billing").wait(state="Stable", timeout=5)
    return len(seen.members)


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


_MISTAKES: Final = [
    ("partitions=2", 'partitions="two"'),
    ("address: str", "address: int"),
    ("topic: str", "topic: bytes"),
    ("len(seen.members)", "seen.members"),
]


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


@pytest.mark.parametrize(("right", "wrong"), _MISTAKES)
def test_a_mistake_is_found(user: Path, right: str, wrong: str) -> None:
    assert right in _PROGRAM
    done = checked(user, _PROGRAM.replace(right, wrong))
    assert done.returncode == 1
    assert "Found 1 error" in done.stdout


def checked_by_pyright(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    pyright = ROOT / ".venv-typed" / "bin" / "basedpyright"
    if not pyright.is_file():
        pytest.skip("no Pyright here: `make typed` brings it")
    (folder / "strict.py").write_text(f"# pyright: strict\n{program}")
    python = str(folder / "venv" / "bin" / "python")
    return subprocess.run(
        [str(pyright), "--level", "error", "--pythonpath", python, "strict.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def test_pyright_sees_the_same_types(user: Path) -> None:
    done = checked_by_pyright(user, _PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("right", "wrong"), _MISTAKES)
def test_pyright_finds_a_mistake(user: Path, right: str, wrong: str) -> None:
    assert right in _PROGRAM
    done = checked_by_pyright(user, _PROGRAM.replace(right, wrong))
    assert done.returncode == 1
    assert done.stdout.endswith("1 error, 0 warnings, 0 notes\n")
