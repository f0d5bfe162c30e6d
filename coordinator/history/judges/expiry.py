"""Judges that committed offsets expire when their retention is over, neither later nor sooner.

Only for runs whose settings are known and in which no broker's clock jumps, since a log has
neither. While brokers are disturbed, and for a while after that, nothing counts as late.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.events.availability import LogTruncated
from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import GroupEmptied, MemberJoined, RebalanceStarted
from coordinator.events.groups.consumer import (
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
)
from coordinator.events.groups.offsets import (
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.handlers import on
from coordinator.verbs.brokers import JumpClock

from .base import NEVER, Judge, Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers
from .grace import REAL_TIME

RETENTION_MS: Final = 7 * 86_400_000
"""offsets.retention.minutes"""
CHECK_MS: Final = 600_000
"""offsets.retention.check.interval.ms"""
Place = tuple[str, int]


class _Kept(NamedTuple):
    """A committed offset: its instant, its line, and whether the commit named a retention time
    of its own."""

    at_ms: int
    seq: int
    has_own: bool


class _Group:
    """Known facts of a group."""

    __slots__ = ("due_ms", "emptied_ms", "line", "members", "offsets", "pending", "unused_ms")

    def __init__(self) -> None:
        self.offsets: dict[Place, _Kept] = {}
        self.pending: dict[int, dict[Place, _Kept]] = {}
        self.members: set[str] = set()
        """The members of a consumer group."""
        self.emptied_ms: int | None = None
        """The instant since which a classic group has been Empty, or None."""
        self.unused_ms: int | None = None
        """The earliest instant at which a check may remove offsets of any topic, or None while the
        group has members."""
        self.due_ms = NEVER
        """The instant by which the first of its offsets must have been removed."""
        self.line: Line | None = None
        """The last line that changed `due_ms`."""


class OffsetsExpireInTime(Judge):
    """Judges that offsets expire at the first check after their retention, and not before."""

    name = "offsets_expire_in_time"
    promise = (
        "a committed offset expires once its group has been Empty for the retention time. In a group of KIP-848, in a simple "
        "group, and for a topic that no member subscribes to, it expires once the commit itself is that old (EXP-1, EXP-2). It "
        "never expires sooner. In a group without members it expires at most one offsets.retention.check.interval.ms later "
        "(EXP-5), unless brokers are disturbed"
    )
    timed = time_first = True

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

    @on(*DONE_TO_BROKERS)
    def _done_to_brokers(self, line: Line, _: object) -> None:
        self._brokers.see(line)

    @on(JumpClock)
    def _jumped(self, _: Line, __: JumpClock) -> None:
        self._has_jumped = True

    def _of(self, line: Line) -> _Group:
        return self._groups.setdefault(line.group or "", _Group())

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        group = self._of(line)
        group.offsets.update(_rows(line, event))
        if group.unused_ms is not None:  # it may be over already: the next look is for it
            group.unused_ms = max(group.unused_ms, line.at_ms)
        self._expect(group, line)

    @on(OffsetsPending)
    def _pending(self, line: Line, event: OffsetsPending) -> None:
        group = self._of(line)
        group.pending.setdefault(event.producer_id, {}).update(_rows(line, event))
        self._expect(group, line)

    @on(PendingOffsetsEnded)
    def _ended(self, line: Line, event: PendingOffsetsEnded) -> None:
        group = self._of(line)
        ended = group.pending.pop(event.producer_id, {})
        for place in event.partitions:
            if place in ended:
                group.offsets[place] = ended[place]
        if group.unused_ms is not None:
            group.unused_ms = max(group.unused_ms, line.at_ms)
        self._expect(group, line)

    @on(GroupEmptied)
    def _emptied(self, line: Line, _: GroupEmptied) -> None:
        group = self._of(line)
        group.emptied_ms = group.unused_ms = line.at_ms
        self._expect(group, line)

    @on(MemberJoined, RebalanceStarted, ConsumerGroupUpgraded)
    def _is_used(
        self, line: Line, _: MemberJoined | RebalanceStarted | ConsumerGroupUpgraded
    ) -> None:
        group = self._of(line)
        group.emptied_ms = group.unused_ms = None
        self._expect(group, line)

    @on(ConsumerMemberRemoved)
    def _gone(self, line: Line, event: ConsumerMemberRemoved) -> None:
        group = self._of(line)
        group.members.discard(event.member_id)
        if not group.members:
            group.unused_ms = line.at_ms
        self._expect(group, line)

    @on(ConsumerMemberSubscribed, ConsumerMemberReplaced)
    def _came(self, line: Line, event: ConsumerMemberSubscribed | ConsumerMemberReplaced) -> None:
        group = self._of(line)
        if isinstance(event, ConsumerMemberReplaced):
            group.members.discard(event.replaced)
        group.members.add(event.member_id)
        group.emptied_ms = group.unused_ms = None
        self._expect(group, line)

    @on(GroupDeleted)
    def _deleted(self, line: Line, _: GroupDeleted) -> None:
        self._groups.pop(line.group or "", None)

    @on(GroupUnloaded)
    def _unloaded(self, line: Line, _: GroupUnloaded) -> None:
        group = self._of(line)
        group.unused_ms = None
        self._expect(group, line)

    @on(GroupLoaded)
    def _loaded(self, line: Line, event: GroupLoaded) -> None:
        """The coordinator that loads the group checks offsets after one interval. It may not
        know that a group was Empty before."""
        group = self._of(line)
        if event.state != "Empty":
            group.emptied_ms = None
        elif group.emptied_ms is not None:
            group.unused_ms = line.at_ms
        self._expect(group, line)

    @on(LogTruncated)
    def _truncated(self, _: Line, event: LogTruncated) -> None:
        """Forget commits that only a former coordinator had. Older commits of these partitions
        are unknown here."""
        if event.topic != "__consumer_offsets":
            return
        seqs = set(event.lost)
        for group in self._groups.values():
            for offsets in (group.offsets, *group.pending.values()):
                for place in [place for place, kept in offsets.items() if kept.seq in seqs]:
                    del offsets[place]

    # -- too early

    @on(OffsetsRemoved)
    def _removed(self, line: Line, event: OffsetsRemoved) -> None:
        group = self._of(line)
        for place in event.partitions:
            for pending in group.pending.values():
                pending.pop(place, None)
            kept = group.offsets.pop(place, None)
            if kept is None or kept.has_own or event.reason != "expired" or self._has_jumped:
                continue
            base_ms = kept.at_ms if group.emptied_ms is None else group.emptied_ms
            left_ms = base_ms + self._retention_ms - line.at_ms
            if left_ms > self._late_ms:
                self.blame(
                    line,
                    f"the offset of {place[0]}-{place[1]} in group {line.group} expires {left_ms} ms before its "
                    f"{self._retention_ms} ms of retention are over",
                )
        self._expect(group, line)

    # -- too late

    def _expect(self, group: _Group, line: Line) -> None:
        """Set the instant by which the first offset of a group without members has to be
        removed."""
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

    def _goes_on(self, name: str, line: Line | None, due_ms: int, now_ms: int) -> None:
        assert line is not None, f"nothing of group {name} is due"
        self.blame(
            line,
            f"offsets of group {name}, which has no members, still exist at {now_ms} ms, although their {self._retention_ms} ms of "
            f"retention and the {self._check_ms} ms until the next check were over at {due_ms} ms",
        )


def _rows(line: Line, event: OffsetsCommitted | OffsetsPending) -> dict[Place, _Kept]:
    return {
        (row.topic, row.partition): _Kept(line.at_ms, line.seq, row.expire_ms is not None)
        for row in event.offsets
    }
