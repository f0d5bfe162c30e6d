"""Variants of a scenario side by side as an SVG picture: for each measure a row for each variant,
with its median and 95 % interval.

The SVG is written by hand, so that no library is needed, and has a text for each value. This
module must not know runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from ...statistics import Estimate

_ROW, _LEFT, _WIDTH, _RIGHT, _TOP = 22, 260, 360, 150, 46


def svg(title: str, measures: Sequence[str], variants: Mapping[str, Sequence[Estimate]]) -> str:
    """Return the picture. `variants`: for each variant an estimate for each of `measures`, in
    their order."""
    block = _ROW * (len(variants) + 2)
    height, width = _TOP + block * len(measures), _LEFT + _WIDTH + _RIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="26" font-size="16">{escape(title)}</text>',
    ]
    for number, measure in enumerate(measures):
        top = _TOP + number * block
        highest = max((each[number].high for each in variants.values()), default=0.0) or 1.0
        lines.append(f'<text x="12" y="{top + 14}" font-weight="bold">{escape(measure)}</text>')
        for row, (name, estimates) in enumerate(variants.items(), 1):
            lines += _row(name, estimates[number], highest, top + row * _ROW)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(name: str, found: Estimate, highest: float, top: int) -> list[str]:
    low, middle, high = (
        _LEFT + _WIDTH * value / highest for value in (found.low, found.value, found.high)
    )
    y = top + 10
    return [
        f'<text x="24" y="{top + 14}">{escape(name)}</text>',
        f'<line x1="{_LEFT}" y1="{y}" x2="{_LEFT + _WIDTH}" y2="{y}" stroke="#e0e0e0"/>',
        f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}" stroke="#1f5fa8" stroke-width="5"/>',
        f'<circle cx="{middle:.1f}" cy="{y}" r="5" fill="#c0392b"/>',
        f'<text x="{_LEFT + _WIDTH + 12}" y="{top + 14}">{escape(str(found))}</text>',
    ]
