"""Lessons of a reader's own, from files: `read_files` gives them as `load` gives ours.

Their names in addresses are those of their files. Raises LessonError.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .model import Lesson
from .places import LessonError
from .reading import read

_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_PAGES: Final = frozenset({"home", "incident", "index", "open", "sandbox", "site"})
"""Names that the site has for pages and files of its own."""


def read_files(names: Sequence[str], taken: Sequence[str] = (), first: int = 1) -> list[Lesson]:
    """Return the lessons of these files, numbered from `first` on in this order. `taken`: the names
    of the lessons beside them. Raises LessonError."""
    found: list[Lesson] = []
    for number, name in enumerate(names, first):
        slug = Path(name).name.removesuffix(".toml")
        if not _SLUG.fullmatch(slug):
            raise LessonError(
                f"{name}: the file's name stands in the lesson's address: letters, digits, - and _ alone, and .toml"
            )
        if slug in _PAGES or slug in taken or slug in {each.slug for each in found}:
            raise LessonError(f"{name}: there is a page {slug} already; give the file another name")
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise LessonError(f"cannot read {name}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise LessonError(f"{name}: that is no text in UTF-8") from None
        found.append(read(text, name, slug, number))
    return found
