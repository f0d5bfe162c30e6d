"""Fixtures: where the emulator and the real broker listen. Hooks: which tests share a process, what
a run says of the real half, and broker logs on failure."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadScopeScheduling

from integration_tests.clients.agents_running import Agents
from integration_tests.targets import EmulatorTarget, KafkaTarget, NoBroker
from integration_tests.wire.recorder import Scenario
from integration_tests.wire.registry import OF_SCENARIOS_ALONE, all_scenarios
from tests.foreign_sockets import let_them_close
from tests.garbage import what_is_made_here_stays

# Linux 6.18 was seen to answer EFAULT to the execve of a child that a process with many threads had
# made by vfork.
setattr(subprocess, "_USE_VFORK", False)  # noqa: B010  a documented switch that the type stubs do not know
REQUIRED = os.environ.get("REQUIRE_REAL_BROKER", "") not in ("", "0")
_KAFKA: list[KafkaTarget] = []
ClosingLines = list[Callable[[], str]]
_CLOSING: ClosingLines = []
_KINDS = {
    "container": "Kafka 4.4.0 in containers",
    "java": "Kafka 4.4.0 as plain Java processes, since no container could be run",
}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end of the run."""
    with what_is_made_here_stays():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The groups that take longest come first, so that none of them is begun when the others are
    over. Within a group raw scenarios come first, those that wait for a minute after the others:
    all are under way together."""
    items.sort(key=lambda item: (_rank(item.nodeid), _turn(item)))
    sharing = {name for names in _TOGETHER.values() for name in names}
    for item in items:
        if "kafka" in getattr(item, "fixturenames", ()) and item.path.stem not in sharing:
            raise pytest.UsageError(
                f"{item.path.name} asks for real brokers: name it among those that share them, "
                "in _TOGETHER of integration_tests/conftest.py"
            )


_TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "clients": ("test_clients", "test_consumer_clients", "test_deleted_records"),
    "brokers": (
        "test_java_admin",
        "test_own_consumers",
        "test_real_broker",
        "test_secured_clients",
        "test_streams",
        "test_tools",
        "test_wire",
    ),
}
"""Modules that share real brokers, and so a process: with the client libraries, and without."""
_LESSONS: Final = ("test_home", "test_lessons", "test_looks", "test_watch")
"""Half of the page's modules: each half has a browser of its own, since all in one process take longer
than everything else."""


_LONGEST: Final = (
    "brokers",
    "test_cluster",
    "page",
    "lessons",
    "test_control_examples",
    "clients",
    "test_installed",
    "test_three_brokers",
    "test_containers",
    "test_documentation",
    "test_matrix",
    "test_releases",
)
"""Groups by the time that they take; all others are short. What builds Go comes apart, so that the
second finds what the first has built."""


def _rank(nodeid: str) -> int:
    group = _group(nodeid)
    return _LONGEST.index(group) if group in _LONGEST else len(_LONGEST)


def _group(nodeid: str) -> str:
    """The group of a test: that of `_TOGETHER`, a half of the page, else its module."""
    module = Path(nodeid.partition("::")[0])
    for group, names in _TOGETHER.items():
        if module.stem in names:
            return group
    if module.parent.name == "page":
        return "lessons" if module.stem in _LESSONS else "page"
    return module.stem


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The scheduler of `-n`: all tests of a group go to one process, the groups in our order."""
    config.option.loadscopereorder = False
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = _group
    return scheduler


def _turn(item: pytest.Item) -> int:
    scenario = _scenario(item)
    if scenario is None:
        return 2
    return 1 if scenario.lasts_s or scenario.alone else 0


def _scenario(item: pytest.Item | None) -> Scenario | None:
    """The raw scenario that a test is about."""
    name = (
        item.callspec.params.get("name")
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else None
    )
    return all_scenarios().get(name) if isinstance(name, str) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """When the last raw scenario is judged, the brokers that nobody else asks are stopped."""
    yield
    if _scenario(item) is not None and _scenario(nextitem) is None:
        for target in _KAFKA:
            target.end(OF_SCENARIOS_ALONE)


@pytest.fixture(autouse=True)
def forgotten_sockets_close_themselves() -> None:
    """Those of kafka-python, in this process."""
    let_them_close()


@pytest.fixture(scope="session")
def emulator() -> Iterator[EmulatorTarget]:
    """This emulator: `emulator.address(profile)`."""
    target = EmulatorTarget()
    yield target
    target.close()


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaTarget]:
    """A real Kafka 4.4.0: `kafka.address(profile)`. Skips, or fails if REQUIRE_REAL_BROKER is set,
    when none can be had."""
    try:
        target = KafkaTarget()
    except NoBroker as reason:
        if REQUIRED:
            pytest.fail(f"REQUIRE_REAL_BROKER is set: {reason}", pytrace=False)
        _CLOSING.append(partial(str, f"real broker: none ({reason})"))
        pytest.skip(f"no real broker: {reason}")
    _KAFKA.append(target)
    _CLOSING.append(lambda: f"real broker: {_KINDS[target.kind]}")
    yield target
    _KAFKA.remove(target)
    target.close()


@pytest.fixture(scope="session")
def closing_lines() -> ClosingLines:
    """Lines of the run's summary, worked out at its end: what judged the emulator, for one."""
    return _CLOSING


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of several hands its lines to the one that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["closing lines"] = [line() for line in _CLOSING]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the lines of a process that has ended."""
    for said in getattr(node, "workeroutput", {}).get("closing lines", ()):
        _CLOSING.append(partial(str, said))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what judged the emulator in this run, each line once."""
    for said in dict.fromkeys(line() for line in _CLOSING):
        terminalreporter.write_line(said)


@pytest.fixture(scope="session")
def agents() -> Iterator[Agents]:
    """The processes of the client libraries."""
    with Agents() as running:
        yield running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failing test shows the ends of the real brokers' logs."""
    report = yield
    if report.failed and "kafka" in getattr(item, "fixturenames", ()):
        report.sections.extend(("Kafka's logs", target.logs()) for target in _KAFKA)
    return report
