"""What the wheel leaves out: nothing that is installed asks for it, neither a module nor a page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from hatchling.builders.wheel import WheelBuilder

PACKAGES = ("coordinator", "assignors")
SCENARIOS = ("incidents", "scenarios")
"""Folders that the wheel has as one archive."""
ASSETS = PurePosixPath("coordinator/page/assets")


@pytest.fixture(scope="module")
def installed() -> set[PurePosixPath]:
    """The files of the packages that the wheel has."""
    builder = WheelBuilder(str(Path(__file__).resolve().parents[2]))
    return {PurePosixPath(each.distribution_path) for each in builder.recurse_included_files()}


@pytest.fixture(scope="module")
def left_out(installed: set[PurePosixPath], project_root: Path) -> set[PurePosixPath]:
    there = {
        PurePosixPath(path.relative_to(project_root).as_posix())
        for package in PACKAGES
        for path in (project_root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return there - installed


def modules(files: set[PurePosixPath]) -> dict[str, PurePosixPath]:
    """By name: the file."""
    return {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
        if path.suffix == ".py"
    }


def imported(name: str, path: PurePosixPath, text: str) -> Iterator[str]:
    """What a module may import: names of modules, and what could be one."""
    parts = name.split(".")
    package = parts if path.name == "__init__.py" else parts[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # for import_module, and for `python -m`


def test_no_installed_module_imports_one_that_is_left_out(
    installed: set[PurePosixPath], left_out: set[PurePosixPath], project_root: Path
) -> None:
    missing = modules(left_out)
    assert "coordinator.page.engine" in missing
    asked = {
        (name, wanted)
        for name, path in modules(installed).items()
        for wanted in imported(name, path, (project_root / path).read_text(encoding="utf-8"))
        if wanted in missing
    }
    assert asked == set()


def test_no_installed_page_asks_for_a_file_that_is_left_out(
    installed: set[PurePosixPath], left_out: set[PurePosixPath], project_root: Path
) -> None:
    pages = {path for path in installed if path.is_relative_to(ASSETS)}
    assert ASSETS / "watch.html" in pages
    quoted = re.compile(r"""["'`(]([\w./-]+\.(?:m?js|css|html|json|zip))["'`)?]""")
    asked = set()
    for page in pages:
        for name in quoted.findall((project_root / page).read_text(encoding="utf-8")):
            path = (project_root / page.parent / name).resolve()
            if path.is_relative_to(project_root):
                wanted = PurePosixPath(path.relative_to(project_root).as_posix())
                if wanted in left_out:
                    asked.add((page, wanted))
    assert asked == set()


def test_each_line_of_what_is_left_out_names_something(project_root: Path) -> None:
    builder = WheelBuilder(str(project_root))
    for pattern in builder.config.target_config["exclude"]:
        assert list(project_root.glob(pattern.strip("/"))), f"pyproject.toml: {pattern} is gone"


def test_lessons_are_no_part_of_the_wheel(left_out: set[PurePosixPath]) -> None:
    """A new one is left out by itself: a folder is named."""
    assert PurePosixPath("coordinator/page/recorded/incident.jsonl.gz") in left_out
    assert [
        path
        for path in left_out
        if path.suffix == ".toml" and not {"lessons", *SCENARIOS} & set(path.parts)
    ] == []
