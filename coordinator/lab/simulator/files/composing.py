"""Scenario files that build on others: `extends`, and `[parameters]` that stand for values.

Tables are merged key by key; `[[members]]`, `[[groups]]` and `[[producers]]` by their names;
other arrays one after the other. This module must not know what the keys mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

Plain = dict[str, Any]
Load = Callable[[str, str], tuple[str, str]]
"""Given what `extends` says and the name of the file that says it: the other file's text and name.
"""
_WHOLE = re.compile(r"\$(\w+)")
_WITHIN = re.compile(r"\$\{(\w+)\}")
MOST_BASES = 10
_BY_NAME = ("members", "groups", "producers")


class ComposingError(ValueError):
    """A parameter that there is not, and which key of which table asks for it."""

    def __init__(self, text: str, table: str = "", index: int = 0, key: str = "") -> None:
        super().__init__(text)
        self.table, self.index, self.key = table, index, key


def merged(base: Plain, own: Plain) -> Plain:
    """`own` on top of `base`. Elements of arrays keep their order: those of the base come first."""
    result = dict(base)
    for key, value in own.items():
        before = result.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            result[key] = merged(before, value)
        elif (
            isinstance(value, list)
            and isinstance(before, list)
            and all(isinstance(each, dict) for each in (*before, *value))
        ):
            result[key] = _merged_arrays(before, value) if key in _BY_NAME else [*before, *value]
        else:
            result[key] = value
    return result


def _merged_arrays(base: list[Plain], own: list[Plain]) -> list[Plain]:
    result = list(base)
    for each in own:
        at = next(
            (
                at
                for at, other in enumerate(result)
                if "name" in each and other.get("name") == each["name"]
            ),
            None,
        )
        if at is None:
            result.append(each)
        else:
            result[at] = merged(result[at], each)
    return result


def with_parameters(raw: Plain) -> Plain:
    """Return the values with every "$name" replaced by the parameter's value, and every
    "${name}" within a text. Raises ComposingError."""
    given = raw.get("parameters", {})
    parameters: Plain = given if isinstance(given, dict) else {}

    def value(name: str) -> Any:
        if name not in parameters:
            close = get_close_matches(name, parameters, 1)
            known = (
                f"did you mean {close[0]}?"
                if close
                else f"[parameters] has {', '.join(parameters) or 'none'}"
            )
            raise ComposingError(f"${name}: there is no such parameter: {known}")
        return parameters[name]

    def filled(what: Any) -> Any:
        if isinstance(what, dict):
            return {key: filled(inner) for key, inner in what.items()}
        if isinstance(what, list):
            return [filled(inner) for inner in what]
        if not isinstance(what, str):
            return what
        whole = _WHOLE.fullmatch(what)
        return value(whole[1]) if whole else _WITHIN.sub(lambda match: str(value(match[1])), what)

    def table(name: str, index: int, given: Plain) -> Plain:
        result = {}
        for key, inner in given.items():
            if "$" in key:
                right = f"parameters stand for values, not for names of keys: write {key} out"
                raise ComposingError(right, name, index, key)
            try:
                result[key] = filled(inner)
            except ComposingError as error:
                raise ComposingError(f"{key}: {error}", name, index, key) from None
        return result

    result: Plain = table(
        "", 0, {key: inner for key, inner in raw.items() if not _is_tables(inner)}
    )
    for name, inner in raw.items():
        if name == "parameters":
            result[name] = inner
        elif isinstance(inner, dict):
            result[name] = table(name, 0, inner)
        elif _is_tables(inner):
            result[name] = [table(name, index, each) for index, each in enumerate(inner)]
    return {name: result[name] for name in raw}


def check_parameters_used(raw: Plain) -> None:
    """Check that each parameter is used; an unused one is probably misspelt. Raises
    ComposingError."""
    below = {name: inner for name, inner in raw.items() if name != "parameters"}
    used = _named_in(below)
    unused = next((name for name in raw.get("parameters", {}) if name not in used), None)
    if unused is not None:
        raise ComposingError(
            f"{unused}: nothing below says ${unused}: use it, or leave it out",
            "parameters",
            0,
            unused,
        )


def _named_in(what: Any) -> set[str]:
    """Return the parameters that texts name."""
    if isinstance(what, str):
        whole = _WHOLE.fullmatch(what)
        return {whole[1]} if whole else set(_WITHIN.findall(what))
    inner = what.values() if isinstance(what, dict) else what if isinstance(what, list) else ()
    return {name for each in inner for name in _named_in(each)}


def _is_tables(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    )
