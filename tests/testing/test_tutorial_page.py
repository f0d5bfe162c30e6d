"""docs/tutorial.md is true: its files are a test suite, and it passes as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.inner_pytest import QUIET

pytest_plugins = ["pytester"]


def files_of_the_page(project_root: Path) -> dict[str, str]:
    page = (project_root / "docs" / "tutorial.md").read_text()
    files = dict(re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert list(files) == ["billing", "conftest", "test_first", "test_fault", "test_chaos"]
    assert page.count("```python") == len(files)
    return files


def test_the_files_of_the_page_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    pytest.importorskip("confluent_kafka")
    files = files_of_the_page(project_root)
    pytester.makepyfile(**files)
    result = pytester.runpytest_subprocess(*QUIET, timeout=400)
    result.assert_outcomes(passed=6)
