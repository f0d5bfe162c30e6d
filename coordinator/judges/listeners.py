"""Listeners: what an application is told of its partitions follows from what it was told before,
and from whether it is a member still."""

from __future__ import annotations

from typing import Final

from .base import Judge, Line

_BEGINS_OR_ENDS: Final = frozenset({"MemberStarted", "MemberClosed", "MemberCrashed"})
_TAKEN: Final = frozenset({"PartitionsRevoked", "PartitionsLost"})

_Key = tuple[str, str]
"""Group and client."""
_Place = tuple[str, int]


class ListenersAreTold(Judge):
    """A listener is told in the order that its client promises."""

    name = "listeners_are_told"
    promise = (
        "a listener is told that partitions are revoked only while its member is one, in a generation or at an epoch: else they are lost "
        "(KIP-429, CLI-23, K8-CL-4); it is given nothing that it has, and loses nothing that it has not"
    )
    needs = frozenset({"member"})
    looks_at = _BEGINS_OR_ENDS | _TAKEN | {"PartitionsAssigned"}

    def __init__(self) -> None:
        super().__init__()
        self._own: dict[_Key, set[_Place]] = {}
        self._ids: dict[_Key, str] = {}

    def see(self, line: Line) -> None:
        kind = line["type"]
        if "group" not in line:
            return
        whose = line["group"], line.get("client", "")
        if kind in _BEGINS_OR_ENDS:
            self._own.pop(whose, None)
            return
        if kind not in _TAKEN and kind != "PartitionsAssigned":
            return
        own = self._own.setdefault(whose, set())
        named = {(row["topic"], row["partition"]) for row in line["partitions"]}
        if kind == "PartitionsAssigned":
            if self._ids.get(whose) != line.get("member"):
                own.clear()  # another process of that name, of whose beginning nothing was told
                self._ids[whose] = line.get("member", "")
            self._wrong(line, named & own, "is given", "which it has")
            own |= named
            return
        self._wrong(line, named - own, "is told that it loses", "which it has not")
        own -= named
        if kind == "PartitionsRevoked" and named and not _is_member(line):
            self.blame(
                line,
                f"{whose[1]} of group {whose[0]} is told that its partitions are revoked, although it is no member any more: they are lost",
            )

    def _wrong(self, line: Line, named: set[_Place], told: str, why: str) -> None:
        if named:
            topic, number = min(named)
            self.blame(
                line,
                f"{line.get('client')} of group {line['group']} {told} {topic}-{number}, {why}",
            )


def _is_member(line: Line) -> bool:
    number = line.get("generation", line.get("member_epoch"))
    return number is not None and number > 0
