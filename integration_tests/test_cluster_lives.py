"""Random lives of a cluster of three: what three real brokers of Apache Kafka 4.4.0 did in those of
a few seeds is what the emulator's do.

`make fuzz` lives more of them, beside real brokers (`integration_tests/cluster/lives.py`,
`producer_lives.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration_tests.cluster import lives, producer_lives
from integration_tests.cluster.hosts import Hosts, emulated_cluster
from integration_tests.cluster.registry import play_story
from integration_tests.cluster.stage import lay_out
from integration_tests.wire.compare import difference, told
from integration_tests.wire.record import load
from integration_tests.wire.recorder import complete

RECORDED = load(lives.HOME)
STORIES = {"lives": lives.life, "producer_lives": producer_lives.life}


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Three brokers of the emulator."""
    with emulated_cluster() as brokers:
        lay_out(brokers.bootstrap_servers.split(","))
        yield brokers


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_the_emulators_brokers_live_as_kafkas_did(name: str, hosts: Hosts) -> None:
    nonce, steps = RECORDED[name]
    found = difference(
        steps,
        play_story(
            name, STORIES[name.partition(".")[0]](int(name.rpartition("_")[2])), hosts, nonce
        ),
    )
    if found is not None:
        pytest.fail(told(found, "Kafka", "here"), pytrace=False)


def test_every_record_is_whole() -> None:
    assert RECORDED
    assert [name for name, recorded in RECORDED.items() if not complete(recorded.steps)] == []
