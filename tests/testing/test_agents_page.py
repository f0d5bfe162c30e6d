"""docs/agents.md is true: its example passes as written, and what llms.txt names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.inner_pytest import QUIET, declared_in, files_in, passed

pytest_plugins = ["pytester"]


def test_the_example_passes(pytester: pytest.Pytester, project_root: Path) -> None:
    page = (project_root / "docs" / "agents.md").read_text()
    files = files_in(page)
    assert list(files) == ["test_billing"]
    pytester.makepyfile(**files)
    died = "error::pytest.PytestUnhandledThreadExceptionWarning"
    assert passed(pytester, *QUIET, "-W", died, timeout_s=240) == declared_in(files)


def test_llms_txt_names_pages_that_are_there(project_root: Path) -> None:
    text = (project_root / "llms.txt").read_text()
    targets = re.findall(r"\]\(([^)]+)\): ", text)
    assert "docs/agents.md" in targets
    assert len(targets) == text.count("](")
    assert [target for target in targets if not (project_root / target).is_file()] == []
