"""docs/testing.md is true: its blocks are test files, and they pass as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


def test_the_blocks_of_the_page_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    page = (project_root / "docs" / "testing.md").read_text()
    blocks = re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names = [
        "orders",
        "groups",
        "shares",
        "requests",
        "faults",
        "records",
        "brokers",
        "time",
        "my_application",
    ]
    assert [name for name, _ in blocks] == [f"test_{name}" for name in names]
    pytester.makepyfile(**dict(blocks))
    # such an application's other cases run in test_small_applications.py
    only = "not MyApplication or everything or comes_and_goes"
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore", "-k", only, timeout=240
    )
    result.assert_outcomes(passed=12, deselected=20)
