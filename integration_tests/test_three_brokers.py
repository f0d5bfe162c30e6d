"""The client matrix on three brokers: what four unmodified libraries see there is what they saw on
three real ones.

The record (integration_tests/golden/three_brokers) is of three plain Java brokers.
SEVERAL_BROKERS=kafka plays those, which shows whether the record is stale. Without Java and its
libraries the Java consumer is skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from coordinator import Emulator
from integration_tests.clients import java_agent, three_brokers
from integration_tests.clients.agents_running import Agents
from integration_tests.clients.compare import find
from integration_tests.clients.golden import load
from integration_tests.clients.stage import Transcript
from integration_tests.clients.three_brokers import HOME, LIBRARIES, STORY, story
from integration_tests.cluster.hosts import SETTINGS, EmulatorHosts, emulated_cluster, real_cluster
from integration_tests.cluster.stage import lay_out
from integration_tests.java_cluster import RACKS
from tools.kafka_jars import NoJavaError

EXPECTED = load(HOME)
WHO = os.environ.get("SEVERAL_BROKERS", "") or "emulator"
KINDS = {"emulator": emulated_cluster, "kafka": real_cluster}


def no_java() -> str:
    """Why the Java consumer cannot play; empty if it can."""
    try:
        java_agent.command()
    except NoJavaError as reason:
        return str(reason)
    return ""


@pytest.fixture(scope="module")
def played(agents: Agents) -> Iterator[dict[str, Transcript]]:
    """What the members of each library saw."""
    if WHO not in KINDS:
        pytest.fail(f"SEVERAL_BROKERS={WHO}: give one of {', '.join(KINDS)}", pytrace=False)
    with KINDS[WHO]() as hosts:
        yield story(
            hosts,
            agents,
            [library for library in LIBRARIES if library != "java" or not no_java()],
            "test",
        )


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_applications_see_what_they_saw_on_three_real_brokers(
    library: str, played: dict[str, Transcript]
) -> None:
    """Every call of a rebalance listener, and that no record and no commit was lost, at each point
    of the story."""
    if library not in played:
        pytest.skip(f"no Java consumer: {no_java()}")
    assert find(EXPECTED[library, STORY], played[library]).differences == []


def test_every_library_is_recorded() -> None:
    assert {library for library, _ in EXPECTED} == set(LIBRARIES)


def test_a_member_that_loses_its_partitions_is_found(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted bug: one heartbeat is told ILLEGAL_GENERATION. A commit of librdkafka may wait for
    ever later on; what was lost until then is found all the same."""
    monkeypatch.setattr(three_brokers, "PATIENCE_S", 45.0)
    seen: dict[str, Transcript] = {}
    expected = EXPECTED["confluent", STORY]
    with Emulator(brokers=3, racks=list(RACKS), config=SETTINGS) as emulator:
        hosts = EmulatorHosts(emulator)
        lay_out(hosts.bootstrap_servers.split(","))
        emulator.fail("Heartbeat", "ILLEGAL_GENERATION", times=1)
        try:
            story(hosts, agents, ["confluent"], "planted", seen)
        except TimeoutError:
            lines = [line for view in seen["confluent"].values() for line in view]
            assert any(line.startswith("lost orders-") for line in lines), lines
            return
    assert find(expected, seen["confluent"]).differences != []
