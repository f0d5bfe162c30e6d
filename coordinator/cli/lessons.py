"""The command `coordinator lessons`: its options and exit status. Lessons are read by
`coordinator/lab/page/lessons`; the server itself is `coordinator/lab/page/server.py`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from . import Subparsers, UsageError
from .watch import port, serve_until_signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coordinator.lab.page.lessons import Lesson

DESCRIPTION: Final = """Look at the lessons that `make site` built, or at lessons of your own.

DIR is a folder that holds a built site. `check` plays the lessons of TOML files and says whether
each holds together, with the facts of its run; `serve` shows them as a site; `build` writes that
site into a folder, for any static host. What is shown is served on loopback until Ctrl-C: a browser
loads the parts of a page only from a server. A file that is no lesson, or a folder without the site:
what, where, what would be right; status 2."""

_TAKES: Final = {"check": (), "serve": ("port", "beside"), "build": ("out", "beside")}
"""The options that each action on a lesson's files takes, by the name of the action."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `lessons`."""
    parser = subparsers.add_parser(
        "lessons",
        help="show lessons in a browser; check and build lessons of your own",
        description=DESCRIPTION,
        usage="coordinator lessons [--port PORT] DIR\n"
        "       coordinator lessons check FILE...\n"
        "       coordinator lessons serve [--port PORT] [--beside SITE] FILE...\n"
        "       coordinator lessons build --out DIR [--beside SITE] FILE...",
        allow_abbrev=False,
    )
    parser.add_argument(
        "what",
        metavar="DIR",
        help="the folder with the built site, such as build/site; or `check`, `serve` or `build`",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="lessons of your own, TOML files")
    parser.add_argument(
        "--port",
        type=port,
        metavar="PORT",
        help="listen on this port of 127.0.0.1 (default: a free one)",
    )
    parser.add_argument("--out", metavar="DIR", help="of `build`: the folder for the site")
    parser.add_argument(
        "--beside",
        metavar="SITE",
        help="of `serve` and `build`: the lessons come behind those of this built site, with its engine, which"
        " learners need to change a run (default: the lessons alone, with the recorded runs of their tries)",
    )


def run(args: Namespace) -> int:
    """Do it; 0, or 2 for a file that is no lesson and a folder that holds no site."""
    takes = _TAKES.get(args.what)
    if takes is None and args.files:
        ways = ", ".join(f"`{each} FILE...`" for each in _TAKES)
        raise UsageError(f"{args.what}: one folder alone, or {ways}")
    for option in ("port", "out", "beside"):
        if getattr(args, option) is not None and option not in (takes or ("port",)):
            those = [f"`{each}`" for each, options in _TAKES.items() if option in options]
            raise UsageError(f"--{option} is an option of {' and '.join(those)}")
    if takes is None:
        return _show(Path(args.what), args.port or 0)
    if not args.files:
        raise UsageError(f"{args.what}: which files? `{args.what} mine.toml` takes one")
    if args.what == "build" and args.out is None:
        raise UsageError("build: where to? `--out DIR` names the folder")
    beside = None if args.beside is None else Path(args.beside)
    lessons = _read(args.files, beside)
    if args.what == "check":
        return _check(lessons)
    if args.what == "build":
        _write(Path(args.out), lessons, beside)
        print(
            f"{args.out}: {', '.join(lesson.slug for lesson in lessons)}; `coordinator lessons {args.out}` shows it"
        )
        if beside is None:
            print(
                "it has no engine, which learners need to change a run: `--beside SITE` takes that of a site built by `make site`"
            )
        return 0
    with TemporaryDirectory(prefix="lessons-") as folder:
        _write(Path(folder), lessons, beside)
        index = (
            "index.html" if len(lessons) > 1 or beside is not None else f"{lessons[0].slug}.html"
        )
        return _serve(Path(folder), args.port or 0, index, ", ".join(args.files))


def _read(names: Sequence[str], beside: Path | None) -> list[Lesson]:
    from coordinator.lab.page.lessons import LessonError, slugs
    from coordinator.lab.page.lessons.own import read_files
    from coordinator.lab.page.site.own import SiteError, check_built

    try:
        if beside is None:
            return read_files(names)
        check_built(beside)
        ours = slugs()
        return read_files(names, ours, len(ours))
    except (LessonError, SiteError) as error:
        raise UsageError(str(error)) from None


def _check(lessons: Sequence[Lesson]) -> int:
    """Say what each lesson came to: the right option, and each fact."""
    for lesson in lessons:
        right = next(each.text for each in lesson.options if each.id == lesson.answer)
        print(f"{lesson.slug}: {lesson.title}")
        print(f"  right: {lesson.answer} ({right})")
        print(f"  marked at {lesson.truth_ms / 1000:g} s: {lesson.truth}")
        for name in lesson.named:
            print(f"  {name} = {lesson.facts[name]}")
        for each in lesson.tries:
            print(f"  try {each.id}: {each.says}")
    return 0


def _write(target: Path, lessons: Sequence[Lesson], beside: Path | None) -> None:
    from coordinator.lab.page.site.own import SiteError, write_own_site

    try:
        write_own_site(target, lessons, beside)
    except SiteError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        where = error.filename or target
        raise UsageError(f"cannot write {where}: {error.strerror or error}") from None


def _show(root: Path, at_port: int) -> int:
    if not (root / "site.json").is_file():
        raise UsageError(
            f"{root} holds no built site (there is no site.json in it); in a checkout, `make site` builds one into build/site"
        )
    return _serve(root, at_port, "index.html", str(root))


def _serve(root: Path, at_port: int, index: str, what: str) -> int:
    from coordinator.lab.page.server import PageServer

    try:
        server = PageServer("127.0.0.1", at_port, root, index)
    except OSError as error:
        raise UsageError(
            f"--port {at_port}: cannot listen there: {error.strerror or error}; --port 0 takes a free one"
        ) from None
    serve_until_signal(server, f"{what} on {server.url}")
    return 0
