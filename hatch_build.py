"""Hatchling's hook: README as a package index shows it.

A package index has no files beside README. So its relative links become links to the repository that
release.toml names, and as long as release.toml names none only their words are left.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^]\n]*)\]\((?!https?://|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


class Readme(MetadataHookInterface):
    """The long description of the distribution."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        release = tomllib.loads((root / "release.toml").read_text(encoding="utf-8"))
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": on_an_index(text, release.get("repository", "")),
        }


def on_an_index(text: str, repository: str) -> str:
    """Return the page with relative links, pictures included, made absolute; without a repository a
    link becomes its words."""

    def link(found: re.Match[str]) -> str:
        picture, words, path, place = found.groups()
        if not repository:
            return words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository}/{kind}/main/{path}{place or ''})"

    return _LINK.sub(link, text)
