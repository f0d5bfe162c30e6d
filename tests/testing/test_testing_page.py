"""docs/testing.md and the pages that go on from it are true: their blocks are test files, and they pass
as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.testing.cases import ConsumerCases
from tests.inner_pytest import QUIET, declared_in, files_in, passed

pytest_plugins = ["pytester"]


PAGES = (
    "testing",
    "testing_queues",
    "testing_faults",
    "testing_records",
    "testing_deleted",
    "testing_time",
    "testing_ready",
)
CASES = ("test_everything_is_processed_and_committed", "test_another_member_comes_and_goes")
"""The ready cases that the page's application is given here. Such an application has the others in
test_small_applications.py."""


def test_the_blocks_of_the_pages_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    pages = "\n".join((project_root / "docs" / f"{each}.md").read_text() for each in PAGES)
    files = files_in(pages)
    names = [
        "orders",
        "groups",
        "shares",
        "requests",
        "faults",
        "brokers",
        "records",
        "deleted_records",
        "time",
        "retention",
        "my_application",
    ]
    assert list(files) == [f"test_{name}" for name in names]
    pytester.makepyfile(**files)
    only = " or ".join(["not MyApplication", *CASES])
    must = declared_in(files) | {f"test_my_application.TestMyApplication.{name}" for name in CASES}
    assert passed(pytester, *QUIET, "-k", only, timeout_s=240) == must


def test_the_cases_that_are_run_are_cases() -> None:
    assert [name for name in CASES if not hasattr(ConsumerCases, name)] == []
