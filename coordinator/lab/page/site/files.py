"""Writes the files of a site: a lesson with its recorded runs, and the service worker that keeps
them. Their bytes depend on nothing but what they hold."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from ..lessons import Lesson
from ..server import assets
from .pages import lesson_page


def write_lesson(
    target: Path,
    lesson: Lesson,
    svg: str,
    before: str | None,
    following: str | None,
    words: Mapping[str, str],
    after: tuple[str, str],
) -> None:
    """Write a lesson's page, its run, and the run of each of its tries. The parameters are those of
    `lesson_page`."""
    plain = lesson.plain()
    page = lesson_page(lesson, svg, before, following, words, after)
    (target / f"{lesson.slug}.html").write_text(page, encoding="utf-8")
    write_packed(target / f"{lesson.slug}.json.gz", plain)
    for each in lesson.tries:
        write_packed(target / f"{lesson.slug}.{each.id}.json.gz", each.run(plain["picture"]))


def write_packed(path: Path, plain: object) -> None:
    """Write JSON values, packed."""
    write_gzipped(path, json.dumps(plain, separators=(",", ":")))


def write_gzipped(path: Path, text: str) -> None:
    """Write a text of ASCII alone, packed."""
    path.write_bytes(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))


def write_assets(target: Path) -> None:
    """Write the page's scripts and styles, without those of `coordinator watch`."""
    _copy(assets(), target)


def _copy(folder: Traversable, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for each in folder.iterdir():
        if each.is_dir():
            _copy(each, target / each.name)
        elif not each.name.startswith("watch.") and not each.name.endswith(".d.mts"):
            (target / each.name).write_bytes(each.read_bytes())


def write_worker(target: Path) -> None:
    """Tell the service worker of a site with an engine which files there are, and the name of their
    content."""
    files = sorted(path for path in target.rglob("*") if path.is_file() and path.name != "sw.js")
    content = hashlib.sha256()
    for path in files:
        content.update(f"{path.relative_to(target)} {path.stat().st_size}\n".encode())
        content.update(path.read_bytes())
    names = json.dumps([path.relative_to(target).as_posix() for path in files])
    source = assets().joinpath("sw.js").read_text(encoding="utf-8")
    source = source.replace('"unbuilt"', json.dumps(content.hexdigest()[:16]), 1)
    source = source.replace("/** @type {string[]} */ ([])", names, 1)
    engine = re.search(r"engine\.zip\?\w+", (target / "worker.js").read_text(encoding="utf-8"))
    assert engine is not None
    source = source.replace('"engine.zip"', json.dumps(engine[0]), 1)
    (target / "sw.js").write_text(source, encoding="utf-8")
