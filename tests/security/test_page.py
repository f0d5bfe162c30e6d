"""docs/security.md is true: its blocks are test files, and they pass as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


def test_the_blocks_of_the_page_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    page = (project_root / "docs" / "security.md").read_text()
    blocks = re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(**dict(blocks))
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore", timeout=240
    )
    result.assert_outcomes(passed=len(blocks))
    assert blocks
