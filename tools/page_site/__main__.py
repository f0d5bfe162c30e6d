"""`make site`: build the lessons into build/site, and the README's picture anew. Needs Node and
npm; package-lock.json pins by hash.

Every lesson is played here, its picture drawn once for readers without scripts, and stored, so that
stepping through it needs no engine. The engine (this package's sources and Pyodide) is fetched by a
browser only when a learner changes a run.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from html import escape
from pathlib import Path

from coordinator.base.version import __version__
from coordinator.lab.page.home import forks, home
from coordinator.lab.page.incident import incident
from coordinator.lab.page.lessons import load, slugs
from coordinator.lab.page.recorded import log as recorded_log
from coordinator.lab.page.recorded import recorded
from coordinator.lab.page.site.files import (
    write_assets,
    write_gzipped,
    write_lesson,
    write_packed,
    write_worker,
)
from coordinator.lab.page.site.pages import (
    INCIDENT,
    first_window,
    glossary,
    incident_page,
    index_page,
    open_page,
    sandbox_page,
)

from .alone import as_file
from .previews import NoChromiumError, write_preview

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
PICTURE = ROOT / "docs" / "page.svg"
SHOWN = "04_slowest_decides"
"""The lesson that the README shows."""
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
_NOT_IN_THE_ENGINE = tuple(
    ROOT / "coordinator" / folder
    for folder in (
        "adapters",
        "cli",
        "control",
        "emulator",
        "http",
        "kit/http",
        "lab/demo",
        "lab/page/assets",
        "lab/page/site",
        "lab/pipeline",
        "lab/reassign",
        "members/adapters",
        "members/live",
        "testing",
    )
)
"""Folders that no simulation and no picture in a browser imports."""
_ZERO = (1980, 1, 1, 0, 0, 0)


def main() -> int:
    """Build; 0, or 2 if Node is missing."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            print(
                f"{tool} is missing: the site needs Node >= 20 to be built (Debian: nodejs, npm)",
                file=sys.stderr,
            )
            return 2
    parser = argparse.ArgumentParser(prog="python -m tools.page_site", description=__doc__)
    parser.add_argument(
        "--base-url",
        metavar="URL",
        type=_address,
        help="where the site will stand: each lesson gets a picture of its own for link previews",
    )
    asked = parser.parse_args()
    target = ROOT / "build" / "site"
    try:
        build(target, asked.base_url or "")
    except NoChromiumError as error:
        print(error, file=sys.stderr)
        return 2
    PICTURE.write_text(readme_picture(), encoding="utf-8")
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(
        f"{target.relative_to(ROOT)}: {len(slugs())} lessons, {size / 1e6:.1f} MB; `coordinator lessons build/site` shows it"
    )
    return 0


def install() -> Path:
    """What npm brings, by the lock file; nothing is done if it is there. Processes that ask at once
    take turns."""
    wanted = HERE / "package-lock.json"
    stamp = HERE / "node_modules" / ".package-lock.json"
    with wanted.open("rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.stat().st_mtime < wanted.stat().st_mtime:
            subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=HERE, check=True)
            stamp.touch()
    return HERE / "node_modules"


def _address(text: str) -> str:
    """An address that ends with a slash."""
    if not re.match(r"https?://[^/\s]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as https://host/path/")
    return text.rstrip("/") + "/"


def build(target: Path, base_url: str = "") -> None:
    """Write the site into a directory, which is emptied before. `base_url`: where it will stand;
    with one, the pages name their preview pictures by their whole address."""
    modules = install()
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    write_assets(target)
    shutil.copy(HERE / "preview.png", target)
    shutil.copy(ROOT / "LICENSE", target / "vendor")
    (target / "pyodide").mkdir()
    for name in PYODIDE:
        shutil.copy(modules / "pyodide" / name, target / "pyodide" / name)
    write_engine(target / "engine.zip")
    version = hashlib.sha256((target / "engine.zip").read_bytes()).hexdigest()[:16]
    worker = (target / "worker.js").read_text(encoding="utf-8")
    worker = worker.replace("./engine.zip", f"./engine.zip?{version}")  # never an older site's
    (target / "worker.js").write_text(worker, encoding="utf-8")
    lessons = [load(slug) for slug in slugs()]
    drawn = draw(
        [
            {"picture": lesson.plain()["picture"], "window": first_window(lesson)}
            for lesson in lessons
        ]
    )
    words = glossary((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    for at, lesson in enumerate(lessons):
        following = lessons[at + 1].slug if at + 1 < len(lessons) else None
        before = lessons[at - 1].slug if at else None
        write_lesson(target, lesson, drawn[at], before, following, words, INCIDENT)
    begun = home()
    (still,) = draw([{"picture": begun["picture"], "now": begun["begins_ms"]}])
    (target / "index.html").write_text(index_page(lessons, still), encoding="utf-8")
    write_packed(target / "home.json.gz", begun)
    write_packed(target / "home.forks.json.gz", forks())
    read = recorded()
    window = {
        "from": 0,
        "to": read["picture"]["end_ms"],
        "width": 960,
        "horizon": read["picture"]["end_ms"],
    }
    (svg,) = draw([{"picture": read["picture"], "window": window}])
    (target / "incident.html").write_text(
        incident_page(svg, read["questions"], words, lessons[-1].slug), encoding="utf-8"
    )
    write_packed(target / "incident.json.gz", read)
    write_gzipped(target / "incident.jsonl.gz", recorded_log())
    write_gzipped(target / "simulated.jsonl.gz", incident())
    (target / "open.html").write_text(open_page(), encoding="utf-8")
    (target / "sandbox.html").write_text(sandbox_page(begun["scenario"]), encoding="utf-8")
    (target / "site.json").write_text(
        json.dumps({"product": "coordinator", "version": __version__}), encoding="ascii"
    )
    if base_url:
        for at, lesson in enumerate(lessons):
            picture = target / f"{lesson.slug}.png"
            write_preview(picture, f"{lesson.number}. {lesson.title}", lesson.asks, drawn[at])
        for page in sorted(target.glob("*.html")):
            own = page.with_suffix(".png")
            name = own.name if own.exists() else "preview.png"
            text = page.read_text(encoding="utf-8")
            text = text.replace('content="preview.png"', f'content="{escape(base_url + name)}"')
            page.write_text(text, encoding="utf-8")
    write_worker(target)


def draw(asked: list[dict[str, object]]) -> list[str]:
    """Pictures as SVG, by the very code that draws them in a browser."""
    command = ["node", str(HERE / "prerender.mjs")]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=True, cwd=HERE
    )
    drawn: list[str] = json.loads(done.stdout)
    return drawn


def readme_picture() -> str:
    """The whole run of a lesson as one SVG file, with the page's own colours."""
    lesson = load(SHOWN)
    low, high = lesson.window_ms
    window = {"from": low, "to": high, "width": 960, "horizon": high}
    (svg,) = draw([{"picture": lesson.plain()["picture"], "window": window}])
    return as_file(svg)


def write_engine(path: Path) -> None:
    """The sources that the engine imports, and the shipped scenarios, as a zip file whose bytes
    depend on nothing else."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for package in ("assignors", "coordinator"):
            for source in sorted((ROOT / package).rglob("*")):
                inside = source.relative_to(ROOT)
                if source.suffix in (".py", ".toml") and not any(
                    source.is_relative_to(folder) for folder in _NOT_IN_THE_ENGINE
                ):
                    archive.writestr(
                        zipfile.ZipInfo(inside.as_posix(), _ZERO),
                        source.read_bytes(),
                        zipfile.ZIP_DEFLATED,
                    )


if __name__ == "__main__":
    sys.exit(main())
