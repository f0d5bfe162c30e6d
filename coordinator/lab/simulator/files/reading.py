"""Reads scenario files: TOML into checked plain values, with `--set` on top.

Each error says which file, which line, which key, and what would be right. This module must not
know what the values mean; `schema.py` has the keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, time
from difflib import get_close_matches
from typing import Any

from .composing import (
    MOST_BASES,
    ComposingError,
    Load,
    check_parameters_used,
    merged,
    with_parameters,
)
from .key_positions import Places
from .schema import MOST, TABLES, WHAT_KINDS_TAKE, Key, Table
from .times import KINDS, times

Plain = dict[str, Any]


class ScenarioError(ValueError):
    """A scenario is wrong; the message names the place in the file, the error, and the values
    that are right."""


def parse(text: str, name: str, settings: Iterable[str] = (), load: Load | None = None) -> Plain:
    """Return a scenario's checked values: durations in milliseconds, defaults filled in. `load`:
    returns the file that a scenario extends. Raises ScenarioError."""
    raw, places = raw_of(text, name, load)
    for setting in settings:
        set_value(raw, setting, places)
    _check_names(raw, places)
    try:
        plain = _checked(with_parameters(raw), places)
        check_parameters_used(raw)
        return plain
    except ComposingError as error:
        raise ScenarioError(
            f"{places.where(error.table, error.index).at(error.key)}: {error}"
        ) from None


def raw_of(text: str, name: str, load: Load | None = None, depth: int = 0) -> tuple[Plain, Places]:
    """Return a file's values on top of those that it extends, unchecked. Raises ScenarioError."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(
            f"{_toml_error(name, text, error)}; a scenario is a TOML file, see `coordinator scenarios list`"
        ) from None
    places = Places(text, name, raw)
    where = places.where().at("extends")
    base = raw.pop("extends", None)
    if base is None:
        return raw, places
    if not isinstance(base, str) or load is None:
        right = 'give a file beside this one, or a shipped scenario, such as "poisson_churn"'
        raise ScenarioError(f"{where}: extends = {base!r}: {right}")
    if depth == MOST_BASES:
        raise ScenarioError(
            f"{where}: extends = {base!r}: files extend each other in a circle, or more than {MOST_BASES} deep"
        )
    try:
        found = load(base, name)
    except ScenarioError as error:
        raise ScenarioError(f"{where}: extends = {base!r}: {error}") from None
    except OSError as error:
        raise ScenarioError(
            f"{where}: extends = {base!r}: cannot be read: {error.strerror or error}"
        ) from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{where}: extends = {base!r}: that is no text in UTF-8") from None
    below, base_places = raw_of(*found, load, depth + 1)
    return merged(below, raw), places.on_top_of(base_places)


def _toml_error(name: str, text: str, error: tomllib.TOMLDecodeError) -> str:
    """Return an error of TOML with its place, written as every other place."""
    said, _, place = str(error).rpartition(" (at ")
    numbers = re.fullmatch(r"line (\d+), column (\d+)\)", place)
    if numbers is None:  # at the end of the document
        return f"{name}, line {text.count(chr(10)) + 1}: {said or error}: the file ends here"
    return f"{name}, line {numbers[1]}, column {numbers[2]}: {said}"


def set_value(raw: Plain, setting: str, places: Places | None = None) -> None:
    """Carry out one `--set PATH=VALUE`. A path goes through tables by key, through arrays of tables
    by name or number. `places` gets the setting's place, for later errors.

    Raises ScenarioError.
    """
    path, equals, text = setting.partition("=")
    where = f"--set {setting}"
    if not equals or not path:
        raise ScenarioError(f"{where}: give a path and a value, such as members.app.count=5")
    keys = path.strip().split(".", 2)
    if keys[0] == "topics":  # their names may have dots
        keys = path.strip().split(".", 1)
    if path.strip() == "extends":
        raise ScenarioError(f"{where}: what a file extends only it can say: give another FILE")
    if len(keys) > 1 and (not keys[0] or keys[0] not in TABLES):
        raise ScenarioError(
            f"{where}: there is no table {keys[0]}{_instead(keys[0], [name for name in TABLES if name])}"
        )
    target: Any = raw
    index, inner = 0, keys[0]
    if len(keys) > 1:
        table = TABLES[keys[0]]
        target = raw.setdefault(keys[0], [] if table.several else {})
        if not (isinstance(target, list) if table.several else isinstance(target, dict)):
            raise ScenarioError(f"{where}: {keys[0]} is {_shape(keys[0], table)}")
        if keys[0] == "parameters" and path.strip().partition(".")[2] not in target:
            raise ScenarioError(
                f"{where}: there is no such parameter; [parameters] has {', '.join(target) or 'none'}"
            )
        if table.several:
            target, index = _element(target, keys[1], where, keys[0])
        name, inner = keys[0], ".".join(keys[2:] if table.several else keys[1:])
        if not inner:
            raise ScenarioError(f"{where}: which key of {path}?")
        if places is not None:
            places.note(name, index, inner, where)
        target = (target, inner) if keys[0] == "topics" else _inner(target, inner, where)
    else:
        if places is not None:
            places.note("", 0, inner, where)
        target = target, keys[0]
    if not isinstance(target[0], dict):
        raise ScenarioError(f"{where}: config is a table of texts, numbers and flags")
    target[0][target[1]] = value_of(text)


def _shape(name: str, table: Table) -> str:
    """Return how a table is written in a file."""
    return f"an array of tables: write [[{name}]]" if table.several else f"a table: write [{name}]"


def _inner(target: Plain, path: str, where: str) -> tuple[Plain, str]:
    """Return the table in which a path ends, and the last key: settings are tables of their own,
    whose keys may have dots."""
    first, dot, rest = path.partition(".")
    if not dot:
        return target, first
    if first != "config" or not rest:
        raise ScenarioError(f"{where}: {first} has no keys of its own: only config has")
    return target.setdefault(first, {}), rest


def _element(array: list[Plain], key: str, where: str, table: str) -> tuple[Plain, int]:
    """Return the element of an array that a path names, and its index."""
    named = [index for index, each in enumerate(array) if each.get("name") == key]
    if key.isdecimal() and 1 <= int(key) <= len(array):
        named.append(int(key) - 1)
    if named:
        return array[named[0]], named[0]
    names = [str(each.get("name", number)) for number, each in enumerate(array, 1)]
    raise ScenarioError(f"{where}: {table} has no {key}; there are {', '.join(names) or 'none'}")


def value_of(text: str) -> Any:
    """Return a value as TOML reads it, or else the text itself."""
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _wrong(places: Places, table: str, index: int, key: str, text: str) -> ScenarioError:
    return ScenarioError(f"{places.where(table, index).at(key)}: {text}")


def _check_names(raw: Plain, places: Places) -> None:
    known = [*TABLES[""].keys, *(name for name in TABLES if name)]
    for key in raw:
        if key not in known:
            raise _wrong(places, "", 0, key, f"{key} is no key of a scenario{_instead(key, known)}")


def _checked(raw: Plain, places: Places) -> Plain:
    top = TABLES[""]
    plain = _table(
        {key: value for key, value in raw.items() if key in top.keys}, top, places, "", 0
    )
    for name, table in TABLES.items():
        if not name:
            continue
        given = raw.get(name, [] if table.several else {})
        if table.several:
            if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
                raise _wrong(places, "", 0, name, f"{name} is {_shape(name, table)}")
            plain[name] = [
                _table(each, table, places, name, index) for index, each in enumerate(given)
            ]
        else:
            if not isinstance(given, dict):
                raise _wrong(places, "", 0, name, f"{name} is {_shape(name, table)}")
            plain[name] = _table(given, table, places, name, 0)
    plain["places"] = places
    return plain


def _table(given: Plain, table: Table, places: Places, name: str, index: int) -> Plain:
    for key, value in given.items():
        if key in table.keys:
            continue
        if not table.others:
            raise _wrong(
                places,
                name,
                index,
                key,
                f"{key} is no key of {name or 'a scenario'}{_instead(key, table.keys)}",
            )
        if table.others == "count" and (type(value) is not int or value < 1):
            if isinstance(value, dict) and value:
                dotted, given_ = next(
                    ((f"{key}.{inner}", each) for inner, each in _leaves(value)), (key, value)
                )
                right = (
                    f"{key} has a number alone, as {key} = 3; "
                    f'a name with dots is written in quotation marks: "{dotted}" = 3'
                )
                raise _wrong(places, name, index, dotted, f"{dotted} = {given_!r}: {right}")
            raise _wrong(
                places, name, index, key, f"{key} = {_shown(value)}: give a whole number from 1 on"
            )
    plain = {key: value for key, value in given.items() if key not in table.keys}
    for key, spec in table.keys.items():
        if key not in given and spec.required:
            raise _wrong(places, name, index, "", f"{key} is missing in [[{name}]]: {spec.doc}")
        value = given.get(key, spec.default)
        plain[key] = value if value is None else _value(key, value, spec, places, name, index)
    return plain


def _value(key: str, value: Any, spec: Key, places: Places, name: str, index: int) -> Any:
    read: Any = None
    match spec.kind:
        case "text" if isinstance(value, str):
            read = value
        case "count" if type(value) is int and 0 <= value <= MOST:
            read = value
        case "flag" if isinstance(value, bool):
            read = value
        case "probability" if type(value) in (int, float) and 0 <= value <= 1:
            read = value
        case kind if kind in KINDS:
            read = times(kind, value)
        case "names" if isinstance(value, str):
            read = tuple(part.strip() for part in value.split(","))
            read = None if "" in read else read
        case "names" if isinstance(value, list) and all(
            isinstance(each, str) and each for each in value
        ):
            read = tuple(value)
        case "settings" if isinstance(value, dict):
            for setting, given in _leaves(value):
                if not isinstance(given, str | int | float):
                    right = "give a text, a number, true or false; several are one text with commas"
                    place = places.where(name, index).at(f"{key}.{setting}")
                    raise ScenarioError(f"{place}: {setting} = {_shown(given)}: {right}")
            read = {
                setting: str(given).lower() if isinstance(given, bool) else str(given)
                for setting, given in _leaves(value)
            }
    if read is None:
        raise _wrong(
            places, name, index, key, f"{key} = {_shown(value)}: give {WHAT_KINDS_TAKE[spec.kind]}"
        )
    if (
        spec.choices
        and read not in spec.choices
        and not (spec.others and re.fullmatch(spec.others, read))
    ):
        right = ", ".join(spec.choices) + (f", or such as {spec.such_as}" if spec.such_as else "")
        raise _wrong(places, name, index, key, f"{key} = {value!r}: one of {right}")
    return read


def _leaves(settings: Plain, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield settings with Kafka's dotted names, which TOML reads as nested tables unless they
    are quoted."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield before + key, value


def _shown(value: Any) -> str:
    """Return a value as TOML writes it; Python writes flags and dates in another way."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date | time) else repr(value)


def _instead(word: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(word, names, 1)
    return f": did you mean {close[0]}?" if close else f": its keys are {', '.join(names)}"
