"""A drawing as an SVG file that stands alone: with the page's rules that concern it, for light screens and dark ones,
and in few letters. Depends on style.css alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_STYLE: Final = (
    Path(__file__).resolve().parents[2] / "coordinator" / "lab" / "page" / "assets" / "style.css"
)
_OWN: Final = (
    ".cause { fill: #f2c230; stroke: #4a3a00; stroke-width: 0.7; } svg .within { fill: #14202b; }"
    " .reach { stroke: var(--loss); stroke-width: 1; stroke-dasharray: 2 4; fill: none; }"
    " .commits { stroke: var(--ink); stroke-width: 4; stroke-linecap: round; fill: none; }"
    " .curve { fill: var(--faint); stroke: var(--line); }"
)
"""Rules of what the page itself draws in another way or not at all."""
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


def as_file(svg: str) -> str:
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
            if part.startswith(("svg", ".", "line.", "path."))
            and set(_CLASS.findall(part)) <= there
        ]:
            kept.append(f"{', '.join(used)} {{{body}}}")
    return "\n".join(kept)
