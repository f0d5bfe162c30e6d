"""What a story is, and the register of all of them.

A story says what members do, step by step, each step awaited before the next. Its docstring says
what it proves. Partitions are not named where assignors differ: the transcript has them. The
stories themselves stand in `stories/`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import NamedTuple

from integration_tests.clients.stage import Cast
from integration_tests.clients.variants import Variant

Play = Callable[[Cast], None]


class Story(NamedTuple):
    """A story, its name, and who can play it: `only` these and none of `unless`, by the names of
    libraries or variants."""

    name: str
    play: Play
    only: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def suits(self, variant: Variant) -> bool:
        """Can it be played so?"""
        names = {variant.name, variant.library}
        return (not self.only or not names.isdisjoint(self.only)) and names.isdisjoint(self.unless)


_STORIES: dict[str, Story] = {}


def story(*, only: tuple[str, ...] = (), unless: tuple[str, ...] = ()) -> Callable[[Play], Play]:
    """Register a story; where not all can play it, its docstring says why."""

    def register(play: Play) -> Play:
        _STORIES[play.__name__] = Story(play.__name__, play, only, unless)
        return play

    return register


def all_stories() -> dict[str, Story]:
    """Every story by name."""
    package = importlib.import_module("integration_tests.clients.stories")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"integration_tests.clients.stories.{module.name}")
    return dict(_STORIES)
