"""The client matrix: what unmodified client libraries saw on a real Apache Kafka 4.4.0 is what they
see on the emulator.

Each story is played once by each variant (a library and an assignor) on the emulator, and compared
with the record of several plays on a real broker (integration_tests/golden/clients). So that the
record is checked too, a real broker is compared with it when one can be had: in `make test` by the
stories of `ON_A_REAL_BROKER`, in `make fuzz` by the others. All stories selected
are under way at once, a few at a time; each test awaits its own. Without Java and its libraries the
Java consumer's stories are skipped. The judge itself is tested in test_clients_judge.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from integration_tests.clients import java_agent
from integration_tests.clients.agents_running import Agents
from integration_tests.clients.golden import load
from integration_tests.clients.judging import Verdict, judged, summary
from integration_tests.clients.perform import Part, Performance, parts, shown
from integration_tests.clients.record import summary as summary_of_record
from integration_tests.clients.stage import PROFILE
from integration_tests.clients.variants import VARIANTS
from integration_tests.conftest import REQUIRED, ClosingLines
from integration_tests.gate import on_a_real_broker
from integration_tests.targets import EmulatorTarget, KafkaTarget
from tools.kafka_jars import NoJavaError

GOLDEN = load()
PARTS = parts()
MOST_OTHER_ROUNDS = 4
"""At most one story in so many may take rounds that were not recorded."""
AGENTS_FAULT = re.compile("Unsupported|TypeError|ValueError|KeyError|odd:|its agent died")
ON_A_REAL_BROKER = ("members_join", "committed_offsets_are_resumed")
"""What every variant plays on a real broker in `make test`: a rebalance, and commits."""


@pytest.fixture(scope="session")
def no_java() -> str:
    """Why the Java consumer cannot play; empty if it can."""
    try:
        java_agent.command()
    except NoJavaError as reason:
        return str(reason)
    return ""


@pytest.fixture(scope="session")
def about_the_record(closing_lines: ClosingLines) -> None:
    """The run's summary says what the record is."""
    closing_lines.append(lambda: summary_of_record(GOLDEN))


def performance(
    request: pytest.FixtureRequest, test: str, address: str, target: str
) -> Iterator[Performance[Verdict]]:
    """Begin all the parts that tests of this name will ask for."""
    request.getfixturevalue("about_the_record")
    agents, no_java, closing_lines = (
        request.getfixturevalue(name) for name in ("agents", "no_java", "closing_lines")
    )
    chosen: list[Part] = []
    for item in request.session.items:
        if (
            isinstance(item, pytest.Function)
            and item.module.__name__ == __name__
            and item.originalname == test
        ):
            part: Any = item.callspec.params["part"]
            variant, story = VARIANTS[part[0]], part[1]
            if (variant.name, story) in GOLDEN and not (no_java and variant.library == "java"):
                chosen.append((variant.name, story))
    performed = Performance(lambda part: judged(part, address, agents, GOLDEN[part]), chosen)
    closing_lines.append(
        lambda: summary(
            target, (f.result() for f in performed.played.values() if f.done()), performed.took_s
        )
    )
    yield performed
    performed.close()


@pytest.fixture(scope="session")
def on_emulator(
    request: pytest.FixtureRequest, emulator: EmulatorTarget
) -> Iterator[Performance[Verdict]]:
    """Everything on the emulator."""
    yield from performance(
        request, test_on_the_emulator.__name__, emulator.address(PROFILE), "the emulator"
    )


@pytest.fixture(scope="session")
def on_kafka(request: pytest.FixtureRequest, kafka: KafkaTarget) -> Iterator[Performance[Verdict]]:
    """Everything on a real broker."""
    yield from performance(
        request, test_on_a_real_broker.__name__, kafka.address(PROFILE), "a real broker"
    )


def agree(part: Part, performed: Performance[Verdict], no_java: str) -> None:
    """Fail if a story differs from the record."""
    if part not in GOLDEN:
        pytest.fail(
            "it is not recorded yet: python -m integration_tests.clients.record", pytrace=False
        )
    if part not in performed.played:
        reason = f"the Java consumer cannot play: {no_java}"
        if REQUIRED:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    verdict = performed.played[part].result()
    if verdict.differences:
        lines = ["differs from Kafka's record:", *verdict.differences, "the transcript:"]
        pytest.fail("\n  ".join([*lines, shown(verdict.transcript)]), pytrace=False)


@pytest.mark.parametrize("part", PARTS, ids="-".join)
def test_on_the_emulator(part: Part, on_emulator: Performance[Verdict], no_java: str) -> None:
    agree(part, on_emulator, no_java)


@pytest.mark.parametrize(
    "part",
    on_a_real_broker(PARTS, [part for part in PARTS if part[1] in ON_A_REAL_BROKER], "-".join),
)
def test_on_a_real_broker(part: Part, on_kafka: Performance[Verdict], no_java: str) -> None:
    agree(part, on_kafka, no_java)


def test_rebalances_take_the_rounds_that_kafkas_take(on_emulator: Performance[Verdict]) -> None:
    """Rounds are left open for each story, not for all together: most go exactly in a way that was
    seen on Kafka."""
    verdicts = [future.result() for future in on_emulator.played.values()]
    assert sum(verdict.rounds for verdict in verdicts) <= len(verdicts) // MOST_OTHER_ROUNDS


def test_every_story_is_recorded_and_every_record_has_its_story() -> None:
    assert set(PARTS) == set(GOLDEN)


def test_no_record_tells_of_an_agent_that_could_not() -> None:
    everything = [
        (part, name, str(expected.normal))
        for part, members in GOLDEN.items()
        for name, expected in members.items()
    ]
    assert [entry for entry in everything if AGENTS_FAULT.search(entry[2])] == []


def test_agents_end_with_their_stage() -> None:
    with Agents() as agents:
        idle, frozen, killed = (agents.own("confluent") for _ in range(3))
        frozen.freeze()
        killed.kill()
        assert idle.running
        assert frozen.running
    assert not any(agent.running for agent in (idle, frozen, killed))
