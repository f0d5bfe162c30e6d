"""Places of tables and keys in scenario files: the file and the line, also in files that extend
others. TOML readers do not report lines, so the text is searched. This module must not know what
the values mean."""

from __future__ import annotations

import re
from typing import Any

from .composing import merged

Plain = dict[str, Any]
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\"-]+)\s*\]\]?\s*(#.*)?")
_KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([\w.-]+))\s*=""")
_ITSELF = ""
"""Under this key stands where a table itself begins."""


class Where:
    """Places in one table of a scenario. As a text it is the place where the table begins:
    "s.toml, line 7"."""

    def __init__(self, lines: Plain, otherwise: str) -> None:
        self._lines = lines
        self._otherwise = otherwise

    def __str__(self) -> str:
        return str(self._lines.get(_ITSELF, self._otherwise))

    def at(self, key: str) -> str:
        """Return the place of a key, or of the table if the key has no line of its own."""
        return str(self._lines.get(f".{key}", self))

    def of(self, text: str, **aliases: str) -> str:
        """Return the place of the key that an error names. `aliases`: other names of keys, with
        "_" for "."."""
        for alias, key in aliases.items():
            if alias.replace("_", ".") in text and f".{key}" in self._lines:
                return self.at(key)
        named = [
            key[1:]
            for key in self._lines
            if key.startswith(".")
            and re.search(rf"(?<![\w.]){re.escape(_last(key))}(?![\w])", text)
        ]
        return self.at(max(named, key=len)) if named else str(self)


def _last(key: str) -> str:
    """Return the name of a setting without its table."""
    return key[1:].removeprefix("config.")


class Places:
    """All tables of a file and of those that it extends."""

    def __init__(self, text: str, name: str, raw: Plain) -> None:
        self.name = name
        self._tree = _tree(text, name, raw)

    def on_top_of(self, base: Places) -> Places:
        """Return the places of this file's keys, and of those keys that only `base` has."""
        both = Places("", self.name, {})
        both._tree = merged(base._tree, self._tree)
        return both

    def where(self, table: str = "", index: int = 0) -> Where:
        """Return the place of a table, or of one element of an array of tables. "": of the keys
        outside tables."""
        top = self._tree[_ITSELF]
        found = self._tree.get(table, {})
        if isinstance(found, list):
            found = found[index] if index < len(found) else {}
        return Where(found, str(top.get(f".{table}", f"{self.name}, line 1")))

    def note(self, table: str, index: int, key: str, place: str) -> None:
        """Note that a key was given in another place."""
        found = self._tree.setdefault(table, [] if index else {})
        if isinstance(found, list):
            found = found[index] if index < len(found) else {}
        found[f".{key}"] = place


def _tree(text: str, name: str, raw: Plain) -> Plain:
    lines = key_lines(text)

    def place(number: int | None, otherwise: str) -> str:
        return otherwise if number is None else f"{name}, line {number}"

    def labels(table: str, index: int, given: Plain, otherwise: str) -> Plain:
        itself = place(lines.get((table, index, "")), otherwise)
        found: Plain = {_ITSELF: itself}
        if table and "name" in given:
            found["name"] = given["name"]  # what arrays are merged by
        for key, value in given.items():
            found[f".{key}"] = at = place(lines.get((table, index, key)), itself)
            if isinstance(value, dict):
                found |= {
                    f".{key}.{inner}": place(lines.get((table, index, f"{key}.{inner}")), at)
                    for inner in _dotted(value)
                }
        return found

    first = f"{name}, line 1"
    top = {f".{key}": place(lines.get(("", 0, key), lines.get((key, 0, ""))), first) for key in raw}
    tree: Plain = {_ITSELF: {**top, _ITSELF: first}}
    for table, value in raw.items():
        otherwise = top[f".{table}"]
        if isinstance(value, dict):
            tree[table] = labels(table, 0, value, otherwise)
        elif isinstance(value, list) and all(isinstance(each, dict) for each in value):
            tree[table] = [
                labels(table, index, each, otherwise) for index, each in enumerate(value)
            ]
    return tree


def _dotted(settings: Plain, before: str = "") -> list[str]:
    """Return the names of settings; unless they are quoted, TOML reads dots in them as tables
    within tables."""
    names: list[str] = []
    for key, value in settings.items():
        names += _dotted(value, f"{before}{key}.") if isinstance(value, dict) else [before + key]
    return names


def key_lines(text: str) -> dict[tuple[str, int, str], int]:
    """Return the line numbers of headers and keys, by table, its number if it is an element of an
    array (else 0), and key. The key of a header is an empty string."""
    found: dict[tuple[str, int, str], int] = {}
    counts: dict[str, int] = {}
    table, index, inner = "", 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.fullmatch(line)
        if header is not None:
            table, _, inner = header[2].partition(".")
            if not inner:
                counts[table] = counts.get(table, -1) + 1
            index = counts.get(table, 0)
            found.setdefault((table, index, inner), number)
        elif (key := _KEY.match(line)) is not None:
            name = key[1] or key[2] or key[3]
            found.setdefault((table, index, f"{inner}.{name}" if inner else name), number)
    return found
