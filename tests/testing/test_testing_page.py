"""docs/testing.md is true: its blocks are test files, and they pass as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


def test_the_blocks_of_the_page_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    page = (project_root / "docs" / "testing.md").read_text()
    blocks = re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    own = ["test_orders", "test_groups", "test_requests", "test_faults", "test_records", "test_brokers", "test_time"]
    names = [*own, "test_my_application"]
    assert [name for name, _ in blocks] == names
    compile(dict(blocks).pop("test_my_application"), "test_my_application", "exec")  # its cases run in test_cases.py
    pytester.makepyfile(**{name: block for name, block in blocks if name != "test_my_application"})
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore", timeout=240)
    result.assert_outcomes(passed=9)
