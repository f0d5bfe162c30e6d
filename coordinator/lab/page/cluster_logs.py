"""Logs of another cluster, dropped on the page or pasted: the diagnosis of `coordinator diagnose`
as plain values.

The format is that of `--json` (docs/diagnose.md), with the lines that it refers to. Ranking and
wording are left to `coordinator/clusters/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from coordinator.base.printable import shortened
from coordinator.clusters.diagnosis import Diagnosis, diagnose_texts
from coordinator.clusters.output import seen_log
from coordinator.clusters.output.frame import as_plain, quoted
from coordinator.clusters.output.redaction import Redaction
from coordinator.clusters.reading import LOOKED_FOR
from coordinator.events import EventLog
from coordinator.events.reader import read_lines
from coordinator.events.seen import cause

from .picture import Picture

Plain = dict[str, Any]
MOST_CHARACTERS: Final = 16 << 20
"""A browser's WebAssembly reads some megabytes in a few seconds."""
_LONGEST: Final = 600


class LogsError(ValueError):
    """Logs that the page cannot diagnose."""


def told(files: Sequence[Plain]) -> Plain:
    """Return `frame`, `quotes` (file, line, text of what shows it), `causes` (each rebalance's
    sentence, by group) and `picture` (what is drawn of an event log that tells the same).

    `files`: `name` and `text` of each. Raises LogsError if nothing in them is understood, or if
    they are too long.
    """
    size = sum(len(file["text"]) for file in files)
    if size > MOST_CHARACTERS:
        raise LogsError(
            f"These files have {size >> 20} MB, more than a page reads: `coordinator diagnose FILES` tells them."
        )
    found = diagnose_texts((file["name"], file["text"]) for file in files)
    if not any(report.understood for report in found.reports.values()):
        shapes = [
            f"{count} x {shortened(shape, 100)}"
            for report in found.reports.values()
            for shape, count in report.shapes.most_common(3)
        ]
        raise LogsError(
            f"Nothing in this is understood. Looked for: {LOOKED_FOR}. Most frequent: {'; '.join(shapes[:3]) or 'nothing'}."
        )
    redaction = Redaction(found.groups, on=False)
    return {
        "frame": as_plain(found, redaction),
        "quotes": [
            [file, line, shortened(text, _LONGEST)] for (file, line), text in quoted(found).items()
        ],
        "causes": {
            name: [cause(each.cause, each.member) for each in story.rebalances]
            for name, story in found.groups.items()
        },
        "picture": _picture(found, redaction),
    }


def _picture(found: Diagnosis, redaction: Redaction) -> Plain:
    log = EventLog(epoch_ms=seen_log.first_instant(found), kafka_version=seen_log.RELEASE)
    seen_log.write(log, found, redaction)
    return Picture(read_lines((f"{line}\n" for line in log.lines), "diagnosis")).plain()
