"""The scenarios that come with the package: one TOML file each, whose header says what it
teaches. Those in `incidents/` happen to consumers in real life; each of the others shows one
thing."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from .reading import ScenarioError


def names() -> list[str]:
    """Return the names of the scenarios about one thing, sorted."""
    return sorted(_texts("scenarios"))


def incidents() -> list[str]:
    """Return the names of the incidents, sorted."""
    return sorted(_texts("incidents"))


def text(name: str) -> str:
    """Return the text of a shipped scenario's file. Raises ScenarioError that lists the names of
    all."""
    found = _texts("scenarios").get(name) or _texts("incidents").get(name)
    if found is None:
        known = names() + incidents()
        close = get_close_matches(name, known, 1)
        raise ScenarioError(
            f"there is no scenario {name}{f': did you mean {close[0]}?' if close else ': they are ' + ', '.join(known)}"
        )
    return found


@cache
def _texts(folder: str) -> dict[str, str]:
    """Return the files of one folder, by the name of the scenario."""
    there = (files(__package__) / folder).iterdir()
    return {
        each.name.removesuffix(".toml"): each.read_text(encoding="utf-8")
        for each in there
        if each.name.endswith(".toml")
    }
