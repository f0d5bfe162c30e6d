"""docs/testing_cookbook.md is true: its recipes are a test file, and it passes as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.inner_pytest import QUIET, declared_in, files_in, passed

pytest_plugins = ["pytester"]


def test_the_recipes_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    page = (project_root / "docs" / "testing_cookbook.md").read_text()
    files = files_in(page)
    assert list(files) == ["test_recipes"]
    numbers = [
        int(number) for number in re.findall(r"^# (\d+)\.", files["test_recipes"], re.MULTILINE)
    ]
    assert numbers == list(range(1, len(declared_in(files)) + 1)), (
        "each test is a recipe of its own"
    )
    pytester.makepyfile(**files)
    assert passed(pytester, *QUIET, timeout_s=240) == declared_in(files)
