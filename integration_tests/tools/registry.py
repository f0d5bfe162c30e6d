"""Which stories there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from integration_tests.tools.shell import Play, Story

_STORIES: dict[str, Story] = {}


def story(profile: str = "plain", *, process: bool = False) -> Callable[[Play], Play]:
    """Register a function as a story named after its module and itself."""

    def register(play: Play) -> Play:
        name = f"{play.__module__.rsplit('.', 1)[-1]}.{play.__name__}"
        _STORIES[name] = Story(name, play, profile, process)
        return play

    return register


def all_stories() -> dict[str, Story]:
    """Every story by name."""
    package = importlib.import_module("integration_tests.tools.stories")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"integration_tests.tools.stories.{module.name}")
    return dict(_STORIES)
