"""How long the ready tests wait is what `patience_s` says, for faults that no request meets too."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.apptests.disturbing import wait_hit
from coordinator.apptests.under_test import ApplicationError, ApplicationUnderTest


class Idle:
    """Asks for nothing."""

    topic, group = "orders", "billing"

    def start(self, bootstrap_servers: str) -> None:
        """Nothing is begun."""

    def stop(self) -> None:
        """Nothing runs."""

    kill = stop


def test_a_fault_that_nobody_meets_is_awaited_as_long_as_patience_says(kafka: Emulator) -> None:
    app = ApplicationUnderTest(kafka, Idle(), patience_s=0.25)
    try:
        refused = kafka.fail("OffsetCommit", "NOT_COORDINATOR", group="billing", may_miss=True)
        with pytest.raises(ApplicationError, match=r"it commits nothing: .* 0\.25 s"):
            wait_hit(app, refused, "it commits nothing")
    finally:
        app.close()
