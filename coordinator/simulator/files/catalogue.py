"""The scenarios that come with the package: one TOML file each, whose header says what it teaches.

Those of `incidents/` are what happens to consumers in real life; the others are of one thing each.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files

from .reading import ScenarioError


def names() -> list[str]:
    """The names of those about one thing, sorted."""
    return _there("scenarios")


def incidents() -> list[str]:
    """The names of the incidents, sorted."""
    return _there("incidents")


def _there(folder: str) -> list[str]:
    there = [each.name for each in files(__package__).joinpath(folder).iterdir()]
    return sorted(name.removesuffix(".toml") for name in there if name.endswith(".toml"))


def text(name: str) -> str:
    """A scenario's file. Raises ScenarioError that names what there is."""
    known = names() + incidents()
    if name not in known:
        close = get_close_matches(name, known, 1)
        raise ScenarioError(
            f"there is no scenario {name}{f': did you mean {close[0]}?' if close else ': they are ' + ', '.join(known)}"
        )
    folder = "scenarios" if name in names() else "incidents"
    return files(__package__).joinpath(folder, f"{name}.toml").read_text(encoding="utf-8")
