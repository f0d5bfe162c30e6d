"""When each member of a group was last heard of for certain, by the group's own events. Heartbeats
do not stand in a log: a member may have been heard of later.

Owns no promise.
"""

from __future__ import annotations

from typing import Final

from ..history.consumer_groups import LEFT_FOR_NOW
from .base import Line

_OF_ALL: Final = frozenset({"GenerationStarted", "GroupLoaded"})
"""With these the sessions of all members of a group begin anew (SES-2, ERR-7)."""
_OF_ONE: Final = frozenset(
    {
        "MemberRejoined",
        "MemberSynced",
        "MemberReplaced",
        "ConsumerMemberSubscribed",
        "ConsumerMemberReconciled",
        "ConsumerMemberReplaced",
        "ShareMemberSubscribed",
        "ShareMemberReconciled",
    }
)
_COMMITS: Final = frozenset({"OffsetsCommitted"})
_ENDS: Final = frozenset({"GroupDeleted", "GroupUnloaded", "GroupEmptied", "MembershipReset"})
_GONE: Final = frozenset({"MemberRemoved", "ConsumerMemberRemoved", "ShareMemberRemoved"})
_CLASSIC: Final = frozenset({"GroupDeleted", "MembershipReset", "ConsumerGroupDowngraded"})
_BEGINS: Final = frozenset({"ConsumerGroupCreated", "ConsumerGroupUpgraded"})


def _renews(line: Line) -> bool:
    """A SyncGroup that is answered at once leaves the session alone (SYNC-2), and so does a static
    member that leaves for a while."""
    return line.get("parked") is not False and line.get("member_epoch") != LEFT_FOR_NOW


class SignsOfLife:
    """Of the members of all groups."""

    def __init__(self) -> None:
        self._all: dict[str, int] = {}
        self._one: dict[str, dict[str, int]] = {}
        self._consumers: set[str] = set()

    def see(self, line: Line, kind: str) -> None:
        """Look at an event of a group."""
        if kind in _OF_ONE or (kind in _COMMITS and line["group"] not in self._consumers):
            if line.get("member") and _renews(line):
                self._one.setdefault(line["group"], {})[line["member"]] = line["at_ms"]
        elif kind in _OF_ALL:
            self._all[line["group"]] = line["at_ms"]
            self._one.pop(line["group"], None)
        elif kind in _GONE:
            self._one.get(line["group"], {}).pop(line["member"], None)
        elif kind in _ENDS:
            self._all.pop(line["group"], None)
            self._one.pop(line["group"], None)
        elif kind in _BEGINS:
            self._consumers.add(line["group"])
        if kind in _CLASSIC:
            self._consumers.discard(line["group"])

    def of(self, group: str, member: str) -> int | None:
        """When a member was last heard of for certain; None: the log does not tell."""
        found = self._one.get(group, {}).get(member)
        of_all = self._all.get(group)
        return found if of_all is None or (found is not None and found > of_all) else of_all
