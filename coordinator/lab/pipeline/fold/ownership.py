"""Tables `ownership` and `members`: the owner of each partition and the members of each group
over time, as `coordinator.history.world.ownership.owners` has them."""

from __future__ import annotations

from coordinator.history.world.groups.memberships import Membership
from coordinator.history.world.ownership.owners import Owned
from coordinator.history.world.world import World

from .observer import Subject


class Ownership(Subject):
    """Three views of ownership: as the coordinator assigned partitions; as members' listeners
    were called, with one owner at a time; and as each listener was called, so that two members
    may believe to own a partition."""

    tables = ("ownership",)

    def subscribe(self, world: World) -> None:
        """See Observer."""
        world.subscribe(Owned, self._row)

    def _row(self, one: Owned) -> None:
        began, ended = one.began, one.ended
        end = (None, None, None) if ended is None else (ended.seq, ended.at_ms, ended.name)
        self.emit(
            "ownership",
            (
                one.group,
                one.view,
                *one.place,
                began.member,
                began.generation,
                began.seq,
                began.at_ms,
                *end,
            ),
        )


class Members(Subject):
    """Emits each membership when it is over."""

    tables = ("members",)

    def subscribe(self, world: World) -> None:
        """See Observer."""
        world.subscribe(Membership, lambda one: self.emit("members", one))
