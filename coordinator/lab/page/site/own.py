"""A site of a reader's own lessons: alone, or beside ours in a copy of a site that `make site` built.

Alone, the lessons and their tries are there as recorded runs; a change of the learner's own needs
the engine, Python as WebAssembly, which only a built site has. Raises SiteError.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from coordinator.base.version import __version__

from ..lessons import Lesson
from .files import write_assets, write_lesson, write_worker
from .pages import card, glossary, own_index_page
from .still import still

MARK: Final = "site.json"
"""Every site has this file. It says which version made the site."""
_WITHOUT_ENGINE: Final = """\
// The worker of a site without an engine: it answers every question with what is missing.
self.onmessage = ({ data }) => self.postMessage({ id: data.id, error: "This site has the recorded runs alone. To change a run, "
  + "its author adds the engine: coordinator lessons build --beside SITE, with a site that was built by make site." });
"""
_TO_ALL: Final = ("index.html", "All lessons")


class SiteError(ValueError):
    """A folder cannot be written or used; the message says which, why, and what to do."""


def check_built(site: Path) -> None:
    """Check that a folder holds a site with an engine, built by this version."""
    if not (site / MARK).is_file():
        raise SiteError(
            f"{site} holds no built site (there is no {MARK} in it); in a checkout, `make site` builds one into build/site"
        )
    version = json.loads((site / MARK).read_text(encoding="utf-8")).get("version")
    if version != __version__:
        raise SiteError(
            f"{site} was built by version {version}, and this is {__version__}: build it anew with `make site`"
        )
    if not (site / "engine.zip").is_file():
        raise SiteError(
            f"{site} has no engine: it holds lessons of somebody's own; in a checkout, `make site` builds a site with one"
        )


def write_own_site(target: Path, lessons: Sequence[Lesson], beside: Path | None = None) -> None:
    """Write a site with these lessons into a folder: a new one, an empty one, or one that holds a
    site, which is replaced. `beside`: a built site, whose lessons and engine it has as well.

    Raises SiteError, before anything is written, and OSError.
    """
    if beside is not None:
        check_built(beside)
        if target.resolve() == beside.resolve():
            raise SiteError(f"{target} is the built site itself: give another folder")
    if target.exists() and not target.is_dir():
        raise SiteError(f"{target} is no folder")
    if target.is_dir() and any(target.iterdir()):
        if not (target / MARK).is_file():
            raise SiteError(
                f"{target} holds files that are no site (there is no {MARK} among them): give a new folder"
            )
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if beside is None:
        write_assets(target)
        (target / "worker.js").write_text(_WITHOUT_ENGINE, encoding="utf-8")
        (target / "index.html").write_text(own_index_page(lessons), encoding="utf-8")
        said = json.dumps({"product": "coordinator", "version": __version__})
        (target / MARK).write_text(said, encoding="ascii")
    else:
        shutil.copytree(beside, target, dirs_exist_ok=True)
        _add_cards(target / "index.html", lessons)
    slugs = [None, *(lesson.slug for lesson in lessons), None]
    for at, lesson in enumerate(lessons):
        write_lesson(target, lesson, still(lesson), slugs[at], slugs[at + 2], _words(), _TO_ALL)
    if beside is not None:
        write_worker(target)


def _add_cards(index: Path, lessons: Sequence[Lesson]) -> None:
    """Add cards to the front page of a built site, behind those that it has."""
    text = index.read_text(encoding="utf-8")
    before, end, after = text.rpartition("</ol>")
    cards = "\n".join(map(card, lessons))
    index.write_text(f"{before}\n{cards}{end}{after}", encoding="utf-8")


def _words() -> dict[str, str]:
    """Return the words of the glossary that this installation has, and their meanings."""
    packed = files(__package__).joinpath("glossary.md")
    if packed.is_file():
        return glossary(packed.read_text(encoding="utf-8"))
    checkout = Path(__file__).parents[4] / "docs" / "glossary.md"
    return glossary(checkout.read_text(encoding="utf-8")) if checkout.is_file() else {}
