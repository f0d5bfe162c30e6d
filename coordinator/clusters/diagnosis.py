"""Files in, a diagnosis out: the work of `coordinator diagnose` without its options.
`reading.py` and `joining.py` do the steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .facts import Seen
from .joining import Window, told
from .lines.packed import Lines, Progress, UnreadableError, sources
from .reading import FileReader, FileReport
from .stories.people import People
from .stories.story import GroupStory

MOST_FACTS = 250_000
"""Number of facts that are kept; a log with more has many groups."""


class Diagnosis(NamedTuple):
    """A diagnosis. `unreadable`: a sentence for each file that could not be read."""

    reports: dict[str, FileReport]
    groups: dict[str, GroupStory]
    people: People
    unreadable: list[str]


def diagnose(
    paths: Iterable[str],
    *,
    zone: int | None = None,
    window: Window | None = None,
    group: str | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Read files (`-` is standard input) and return the stories of their groups.

    `zone`: minutes east of UTC, for time stamps without a zone. `window`: the instants of
    interest. `group`: drop the facts of other groups. `progress`: called with the progress of
    reading. A file that cannot be read raises nothing: `unreadable` names it.
    """
    reports: dict[str, FileReport] = {}
    seen: list[Seen] = []
    unreadable: list[str] = []
    for path in paths:
        try:
            for name, lines in sources(path, progress):
                _read(FileReader(name, zone, group), lines, reports, seen)
        except UnreadableError as error:
            unreadable.append(str(error))
    groups, people = told(seen, reports, window)
    return Diagnosis(reports, groups, people, unreadable)


def diagnose_text(text: str, name: str = "paste", *, zone: int | None = None) -> Diagnosis:
    """Diagnose one text in memory."""
    return diagnose_texts([(name, text)], zone=zone)


def diagnose_texts(texts: Iterable[tuple[str, str]], *, zone: int | None = None) -> Diagnosis:
    """Diagnose several texts in memory, each with its name."""
    reports: dict[str, FileReport] = {}
    seen: list[Seen] = []
    for name, text in texts:
        _read(FileReader(name, zone), iter(text.splitlines(keepends=True)), reports, seen)
    groups, people = told(seen, reports)
    return Diagnosis(reports, groups, people, [])


def _read(
    reader: FileReader, lines: Lines, reports: dict[str, FileReport], seen: list[Seen]
) -> None:
    reports[reader.report.name] = reader.report
    for each in reader.read(lines):
        seen.append(each)
        if len(seen) >= MOST_FACTS:
            raise UnreadableError(
                f"{reader.report.name}: not read behind line {each.evidence.line}: there are {MOST_FACTS} facts by then. "
                "Choose a group with --group"
            )
