"""An application that ends because its commit was refused, before its group could rebalance, is
told both: that it left, and which commit was refused."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from confluent_kafka import KafkaException

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from coordinator.kit.views.group_snapshots import GroupSnapshot
from tests.testing.left_over import GivesUpInSilence

PATIENCE_S = 120.0


class GivesUpLater(GivesUpInSilence):
    """It ends when its commit was refused, and not before `may_end`."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = Event()

    def refused(self, failure: KafkaException) -> None:
        assert self.may_end.wait(PATIENCE_S)
        super().refused(failure)


class LeavesBetween(ApplicationUnderTest):
    """The application ends between the look at its group, which is settled, and the rebalance."""

    def wait(self, name: str, what: str, **expected: Any) -> GroupSnapshot:
        found = super().wait(name, what, **expected)
        if what == "the application is no settled member":
            self.application.may_end.set()
            self.group.wait(state="Empty", timeout=self.patience_s)
        return found


def test_who_left_where_its_group_was_to_rebalance_is_told_of_its_refused_commit(
    kafka: Emulator,
) -> None:
    app = LeavesBetween(kafka, GivesUpLater(), patience_s=PATIENCE_S)
    try:
        with pytest.raises(ApplicationError) as found:
            ConsumerCases().test_a_refused_commit_is_made_again(app)
    finally:
        app.close()
    left, why = found.value.findings[:2]
    assert (left.name, why.name) == (f.LEAVES, f.NO_RECOVERY)
    assert left.text.startswith("it has left where its group was to rebalance: ")
    assert "Its last commit was refused with REBALANCE_IN_PROGRESS (line " in why.text
