"""docs/architecture.md against the tree: whoever looks for a file finds it there, and what stands
there is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import rooms


@pytest.fixture(scope="module")
def page(project_root: Path) -> str:
    return (project_root / "docs" / "architecture.md").read_text()


def test_the_picture_shows_the_rooms_as_they_are() -> None:
    """`python -m tools.rooms` draws it anew."""
    assert rooms.PICTURE.read_text() == rooms.picture()
    packages = {
        path.parent.name
        for path in (rooms.ROOT / "coordinator").glob("*/__init__.py")
        if not path.read_text().startswith('"""Public: ')
    }
    assert {room for row in rooms.layers() for room in row} == packages


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
    assert rows
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
