"""release.toml, read and checked: what a release says of itself. An empty field is one that nobody has filled in yet."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FILE = "release.toml"
_SAMPLES = {
    "repository": (r"https://[\w.-]+(/[\w.-]+)+", "https://github.com/OWNER/NAME"),
    "documentation": (r"https://[\w.-]+(/[\w.-]+)*/", "https://OWNER.github.io/NAME/"),
    "image": (r"[a-z0-9.-]+(/[a-z0-9._-]+)+", "ghcr.io/OWNER/NAME"),
    "security_contact": (r"https://\S+|[^@\s]+@[^@\s]+", "an e-mail address or https://..."),
}
"""By field: what it has to look like, and a sample."""


class ReleaseError(Exception):
    """A field or a file that cannot be: what, where, and what would be right."""


class Author(NamedTuple):
    """Who is named as author; `email` may be empty."""

    name: str
    email: str = ""


class Release(NamedTuple):
    """release.toml, and the version, which stands in coordinator/base/version.py alone."""

    version: str
    published: bool = False
    repository: str = ""
    documentation: str = ""
    image: str = ""
    security_contact: str = ""
    authors: tuple[Author, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The fields that are empty."""
        return [name for name in (*_SAMPLES, "authors") if not getattr(self, name)]

    @property
    def on_github(self) -> str:
        """OWNER/NAME, if the repository is on GitHub."""
        found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", self.repository)
        return found[1] if found else ""


def read(root: Path = ROOT) -> Release:
    """The fields of a checkout. Raises ReleaseError."""
    path = root / FILE
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReleaseError(f"{FILE}: {error.strerror}: it belongs beside pyproject.toml") from None
    except tomllib.TOMLDecodeError as error:
        raise ReleaseError(f"{FILE}: {error}") from None
    version = re.search(
        r'^__version__ = "([^"]+)"$',
        (root / "coordinator" / "base" / "version.py").read_text(),
        re.MULTILINE,
    )
    assert version, "coordinator/base/version.py has no version"
    known = set(Release._fields) - {"version"}
    if unknown := sorted(set(raw) - known):
        raise ReleaseError(
            f"{FILE}: unknown field {unknown[0]}; there are {', '.join(sorted(known))}"
        )
    if not isinstance(raw.get("published", False), bool):
        raise ReleaseError(f"{FILE}: published: true or false, not {raw['published']!r}")
    for name, (pattern, sample) in _SAMPLES.items():
        value = raw.get(name, "")
        if not isinstance(value, str) or (value and not re.fullmatch(pattern, value)):
            raise ReleaseError(f"{FILE}: {name}: {value!r} is not of the form {sample}")
    return Release(version[1], **{**raw, "authors": _authors(raw.get("authors", []))})


def _authors(raw: Any) -> tuple[Author, ...]:
    try:
        return tuple(Author(**each) for each in raw)
    except TypeError:
        raise ReleaseError(
            f'{FILE}: authors: {raw!r} is not of the form [{{ name = "...", email = "..." }}]'
        ) from None
