"""Where the keys of a lesson's file stand, and the error that names them.

Every complaint about a lesson begins with its file and a line. Does not know what the keys mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from coordinator.base.printable import printable

from ...simulator.files.key_positions import key_lines

_LONG_TEXT: Final = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"", re.DOTALL)


class LessonError(ValueError):
    """A file that is no lesson. The text says which file and line, what is wrong, and what would be
    right."""


class Places:
    """The lines of one file's tables and keys."""

    def __init__(self, text: str, name: str) -> None:
        """`name`: the file, as errors call it."""
        self.name = name
        # A scenario stands as text within the lesson, with headers of its own.
        alone = _LONG_TEXT.sub(lambda found: "\n" * found[0].count("\n"), text)
        self._lines = key_lines(alone)

    def line(self, table: str = "", index: int = 0, key: str = "") -> int:
        """Return the line of a key, such as `told.where` of the table `facts`. A key that has no
        line of its own stands in the line of what it is part of."""
        while key:
            found = self._lines.get((table, index, key))
            if found is not None:
                return found
            key = key.rpartition(".")[0]
        found = self._lines.get((table, index, ""))
        return found or self._lines.get(("", 0, table)) or 1

    def error(self, what: str, table: str = "", index: int = 0, key: str = "") -> LessonError:
        """Return an error that begins with the file and the line of a key."""
        path = ".".join(filter(None, (table, key)))
        said = f"{self.name}, line {self.line(table, index, key)}: "
        return LessonError(printable(said + (f"{path}: " if path else "") + what))


def nearest(word: str, known: Iterable[str], what: str) -> str:
    """Return what would be right in place of a wrong name: the nearest one, or all there are.
    `what`: what they are, in the plural."""
    names = list(dict.fromkeys(known))
    close = get_close_matches(word, names, 1) or [
        each for each in names if each.lower() == word.lower()
    ]
    if close:
        return f"did you mean {close[0]}?"
    return f"{what} are {', '.join(names)}" if names else f"there are no {what}"
