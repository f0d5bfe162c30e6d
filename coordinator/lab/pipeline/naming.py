"""Short names of variants for a reader: what differs between them, and once what they have in
common. Names in, names out.

Tables and CSV keep the full names; the short ones are for a page and its pictures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

AS_IT_IS: Final = "as it is"
_PREFIX: Final = re.compile(r"^members\.[^.=]+\.(config\.)?")


class Names(NamedTuple):
    """The names of variants, by their full names, and the settings that all of them have."""

    of: dict[str, str]
    common: list[str]


def names_of(variants: Sequence[str]) -> Names:
    """Return names that say what differs: `static=true` for `duration=4m
    members.app.static=true`. A full name stays if shorter ones would not be unique."""
    parts = {variant: _parts(variant) for variant in variants}
    every = list(parts.values())
    common = [part for part in every[0] if all(part in each for each in every)] if every[1:] else []
    own = {
        variant: [part for part in each if part not in common] for variant, each in parts.items()
    }
    short = {variant: " ".join(map(_shortened, each)) for variant, each in own.items()}
    if len(set(short.values())) < len(short):
        short = {variant: " ".join(each) for variant, each in own.items()}
    return Names({variant: name or AS_IT_IS for variant, name in short.items()}, common)


def _parts(variant: str) -> list[str]:
    """Return the settings of a variant: of a sweep `a=1 b=2`, of other tables the scenario and its
    settings as JSON."""
    scenario, bracket, rest = variant.partition(" [")
    if bracket and rest.endswith("]"):
        try:
            return [scenario, *map(str, json.loads(f"[{rest}"))]
        except ValueError:
            pass
    parts: list[str] = []
    for word in variant.split():
        if "=" in word or not parts:
            parts.append(word)
        else:  # of a value with a space
            parts[-1] += f" {word}"
    return parts


def _shortened(part: str) -> str:
    return _PREFIX.sub("", part)
