"""Kafka's own Java clients say the same of the emulator as of a real broker: admin calls, a
consumer's that are no group's, and share consumers (KIP-932).

Judged by the record of Kafka 4.4.0 (`golden/java_admin`), and by a real broker where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from integration_tests.conftest import REQUIRED
from integration_tests.java_admin.record import PROFILES, differences, expected, said
from integration_tests.targets import Target
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator
from tools import kafka_jars
from tools.kafka_jars import NoJavaError

Saying = dict[str, Future[list[str]]]
"""What each program says."""


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    """Where the programs run, on both targets at once."""
    try:
        kafka_jars.java()
        kafka_jars.jars()
    except NoJavaError as missing:
        if REQUIRED:
            pytest.fail(f"the Java clients cannot be run: {missing}", pytrace=False)
        pytest.skip(f"the Java clients cannot be run: {missing}")
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture(scope="module")
def of_emulator(pool: ThreadPoolExecutor, emulator: Target) -> Saying:
    """What they say of the emulator."""
    return {
        program: pool.submit(said, program, emulator.address(profile))
        for program, profile in PROFILES.items()
    }


@pytest.fixture(scope="module")
def of_kafka(pool: ThreadPoolExecutor, of_emulator: Saying, kafka: Target) -> Saying:
    """What they say of a real broker."""
    for profile in PROFILES.values():
        await_coordinator(kafka.address(profile), TableCodec())
    return {
        program: pool.submit(said, program, kafka.address(profile))
        for program, profile in PROFILES.items()
    }


def _judge(kafka: list[str], ours: list[str]) -> None:
    found = differences(kafka, ours)
    if found:
        pytest.fail(
            f"{len(found)} of {len(kafka)} calls differ:\n" + "\n".join(found), pytrace=False
        )


@pytest.mark.parametrize("program", PROFILES)
def test_java_clients_say_of_the_emulator_what_they_said_of_kafka(
    of_emulator: Saying, program: str
) -> None:
    _judge(expected(program), of_emulator[program].result())


@pytest.mark.parametrize("program", PROFILES)
def test_java_clients_say_of_the_emulator_what_they_say_of_a_real_broker(
    of_kafka: Saying, of_emulator: Saying, program: str
) -> None:
    _judge(of_kafka[program].result(), of_emulator[program].result())


def test_a_difference_is_told() -> None:
    lines = expected("calls")
    assert differences(lines, lines) == []
    assert differences(["a -> 1", "b -> 2"], ["a -> 1", "b -> 3"]) == [
        "Kafka    b -> 2\nemulator b -> 3"
    ]
    assert differences(["a -> 1"], []) == ["Kafka    a -> 1\nemulator (nothing)"]
