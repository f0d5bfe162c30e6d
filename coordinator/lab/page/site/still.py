"""The picture of a lesson until its question, for readers without scripts, where Node is not there to
draw it: states of the coordinator, members, owners of partitions, with their letters and words.

It has the page's classes, so its colours are those of style.css, but fewer signs than draw.js:
no messages, deadlines or marks.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Final

from ..lessons import Lesson

Plain = dict[str, Any]
_WIDTH: Final = 960
_GUTTER: Final = 104
_ROW: Final = 26
_BAR: Final = 18
_OWNERS: Final = 8
"""Number of fills of owners in style.css."""
_WORDS: Final = {
    "consuming": "works",
    "stopped": "stopped for a rebalance",
    "idle": "owns nothing",
    "stalled": "does not poll",
    "frozen": "stands still",
    "gone": "connection closed",
    "silent": "silent",
}


class _Rows:
    """Rows of spans, one below the other, on one axis of time."""

    def __init__(self, low_ms: int, high_ms: int, until_ms: int) -> None:
        self._low_ms, self._until_ms = low_ms, until_ms
        self._scale = (_WIDTH - _GUTTER - 8) / (high_ms - low_ms)
        self.shapes: list[str] = []
        self.height = 24

    def ticks(self, high_ms: int) -> None:
        """Add the axis: an instant every few seconds."""
        step_s = max(1, (high_ms - self._low_ms) // 8000)
        for at_s in range(-(-self._low_ms // 1000), high_ms // 1000 + 1, step_s):
            if self._x(at_s * 1000) > _WIDTH - 32:
                break
            self.shapes.append(f'<text x="{self._x(at_s * 1000):.0f}" y="14">{at_s} s</text>')

    def row(self, name: str, spans: Iterable[tuple[int, int, str, str]]) -> None:
        """Add a row: its name, and spans with a class and a word."""
        top = self.height
        self.shapes.append(f'<text x="4" y="{top + 13}">{escape(name)}</text>')
        for begin, end, kind, word in spans:
            left, right = self._x(begin), self._x(min(end, self._until_ms))
            if right <= left or end <= self._low_ms:
                continue
            self.shapes.append(
                f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{_BAR}">'
                f"<title>{escape(word)}</title></rect>"
            )
            if right - left > 7 * len(word) + 8:
                self.shapes.append(
                    f'<text class="in-band" x="{left + 4:.1f}" y="{top + 13}">{escape(word)}</text>'
                )
        self.height += _ROW

    def _x(self, at_ms: int) -> float:
        return _GUTTER + (max(at_ms, self._low_ms) - self._low_ms) * self._scale


def still(lesson: Lesson) -> str:
    """Return the picture of a lesson at its question, as SVG; of a share group without its
    records."""
    group: Plain = lesson.plain()["picture"]["groups"][0]
    low_ms, high_ms = lesson.window_ms
    rows = _Rows(low_ms, high_ms, lesson.stop_ms)
    rows.ticks(high_ms)
    rows.row(
        "coordinator",
        [(begin, end, f"state {state}", state) for begin, end, state in group["states"]],
    )
    letters = [chr(ord("A") + lane["index"] % 26) for lane in group["lanes"]]
    for lane, letter in zip(group["lanes"], letters, strict=True):
        rows.row(f"{letter} {lane['label']}", _lane(lane))
    for row in group["raster"]:
        rows.row(f"{row['label']}-{row['partition']}", _owners(row, letters))
    label = f"States, members and owners of partitions until {lesson.stop_ms / 1000:g} s"
    return (
        f'<svg class="picture" viewBox="0 0 {_WIDTH} {rows.height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(rows.shapes)}</svg>"
    )


def _lane(lane: Plain) -> Iterable[tuple[int, int, str, str]]:
    for begin, end, does in lane["activity"]:
        works = does == "consuming"
        kind = f"does fill-{lane['index'] % _OWNERS}" if works else "does paper"
        yield begin, end, kind, _WORDS.get(does, does)


def _owners(row: Plain, letters: list[str]) -> Iterable[tuple[int, int, str, str]]:
    for begin, end, owners, lost in row["spans"]:
        if not owners:
            yield begin, end, "cell nobody", "nobody"
            continue
        who = "".join(letters[each] for each in owners)
        word = f"{who}, not worked on" if lost else who
        yield begin, end, f"cell fill-{owners[0] % _OWNERS}", word
