"""What judges: where a real broker is required, it runs in a container."""

from __future__ import annotations

import pytest

from integration_tests.conftest import REQUIRED
from integration_tests.targets import KafkaTarget, NoBroker, real_broker_kind


def test_a_required_broker_runs_in_a_container(kafka: KafkaTarget) -> None:
    if REQUIRED and kafka.kind != "container":
        pytest.fail(
            "REQUIRE_REAL_BROKER is set, and no container could be run: the scenarios ran on plain Java processes",
            pytrace=False,
        )


def test_a_wrong_kind_of_broker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REAL_BROKER", "podman")
    with pytest.raises(
        NoBroker, match="REAL_BROKER=podman: give one of auto, container, java, none"
    ):
        real_broker_kind()
