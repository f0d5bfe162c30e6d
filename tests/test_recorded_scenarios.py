"""What a real Apache Kafka 4.3.1 answered to every scenario, asked again of the emulator: the same, step by step.

The transcripts were kept by `python -m integration_tests.wire.record`; `integration_tests/wire/divergences.py` names the
scenarios that are known to differ, and why. Scenarios' docstrings cite the rules they touch.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator import Emulator
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.compare import difference, line
from integration_tests.wire.divergences import DIVERGENCES
from integration_tests.wire.record import load
from integration_tests.wire.recorder import play
from integration_tests.wire.registry import PROFILES, all_scenarios

SCENARIOS = all_scenarios()
RECORDED = load()


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """An emulator for each profile, each on its own thread, by profile."""
    with Emulator(config=PROFILES["plain"]) as plain, Emulator(config=PROFILES["limits"]) as limits:
        yield {"plain": plain.bootstrap_servers, "limits": limits.bootstrap_servers}


def test_every_scenario_is_recorded_and_every_record_has_its_scenario() -> None:
    assert set(SCENARIOS) == set(RECORDED)


def test_divergences_name_scenarios() -> None:
    assert set(DIVERGENCES) <= set(SCENARIOS)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_the_emulator_answers_as_kafka_did(name: str, addresses: dict[str, str]) -> None:
    scenario, recorded = SCENARIOS[name], RECORDED[name]
    steps = play(scenario, addresses[scenario.profile], TableCodec(), recorded.nonce)
    found = difference(recorded.steps, steps)
    if name in DIVERGENCES:
        assert found is not None, f"no longer differs: take it out of the divergences ({DIVERGENCES[name]})"
        return
    if found is not None:
        asked, kafka, ours = (line(step) for step in found)
        pytest.fail(f"after {asked}\nKafka {kafka}\nwe    {ours}", pytrace=False)
