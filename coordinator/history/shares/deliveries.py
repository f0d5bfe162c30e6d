"""Deliveries of records to members of share groups (KIP-932): who was given which records, for how
long, and how that ended.

A delivery of many records ends in pieces, each by a line of its own. Does not know of records that
nobody holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from ...event_log.reader import Line
from ..ranges import put, taken
from .records import LOCK_ENDED, Key, ShareLeaders, key_of

_SAID: Final = {"accept": "accepted", "release": "released", "reject": "rejected", "gap": "gap"}
OUTCOMES: Final = (*_SAID.values(), "lock ended", "taken back", "archived", "closed", "open")
"""The outcomes of a delivery. `taken back`: without a word of its member, though its lock had not
ended. `archived`: the records left the log. `closed`: its leader serves the share partition no
longer. `open`: it has not ended."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Records that a member was given by one line, and that ended by one line. `state`: theirs
    after it; None if it is not told."""

    key: Key
    first: int
    last: int
    count: int
    member: str
    acquired: Line
    renewals: int = 0
    outcome: str = "open"
    state: str | None = None
    ended: Line | None = None

    @property
    def held_ms(self) -> int | None:
        """How long its member had the records; None if it still has."""
        return None if self.ended is None else int(self.ended["at_ms"] - self.acquired["at_ms"])


class Deliveries:
    """Of all share groups of a log: `told` hears of each delivery when it has ended, and of those
    that have not at the log's end. `see` each line of stream `share`."""

    def __init__(self, told: Callable[[Delivery], None]) -> None:
        self._told = told
        self._open: dict[Key, list[Delivery]] = {}
        """Those of a share partition that have not ended, by offset."""
        self._leaders = ShareLeaders()

    def see(self, line: Line) -> None:
        """The next line."""
        if not self._leaders.counts(line):
            return
        match line["type"]:
            case "RecordsAcquired":
                self._acquired(line)
            case "RecordsAcknowledged":
                for of in line["records"]:
                    if of["acknowledgement"] == "renew":
                        self._renewed(line, of)
                    else:
                        self._end(line, of, _SAID[of["acknowledgement"]])
            case "RecordsReleased":
                outcome = "lock ended" if line["reason"] in LOCK_ENDED else "taken back"
                for of in line["records"]:
                    self._end(line, of, outcome)
            case "RecordsArchived":
                self._left(line)
            case "SharePartitionOpened" | "SharePartitionClosed":
                for one in self._open.pop(key_of(line), ()):
                    self._told(replace(one, outcome="closed", ended=line))

    def finish(self) -> None:
        """The log has ended."""
        for held in self._open.values():
            for one in held:
                self._told(one)
        self._open.clear()

    def _acquired(self, line: Line) -> None:
        key = key_of(line)
        held = self._open.setdefault(key, [])
        for of in line["records"]:
            first, last, count = of["first_offset"], of["last_offset"], of["delivery_count"]
            one = Delivery(key, first, last, count, line["member"], line)
            put(held, one)

    def _renewed(self, line: Line, of: dict[str, Any]) -> None:
        held = self._open.setdefault(key_of(line), [])
        for one in taken(held, of["first_offset"], of["last_offset"]):
            renewed = replace(one, renewals=one.renewals + 1)
            put(held, renewed)

    def _left(self, line: Line) -> None:
        """Records that somebody held are archived with others; what lies below the start is gone
        without being named."""
        held = self._open.get(key_of(line), [])
        below = {"first_offset": 0, "last_offset": line["start_offset"] - 1, "state": "Archived"}
        for of in (*line["records"], below):
            self._end(line, of, "archived", held)

    def _end(
        self,
        line: Line,
        of: dict[str, Any],
        outcome: str,
        held: list[Delivery] | None = None,
    ) -> None:
        held = self._open.get(key_of(line), []) if held is None else held
        for one in taken(held, of["first_offset"], of["last_offset"]):
            self._told(replace(one, outcome=outcome, state=of["state"], ended=line))
