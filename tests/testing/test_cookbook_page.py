"""docs/testing_cookbook.md is true: its recipes are a test file, and it passes as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.inner_pytest import QUIET

pytest_plugins = ["pytester"]


def test_the_recipes_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    page = (project_root / "docs" / "testing_cookbook.md").read_text()
    (block,) = re.findall(
        r"^```python\n# test_recipes\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    numbers = [int(number) for number in re.findall(r"^# (\d+)\.", block, re.MULTILINE)]
    assert numbers == list(range(1, block.count("def test_") + 1))
    pytester.makepyfile(test_recipes=block)
    result = pytester.runpytest_subprocess(*QUIET, timeout=240)
    result.assert_outcomes(passed=len(numbers))
