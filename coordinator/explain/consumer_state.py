"""Which state a consumer group (KIP-848) is in, by its events: how many members have all of their
target at the last epoch.

Each event is folded in a time that does not depend on how many members there are. Reads lines of a
log, and does not depend on the coordinator.
"""

from __future__ import annotations

from collections import Counter

from ..event_log.reader import Line


class ConsumerState:
    """One group. `follow` its events."""

    def __init__(self) -> None:
        self.begin()

    def begin(self, *, classic: bool = False) -> None:
        """Forget what was known: another membership begins."""
        self.epoch = 1
        self.assignment_epoch = 0
        self.members: dict[str, int] = {}  # epochs
        self.settled: set[str] = set()
        self._settled_at: Counter[int] = Counter()
        self.classic = classic

    def state(self) -> str:
        """The group's state as Kafka shows it."""
        if self.classic:
            return "Stable"
        if not self.members:
            return "Empty"
        if self.epoch > self.assignment_epoch:
            return "Assigning"
        return (
            "Stable"
            if self._settled_at[self.assignment_epoch] == len(self.members)
            else "Reconciling"
        )

    def follow(self, line: Line) -> None:
        """One event."""
        kind = line["type"]
        if kind == "ConsumerMemberReconciled":
            self._out(line["member"])
            if line["state"] == "stable" and line["member_epoch"] >= 0:
                self.settled.add(line["member"])
            else:
                self.settled.discard(line["member"])
            self._in(line["member"], line["member_epoch"])
        elif kind == "ConsumerMemberSubscribed":
            if line["member"] not in self.members:
                self._in(line["member"], 0)
        elif kind == "ConsumerMemberReplaced":
            self._out(line["replaced"])
            self._out(line["member"])
            self._in(line["member"], 0)
        elif kind == "ConsumerMemberRemoved":
            self._out(line["member"])
        elif kind == "GroupEpochBumped":
            self.epoch = line["group_epoch"]
        elif kind == "TargetAssigned":
            self.assignment_epoch = line["assignment_epoch"]
        elif kind == "ConsumerGroupCreated":
            self.begin()
        elif kind == "ConsumerGroupUpgraded":
            self.begin()
            self.epoch = line["group_epoch"]
        elif kind in ("MembershipReset", "ConsumerGroupDowngraded"):
            self.begin(classic=True)

    def _in(self, member: str, epoch: int) -> None:
        self.members[member] = epoch
        if member in self.settled:
            self._settled_at[epoch] += 1

    def _out(self, member: str) -> None:
        epoch = self.members.get(member)
        if epoch is None:
            return
        if member in self.settled:
            self._settled_at[epoch] -= 1
        del self.members[member]
