"""Pictures of the shipped incidents, for the documentation: the window around what happens, drawn by the
page's own code, with its colours for light and for dark screens.

What is drawn of each incident stands in `tools/incident_views.py`; instants are those of its log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from coordinator.events.data import RecordsAppended
from coordinator.events.groups import OffsetsCommitted
from coordinator.events.line import Line
from coordinator.events.wire import RequestAnswered, RequestSeen
from coordinator.lab.page.picture import Picture
from tools.incident_views import VIEWS, Happens, View
from tools.page_site.__main__ import ROOT, draw
from tools.page_site.alone import as_file

FOLDER: Final = ROOT / "docs" / "incidents"
WIDTH: Final = 960


def pictures(logs: Iterable[tuple[str, Sequence[Line]]]) -> dict[str, str]:
    """By name of an incident: its picture as a whole SVG file, from its log."""
    names, asked = [], []
    for name, lines in logs:
        names.append(name)
        asked.append(_asked(VIEWS[name], lines))
    return {name: as_file(svg) for name, svg in zip(names, draw(asked), strict=True)}


def markdown(name: str) -> str:
    """The picture in a page."""
    return f"![{VIEWS[name].alt}](incidents/{name}.svg)"


def _asked(view: View, lines: Sequence[Line]) -> dict[str, object]:
    """What `draw` is told of one incident."""
    picture = Picture(lines).plain()
    low, high = view.from_s * 1000, view.to_s * 1000
    return {
        "picture": {**picture, "steps": []},
        "window": {"from": low, "to": high, "width": WIDTH, "horizon": high},
        "label": view.alt,
        "open": view.open,
        "compact": view.open is not None,
        "happens": sorted(_span(each, lines) for each in view.happens),
        "curve": _CURVES[view.curve](lines) if view.curve else None,
    }


def _span(happens: Happens, lines: Sequence[Line]) -> tuple[int, int, str]:
    """From the first line that begins it to the one that ends it."""
    begins = next(line for line in lines if _has(line, happens.begins))
    ends = [
        line.at_ms
        for line in lines
        if line.seq > begins.seq and happens.ends is not None and _has(line, happens.ends)
    ]
    until = (ends[-1] if happens.again else ends[0]) if ends else begins.at_ms
    return begins.at_ms, until, happens.says


def _has(line: Line, fields: dict[str, Any]) -> bool:
    """Return whether a line has these fields of its JSON; a member is named by its client."""
    if line.name != fields["type"]:
        return False
    plain = line.plain
    return all(
        str(plain.get(name)).startswith(f"{value}-")
        if name == "member"
        else plain.get(name) == value
        for name, value in fields.items()
    )


def _lag(lines: Iterable[Line]) -> dict[str, object]:
    """How many records are behind the committed offsets, at each instant at which that changes."""
    written: Counter[tuple[str, int]] = Counter()
    committed: Counter[tuple[str, int]] = Counter()
    steps: list[tuple[int, int]] = []
    for line in lines:
        if line.kind is RecordsAppended:
            appended: RecordsAppended = line.event
            topic = line.topic or ""
            if topic.startswith("__"):
                continue
            written[topic, line.partition or 0] = appended.last_offset + 1
        elif line.kind is OffsetsCommitted:
            done: OffsetsCommitted = line.event
            for row in done.offsets:
                committed[row.topic, row.partition] = row.offset
        else:
            continue
        steps.append((line.at_ms, written.total() - committed.total()))
    return {"name": "lag", "unit": "", "steps": steps}


def _commits(lines: Iterable[Line]) -> dict[str, object]:
    """How long each commit took to be answered, from when it was sent."""
    sent: dict[int, int] = {}
    steps: list[tuple[int, int]] = []
    for line in lines:
        if line.kind not in (RequestSeen, RequestAnswered):
            continue
        event: RequestSeen | RequestAnswered = line.event
        if event.api != "offset_commit":
            continue
        if isinstance(event, RequestSeen):
            sent[line.seq] = line.at_ms
        elif line.cause in sent:
            steps.append((line.at_ms, line.at_ms - sent[line.cause]))
    return {"name": "wait", "unit": " ms", "steps": steps}


_CURVES: Final = {"lag": _lag, "commits": _commits}
