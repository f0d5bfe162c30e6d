"""What release.toml decides in files that people write: the install lines of pages, and regions between two marks.

Rule: writing is a function of the fields and of what people wrote. So it changes nothing the second
time, and fields that are emptied again leave the file as it was.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from coordinator.base.installing import NAME, page_line
from tools.release import owner
from tools.release.fields import Release

_NAMED: Final = rf"'(?:\.|{NAME})\[(?P<extra>\w+)\]'"
_IN_WORDS: Final = re.compile(rf"`pip install {_NAMED}`(?: in a checkout)?")
_IN_CODE: Final = re.compile(
    rf"^pip install {_NAMED}(?P<more>(?: [\w.-]+)*)(?: +# in a checkout)?$", re.MULTILINE
)
_WHEEL: Final = re.compile(r"kafka_group_coordinator-\d[\w.]*-py3")
_OWN_WAYS: Final = "install.md"
"""This page has all ways side by side, so its lines stay."""


def pages(root: Path) -> list[Path]:
    """The pages that have install lines."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def page(path: Path, text: str, release: Release) -> str:
    """A page with its install lines and its regions as the fields have them."""
    if path.name != _OWN_WAYS:

        def words(found: re.Match[str]) -> str:
            line = page_line(found["extra"], published=release.published)
            return f"`{line}`" if release.published else f"`{line}` in a checkout"

        def code(found: re.Match[str]) -> str:
            line = page_line(found["extra"], published=release.published) + found["more"]
            return line if release.published else f"{line}    # in a checkout"

        text = _IN_CODE.sub(code, _IN_WORDS.sub(words, text))
    text = _WHEEL.sub(f"kafka_group_coordinator-{release.version}-py3", text)
    for name, made in (
        ("badges", badges(release)),
        ("by name", _by_name(release)),
        ("what is left", owner.page(release)),
    ):
        text = region(text, f"<!-- {name}: made from release.toml -->", made, "<!-- end -->")
    return text


def badges(release: Release) -> str:
    """Pictures that say what is true by themselves: they come from where it is decided."""
    found = []
    if release.on_github:
        address = f"{release.repository}/actions/workflows/ci.yml"
        found.append(f"[![CI]({address}/badge.svg)]({address})")
    if release.documentation:
        found.append(f"[Documentation]({release.documentation})")
    return " ".join(found)


def _by_name(release: Release) -> str:
    if not release.published:
        return ""
    return f"## By name\n\n```text\npip install {NAME}\n{page_line('test', published=True)}\n```\n"


def project(text: str, release: Release) -> str:
    """pyproject.toml with authors and addresses."""
    people = ", ".join(
        f'{{ name = "{each.name}"' + (f', email = "{each.email}"' if each.email else "") + " }"
        for each in release.authors
    )
    addresses = {
        "Documentation": release.documentation,
        "Source": release.repository,
        "Issues": f"{release.repository}/issues" if release.on_github else "",
        "Changelog": f"{release.repository}/blob/main/CHANGELOG.md" if release.on_github else "",
    }
    rows = [f'{name} = "{address}"' for name, address in addresses.items() if address]
    text = region(
        text,
        "# Authors: made from release.toml.",
        f"authors = [{people}]" if people else "",
        "# End.",
    )
    return region(
        text,
        "# Addresses: made from release.toml.",
        "\n".join(("[project.urls]", *rows)) if rows else "",
        "# End.",
    )


def region(text: str, begin: str, made: str, end: str) -> str:
    """The text with what stands between two marks replaced, where it has them."""
    pattern = re.compile(
        rf"^({re.escape(begin)}\n).*?^({re.escape(end)})$", re.DOTALL | re.MULTILINE
    )
    between = f"{made}\n" if made else ""
    return pattern.sub(lambda found: found[1] + between + found[2], text)
