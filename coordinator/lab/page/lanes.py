"""The lanes of a picture: one for each process, or for each member id if the log does not tell
processes apart.

A lane draws what `coordinator.history.world.lost_time` knows of its process, and the marks of
its requests and events. It does not read the log: `fold` calls it.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

from coordinator.history.explain.formatting import printable
from coordinator.history.world.lost_time.partitions import Partitions
from coordinator.history.world.lost_time.processes import Process
from coordinator.history.world.lost_time.tracks import Track

UNKNOWN: Final = "unknown"
"""Activity of a member of another cluster, of which its logs do not tell."""
AWAITED: Final = "awaited"
"""A member of another cluster for which a rebalance waited."""

MOST_NAME: Final = 80
"""Longest name that is shown; a client may choose one of 32 KiB."""


def cut(text: str, most: int) -> str:
    """Return a text shortened to the given number of letters, with dots for the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


_KINDS: list[str] = []
_NUMBERS: dict[str, int] = {}
"""Kinds of marks, numbered as they first occur."""


class Marks:
    """The events of a lane: instant and kind of each, in the order of the log. A long log has as
    many as lines, so each takes nine bytes."""

    __slots__ = ("_instants", "_kinds")

    def __init__(self) -> None:
        self._instants = array("q")
        self._kinds = array("B")

    def add(self, at_ms: int, kind: str) -> None:
        """Add a mark."""
        number = _NUMBERS.get(kind)
        if number is None:
            number = _NUMBERS[kind] = len(_KINDS)
            _KINDS.append(kind)
        self._instants.append(at_ms)
        self._kinds.append(number)

    def plain(self) -> dict[str, Any]:
        """Return all marks in columns: instants, and numbers of `kinds`."""
        numbers = {number: at for at, number in enumerate(dict.fromkeys(self._kinds))}
        return {
            "at_ms": self._instants.tolist(),
            "kinds": [_KINDS[number] for number in numbers],
            "kind": [numbers[each] for each in self._kinds],
        }


class Lane:
    """The drawing of one process."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.leads: Track[bool] = Track()
        self.epoch: Track[int] = Track()
        """Its member epoch, in a consumer group."""
        self.marks = Marks()
        self.session_timeout_ms: int | None = None
        self.signs = array("q")
        """Instants at which its session was renewed, as far as the log shows."""

    @property
    def index(self) -> int:
        """The place of its process in the group."""
        return self.process.index

    def plain(self, end_ms: int, label: str) -> dict[str, Any]:
        """Return JSON values; spans are `[from, to, what]`. `member_id`: for actions on the
        member."""
        process = self.process
        return {
            "index": process.index,
            "name": process.name,
            "label": cut(printable(label), MOST_NAME),
            "member_id": process.member_id if process.in_group else None,
            "inferred": not process.tells,
            "activity": process.activity.until(end_ms),
            "belief": process.belief.until(end_ms),
            "leads": [row[:2] for row in self.leads.until(end_ms)],
            "member": [row[:2] for row in process.membership.until(end_ms)],
            "epochs": self.epoch.until(end_ms),
            "marks": self.marks.plain(),
            "session_timeout_ms": self.session_timeout_ms,
            "signs": self.signs.tolist(),
        }


def raster(partitions: Partitions, end_ms: int) -> list[dict[str, Any]]:
    """Return the owners of partitions as JSON values: a partition's spans are `[from, to, lanes,
    still]`. Without a lane it had no owner although the group agreed to read it. `still`: true if
    nobody worked on it, "silent" if its owner may have done nothing."""
    return [
        {
            "topic": topic,
            "label": cut(printable(topic), MOST_NAME),
            "partition": number,
            "spans": [tuple(span) for span in partitions.spans((topic, number), end_ms)],
        }
        for topic, number in partitions.known()
    ]
