"""Memberships: when each member id came into a group, when and why it went, and who took its
place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from ..event_log.reader import Line

REPLACED: Final = "replaced"
"""The reason for which a membership ended whose place another took."""
_GROUP_GONE = frozenset({"GroupDeleted", "MembershipReset"})


class Membership(NamedTuple):
    """One member id of a group, from its coming to its going; None: it has not gone.

    `protocol`: classic or consumer. `reason`: as its removal says, or `REPLACED`, by `successor`.
    """

    group: str
    member: str
    protocol: str
    client_id: str | None
    client_host: str | None
    group_instance_id: str | None
    joined_seq: int
    joined_ms: int
    left_seq: int | None
    left_ms: int | None
    reason: str | None
    successor: str | None
    rejoins: int
    commits: int


def memberships(lines: Iterable[Line], group: str) -> list[Membership]:
    """All memberships of a group, in the order in which they began; those that last, too."""
    found: list[Membership] = []
    fold = Memberships(found.append)
    for line in lines:
        if line.get("group") == group:
            fold.see(line)
    fold.finish()
    return sorted(found, key=lambda each: each.joined_seq)


class _Member:
    __slots__ = ("client_host", "client_id", "commits", "instance", "joined", "protocol", "rejoins")

    def __init__(self, protocol: str, joined: Line, about: Line) -> None:
        self.protocol = protocol
        self.joined = (joined["seq"], joined["at_ms"])
        self.client_id = about.get("client_id")
        self.client_host = about.get("client_host")
        self.instance = about.get("group_instance_id")
        self.rejoins = 0
        self.commits = 0


class Memberships:
    """The members of all groups: `ended` is told of each membership when it is over, and at the
    end of the others. A load of a group keeps whom it stored, and ends the others."""

    def __init__(self, ended: Callable[[Membership], None]) -> None:
        self._ended = ended
        self._groups: dict[str, dict[str, _Member]] = {}
        self._stored: dict[str, set[str]] = {}

    def see(self, line: Line) -> None:
        """A line of stream `group`."""
        kind, group, member = line["type"], line.get("group", ""), line.get("member", "")
        there = self._groups.setdefault(group, {})
        match kind:
            case "MemberJoined":
                there[member] = _Member("classic", line, line)
            case "MemberRejoined" if member in there:
                there[member].rejoins += 1
            case "MemberReplaced" | "ConsumerMemberReplaced":
                self._replaced(line, there)
            case "MemberRemoved" | "ConsumerMemberRemoved":
                self._end(group, member, line, line["reason"])
            case "ConsumerMemberSubscribed" if member not in there:
                there[member] = _Member(
                    "consumer" if line["classic"] is None else "classic", line, line
                )
            case "OffsetsCommitted" | "OffsetsPending" if member in there:
                there[member].commits += 1
            case "GenerationStored":
                self._stored[group] = {row["member_id"] for row in line["members"]}
            case "GroupLoaded":
                kept = self._stored.get(group, set())
                for each in [
                    each
                    for each, one in there.items()
                    if one.protocol == "classic" and each not in kept and kept
                ]:
                    self._end(group, each, line, "not in the stored group")
            case "ConsumerGroupDowngraded":
                for each in line["left"]:
                    self._end(group, each, line, line["reason"])
            case _ if kind in _GROUP_GONE:
                for each in list(there):
                    self._end(group, each, line, kind)

    def finish(self) -> None:
        """Those who are there at the end."""
        for group, there in self._groups.items():
            for member in list(there):
                self._end(group, member, None, None)

    def _replaced(self, line: Line, there: dict[str, _Member]) -> None:
        old = there.get(line["replaced"])
        self._end(line["group"], line["replaced"], line, REPLACED, line["member"])
        about: dict[str, Any] = dict(line.get("subscription") or line)
        if old is not None:
            about = {
                "client_id": old.client_id,
                "client_host": old.client_host,
                "group_instance_id": old.instance,
                **about,
            }
        there[line["member"]] = _Member(
            "consumer" if "subscription" in line else "classic", line, about
        )

    def _end(
        self, group: str, member: str, line: Line | None, reason: str | None, by: str | None = None
    ) -> None:
        one = self._groups[group].pop(member, None)
        if one is None:
            return
        self._ended(
            Membership(
                group=group,
                member=member,
                protocol=one.protocol,
                client_id=one.client_id,
                client_host=one.client_host,
                group_instance_id=one.instance,
                joined_seq=one.joined[0],
                joined_ms=one.joined[1],
                left_seq=None if line is None else line["seq"],
                left_ms=None if line is None else line["at_ms"],
                reason=reason,
                successor=by,
                rejoins=one.rejoins,
                commits=one.commits,
            )
        )
