"""docs/architecture.md against the tree: whoever looks for a file finds it there, and what stands
there is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

UNNAMED = {"__init__", "__main__", "version"}
"""What needs no row: the package's own offer, `python -m coordinator`, its number."""


@pytest.fixture(scope="module")
def page(project_root: Path) -> str:
    return (project_root / "docs" / "architecture.md").read_text()


@pytest.fixture(scope="module")
def rows(page: str) -> list[str]:
    """The names in the first column of the table of parts, each as a path within `coordinator/`, or
    `assignors`."""
    names = []
    for line in page.split("## The parts")[1].split("\n## ")[0].splitlines():
        if line.startswith("| `"):
            first, *others = [
                name.strip("/").removesuffix(".py")
                for name in re.findall(r"`([^`]+)`", line.split("|")[1])
            ]
            folder = first.rpartition("/")[0]
            names += [first, *(name if "/" in name else f"{folder}/{name}" for name in others)]
    return [name.removeprefix("coordinator/") for name in names]


def test_every_part_has_its_row_once(rows: list[str], project_root: Path) -> None:
    top = {
        path.stem
        for path in (project_root / "coordinator").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert top - UNNAMED <= set(rows)
    assert [name for name, count in Counter(rows).items() if count > 1] == []


def test_every_row_is_a_file_or_a_package(rows: list[str], project_root: Path) -> None:
    def exists(name: str) -> bool:
        return any(
            (folder / f"{name}.py").exists() or (folder / name).is_dir()
            for folder in (project_root, project_root / "coordinator")
        )

    assert [name for name in rows if not exists(name)] == []


def test_every_path_and_link_of_the_page_leads_somewhere(page: str, project_root: Path) -> None:
    docs, code = project_root / "docs", project_root / "coordinator"
    links = [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page) if "://" not in link]
    assert [link for link in links if not (docs / link).exists()] == []
    paths = [
        path
        for path in re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9]+)+(?:\.py)?/?)`", page)
        if not path.startswith("http")
    ]
    places = (project_root, code, code / "groups", code / "groups" / "classic")
    assert [
        path
        for path in paths
        if not any((of / path).exists() or (of / f"{path}.py").exists() for of in places)
    ] == []


def test_whoever_changes_something_is_told_of_files(page: str, project_root: Path) -> None:
    """Each row of "Where a change begins" leads to a file or a folder that is there."""
    rows = [
        line.split("|")[2]
        for line in page.split("## Where a change begins")[1].split("\n## ")[0].splitlines()
        if line.startswith("|")
    ][2:]
    assert len(rows) > 10
    for row in rows:
        paths = re.findall(r"`([a-z_/]+(?:\.py|/))`", row)
        assert paths, row
        assert [path for path in paths if not (project_root / path).exists()] == []


def test_each_step_of_the_reading_order_names_what_is_there(page: str, project_root: Path) -> None:
    """A name without its folder means the one that stood before it."""
    code = project_root / "coordinator"
    folder = code
    for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", page.split("## Reading order")[1]):
        found = [
            path for path in (project_root / name, code / name, folder / name) if path.exists()
        ]
        assert found, name
        folder = found[0] if found[0].is_dir() else found[0].parent
