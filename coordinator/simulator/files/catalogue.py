"""The scenarios that come with the package: one TOML file each, whose header says what it
teaches."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files

from .reading import ScenarioError


def names() -> list[str]:
    """Their names, sorted."""
    there = [each.name for each in files(__package__).joinpath("scenarios").iterdir()]
    return sorted(name.removesuffix(".toml") for name in there if name.endswith(".toml"))


def text(name: str) -> str:
    """A scenario's file. Raises ScenarioError that names what there is."""
    known = names()
    if name not in known:
        close = get_close_matches(name, known, 1)
        raise ScenarioError(
            f"there is no scenario {name}{f': did you mean {close[0]}?' if close else ': they are ' + ', '.join(known)}"
        )
    return files(__package__).joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")
