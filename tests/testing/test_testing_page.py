"""docs/testing.md and the pages that go on from it are true: their blocks are test files, and they pass
as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.inner_pytest import QUIET

pytest_plugins = ["pytester"]


PAGES = (
    "testing",
    "testing_queues",
    "testing_faults",
    "testing_records",
    "testing_time",
    "testing_ready",
)


def test_the_blocks_of_the_pages_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    pages = "\n".join((project_root / "docs" / f"{each}.md").read_text() for each in PAGES)
    blocks = re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", pages, re.MULTILINE | re.DOTALL)
    names = [
        "orders",
        "groups",
        "shares",
        "requests",
        "faults",
        "brokers",
        "records",
        "time",
        "my_application",
    ]
    assert [name for name, _ in blocks] == [f"test_{name}" for name in names]
    pytester.makepyfile(**dict(blocks))
    # such an application's other cases run in test_small_applications.py
    only = "not MyApplication or everything or comes_and_goes"
    result = pytester.runpytest_subprocess(*QUIET, "-k", only, timeout=240)
    result.assert_outcomes(passed=12, deselected=21)
