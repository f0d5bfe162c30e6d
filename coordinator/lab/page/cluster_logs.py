"""Logs of another cluster, dropped on the page or pasted: the diagnosis of `coordinator diagnose`
as plain values.

The format is that of `--json` (docs/diagnose.md), with the lines that it refers to. Ranking and
wording are left to `coordinator/clusters/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from coordinator.base.printable import shortened
from coordinator.clusters.diagnosis import diagnose_texts
from coordinator.clusters.output.frame import as_plain, quoted
from coordinator.clusters.output.redaction import Redaction
from coordinator.clusters.reading import LOOKED_FOR
from coordinator.events.seen import cause

Plain = dict[str, Any]
MOST_CHARACTERS: Final = 16 << 20
"""A browser's WebAssembly reads some megabytes in a few seconds."""
_LONGEST: Final = 600


class LogsError(ValueError):
    """Logs that the page cannot diagnose."""


def told(files: Sequence[Plain]) -> Plain:
    """Return `frame`, `quotes` (file, line, text of what shows it) and `causes` (each rebalance's
    sentence, by group). `files`: `name` and `text` of each. Raises LogsError if nothing in them is
    understood, or if they are too long."""
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
    return {
        "frame": as_plain(found, Redaction(found.groups, on=False)),
        "quotes": [
            [file, line, shortened(text, _LONGEST)] for (file, line), text in quoted(found).items()
        ],
        "causes": {
            name: [cause(each.cause, each.member) for each in story.rebalances]
            for name, story in found.groups.items()
        },
    }
