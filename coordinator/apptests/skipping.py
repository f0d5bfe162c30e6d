"""Why a ready test is skipped: what the application lacks, or has no use for. Each raises pytest's
skip, with the reason."""

from __future__ import annotations

import pytest

from .under_test import ApplicationUnderTest


def needs(
    app: ApplicationUnderTest, *attributes: str, described: str = "coordinator.testing.cases"
) -> None:
    """The case needs these attributes of the application. `described`: the module that says what
    they are."""
    missing = [name for name in attributes if getattr(app.application, name, None) is None]
    if missing:
        pytest.skip(f"{_name(app)} has no {' and no '.join(missing)}: see {described}")


def needs_processed(app: ApplicationUnderTest) -> None:
    """The case needs to be told what was processed."""
    if app.not_judged:
        pytest.skip(f"{_name(app)} does not tell what it processed: see coordinator.testing.cases")


def needs_commits(
    app: ApplicationUnderTest, *, also_transactions: bool = False, instead: str = ""
) -> None:
    """The case disturbs commits. `also_transactions`: those in transactions, too; otherwise
    `instead` names the case for them."""
    if app.keeps_offsets:
        pytest.skip(
            f"{_name(app)} keeps its offsets itself: it has no commits that could be disturbed"
        )
    if app.transactional and not also_transactions:
        pytest.skip(
            f"{_name(app)} commits in transactions, which are aborted when that is refused: {instead} is its case"
        )


def _name(app: ApplicationUnderTest) -> str:
    return type(app.application).__name__
