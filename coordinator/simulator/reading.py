"""Reading scenario files: TOML into checked plain values, with `--set` on top.

Owns the errors: each says which file, which line, which key, and what would be right. Does not depend on what the values mean.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from .composing import MOST_BASES, ComposingError, Load, merged, with_parameters
from .schema import TABLES, WHAT_KINDS_TAKE, Key, Table, duration_ms

Plain = dict[str, Any]
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\"-]+)\s*\]\]?\s*(#.*)?")


class ScenarioError(ValueError):
    """A scenario that cannot be: where, what, and what would be right."""


class Source:
    """A file's text and name, to tell where a key stands."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.base: Source | None = None
        """The file that this one extends."""
        self._lines: dict[tuple[str, int, str], int] = {}
        table, index, counts = "", 0, dict[str, int]()
        for number, line in enumerate(text.split("\n"), 1):
            header = _HEADER.fullmatch(line)
            if header:
                table = header[2]
                index = counts.get(table, -1) + 1
                counts[table] = index
                self._lines.setdefault((table, index, ""), number)
            elif (key := re.match(r"\s*\"?([\w.-]+)\"?\s*=", line)) is not None:
                self._lines.setdefault((table, index, key[1]), number)

    def error(self, text: str, table: str = "", index: int = 0, key: str = "") -> ScenarioError:
        """An error at a key, or at its table if the key stands in no line of its own."""
        line = next((self._lines[place] for place in ((table, index, key), (table, index, ""), ("", 0, table)) if place in self._lines), 1)
        if self.base is not None and (table, index, key) not in self._lines and (table, index, key) in self.base._lines:
            return self.base.error(text, table, index, key)
        return ScenarioError(f"{self.name}, line {line}: {text}")

    def place(self, table: str, index: int = 0) -> str:
        """Where a table stands. Of an array's elements, those of the file that this one extends come first."""
        if self.base is not None:
            below = self.base.count(table)
            if index < below:
                return self.base.place(table, index)
            index -= below
        return f"{self.name}, line {self._lines.get((table, index, ''), 1)}"

    def count(self, table: str) -> int:
        """How many tables of that name there are, those of the file below included."""
        own = sum(where[0] == table and not where[2] for where in self._lines)
        return own + (self.base.count(table) if self.base is not None else 0)


def parse(text: str, name: str, settings: Iterable[str] = (), load: Load | None = None) -> Plain:
    """A scenario's checked values; durations are milliseconds, defaults are filled in. Raises ScenarioError.

    `load` finds what a file extends.
    """
    raw, source = raw_of(text, name, load)
    for setting in settings:
        set_value(raw, setting)
    try:
        return _checked(with_parameters(raw), source)
    except ComposingError as error:
        raise ScenarioError(f"{name}: {error}") from None


def raw_of(text: str, name: str, load: Load | None = None, depth: int = 0) -> tuple[Plain, Source]:
    """A file's values on top of those that it extends, not checked. Raises ScenarioError."""
    source = Source(text, name)
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{name}: {error}; a scenario is a TOML file, see `coordinator scenarios list`") from None
    base = raw.pop("extends", None)
    if base is None:
        return raw, source
    if not isinstance(base, str) or load is None:
        right = 'give a file beside this one, or a shipped scenario, such as "poisson_churn"'
        raise source.error(f"extends = {base!r}: {right}", "", 0, "extends")
    if depth == MOST_BASES:
        raise source.error(f"extends = {base!r}: files extend each other in a circle, or more than {MOST_BASES} deep", "", 0, "extends")
    try:
        below, source.base = raw_of(*load(base, name), load, depth + 1)
    except OSError as error:
        raise source.error(f"extends = {base!r}: cannot be read: {error.strerror or error}", "", 0, "extends") from None
    return merged(below, raw), source


def set_value(raw: Plain, setting: str) -> None:
    """Carry out one `--set PATH=VALUE`: a path goes through tables by key, through arrays of tables by name or number.

    Raises ScenarioError.
    """
    path, equals, text = setting.partition("=")
    where = f"--set {setting}"
    if not equals or not path:
        raise ScenarioError(f"{where}: give a path and a value, such as members.app.count=5")
    keys = re.split(r"\.", path.strip(), maxsplit=2)
    if keys[0] not in TABLES and len(keys) > 1:
        raise ScenarioError(f"{where}: there is no table {keys[0]}{_instead(keys[0], [name for name in TABLES if name])}")
    target: Any = raw
    if len(keys) > 1:
        table = TABLES[keys[0]]
        target = raw.setdefault(keys[0], [] if table.several else {})
        if keys[0] == "parameters" and path.strip().partition(".")[2] not in target:
            raise ScenarioError(f"{where}: there is no such parameter; [parameters] has {', '.join(target) or 'none'}")
        if table.several:
            target = _element(target, keys[1], where, keys[0])
            keys = keys[1:]
        if len(keys) < 2:
            raise ScenarioError(f"{where}: which key of {path}?")
        target = _inner(target, ".".join(keys[1:]))
    else:
        target = target, keys[0]
    target[0][target[1]] = value_of(text)


def _inner(target: Plain, path: str) -> tuple[Plain, str]:
    """Where a path within a table ends: settings are tables of their own, whose keys may have dots."""
    first, dot, rest = path.partition(".")
    return (target.setdefault(first, {}), rest) if dot else (target, first)


def _element(array: list[Plain], key: str, where: str, table: str) -> Plain:
    named = [each for each in array if each.get("name") == key]
    if named:
        return named[0]
    if key.isdecimal() and 1 <= int(key) <= len(array):
        return array[int(key) - 1]
    names = [str(each.get("name", number)) for number, each in enumerate(array, 1)]
    raise ScenarioError(f"{where}: {table} has no {key}; there are {', '.join(names) or 'none'}")


def value_of(text: str) -> Any:
    """A value as TOML would read it, or else the text itself."""
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _checked(raw: Plain, source: Source) -> Plain:
    top = TABLES[""]
    for key in raw:
        if key not in top.keys and key not in TABLES:
            raise source.error(f"{key} is no key of a scenario{_instead(key, [*top.keys, *(name for name in TABLES if name)])}", "", 0, key)
    plain = _table({key: value for key, value in raw.items() if key in top.keys}, top, source, "", 0)
    for name, table in TABLES.items():
        if not name:
            continue
        given = raw.get(name, [] if table.several else {})
        if table.several:
            if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
                raise source.error(f"{name} is an array of tables: write [[{name}]]", name, 0)
            plain[name] = [_table(each, table, source, name, index) for index, each in enumerate(given)]
        else:
            if not isinstance(given, dict):
                raise source.error(f"{name} is a table: write [{name}]", name, 0, name)
            plain[name] = _table(given, table, source, name, 0)
    plain["lines"] = {name: source.place(name) for name in TABLES if name and not TABLES[name].several} | {
        f"{name} {index}": source.place(name, index) for name in ("churn", "faults") for index in range(len(plain[name]))}
    return plain


def _table(given: Plain, table: Table, source: Source, name: str, index: int) -> Plain:
    for key, value in given.items():
        if key in table.keys:
            continue
        if not table.others:
            raise source.error(f"{key} is no key of {name or 'a scenario'}{_instead(key, table.keys)}", name, index, key)
        if table.others == "count" and (type(value) is not int or value < 1):
            raise source.error(f"{key} = {value!r}: give a whole number from 1 on", name, index, key)
    plain = {key: value for key, value in given.items() if key not in table.keys}
    for key, spec in table.keys.items():
        if key not in given and spec.required:
            raise source.error(f"{key} is missing in [[{name}]]: {spec.doc}", name, index)
        value = given.get(key, spec.default)
        plain[key] = value if value is None else _value(key, value, spec, source, name, index)
    return plain


def _value(key: str, value: Any, spec: Key, source: Source, name: str, index: int) -> Any:
    read: Any = None
    match spec.kind:
        case "text" if isinstance(value, str):
            read = value
        case "count" if type(value) is int and value >= 0:
            read = value
        case "flag" if isinstance(value, bool):
            read = value
        case "duration":
            read = duration_ms(value)
        case "range":
            ends = [duration_ms(each) for each in (value if isinstance(value, list) else [value, value])]
            if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]:
                read = (ends[0], ends[1])
        case "names" if isinstance(value, str):
            read = tuple(part.strip() for part in value.split(","))
        case "names" if isinstance(value, list) and all(isinstance(each, str) for each in value):
            read = tuple(value)
        case "settings" if isinstance(value, dict):
            read = _flat(value)
    if read is None:
        raise source.error(f"{key} = {value!r}: give {WHAT_KINDS_TAKE[spec.kind]}", name, index, key)
    if spec.choices and read not in spec.choices:
        raise source.error(f"{key} = {value!r}: one of {', '.join(spec.choices)}", name, index, key)
    return read


def _flat(settings: Plain, before: str = "") -> dict[str, str]:
    """Kafka's dotted names, which TOML reads as nested tables unless they are quoted."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{before}{key}."))
        else:
            flat[before + key] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat


def _instead(word: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(word, names, 1)
    return f": did you mean {close[0]}?" if close else f": its keys are {', '.join(names)}"
