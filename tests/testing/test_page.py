"""docs/testcontainers.md is true: its Python runs on a daemon that is not one; what needs a cluster
is compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator.testing.containers import QUICK_JVM, EmulatorContainer, RealKafka
from coordinator.testing.containers.daemon import RUN_LABEL
from tests.inner_pytest import PLAIN
from tests.testing.fake_docker import fake_docker

PATIENCE_S = 300


@pytest.fixture(scope="module")
def page() -> str:
    return (Path(__file__).resolve().parents[2] / "docs" / "testcontainers.md").read_text()


@pytest.fixture
def environment(project_root: Path) -> Iterator[dict[str, str]]:
    """For a process that finds our image and no other Docker than the fake one."""
    with fake_docker() as (fake, address):
        fake.images.add("a/kafka:1")
        images = {
            "KAFKA_IMAGE": "a/kafka:1",
            "COORDINATOR_IMAGE": "a/kafka:1",
            "TESTCONTAINERS_RYUK_DISABLED": "true",
        }
        yield {**os.environ, "PYTHONPATH": str(project_root), "DOCKER_HOST": address, **images}
        assert fake.created
        assert fake.containers == {}


def blocks(page: str) -> dict[str, str]:
    """By what the first line says."""
    found = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    named = {"brokers=3": "cluster", "security=": "secured"}
    return {
        next((name for sign, name in named.items() if sign in text), "")
        or text.splitlines()[0].removeprefix("# "): text
        for text in found
    }


def test_the_blocks(page: str) -> None:
    assert list(blocks(page)) == [
        "from coordinator.testing.containers import RealKafka",
        "conftest.py",
        "test_orders.py",
        "cluster",
        "secured",
    ]
    for name, text in blocks(page).items():
        compile(text, name, "exec")


def test_methods_of_the_cluster_block_exist(page: str) -> None:
    for method in re.findall(r"kafka\.(\w+)\(", blocks(page)["cluster"]):
        assert callable(getattr(RealKafka, method))


def test_the_first_block_runs(page: str, environment: dict[str, str]) -> None:
    block = blocks(page)["from coordinator.testing.containers import RealKafka"]
    done = subprocess.run(
        [sys.executable, "-c", block],
        env=environment,
        timeout=PATIENCE_S,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "b'one coffee'\n"), done.stderr


def test_the_fixture_shows_the_log_of_a_test_that_fails(
    page: str, environment: dict[str, str], tmp_path: Path
) -> None:
    for name in ("conftest.py", "test_orders.py"):
        (tmp_path / name).write_text(blocks(page)[name])
    (tmp_path / "test_wrong.py").write_text(
        "def test_wrong(kafka):\n    assert not kafka.bootstrap_servers\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        *PLAIN,
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(
        command,
        env=environment,
        cwd=tmp_path,
        timeout=PATIENCE_S,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("broker's log") == 1
    assert "a line of the log" in done.stdout


def test_the_arguments_are_those_of_the_classes(page: str) -> None:
    table = page[page.index("| argument |") : page.index("Settings are Kafka's defaults")]
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    taken = {
        name for kind in (RealKafka, EmulatorContainer) for name in kind.__init__.__annotations__
    }
    assert named == taken - {"return"}


def test_what_the_page_says_of_names(page: str) -> None:
    assert f"label={RUN_LABEL} " in page
    assert RealKafka()._jvm == QUICK_JVM
