"""Pictures of the shipped incidents, for the documentation: the window around what happens, drawn by the
page's own code, with its colours for light and for dark screens.

What is drawn of each incident stands in `tools/incident_views.py`; instants are those of its log.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from coordinator.page.picture import Picture
from tools.incident_views import VIEWS, Happens, View
from tools.page_site.__main__ import ROOT, draw

FOLDER: Final = ROOT / "docs" / "incidents"
WIDTH: Final = 960
_STYLE: Final = ROOT / "coordinator" / "page" / "assets" / "style.css"
_OWN: Final = (
    ".cause { fill: #f2c230; stroke: #4a3a00; stroke-width: 0.7; } svg .within { fill: #14202b; }"
    " .reach { stroke: var(--loss); stroke-width: 1; stroke-dasharray: 2 4; fill: none; }"
    " .commits { stroke: var(--ink); stroke-width: 4; stroke-linecap: round; fill: none; }"
    " .curve { fill: var(--faint); stroke: var(--line); }"
)
"""Rules of what only these pictures have: what happens, and a curve."""
_BLOCK: Final = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE: Final = re.compile(r"([^{}]+)\{([^{}]*)\}")
_BEATS: Final = re.compile(r'(?:<line class="mark beat" [^>]*/>)+')
_BEAT: Final = re.compile(r'<[^>]*x1="([^"]*)"[^>]*y1="([^"]*)" y2="([^"]*)"/>')
_COMMITS: Final = re.compile(r'(?:<circle class="mark commit" [^>]*/>)+')
_COMMIT: Final = re.compile(r'<[^>]*cx="([^"]*)" cy="([^"]*)"[^>]*/>')
_LINE: Final = r"M\1 \2V\3"
_DOT: Final = r"M\1 \2h0"
_RASTER: Final = re.compile(r'<g class="raster">(?:<g>(?:(?!</?g).)*</g>)*</g>')
_CELL: Final = re.compile(
    r'<rect(?P<kind> class="cell[^"]*")? x="(?P<x>[^"]*)" y="(?P<y>[^"]*)" width="(?P<w>[^"]*)"'
    r' height="(?P<h>[^"]*)"(?P<fill>[^>]*)/>'
)
_CLASS: Final = re.compile(r"\.([A-Za-z][\w-]*)")


def pictures(logs: Iterable[tuple[str, Sequence[dict[str, Any]]]]) -> dict[str, str]:
    """By name of an incident: its picture as a whole SVG file, from its log."""
    names, asked = [], []
    for name, lines in logs:
        names.append(name)
        asked.append(_asked(VIEWS[name], lines))
    return {name: _as_file(svg) for name, svg in zip(names, draw(asked), strict=True)}


def markdown(name: str) -> str:
    """The picture in a page."""
    return f"![{VIEWS[name].alt}](incidents/{name}.svg)"


def _asked(view: View, lines: Sequence[dict[str, Any]]) -> dict[str, object]:
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


def _span(happens: Happens, lines: Sequence[dict[str, Any]]) -> tuple[int, int, str]:
    """From the first line that begins it to the one that ends it."""
    begins = next(line for line in lines if _has(line, happens.begins))
    ends = [
        line["at_ms"]
        for line in lines
        if line["seq"] > begins["seq"] and happens.ends is not None and _has(line, happens.ends)
    ]
    until = (ends[-1] if happens.again else ends[0]) if ends else begins["at_ms"]
    return begins["at_ms"], until, happens.says


def _has(line: dict[str, Any], fields: dict[str, Any]) -> bool:
    """Whether a line has these fields; a member is named by its client."""
    return all(
        str(line.get(name)).startswith(f"{value}-") if name == "member" else line.get(name) == value
        for name, value in fields.items()
    )


def _lag(lines: Iterable[dict[str, Any]]) -> dict[str, object]:
    """How many records are behind the committed offsets, at each instant at which that changes."""
    written: Counter[tuple[str, int]] = Counter()
    committed: Counter[tuple[str, int]] = Counter()
    steps: list[tuple[int, int]] = []
    for line in lines:
        match line["type"]:
            case "RecordsAppended" if not line["topic"].startswith("__"):
                written[line["topic"], line["partition"]] = line["last_offset"] + 1
            case "OffsetsCommitted":
                for row in line["offsets"]:
                    committed[row["topic"], row["partition"]] = row["offset"]
            case _:
                continue
        steps.append((line["at_ms"], written.total() - committed.total()))
    return {"name": "lag", "unit": "", "steps": steps}


def _commits(lines: Iterable[dict[str, Any]]) -> dict[str, object]:
    """How long each commit took to be answered, from when it was sent."""
    sent: dict[int, int] = {}
    steps: list[tuple[int, int]] = []
    for line in lines:
        if line.get("api") == "offset_commit":
            if line["type"] == "RequestSeen":
                sent[line["seq"]] = line["at_ms"]
            elif line["type"] == "RequestAnswered" and line["cause"] in sent:
                steps.append((line["at_ms"], line["at_ms"] - sent[line["cause"]]))
    return {"name": "commit", "unit": " ms", "steps": steps}


_CURVES: Final = {"lag": _lag, "commits": _commits}


def _as_file(svg: str) -> str:
    """A drawing that stands alone: with its rules, without what only a browser's page can use."""
    svg = re.sub(r"<title>.*?</title>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"(\d+\.\d)\d+", r"\1", svg).replace('="0.0"', '="0"')
    for pattern in re.findall(r'<pattern id="([\w-]+)"', svg):
        if f"#{pattern})" not in svg:
            svg = re.sub(rf'<pattern id="{pattern}".*?</pattern>', "", svg, flags=re.DOTALL)
    svg = _small(re.sub(r">\s+<", "><", svg))
    head = '<svg xmlns="http://www.w3.org/2000/svg" style="background:var(--paper)"'
    style = f"<style>\n{_rules(svg)}\n{_OWN}\n</style><defs>"
    return svg.replace("<svg", head, 1).replace("<defs>", style, 1) + "\n"


def _small(svg: str) -> str:
    """The same shapes in fewer letters: no group of one, and signs of one kind are one path."""
    svg = re.sub(r"></(rect|line|path|circle)>", "/>", svg)
    svg = re.sub(r'<g class="mark [\w-]+"><line ([^>]*)/></g>', r'<line class="mark" \1/>', svg)
    svg = _RASTER.sub(_partitions, svg)
    svg = re.sub(r"<g>(<[^>]*/>)</g>", r"\1", svg)
    svg = _BEATS.sub(lambda run: f'<path class="mark beats" d="{_BEAT.sub(_LINE, run[0])}"/>', svg)
    svg = _COMMITS.sub(lambda run: f'<path class="commits" d="{_COMMIT.sub(_DOT, run[0])}"/>', svg)
    return re.sub(r'<g( class="[^"]*")?></g>', "", svg)


def _partitions(raster: re.Match[str]) -> str:
    """The partitions over time: one path for each kind of cell, and what lies over others last."""
    shapes: dict[str, list[str]] = {}
    for cell in _CELL.finditer(raster[0]):
        kind = f"{cell['kind'] or ''}{cell['fill']}"
        shapes.setdefault(kind, []).append("M{x} {y}h{w}v{h}h-{w}z".format(**cell.groupdict()))
    late = sorted(shapes, key=lambda kind: ("cell two" in kind, "#lost" in kind))
    paths = (f'<path{kind} d="{"".join(shapes[kind])}"/>' for kind in late)
    letters = re.findall("<text.*?</text>", raster[0])
    return f'<g class="raster">{"".join(paths)}{"".join(letters)}</g>'


def _rules(svg: str) -> str:
    """The page's rules that concern a drawing, and its two palettes."""
    css = re.sub(r"/\*.*?\*/", "", _STYLE.read_text(encoding="utf-8"), flags=re.DOTALL)
    dark = next(block for block in _BLOCK.findall(css) if "dark" in block)
    there = {each for names in re.findall(r'class="([^"]*)"', svg) for each in names.split()}
    kept = [dark]
    for selector, body in _RULE.findall(_BLOCK.sub("", css)):
        parts = [each.strip() for each in selector.split(",")]
        if selector.strip() == ":root":
            kept.insert(0, f":root {{{body}}}")
        elif used := [
            part
            for part in parts
            if part.startswith(("svg", ".")) and set(_CLASS.findall(part)) <= there
        ]:
            kept.append(f"{', '.join(used)} {{{body}}}")
    return "\n".join(kept)
