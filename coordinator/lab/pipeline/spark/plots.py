"""Plots as SVG and PNG files, the same bytes for the same facts, drawn by Matplotlib."""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from ..measures import MEASURES, Point, Summary

_COLOURS = ("#2f6db5", "#c8553d", "#3c8d5a", "#8a5fb0", "#b58b2f", "#4a9fa8")
_OF_OUTCOMES = {"stable": _COLOURS[0], "first join": "#9aa3ad"}
MOST_BARS = 2000
"""So many rebalances are drawn at most."""
plt.rcParams.update(
    {
        "svg.hashsalt": "coordinator",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e3e6ea",
        "axes.axisbelow": True,
        "svg.fonttype": "none",
        "figure.dpi": 100,
    }
)


def save(figure: Any, folder: Path, name: str, *, png: bool = True) -> str:
    """Write `name.svg` and, unless it is not wanted, `name.png`; returns the SVG for a page. Raises
    OSError."""
    figure.tight_layout()
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
    )
    text = buffer.getvalue()
    files = [(folder / f"{name}.svg", text.encode())]
    if png:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": None})
        files.append((folder / f"{name}.png", picture.getvalue()))
    plt.close(figure)
    for path, content in files:
        hidden = path.with_name(f".{path.name}")
        hidden.write_bytes(content)
        os.replace(hidden, path)
    return re.sub(r"<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*", "", text, flags=re.DOTALL)


def intervals(measure: str, summaries: Sequence[Summary]) -> Any:
    """Return a figure with the median of one measure in each variant, and its interval."""
    rows = [each for each in summaries if each.measure == measure and each.quantile == 0.5]
    figure, axes = plt.subplots(figsize=(8.5, 1.2 + 0.42 * len(rows)))
    places = range(len(rows))[::-1]
    for place, each in zip(places, rows, strict=True):
        axes.plot(
            [each.low, each.high],
            [place, place],
            color=_COLOURS[0],
            linewidth=3,
            alpha=0.45,
            solid_capstyle="round",
        )
        axes.plot([each.value], [place], "o", color=_COLOURS[0])
    axes.set_yticks(list(places), [_whole(each.variant) for each in rows])
    axes.set_xlim(left=0)
    axes.margins(y=0.2)
    unit = MEASURES[measure].unit
    axes.set_xlabel(f"{MEASURES[measure].title}{f', {unit}' if unit else ''}")
    return figure


def frontier(points: Sequence[Point], x: str, y: str) -> Any:
    """Return a figure of two measures of each variant; those on the frontier are highlighted and
    joined."""
    figure, axes = plt.subplots(figsize=(8.5, 5))
    for point in points:
        colour = _COLOURS[1] if point.best else _COLOURS[0]
        axes.plot([point.x], [point.y], "o", color=colour, markersize=8 if point.best else 6)
        axes.annotate(
            _whole(point.variant, 36),
            (point.x, point.y),
            xytext=(6, 4),
            textcoords="offset points",
            fontsize=7.5,
        )
    best = [point for point in points if point.best]
    axes.step(
        [point.x for point in best],
        [point.y for point in best],
        where="post",
        color=_COLOURS[1],
        alpha=0.5,
    )
    axes.set_xlabel(f"{MEASURES[x].title}, {MEASURES[x].unit}".rstrip(", "))
    axes.set_ylabel(f"{MEASURES[y].title}, {MEASURES[y].unit}".rstrip(", "))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    return figure


def time_lines(rows: Sequence[tuple[Any, ...]], end_ms: int) -> Any:
    """Return a figure of rebalances as bars, one line for each group. `rows`: (group,
    started_ms, duration_ms, outcome). A rebalance that did not end lasts until the next of its
    group, or the end."""
    groups = list(dict.fromkeys(row[0] for row in rows))
    figure, axes = plt.subplots(figsize=(8.5, 1.0 + 0.5 * len(groups)))
    for at, (group, started_ms, duration_ms, outcome) in enumerate(rows):
        following = next((row[1] for row in rows[at + 1 :] if row[0] == group), end_ms)
        length = following - started_ms if duration_ms is None else duration_ms
        axes.barh(
            len(groups) - 1 - groups.index(group),
            max(length, end_ms / 500) / 1000,
            left=started_ms / 1000,
            height=0.5,
            color=_OF_OUTCOMES.get(outcome, _COLOURS[1]),
        )
    axes.set_yticks(list(range(len(groups)))[::-1], [_whole(group) for group in groups])
    axes.set_xlim(0, max(end_ms / 1000, 1))
    axes.set_xlabel(
        "s from the beginning; grey: the first join, red: it did not end with a stable group"
    )
    return figure


def histogram(counts: Sequence[tuple[int, int]], label: str) -> Any:
    """Return a histogram of rebalances by duration: (whole seconds, count)."""
    figure, axes = plt.subplots(figsize=(8.5, 3.2))
    axes.bar(
        [second + 0.5 for second, _ in counts],
        [count for _, count in counts],
        width=0.9,
        color=_COLOURS[0],
    )
    axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.set_ylabel("rebalances")
    return figure


def curves(
    series: Mapping[str, Sequence[tuple[float, float, float, float]]],
    x: str,
    y: str,
    *,
    tune: Callable[[Any], None] | None = None,
) -> Any:
    """Return one curve for each name through (x, value, low, high), with intervals as bars; both
    axes are logarithmic."""
    figure, axes = plt.subplots(figsize=(8.5, 5))
    for number, (name, points) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places, values = [point[0] for point in points], [point[1] for point in points]
        below = [max(point[1] - point[2], 0) for point in points]
        above = [max(point[3] - point[1], 0) for point in points]
        axes.errorbar(
            places,
            values,
            yerr=[below, above],
            fmt="o-",
            color=colour,
            label=name,
            capsize=3,
            markersize=5,
        )
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(frameon=False)
    if tune is not None:
        tune(axes)
    return figure


def _whole(name: str, width: int = 48) -> str:
    return textwrap.fill(name, width, break_on_hyphens=False)
