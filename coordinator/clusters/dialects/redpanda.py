"""Lines of a Redpanda broker's groups. Each names group, state and generation in front
(`[N:g S:Stable G:7]`); what happens stands there at DEBUG or TRACE only."""

from __future__ import annotations

import re

from ..facts import BecameEmpty, Expired, Fact, Joined, Left, NotRejoined, Stabilized

NAME = "redpanda"
ANCHORS = ("[N:",)
_LINE = re.compile(
    r"\[N:\{?(?P<group>[^\]\s}]{1,300})\}? S:(?P<state>\w{1,40}) G:\{?(?P<n>-?\d{1,10})\}?\] "
)
_PLACE = re.compile(r"\w{1,60}\.(?:cc|h):\d{1,6} - ")
"""Source file and line, which newer releases put behind the group."""
_WHO = r"\{?(?P<member>[^\s{}]{1,400})\}?"
_EXPIRED = re.compile(r"[Ee]xpired member heartbeat\. [Rr]emoving member " + _WHO)
_UNJOINED = re.compile(r"[Rr]emoving unjoined member " + _WHO)
_LEFT = re.compile(r"[Mm]ember has left " + _WHO)
_ADDED = re.compile(r"[Aa]dded member (?:\{?id=)?" + _WHO)


class Reader:
    """Reads the lines of one file. A generation begins with the first line that has its number."""

    def __init__(self) -> None:
        self.generations: dict[str, int] = {}

    def read(self, text: str) -> list[Fact] | None:
        """Return the facts of a line that begins at an anchor; None if it is not about a group."""
        line = _LINE.match(text)
        if line is None:
            return None
        group, number, state = line["group"], int(line["n"]), line["state"].lower()
        place = _PLACE.match(text, line.end())
        words = text[place.end() if place else line.end() :]
        facts: list[Fact] = []
        known = self.generations.get(group)
        if known is None:
            self.generations[group] = number
        elif number > known and state in ("completingrebalance", "stable", "empty"):
            self.generations[group] = number
            empty = state == "empty"
            facts.append(BecameEmpty(group, number) if empty else Stabilized(group, number, None))
        expired = _EXPIRED.match(words)
        if expired:
            facts.append(Expired(group, expired["member"]))
        left = _LEFT.match(words)
        if left:
            facts.append(Left(group, left["member"].rstrip("."), ""))
        unjoined = _UNJOINED.match(words)
        if unjoined:
            facts.append(NotRejoined(group, (unjoined["member"],)))
        added = _ADDED.match(words)
        if added:
            facts.append(Joined(group, added["member"].rstrip(","), None, state))
        return facts
