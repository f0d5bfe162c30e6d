"""Judges the calls of rebalance listeners: each must follow from the calls before, and from
whether the client is still a member."""

from __future__ import annotations

from coordinator.events.handlers import on
from coordinator.events.members import (
    MemberClosed,
    MemberCrashed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)

from .base import Judge, Line

_Key = tuple[str, str]
"""Group and client."""
_Place = tuple[str, int]


class ListenersAreTold(Judge):
    """Judges that a listener is called in the order that its client library promises."""

    name = "listeners_are_told"
    promise = (
        "a rebalance listener is called with revoked partitions only while its consumer is a member, in a generation or at an "
        "epoch; otherwise they are lost (KIP-429, CLI-23, K8-CL-4). It is never given a partition that it has, and never loses "
        "one that it does not have"
    )
    needs = frozenset({"member"})

    def __init__(self) -> None:
        super().__init__()
        self._own: dict[_Key, set[_Place]] = {}
        self._ids: dict[_Key, str | None] = {}

    @on(MemberStarted, MemberClosed, MemberCrashed)
    def _begins_or_ends(
        self, line: Line, event: MemberStarted | MemberClosed | MemberCrashed
    ) -> None:
        self._own.pop((line.group or "", event.client), None)

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        whose = line.group or "", event.client
        own = self._own.setdefault(whose, set())
        if self._ids.get(whose) != line.member:
            own.clear()  # another process of that name, of whose beginning nothing was told
            self._ids[whose] = line.member
        named = set(event.partitions)
        self._wrong(line, whose, named & own, "is assigned", "which it has already")
        own |= named

    @on(PartitionsRevoked, PartitionsLost)
    def _taken(self, line: Line, event: PartitionsRevoked | PartitionsLost) -> None:
        whose = line.group or "", event.client
        own, named = self._own.setdefault(whose, set()), set(event.partitions)
        self._wrong(line, whose, named - own, "loses", "which it does not have")
        own -= named
        number = event.member_epoch if line.generation is None else line.generation
        is_member = number is not None and number > 0
        if isinstance(event, PartitionsRevoked) and named and not is_member:
            self.blame(
                line,
                f"{whose[1]} of group {whose[0]} is called with revoked partitions, although it is no longer a member: they are lost",
            )

    def _wrong(self, line: Line, whose: _Key, named: set[_Place], told: str, why: str) -> None:
        if named:
            topic, number = min(named)
            self.blame(line, f"{whose[1]} of group {whose[0]} {told} {topic}-{number}, {why}")
