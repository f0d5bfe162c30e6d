"""Writes what release.toml decides, into a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.release import lines, whole, workflows
from tools.release.fields import Release


def write(root: Path, release: Release) -> list[str]:
    """Make all files; the paths of those that were different."""
    changed = []
    for path, text in made(root, release):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path.relative_to(root).as_posix())
    return changed


def made(root: Path, release: Release) -> Iterator[tuple[Path, str]]:
    """Each file, with the text that it should have."""
    for path in lines.pages(root):
        yield path, lines.page(path, path.read_text(encoding="utf-8"), release)
    pyproject = root / "pyproject.toml"
    yield pyproject, lines.project(pyproject.read_text(encoding="utf-8"), release)
    for name, make in whole.FILES.items():
        yield root / name, make(release)
    for name, regions in workflows.REGIONS.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        for region, make in regions.items():
            text = lines.region(text, f"# {region}: made from release.toml", make(release), "# end")
        yield path, text
