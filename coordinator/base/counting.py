"""Counts in texts for people: "1 commit was refused", "2 commits were refused"."""

from __future__ import annotations


def how_many(count: int, noun: str, verb: str = "") -> str:
    """Return a count with its noun, and a verb that agrees with it: `how_many(1, "commit",
    "were")` is "1 commit was".

    `verb` is given in the plural: are, were, have, or one that is the same in both numbers.
    """
    one = count == 1
    text = f"{count} {noun if one else f'{noun}s'}"
    return f"{text} {_SINGULAR.get(verb, verb) if one else verb}" if verb else text


_SINGULAR = {"are": "is", "were": "was", "have": "has"}
