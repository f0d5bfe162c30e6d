"""How many partitions change hands with each stored generation of a classic group.

A partition has moved if its owner has another member id than the last one it had; a static member
that came back under a new id is the same owner.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...explain.blobs import assignment
from .observer import Line
from .ownership import Place


class Moves:
    """The last owner of each partition of one group, by its stored generations.

    Each has all members, and most of them as the one before had them: only the others are looked
    at. That is right as long as no partition is given to two members at once; where one is, the
    last of them in the record has it, and all are looked at in their order.
    """

    def __init__(self) -> None:
        self._owner: dict[Place, str] = {}
        self._of: dict[str, dict[Place, None]] = {}
        """The same by owner."""
        self._texts: dict[str, str] = {}
        """What the last generation gave to each member, as the log has it."""
        self._apart = True
        """Whether it gave no partition to two of them."""

    def stored(self, line: Line) -> int:
        """A GenerationStored: how many partitions have moved."""
        if line["protocol_type"] != "consumer":
            return 0
        rows, before = line["members"], self._texts
        now = {row["member_id"]: row["assignment"] for row in rows}
        changed = (
            [row for row in rows if before.get(row["member_id"]) != row["assignment"]]
            if self._apart
            else rows
        )
        if len(changed) < len(rows) and self._met(changed, now):
            changed = rows
        self._texts = now
        return self._give(changed)

    def replaced(self, line: Line) -> None:
        """A MemberReplaced: the same member under a new id."""
        old: str = line["replaced"]
        new: str = line["member"]
        for place in self._of.pop(old, ()):
            self._owner[place] = new
            self._of.setdefault(new, {})[place] = None
        if old in self._texts:
            self._texts[new] = self._texts.pop(old)

    def _met(self, changed: Iterable[dict[str, Any]], now: dict[str, str]) -> bool:
        """Whether one of these rows has a partition that another member still has by its own."""
        for row in changed:
            for topic, number in _places(row["assignment"]):
                owner = self._owner.get((topic, number), row["member_id"])
                if owner != row["member_id"] and number in (
                    assignment(now.get(owner, "")) or {}
                ).get(topic, ()):
                    return True
        return False

    def _give(self, rows: Iterable[dict[str, Any]]) -> int:
        moved, owners, of = 0, self._owner, self._of
        given: set[Place] = set()
        count = 0
        for row in rows:
            member, places = row["member_id"], _places(row["assignment"])
            count += len(places)
            given.update(places)
            for place in places:
                owner = owners.get(place)
                if owner != member:
                    if owner is not None:
                        moved += 1
                        self._take(owner, place)
                    owners[place] = member
                    of.setdefault(member, {})[place] = None
        self._apart = len(given) == count
        return moved

    def _take(self, owner: str, place: Place) -> None:
        places = self._of[owner]
        del places[place]
        if not places:
            del self._of[owner]


def _places(text: str) -> list[Place]:
    return [
        (topic, number) for topic, numbers in (assignment(text) or {}).items() for number in numbers
    ]
