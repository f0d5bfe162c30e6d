"""The table at the end of a run with ready tests: what to add to an application to run the cases
that were skipped.

Each report carries what its case lacked, so that processes of pytest-xdist are included.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import pytest

_KEPT: Final = "kafka_ready_test_lacks"
_CASES: Final = "coordinator.kit.ready_tests.lacking"


def keep(report: pytest.TestReport, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Store in a skipped case's report what it lacked, if that is why it was skipped."""
    lacking = sys.modules.get(_CASES)  # nobody skips for want of anything before it is loaded
    if lacking is None or call.excinfo is None:
        return
    lack = lacking.lack_of(call.excinfo.value, getattr(item, "originalname", item.name))
    if lack is not None:
        report.__dict__[_KEPT] = list(lack)


def write(reporter: Any) -> None:
    """Write the table, if any case lacked something."""
    kept = [
        vars(report)[_KEPT] for report in reporter.stats.get("skipped", []) if _KEPT in vars(report)
    ]
    if not kept or reporter.verbosity < -1:
        return
    from coordinator.base.installing import where
    from coordinator.kit.ready_tests.lacking import Lack, table

    reporter.section("ready tests that were skipped for want of something")
    lacks = (Lack(name, tuple(attributes), case) for name, attributes, case in kept)
    for line in table(lacks):
        reporter.line(line)
    reporter.line(f"\n{where('testing_ready')} says what each of them is for.")
