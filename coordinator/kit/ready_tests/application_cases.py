"""The common part of all ready tests: start, judge and stop the application of a case, and skip
a case whose needs the application does not meet."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from ..emulator.embedded import Emulator
from .lacking import PROCESSED, need, skip_for_want_of
from .under_test import PARTITIONS, PATIENCE_S, ApplicationUnderTest

LISTENER_HOLDS_S = 5.0
"""Seconds for which a member may keep a rebalance waiting without a warning."""


class NotJudgedWarning(UserWarning):
    """A case passed, but a part of its verdict could not be given: which, and why."""


class HeldRebalanceWarning(UserWarning):
    """A case passed, but a member kept a rebalance waiting for longer than `listener_holds_s`:
    how long, and where the event log shows it."""


class ApplicationCases:
    """Class attributes for all cases. `patience_s`: seconds that the application may take for
    anything that a case waits for. `partitions`: number of partitions of its topic.
    `duplicates_clean`: number of records that may be processed again for each disturbance that
    leaves the application time to commit. `duplicates_death`: the same for each death; by default
    the records that it had fetched and not committed. `duplicates` (deprecated) overrides both.

    `listener_holds_s`: a passing case warns (`HeldRebalanceWarning`) if a member kept a
    rebalance waiting for longer, in its listener or away from its poll. Longer than the member's
    own rebalance timeout (`max.poll.interval.ms`) is always a finding.
    """

    patience_s: ClassVar[float] = PATIENCE_S
    duplicates: ClassVar[int | None] = None
    duplicates_clean: ClassVar[int] = 0
    duplicates_death: ClassVar[int | None] = None
    partitions: ClassVar[int] = PARTITIONS
    listener_holds_s: ClassVar[float] = LISTENER_HOLDS_S

    @pytest.fixture
    def app(self, kafka: Emulator, kafka_app_under_test: Any) -> Iterator[ApplicationUnderTest]:
        """The application, not started yet. It is judged and stopped when the case ends."""
        under_test = ApplicationUnderTest(
            kafka,
            kafka_app_under_test,
            partitions=self.partitions,
            patience_s=self.patience_s,
            duplicates=self.duplicates,
            duplicates_clean=self.duplicates_clean,
            duplicates_death=self.duplicates_death,
        )
        reservations, held = "", None
        try:
            yield under_test
            reservations, held = under_test.reservations(), under_test.longest_hold()
        finally:
            under_test.close()
        if reservations:
            warnings.warn(f"{type(self).__name__}: {reservations}", NotJudgedWarning, stacklevel=1)
        if held is not None and held.took_ms > self.listener_holds_s * 1000:
            limit = f"listener_holds_s is {self.listener_holds_s:g}"
            text = f"{type(self).__name__}: {held.text} ({limit})"
            warnings.warn(text, HeldRebalanceWarning, stacklevel=1)


def needs(app: ApplicationUnderTest, *attributes: str) -> None:
    """Skip a case that needs these attributes of the application, unless it has them. The
    functions below skip in the same way."""
    need(app.application, *attributes)


def needs_processed(app: ApplicationUnderTest) -> None:
    """Skip the case if the application does not report what it processed."""
    if app.not_judged:
        skip_for_want_of(app.application, [PROCESSED], "does not tell what it processed")


def needs_commits(
    app: ApplicationUnderTest, *, also_transactions: bool = False, instead: str = ""
) -> None:
    """Skip a case that disturbs commits if the application makes none. `also_transactions`:
    commits in transactions suffice; otherwise `instead` names the case for them."""
    if app.keeps_offsets:
        pytest.skip(f"{_name(app)} keeps its offsets itself: there are no commits to disturb")
    if app.transactional and not also_transactions:
        pytest.skip(
            f"{_name(app)} commits in transactions, which are aborted when that is refused: {instead} is its case"
        )


def _name(app: ApplicationUnderTest) -> str:
    return type(app.application).__name__
