"""Shared by all tests. Kept nearly empty: what one room needs stands in that room's own folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.foreign_sockets import let_them_close
from tests.garbage import what_is_made_here_stays

# A test run is decided by the change alone: examples follow from the test's code. `make fuzz` draws others.
settings.register_profile(
    "machines are noisy",
    deadline=None,
    derandomize="RANDOM_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("machines are noisy")
# Linux 6.18 was seen to answer EFAULT to the execve of a child that a process with many threads had
# made by vfork.
setattr(subprocess, "_USE_VFORK", False)  # noqa: B010  a documented switch that the type stubs do not know


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end of the run."""
    with what_is_made_here_stays():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Without coverage, in its processes too, a test marked `unmeasured`: measured it takes three
    times as long."""
    measured = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if measured is None or item.get_closest_marker("unmeasured") is None:
        return (yield)
    of_processes = os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    measured.stop()
    try:
        return (yield)
    finally:
        measured.start()
        if of_processes is not None:
            os.environ["COVERAGE_PROCESS_CONFIG"] = of_processes


@pytest.fixture(autouse=True)
def log_is_the_truth(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test: what was live is what its log says (see tests/log_judge.py)."""
    let_them_close()
    if request.node.get_closest_marker("unjudged"):
        yield
        return
    from tests.log_judge import recording

    with recording() as recorder:
        yield
        recorder.judge()


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def plain_environment() -> dict[str, str]:
    """For a child process that counts its imports: coverage does not start in it and bring its
    own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
