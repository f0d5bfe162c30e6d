"""Group epochs of consumer groups (KIP-848): why each came, when its target was made, when every
member had reached it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ...history.moves import NOTHING, Moved, Moves
from .observer import Emit, Line, Observer


@dataclass(slots=True)
class _Group:
    members: dict[str, tuple[int, bool]] = field(default_factory=dict)
    """Each member's epoch, and whether it has nothing left to revoke or to wait for."""
    at: Counter[tuple[int, bool]] = field(default_factory=Counter)
    """How many members there are of each of these."""
    bumped: Line | None = None
    assigned: Line | None = None
    settled_ms: int | None = None
    count: int = 0
    changed: int = 0
    moved: Moved = NOTHING

    def put(self, member: str, where: tuple[int, bool]) -> None:
        """A member, new or not, is there."""
        self.remove(member)
        self.members[member] = where
        self.at[where] += 1

    def remove(self, member: str) -> tuple[int, bool]:
        """It is a member no more; where it was."""
        where = self.members.pop(member, None)
        if where is not None:
            self.at[where] -= 1
        return where or (0, False)


_OVER = frozenset({"MembershipReset", "ConsumerGroupDowngraded", "GroupDeleted"})


class Epochs(Observer):
    """Table `epochs`. An epoch with no members is settled when its target is made."""

    streams = frozenset({"group"})
    tables = ("epochs",)

    def __init__(self, emit: Emit, moves: Moves) -> None:
        """`moves`: sees each line before."""
        super().__init__(emit)
        self._moves = moves
        self._groups: dict[str, _Group] = {}

    def see(self, line: Line) -> None:
        """An event of a consumer group."""
        kind, name = line["type"], line.get("group", "")
        if kind in ("ConsumerGroupCreated", "ConsumerGroupUpgraded"):
            self._over(name)
            self._groups[name] = _Group()
        group = self._groups.get(name)
        if group is None:
            return
        member = line.get("member", "")
        match kind:
            case "ConsumerMemberSubscribed":
                if member not in group.members:
                    group.put(member, (0, False))
            case "ConsumerMemberReplaced":
                group.put(member, group.remove(line["replaced"]))
            case "ConsumerMemberRemoved":
                group.remove(member)
            case "ConsumerMemberReconciled":
                group.put(member, (line["member_epoch"], line["state"] == "stable"))
            case "GroupEpochBumped":
                self._end(name, group)
                group.bumped = line
            case "TargetAssigned":
                self._assigned(group, line)
            case _ if kind in _OVER:
                self._over(name)
                return
        self._settle(group, line)

    def finish(self) -> None:
        """The last epoch of each group."""
        for name in list(self._groups):
            self._over(name)

    def _assigned(self, group: _Group, line: Line) -> None:
        group.assigned, group.count, group.changed = line, len(group.members), len(line["targets"])
        group.moved = group.moved.plus(self._moves.last)

    @staticmethod
    def _settle(group: _Group, line: Line) -> None:
        if group.bumped is None or group.assigned is None or group.settled_ms is not None:
            return
        epoch = group.bumped["group_epoch"]
        if group.assigned["assignment_epoch"] >= epoch and group.at[epoch, True] == len(
            group.members
        ):
            group.settled_ms = line["at_ms"]

    def _over(self, name: str) -> None:
        group = self._groups.pop(name, None)
        if group is not None:
            self._end(name, group)

    def _end(self, name: str, group: _Group) -> None:
        bumped, assigned = group.bumped, group.assigned
        if bumped is not None:
            own = (
                assigned
                if assigned is not None and assigned["assignment_epoch"] == bumped["group_epoch"]
                else None
            )
            self.emit(
                "epochs",
                (
                    name,
                    bumped["group_epoch"],
                    bumped["seq"],
                    bumped["at_ms"],
                    bumped["reason"],
                    None if own is None else own["assignor"],
                    None if own is None else own["at_ms"],
                    group.settled_ms,
                    group.count if own is not None else len(group.members),
                    group.changed if own is not None else 0,
                    *group.moved,
                ),
            )
            group.moved = NOTHING
        group.bumped = group.assigned = group.settled_ms = None
