"""All pages of docs/ are found: in the navigation, and by the pages that lead to them."""

from __future__ import annotations

from pathlib import Path

import pytest


def pages(root: Path) -> dict[str, str]:
    """By name: what is in it."""
    return {each.stem: each.read_text(encoding="utf-8") for each in (root / "docs").glob("*.md")}


def test_each_page_is_in_the_navigation(project_root: Path) -> None:
    navigation = (project_root / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert [name for name in pages(project_root) if f": {name}.md\n" not in navigation] == []


@pytest.mark.parametrize("way_in", ["testing", "simulator", "security", "lessons"])
def test_a_guide_and_the_pages_that_go_on_from_it_name_each_other(
    project_root: Path, way_in: str
) -> None:
    there = pages(project_root)
    more = [name for name in there if name.startswith(f"{way_in}_")]
    assert more
    assert [name for name in more if f"]({name}.md)" not in there[way_in]] == []
    assert [name for name in more if f"]({way_in}.md" not in there[name]] == []
