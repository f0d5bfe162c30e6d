"""The pytest plugin: fixtures `kafka` (also `kafka_emulator`), `akafka`, `session_kafka`,
`kafka_factory`, and the marker `kafka`.

It is found by pytest through its entry point, and loads nothing of the emulator until a test asks
for a fixture. Each test gets a broker of its own on a free port of 127.0.0.1, so tests may run side
by side. When a test fails its report has the groups' timelines; a fault that no request met fails
its test, unless it was made with `may_miss=True` or only observes. Ready tests that were skipped for
want of something are in one table at the end. A test that forgets to await the asynchronous kit fails.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import forgotten_awaits, lacking_table, own_loop, plain_imports

if TYPE_CHECKING:
    from coordinator.kit.emulator.embedded import Emulator

REMEMBERED_LINES = 100_000
"""So many lines of the event log a fixture keeps for reports, `explain` and `verify`."""
_MARKER = (
    "kafka(topics=..., config=..., brokers=..., kafka_version=..., features=..., seed=..., log=...): "
    "options of the broker that the fixture kafka starts"
)
_IN_USE = pytest.StashKey[list[Any]]()
_SHORTER = {
    "group.min.session.timeout.ms": 100,
    "group.consumer.min.session.timeout.ms": 100,
    "group.consumer.min.heartbeat.interval.ms": 10,
    "group.consumer.assignment.interval.ms": 0,
    "group.share.min.session.timeout.ms": 100,
    "group.share.min.heartbeat.interval.ms": 10,
    "group.share.assignment.interval.ms": 0,
}
"""Settings that tests may set below Kafka's minimum; and no pause between two assignments of a
consumer or share group."""


def _shorter(kafka_version: object) -> dict[str, object]:
    """Return those of `_SHORTER` that the release has; the emulator refuses unknown settings."""
    from coordinator.base.releases import NEWEST, ReleaseError, release_named
    from coordinator.server.settings.broker_configs import known_settings

    try:
        release = NEWEST if kafka_version is None else release_named(kafka_version)
    except ReleaseError:
        release = NEWEST
    return known_settings(_SHORTER, release)


_AWAITED = "can't be used in 'await' expression"
_WHAT_IS_AWAITED = (
    "Only what waits is awaited: wait, wait_for, wait_hit, advance, and what peers do. Other words are called as they are, "
    'such as akafka.create_topic("orders").'
)
_SESSION = pytest.StashKey["Emulator"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and settings of pytest for this plugin."""
    group = parser.getgroup("kafka", "Kafka emulator")
    group.addoption(
        "--kafka",
        metavar="WHICH",
        choices=("emulator", "real"),
        default="emulator",
        help="emulator, or real: Apache Kafka in a container; tests that use what only the emulator has are skipped",
    )
    group.addoption(
        "--kafka-log-dir",
        metavar="DIR",
        default=None,
        help="keep the event log of each test in this folder",
    )
    group.addoption(
        "--kafka-seed",
        metavar="N",
        type=int,
        default=None,
        help="the seed of every id that brokers draw",
    )
    parser.addini(
        "kafka_config",
        "broker configuration for all tests, one name=value a line",
        type="linelist",
        default=[],
    )
    parser.addini(
        "kafka_topics",
        "topics for all tests, one name or name:partitions a line",
        type="linelist",
        default=[],
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the fixtures behind `akafka`."""
    # The extra `test` brings pytest-asyncio, whose note about a setting of its own says nothing
    # about the tests of somebody who only wants the fixtures here.
    warnings.filterwarnings(
        "ignore",
        message='The configuration option "asyncio_default_fixture_loop_scope" is unset',
        category=pytest.PytestDeprecationWarning,
    )
    config.addinivalue_line("markers", _MARKER)
    own_loop.register(config, _on_this_loop)
    plain_imports.leave_plain(config)


def _marked(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the options from markers: a function's marker overrides its class's, which
    overrides its module's."""
    options: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("kafka"))):
        if marker.args:
            raise pytest.UsageError(
                f"{request.node.nodeid}: the marker kafka takes names: kafka(topics={marker.args[0]!r})"
            )
        for name, value in marker.kwargs.items():
            merged = isinstance(value, dict) and isinstance(options.get(name), dict)
            options[name] = {**options[name], **value} if merged else value
    return options


def _configured(config: pytest.Config) -> dict[str, Any]:
    options: dict[str, Any] = {}
    settings = {}
    for line in config.getini("kafka_config"):
        name, equals, value = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"kafka_config: {line!r} is no setting: write name=value")
        settings[name.strip()] = value.strip()
    if settings:
        options["config"] = settings
    if config.getini("kafka_topics"):
        options["topics"] = dict(_topic(line) for line in config.getini("kafka_topics"))
    if config.getoption("--kafka-seed") is not None:
        options["seed"] = config.getoption("--kafka-seed")
    return options


def _topic(line: str) -> tuple[str, int]:
    name, _, partitions = line.partition(":")
    if partitions and not partitions.isdecimal():
        raise pytest.UsageError(
            f"kafka_topics: {line!r}: write name or name:partitions, such as orders:12"
        )
    return name, int(partitions or 1)


def _made(request: pytest.FixtureRequest, options: dict[str, Any]) -> Emulator:
    """Return an emulator with these options over those of the whole run."""
    from coordinator.kit.emulator.embedded import Emulator

    if request.config.getoption("--kafka") == "real":
        pytest.skip(
            f"{request.fixturename} starts the emulator: --kafka=real runs tests of the fixtures kafka and akafka"
        )
    merged = _merged(request.config, options)
    if isinstance(merged.get("config", {}), dict):  # what is none the emulator refuses
        merged["config"] = _shorter(merged.get("kafka_version")) | merged.get("config", {})
    folder = request.config.getoption("--kafka-log-dir")
    if folder is not None and "log" not in merged:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(
                f"--kafka-log-dir {folder}: no directory can be made there: {error.strerror}"
            ) from None
        merged |= {
            "log": str(_log_path(Path(folder), request.node.nodeid or "session")),
            "log_mode": "replace",
        }
    merged.setdefault("remember", REMEMBERED_LINES)
    known = list(signature(Emulator).parameters)
    for name in merged.keys() - known:
        near = get_close_matches(name, known, 2)
        right = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise pytest.UsageError(
            f"{request.node.nodeid}: marker or factory kafka: {name!r} is no option; {right}"
        )
    try:
        kafka = Emulator(**merged)
    except TypeError as error:
        raise pytest.UsageError(
            f"{request.node.nodeid}: marker or factory kafka: {error}"
        ) from None
    request.node.stash.setdefault(_IN_USE, []).append(kafka)
    return kafka


def _merged(config: pytest.Config, options: dict[str, Any]) -> dict[str, Any]:
    """Return these options over those of the whole run."""
    merged = _configured(config)
    for name, value in options.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = {**merged[name], **value} if both else value
    return merged


def _log_path(folder: Path, nodeid: str) -> Path:
    """Return the path of a file that does not exist yet; processes of pytest-xdist have names of
    their own."""
    nodeid = "-".join([nodeid, *filter(None, [os.environ.get("PYTEST_XDIST_WORKER")])])
    name = "".join(letter if letter.isalnum() or letter in "-._[]" else "_" for letter in nodeid)
    number, path = 1, folder / f"{name[:180]}.jsonl"
    while path.exists():
        number += 1
        path = folder / f"{name[:180]}-{number}.jsonl"
    return path


class AutoCreatedTopicWarning(UserWarning):
    """A client requested metadata of a topic that did not exist, which created it: the name may
    be misspelt."""


def _warn_of_topics(kafka: Emulator) -> None:
    """Warn of topics that were created because clients asked about them, each once."""

    def made_meanwhile() -> dict[str, str]:
        made = {
            topic: client
            for broker in kafka.brokers.values()
            for topic, client in broker.auto_created.items()
        }
        for broker in kafka.brokers.values():
            broker.auto_created.clear()
        return made

    for topic, client in kafka.run(made_meanwhile).items():
        warnings.warn(
            f"topic {topic!r} was made because the client {client!r} asked about it: create_topic() before, or the option "
            "auto_create_topics=False, shows a misspelt name",
            AutoCreatedTopicWarning,
            stacklevel=1,
        )


def _check_faults(kafka: Emulator) -> None:
    """Fail for faults that no request met: a test that relies on a fault which did not happen
    proves nothing."""
    missed = kafka.missed_faults()
    if missed:
        from coordinator.base.installing import where

        told = "".join(f"\n  {fault}" for fault in missed)
        which = "this fault" if len(missed) == 1 else "these faults"
        pytest.fail(
            f"no request met {which} (may_miss=True allows it; {where('agents')} has the rules):{told}",
            pytrace=False,
        )


@pytest.fixture
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    """A running emulator for this test alone: `kafka.bootstrap_servers`, `kafka.create_topic(...)`,
    `kafka.group(...)`.

    With --kafka=real it is Apache Kafka: `coordinator.testing.on_real_kafka`.
    """
    if request.config.getoption("--kafka") == "real":
        from .on_real_kafka import real_broker

        yield from real_broker(request, _merged(request.config, _marked(request)))  # type: ignore[misc]
        return
    with _made(request, _marked(request)) as running:
        yield running
        _warn_of_topics(running)
        _check_faults(running)


@pytest.fixture
def kafka_emulator(kafka: Emulator) -> Emulator:
    """The same under a name that a module called kafka does not hide."""
    return kafka


@pytest.fixture
def akafka(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The asynchronous twin: it runs on the test's own loop, and what waits is awaited.

    A test that neither pytest-asyncio nor anyio runs, such as one that calls asyncio.run, gets one
    on a thread of its own.
    """
    from .asynchronous import AsyncKafka

    if request.config.getoption("--kafka") == "real":
        from .on_real_kafka import real_broker

        yield from map(AsyncKafka, real_broker(request, _merged(request.config, _marked(request))))  # type: ignore[arg-type]
        return
    fixture = own_loop.fixture_for(request)
    if fixture is not None:
        yield AsyncKafka(request.getfixturevalue(fixture))
        return
    with _made(request, _marked(request)) as running:
        yield AsyncKafka(running)
        _warn_of_topics(running)
        _check_faults(running)


async def _on_this_loop(request: pytest.FixtureRequest) -> AsyncIterator[Emulator]:
    """Run the emulator of `akafka` on the current event loop."""
    async with _made(request, _marked(request)) as running:
        yield running
        _warn_of_topics(running)
        _check_faults(running)


@pytest.fixture
def kafka_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., Emulator]]:
    """Starts emulators with the options of `Emulator`: `kafka_factory(topics={"orders": 6})`; all
    end with the test."""
    from contextlib import ExitStack

    with ExitStack() as running:
        started: list[Emulator] = []

        def start(**options: Any) -> Emulator:
            kafka = running.enter_context(_made(request, options))
            started.append(kafka)
            return kafka

        yield start
        for kafka in started:
            _warn_of_topics(kafka)
            _check_faults(kafka)


@pytest.fixture(scope="session")
def _real_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the settings of the broker that --kafka=real starts once for all tests."""
    return {name: value for name, value in _configured(request.config).items() if name == "config"}


@pytest.fixture(scope="session")
def _real_kafka(_real_options: dict[str, Any]) -> Iterator[Any]:
    from .containers import RealKafka

    with RealKafka(**_real_options) as running:
        yield running


@pytest.fixture(scope="session")
def session_kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    """One emulator for the whole run, emptied after each test that uses it: peers are stopped;
    groups, faults and the topics that the test created are deleted.

    Fixtures of any scope may use it. Topics that a fixture of a broader scope than a function
    created stay as long as the broker.
    """
    with _made(request, {}) as running:
        request.config.stash[_SESSION] = running
        yield running
        del request.config.stash[_SESSION]


@pytest.fixture(autouse=True)
def _session_kafka_is_emptied(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty `session_kafka` after a test. It is set up behind all fixtures of broader scopes,
    and before the test's own."""
    running = (
        request.config.stash.get(_SESSION, None)
        if "session_kafka" in request.fixturenames
        else None
    )
    if running is None:
        yield
        return
    request.node.stash.setdefault(_IN_USE, []).append(running)
    there_before = running.topics()
    yield
    try:
        _warn_of_topics(running)
        _check_faults(running)
    finally:
        running.reset(keep_topics=there_before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Record, while a test runs, its calls to functions that must be awaited."""
    forgotten_awaits.begin(item)
    try:
        return (yield)
    finally:
        forgotten_awaits.end(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Let a test fail that forgot an `await`."""
    try:
        result = yield
    except BaseException:
        forgotten_awaits.forget(item)
        raise
    forgotten_awaits.check(item, held=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Any:
    """Let a test fail whose fixtures forgot an `await`."""
    result = yield
    forgotten_awaits.check(item, held=True)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Add to a failed test's report what its groups did, and each member's last request and
    response; to a skipped ready test's report, what it lacked."""
    report = yield
    lacking_table.keep(report, item, call)
    if report.when == "call" and report.failed:
        in_use: list[Any] = item.stash.get(_IN_USE, [])
        for number, kafka in enumerate(in_use):
            text = _story(kafka)
            if text:
                report.sections.append(
                    (f"Kafka groups{f' of broker {number + 1}' if number else ''}", text)
                )
        if (
            "akafka" in getattr(item, "fixturenames", ())
            and call.excinfo is not None
            and _AWAITED in str(call.excinfo.value)
        ):
            report.sections.append(("akafka", _WHAT_IS_AWAITED))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print, after all tests, what the applications under test would need so that the skipped
    cases can run."""
    lacking_table.write(terminalreporter)


def _story(kafka: Emulator) -> str:
    try:
        return kafka.story()
    except Exception as error:  # a report must not hide the failure it is about
        return f"(the groups' story cannot be told: {type(error).__name__}: {error})"
