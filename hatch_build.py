"""What hatchling asks of this project as it builds: README as a package index shows it.

A package index has no files beside README, so its links into the checkout go to the repository that
release.toml names. As long as none is named they are words without a link.
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
    """A page with its relative links made absolute, pictures too; without a repository words stay."""

    def link(found: re.Match[str]) -> str:
        picture, words, path, place = found.groups()
        if not repository:
            return words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository}/{kind}/main/{path}{place or ''})"

    return _LINK.sub(link, text)
