"""Kafka Streams on the emulator and on a real broker: its own assignor and topics under the classic
protocol, exactly once or not.

And what is told to those whose group protocols are not served here: an application with
`group.protocol=streams`, a share consumer. Both fail at once with the text of Kafka's own clients
(docs/divergences.md).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from integration_tests.conftest import REQUIRED
from integration_tests.targets import EmulatorTarget, KafkaTarget, Target
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator
from tools import kafka_jars
from tools.kafka_jars import NoJavaError

HERE = Path(__file__).parent / "streams"
PROFILE = "plain"
LIMIT_S = 900
CLASSIC = pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
UNSUPPORTED = "org.apache.kafka.common.errors.UnsupportedVersionException: "


@pytest.fixture(scope="module")
def libraries() -> Path:
    """The folder of Kafka Streams and what it needs."""
    try:
        kafka_jars.java()
        kafka_jars.javac()
        return kafka_jars.fetched(HERE / "pom.xml")
    except NoJavaError as missing:
        if REQUIRED:
            pytest.fail(f"Kafka Streams cannot be run: {missing}", pytrace=False)
        pytest.skip(f"Kafka Streams cannot be run: {missing}")


def said(
    libraries: Path, target: Target, protocol: str, guarantee: str = "at_least_once"
) -> list[str]:
    """What the application prints."""
    await_coordinator(target.address(PROFILE), TableCodec())
    words = [target.address(PROFILE), protocol, guarantee]
    command = [
        kafka_jars.java(),
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{libraries}/*",
        str(HERE / "Words.java"),
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


@CLASSIC
def test_words_are_counted_on_the_emulator(
    libraries: Path, guarantee: str, emulator: EmulatorTarget
) -> None:
    assert said(libraries, emulator, "classic", guarantee) == counted(guarantee)


@CLASSIC
def test_words_are_counted_on_a_real_broker(
    libraries: Path, guarantee: str, kafka: KafkaTarget
) -> None:
    assert said(libraries, kafka, "classic", guarantee) == counted(guarantee)


def test_the_streams_protocol_is_refused_at_once(libraries: Path, emulator: EmulatorTarget) -> None:
    (line,) = said(libraries, emulator, "streams")
    assert line.startswith(f"{UNSUPPORTED}The cluster does not support the STREAMS group protocol")


def test_a_share_consumer_is_refused_at_once(libraries: Path, emulator: EmulatorTarget) -> None:
    (line,) = said(libraries, emulator, "share")
    assert line.startswith(f"{UNSUPPORTED}The cluster does not support the share group protocol.")
