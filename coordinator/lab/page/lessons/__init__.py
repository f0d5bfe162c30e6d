"""The lessons: one TOML file each, with a scenario, a question, and texts whose facts the engine
computes.

`load` reads one of ours, `read` (in `reading`) the text of any; both play its scenario and fill the
facts in, so that no number in a text is written by hand. Raises LessonError for a file that is no
lesson. Does not depend on the page that shows it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from .answers import ANSWERS
from .model import SEED as SEED
from .model import Lesson as Lesson
from .model import Option as Option
from .model import Try as Try
from .places import LessonError as LessonError
from .reading import Computed, read
from .trying import TRIES


def slugs() -> list[str]:
    """The lessons in their order, such as `01_leader_dies`."""
    there = [each.name for each in files(__package__).iterdir()]
    return sorted(name.removesuffix(".toml") for name in there if name.endswith(".toml"))


@cache
def load(slug: str) -> Lesson:
    """Return a lesson of ours, played and filled in, once in a process. Raises LessonError."""
    try:
        text = files(__package__).joinpath(f"{slug}.toml").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LessonError(f"there is no lesson {slug}; they are {', '.join(slugs())}") from None
    computed = None
    if slug in ANSWERS:
        tries = {each: facts for (of, each), facts in TRIES.items() if of == slug}
        computed = Computed(ANSWERS[slug], tries)
    return read(text, f"{slug}.toml", slug, int(slug[:2]), computed)
