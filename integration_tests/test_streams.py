"""Kafka Streams on the emulator and on a real broker: its own assignor and topics under the classic
protocol, exactly once or not.

And what is told to an application with `group.protocol=streams`, which is not served here: it fails
at once with the text of Kafka's own clients (docs/divergences.md). Java's share consumer, which takes
what it is given and leaves the rest to the next one, is beside it. On a real broker it runs exactly
once in `make test`; at least once is left to `make fuzz`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from integration_tests.conftest import REQUIRED
from integration_tests.gate import on_a_real_broker
from integration_tests.targets import EmulatorTarget, KafkaTarget, Target
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator
from tools import kafka_jars
from tools.kafka_jars import NoJavaError

HERE = Path(__file__).parent / "streams"
PROFILE = "plain"
LIMIT_S = 900
AT_ONCE = 3
"""How many JVMs are under way at once: they mostly wait."""
GUARANTEES = ("at_least_once", "exactly_once_v2")
UNSUPPORTED = "org.apache.kafka.common.errors.UnsupportedVersionException: "


@pytest.fixture(scope="module")
def class_path() -> str:
    """The application, compiled, with Kafka Streams and what it needs."""
    try:
        kafka_jars.java()
        jars = f"{kafka_jars.fetched(HERE / 'pom.xml')}{os.sep}*"
        return os.pathsep.join((str(kafka_jars.compiled(jars, HERE / "Words.java")), jars))
    except NoJavaError as missing:
        if REQUIRED:
            pytest.fail(f"Kafka Streams cannot be run: {missing}", pytrace=False)
        pytest.skip(f"Kafka Streams cannot be run: {missing}")


class Run(NamedTuple):
    """How the application is run."""

    protocol: str
    guarantee: str = GUARANTEES[0]


Said = dict[Run, Future[list[str]]]


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    """Where the application runs, on both targets at once."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield threads


@pytest.fixture(scope="module")
def on_emulator(class_path: str, pool: ThreadPoolExecutor, emulator: EmulatorTarget) -> Said:
    """What it prints on the emulator, all runs on their way."""
    runs = [*(Run("classic", guarantee) for guarantee in GUARANTEES), Run("streams"), Run("share")]
    return begun(pool, class_path, emulator, runs)


@pytest.fixture(scope="module")
def on_kafka(
    request: pytest.FixtureRequest,
    class_path: str,
    pool: ThreadPoolExecutor,
    on_emulator: Said,
    kafka: KafkaTarget,
) -> Said:
    """What it prints on a real broker, in the runs that any test asks for."""
    asked = {item.name for item in request.session.items if item.path == request.path}
    runs = [
        Run("classic", guarantee)
        for guarantee in GUARANTEES
        if f"{test_words_are_counted_on_a_real_broker.__name__}[{guarantee}]" in asked
    ]
    if test_a_share_consumer_on_a_real_broker.__name__ in asked:
        runs.append(Run("share"))
    return begun(pool, class_path, kafka, runs)


def begun(pool: ThreadPoolExecutor, class_path: str, target: Target, runs: list[Run]) -> Said:
    """Begin these runs."""
    await_coordinator(target.address(PROFILE), TableCodec())
    return {run: pool.submit(said, class_path, target.address(PROFILE), run) for run in runs}


def said(class_path: str, address: str, run: Run) -> list[str]:
    """What the application prints."""
    words = [address, *run]
    command = [
        kafka_jars.java(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        class_path,
        "Words",
        *words,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def counted(guarantee: str) -> list[str]:
    """What it prints when all is well: the counts, those after one of two instances was closed, the
    topics."""
    name = f"words-classic-{guarantee}"
    topics = ", ".join(
        f"{name}-{end}" for end in ("in", "out", "store-changelog", "store-repartition")
    )
    return ["{green=100, red=100}", "{green=100, red=200}", f"[{topics}]"]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_words_are_counted_on_the_emulator(guarantee: str, on_emulator: Said) -> None:
    assert on_emulator[Run("classic", guarantee)].result() == counted(guarantee)


@pytest.mark.parametrize("guarantee", on_a_real_broker(GUARANTEES, ["exactly_once_v2"]))
def test_words_are_counted_on_a_real_broker(guarantee: str, on_kafka: Said) -> None:
    assert on_kafka[Run("classic", guarantee)].result() == counted(guarantee)


def test_the_streams_protocol_is_refused_at_once(on_emulator: Said) -> None:
    (line,) = on_emulator[Run("streams")].result()
    assert line.startswith(f"{UNSUPPORTED}The cluster does not support the STREAMS group protocol")


TAKEN = ["[a 1, b 1, c 1]", "[d 1]"]
"""What Java's share consumers print: the records of each, with their delivery counts."""


def test_a_share_consumer_is_given_what_nobody_has_accepted(on_emulator: Said) -> None:
    """SH-HB-2, SH-ACK-1: what the first one accepted does not come again."""
    assert on_emulator[Run("share")].result() == TAKEN


def test_a_share_consumer_on_a_real_broker(on_kafka: Said) -> None:
    assert on_kafka[Run("share")].result() == TAKEN
