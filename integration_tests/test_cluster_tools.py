"""Kafka's own tools on three brokers: what they say of the emulator's is what they said of three real ones.

The record (integration_tests/golden/cluster/tools.txt) is of three plain Java brokers. Skipped where the tools cannot be run.
"""

from __future__ import annotations

import pytest

from integration_tests.cluster.hosts import emulated_cluster
from integration_tests.cluster.tools import KEPT, told
from tools.kafka_jars import NoJavaError


def test_tools_say_the_same_of_three_brokers() -> None:
    try:
        with emulated_cluster() as hosts:
            found = told(hosts)
    except NoJavaError as reason:
        pytest.skip(f"no Java for Kafka's tools: {reason}")
    assert found == KEPT.read_text(encoding="utf-8").splitlines()
