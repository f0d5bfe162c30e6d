"""Variants of a scenario side by side as a PNG picture, drawn by Matplotlib for `coordinator ab
--png`. Spark is not needed."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Protocol

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt


class Interval(Protocol):
    """A median and the interval around it."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def png(title: str, measures: Sequence[str], variants: Mapping[str, Sequence[Interval]]) -> bytes:
    """A picture: for each measure a row a variant. `variants`: of each, an interval for each of
    `measures`, in their order."""
    rows = len(variants)
    figure, axes = plt.subplots(
        len(measures), 1, figsize=(8, 0.9 + len(measures) * (0.55 + 0.28 * rows)), squeeze=False
    )
    figure.suptitle(title, x=0.02, ha="left")
    for column, (measure, axis) in enumerate(zip(measures, axes[:, 0], strict=True)):
        found = [each[column] for each in variants.values()]
        for row, each in enumerate(found):
            axis.plot(
                [each.low, each.high],
                [row, row],
                color="#1f5fa8",
                linewidth=4,
                solid_capstyle="butt",
            )
            axis.plot([each.value], [row], "o", color="#c0392b")
            axis.annotate(
                f"{each.value:.4g}",
                (each.value, row),
                textcoords="offset points",
                xytext=(0, 6),
                fontsize=8,
                ha="center",
            )
        axis.set_title(measure, loc="left", fontsize=10, fontweight="bold")
        axis.set_yticks(range(rows), list(variants), fontsize=8)
        axis.set_ylim(rows - 0.3, -0.7)
        axis.set_xlim(left=0, right=max((each.high for each in found), default=0) * 1.05 or 1)
    figure.tight_layout()
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=100, metadata={"Software": None})
    plt.close(figure)
    return picture.getvalue()
