"""Scenarios of several brokers: what three real brokers of Apache Kafka 4.4.0 did is what the
emulator's three do.

Each is compared with the record (integration_tests/golden/cluster). They are played on the
emulator, whose clock jumps over the time until a broker that is gone is missed.
SEVERAL_BROKERS=kafka plays them on three plain Java brokers, which shows whether the record is
stale.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from integration_tests.cluster.divergences import DIVERGENCES
from integration_tests.cluster.hosts import Hosts, emulated_cluster, real_cluster
from integration_tests.cluster.record import HOME
from integration_tests.cluster.registry import all_scenarios, play
from integration_tests.cluster.stage import lay_out
from integration_tests.wire.compare import difference, told
from integration_tests.wire.record import load
from integration_tests.wire.recorder import complete

RECORDED = load(HOME)
WHO = os.environ.get("SEVERAL_BROKERS", "") or "emulator"
KINDS = {"emulator": emulated_cluster, "kafka": real_cluster}


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Three brokers of the kind that SEVERAL_BROKERS names."""
    if WHO not in KINDS:
        pytest.fail(f"SEVERAL_BROKERS={WHO}: give one of {', '.join(KINDS)}", pytrace=False)
    with KINDS[WHO]() as brokers:
        lay_out(brokers.bootstrap_servers.split(","))
        yield brokers


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_several_brokers_do_as_kafkas_did(name: str, hosts: Hosts) -> None:
    found = difference(RECORDED[name].steps, play(name, hosts, RECORDED[name].nonce))
    if name in DIVERGENCES and WHO == "emulator":
        assert found is not None, (
            f"no longer differs: take it out of the divergences ({DIVERGENCES[name]})"
        )
    elif found is not None:
        pytest.fail(told(found, "Kafka", "here"), pytrace=False)


def test_every_scenario_is_recorded_and_every_record_has_its_scenario() -> None:
    assert set(all_scenarios()) == set(RECORDED)


def test_every_record_is_whole() -> None:
    assert [name for name, recorded in RECORDED.items() if not complete(recorded.steps)] == []
