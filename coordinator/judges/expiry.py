"""Committed offsets expire when their retention is over, neither later nor sooner.

Owns what judges know of the time that offsets are kept. Only for runs whose settings are known, and
as long as no broker's clock jumps: a log does not tell either. While something is done to brokers,
and for a while after that, nothing is too late.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .base import NEVER, Judge, Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers
from .grace import REAL_TIME

RETENTION_MS: Final = 7 * 86_400_000
"""offsets.retention.minutes"""
CHECK_MS: Final = 600_000
"""offsets.retention.check.interval.ms"""
_BEGINS: Final = frozenset({"MemberJoined", "RebalanceStarted", "ConsumerGroupUpgraded"})
_LOOKS_AT: Final = _BEGINS | {
    "OffsetsCommitted",
    "OffsetsPending",
    "PendingOffsetsEnded",
    "OffsetsRemoved",
    "GroupEmptied",
    "ConsumerMemberSubscribed",
    "ConsumerMemberReplaced",
    "ConsumerMemberRemoved",
    "GroupDeleted",
    "GroupUnloaded",
    "GroupLoaded",
}
_JUMPS: Final = frozenset({"JumpClock"})
_LOST: Final = "LogTruncated"
Place = tuple[str, int]


class _Kept(NamedTuple):
    """An offset: when it was committed, by which line, and whether its commit named a retention of
    its own."""

    at_ms: int
    seq: int
    has_own: bool


class _Group:
    """The known facts of a group."""

    __slots__ = ("due_ms", "emptied_ms", "line", "members", "offsets", "pending", "unused_ms")

    def __init__(self) -> None:
        self.offsets: dict[Place, _Kept] = {}
        self.pending: dict[int, dict[Place, _Kept]] = {}
        self.members: set[str] = set()
        """Of a consumer group."""
        self.emptied_ms: int | None = None
        """Since when a classic group has been Empty."""
        self.unused_ms: int | None = None
        """Since when offsets of any topic may expire, and somebody has looked for them."""
        self.due_ms = NEVER
        """When the first of its offsets has to be gone."""
        self.line: Line = {}
        """The last that says so."""


class OffsetsExpireInTime(Judge):
    """Offsets go at the first look after their retention, and not before."""

    name = "offsets_expire_in_time"
    promise = (
        "a committed offset expires when its group has been Empty for the retention time; in a group of KIP-848, in a simple group, and "
        "for a topic to which nobody subscribes, when it was committed so long ago (EXP-1, EXP-2); no sooner, and in a group without "
        "members no later than one offsets.retention.check.interval.ms after that (EXP-5), unless something is done to brokers"
    )
    looks_at = _LOOKS_AT | DONE_TO_BROKERS | _JUMPS | {_LOST}
    timed = True

    def __init__(
        self,
        retention_ms: int = RETENTION_MS,
        check_ms: int = CHECK_MS,
        late_ms: int = REAL_TIME.late_ms,
    ) -> None:
        super().__init__()
        self._retention_ms = retention_ms
        self._check_ms = check_ms
        self._late_ms = late_ms
        self._groups: dict[str, _Group] = {}
        self._brokers = DoneToBrokers()
        self._has_jumped = False

    def see(self, line: Line) -> None:
        now, kind = line["at_ms"], line["type"]
        if now >= self.due_ms:
            self.passed(now)
        if line["stream"] == "fault":
            self._has_jumped = self._has_jumped or kind in _JUMPS
            self._brokers.see(kind, now)
        elif kind == _LOST:
            if line["topic"] == "__consumer_offsets":
                self._lost(set(line["lost"]))
        elif line["stream"] == "group" and kind in _LOOKS_AT:
            name = line["group"]
            group = self._groups.setdefault(name, _Group())
            if kind == "OffsetsRemoved":
                self._removed(line, name, group)
            else:
                self._follow(line, kind, name, group)
            self._expect(group, line)

    def _follow(self, line: Line, kind: str, name: str, group: _Group) -> None:
        now = line["at_ms"]
        if kind == "OffsetsCommitted":
            group.offsets.update(_rows(line))
            if group.unused_ms is not None:  # it may be over already: the next look is for it
                group.unused_ms = max(group.unused_ms, now)
        elif kind == "OffsetsPending":
            group.pending.setdefault(line["producer_id"], {}).update(_rows(line))
        elif kind == "PendingOffsetsEnded":
            ended = group.pending.pop(line["producer_id"], {})
            for row in line["partitions"]:
                place = row["topic"], row["partition"]
                if place in ended:
                    group.offsets[place] = ended[place]
            if group.unused_ms is not None:
                group.unused_ms = max(group.unused_ms, now)
        elif kind == "GroupEmptied":
            group.emptied_ms = group.unused_ms = now
        elif kind in _BEGINS:
            group.emptied_ms = group.unused_ms = None
        elif kind.startswith("ConsumerMember"):
            self._of_consumer_group(line, kind, group)
        elif kind == "GroupDeleted":
            del self._groups[name]
        elif kind == "GroupUnloaded":
            group.unused_ms = None
        elif kind == "GroupLoaded":
            self._loaded(line, group)

    def _of_consumer_group(self, line: Line, kind: str, group: _Group) -> None:
        if kind == "ConsumerMemberRemoved":
            group.members.discard(line["member"])
            if not group.members:
                group.unused_ms = line["at_ms"]
            return
        if kind == "ConsumerMemberReplaced":
            group.members.discard(line["replaced"])
        group.members.add(line["member"])
        group.emptied_ms = group.unused_ms = None

    def _loaded(self, line: Line, group: _Group) -> None:
        """Its coordinator looks again after one interval. Who loads a group that is not Empty may
        not know that it was."""
        if line.get("state") != "Empty":
            group.emptied_ms = None
        elif group.emptied_ms is not None:
            group.unused_ms = line["at_ms"]

    def _lost(self, seqs: set[int]) -> None:
        """Only a former coordinator had these commits: of when those before them were made nothing
        is known here."""
        for group in self._groups.values():
            for offsets in (group.offsets, *group.pending.values()):
                for place in [place for place, kept in offsets.items() if kept.seq in seqs]:
                    del offsets[place]

    # -- too early

    def _removed(self, line: Line, name: str, group: _Group) -> None:
        for row in line["partitions"]:
            place = row["topic"], row["partition"]
            for pending in group.pending.values():
                pending.pop(place, None)
            kept = group.offsets.pop(place, None)
            if kept is None or kept.has_own or line["reason"] != "expired" or self._has_jumped:
                continue
            base_ms = kept.at_ms if group.emptied_ms is None else group.emptied_ms
            left_ms = base_ms + self._retention_ms - line["at_ms"]
            if left_ms > self._late_ms:
                self.blame(
                    line,
                    f"the offset of {place[0]}-{place[1]} in group {name} expires {left_ms} ms before its {self._retention_ms} ms are over",
                )

    # -- too late

    def _expect(self, group: _Group, line: Line) -> None:
        """When the first offset of a group without members has to be gone."""
        group.due_ms, group.line = NEVER, line
        unused_ms = group.unused_ms
        if unused_ms is None or group.pending or self._has_jumped:
            return
        for kept in group.offsets.values():
            if not kept.has_own:
                base_ms = kept.at_ms if group.emptied_ms is None else group.emptied_ms
                over_ms = max(base_ms + self._retention_ms, unused_ms)
                group.due_ms = min(group.due_ms, over_ms + self._check_ms)
        self.due_ms = min(self.due_ms, group.due_ms + self._late_ms + 1)

    def passed(self, now_ms: int) -> None:
        if self._has_jumped:
            self.due_ms = NEVER
            return
        calm_ms = self._brokers.last_ms + self._check_ms
        for name, group in self._groups.items():
            if group.due_ms + self._late_ms >= now_ms:
                continue
            if self._brokers.lasts or calm_ms + self._late_ms >= now_ms:
                group.due_ms = max(now_ms - self._late_ms, calm_ms)
                continue
            due_ms, group.due_ms = group.due_ms, NEVER
            self._goes_on(name, group.line, due_ms, now_ms)
        self.due_ms = min(
            (group.due_ms + self._late_ms + 1 for group in self._groups.values()), default=NEVER
        )

    def _goes_on(self, name: str, line: Line, due_ms: int, now_ms: int) -> None:
        self.blame(
            line,
            f"offsets of group {name}, which has no members, are there at {now_ms} ms, although their {self._retention_ms} ms and the "
            f"{self._check_ms} ms until somebody looks were over at {due_ms} ms",
        )


def _rows(line: Line) -> dict[Place, _Kept]:
    return {
        (row["topic"], row["partition"]): _Kept(
            line["at_ms"], line["seq"], row.get("expire_ms") is not None
        )
        for row in line["offsets"]
    }
