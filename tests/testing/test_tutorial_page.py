"""docs/tutorial.md is true: its files are a test suite, and it passes as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inner_pytest import QUIET, declared_in, files_in, passed

pytest_plugins = ["pytester"]


def files_of_the_page(project_root: Path) -> dict[str, str]:
    page = (project_root / "docs" / "tutorial.md").read_text()
    files = files_in(page)
    assert list(files) == ["billing", "conftest", "test_first", "test_fault", "test_chaos"]
    assert page.count("```python") == len(files)
    return files


def test_the_files_of_the_page_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    pytest.importorskip("confluent_kafka")
    files = files_of_the_page(project_root)
    pytester.makepyfile(**files)
    assert passed(pytester, *QUIET, timeout_s=400) == declared_in(files)
