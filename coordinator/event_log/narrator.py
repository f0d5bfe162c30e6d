"""The log told while it grows: each line that a newcomer should see, as text. Follows a `Timeline`; holds no state of its own but that."""

from __future__ import annotations

from .explain import share_rows
from .reader import Line
from .sentences import removal, told, why
from .timeline import Timeline
from .views import GroupView, Note, Rebalance
from .words import duration, instant, printable

_PAD = " " * 12
_LONGEST_BAR = 48


class Narrator:
    """Feed it lines; it gives back what to print. Its `timeline` knows the rest."""

    def __init__(self) -> None:
        self.timeline = Timeline()

    def tell(self, line: Line) -> list[str]:
        """Fold a line, and tell it if it is worth telling."""
        self.timeline.feed(line)
        if line["stream"] == "cluster" and line["type"] == "PartitionsAdded":
            return [self._stamped(line, f"topic {printable(line['topic'])} grew to {line['partitions']} partitions")]
        group = self.timeline.groups.get(line.get("group", ""))
        if group is None or line["stream"] not in ("group", "wire"):
            return []
        if group.entries and isinstance(group.entries[-1], Note) and group.entries[-1].seq == line["seq"]:
            return [self._stamped(line, told(group.entries[-1]))]
        current = group.current
        match line["type"]:
            case "MemberJoined":
                return [self._stamped(line, f"{group.name(line['member'])} joins the group")]
            case "MemberRejoined":
                return [self._stamped(line, f"{group.name(line['member'])} joins again")]
            case "MemberRemoved":
                return [self._stamped(line, self._removal(group))]
            case "RebalanceStarted":
                over = f": generation {group.generation} is over, all members have to join again" if group.generation else ""
                return [self._stamped(line, f"a rebalance begins{over}")]
            case "GenerationStarted" if current is not None:
                return [self._stamped(line, self._generation(current))]
            case "GenerationStored" if current is not None and current.stored_ms == line["at_ms"]:
                return [self._stamped(line, f"generation {group.generation} is Stable; who has what:"), *self._ending(current)]
            case "GroupEmptied" if current is not None:
                return [self._stamped(line, "the group is Empty"), *self._ending(current)]
        return []

    def _stamped(self, line: Line, text: str) -> str:
        return f"{instant(line['at_ms']):>10}  {text}"

    def _removal(self, group: GroupView) -> str:
        current = group.current
        changes = group.waiting or (current.changes if current is not None else [])
        return removal(changes[-1])

    def _generation(self, current: Rebalance) -> str:
        took = duration((current.generation_ms or 0) - current.started_ms)
        count = len(current.members)
        who = f"{count} member{'s are' if count > 1 else ' is'} in"
        return (
            f"generation {current.generation} begins after {took}: {who}, "
            f"{current.leader} leads and assigns ({printable(current.assignor or '?')})"
        )

    def _ending(self, current: Rebalance) -> list[str]:
        rows = share_rows(current.shares)
        return [*(f"{_PAD}  {bar}{row}" for bar, row in zip(self._bars(current), rows, strict=True)), f"{_PAD}Why? {why(current)}"]

    def _bars(self, current: Rebalance) -> list[str]:
        """For each member a picture of what it has, if all have partitions of one topic that is not too large."""
        topics = {topic for share in current.shares for topic in share.partitions or {}}
        size = self.timeline.partitions.get(next(iter(topics), ""), 0)
        if len(topics) != 1 or not 0 < size <= _LONGEST_BAR:
            return [""] * len(current.shares)
        bars = []
        for share in current.shares:
            owned = {number for numbers in (share.partitions or {}).values() for number in numbers}
            bars.append("".join("■" if number in owned else "·" for number in range(size)) + "  ")
        return bars
