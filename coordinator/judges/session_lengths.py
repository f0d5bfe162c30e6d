"""How long the session of each member lasts, by the log: of a classic member as long as it said
itself, of one of a consumer group as its brokers are set to, of one of a share group as its group is.

Owns who is a member of which group. Does not depend on who is heard of, and when.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from .base import Line
from .of_shares import SettingOfGroups

SUBSCRIBED: Final = frozenset({"ConsumerMemberSubscribed", "ShareMemberSubscribed"})
REPLACED: Final = frozenset({"MemberReplaced", "ConsumerMemberReplaced"})
REMOVED: Final = frozenset({"MemberRemoved", "ConsumerMemberRemoved", "ShareMemberRemoved"})
GROUP_GONE: Final = frozenset(
    {
        "GroupEmptied",
        "GroupDeleted",
        "ConsumerGroupCreated",
        "ConsumerGroupUpgraded",
        "ConsumerGroupDowngraded",
        "ShareGroupCreated",
        "MembershipReset",
    }
)
"""A group that has no members, or none of those that it had."""
_MAX_SESSION: Final = "group.consumer.max.session.timeout.ms"
_CONSUMER_SESSION_MS: Final = 60_000
_SHARE_SESSION: Final = "share.session.timeout.ms"
_MAX_SHARE_SESSION: Final = "group.share.max.session.timeout.ms"
_SHARE_SESSION_MS: Final = 60_000
_AS_ITS_GROUP: Final = 0
"""In place of how long a session lasts: of a member of a share group, whose settings say it."""

_Key = tuple[str, str]
"""Group and member id."""


class SessionLengths:
    """The sessions of the members of all groups. `consumer_session_ms`: of members of consumer
    groups; `share_session_ms`: of members of share groups that have no setting of their own; None:
    as brokers are set to, if the log tells."""

    def __init__(self, consumer_session_ms: int | None, share_session_ms: int | None) -> None:
        self._consumer_session_ms = consumer_session_ms
        self._session_is_known = consumer_session_ms is not None
        self._share_sessions = SettingOfGroups(_SHARE_SESSION, share_session_ms)
        self._longest_share_session_ms = _SHARE_SESSION_MS
        self._sessions: dict[str, dict[str, int]] = {}
        """How long the session of each member of a group lasts."""
        self._at_most: set[_Key] = set()
        """Members of which only the longest session is known that brokers allow."""

    # -- what is set

    def configured(self, config: Mapping[str, object]) -> None:
        """The brokers' setting, as far as nobody has said it before."""
        told = {name: int(str(value)) for name, value in config.items() if str(value).isdecimal()}
        if self._consumer_session_ms is None:
            self._consumer_session_ms = told.get(_MAX_SESSION)
        if self._share_sessions.default is None:
            self._share_sessions.default = told.get(f"group.{_SHARE_SESSION}")
        self._longest_share_session_ms = told.get(_MAX_SHARE_SESSION, _SHARE_SESSION_MS)

    def set_anew(self, line: Line) -> None:
        """A configuration was changed."""
        self._share_sessions.see(line)

    # -- who is a member

    def see(self, line: Line, kind: str) -> None:
        """Look at an event of a group."""
        group = line.get("group", "")
        if kind == "GenerationStored":
            self._sessions[group] = {
                member["member_id"]: member["session_timeout_ms"] for member in line["members"]
            }
        elif kind in GROUP_GONE:
            self._sessions.pop(group, None)
        elif kind in SUBSCRIBED:
            self._sessions.setdefault(group, {})[line["member"]] = self._subscribed(line, kind)
        elif kind in REPLACED:
            self._replaced(line, group)
        elif kind in REMOVED:
            self._sessions.get(group, {}).pop(line["member"], None)

    def _subscribed(self, line: Line, kind: str) -> int:
        if kind == "ShareMemberSubscribed":
            return _AS_ITS_GROUP
        if line["classic"]:
            own_ms: int = line["classic"]["session_timeout_ms"]
            return own_ms
        if not self._session_is_known:
            self._at_most.add((line["group"], line["member"]))
        return self._consumer_session_ms or _CONSUMER_SESSION_MS

    def _replaced(self, line: Line, group: str) -> None:
        members = self._sessions.setdefault(group, {})
        session_ms = members.pop(line["replaced"], 0)
        if (group, line["replaced"]) in self._at_most:
            self._at_most.add((group, line["member"]))
        if session_ms:
            members[line["member"]] = max(session_ms, line.get("session_timeout_ms", 0))

    def members(self, group: str) -> Set[str]:
        """Who is a member."""
        return self._sessions.get(group, {}).keys()

    def lasts(self, group: str, member: str, since_ms: int) -> tuple[int | None, int | None]:
        """How long a member's session lasts at least and at most, by all that was in force since an
        instant; None: that is not known, as of who is no member."""
        session_ms = self._sessions.get(group, {}).get(member)
        if session_ms is None or (group, member) in self._at_most:
            return None, session_ms
        if session_ms != _AS_ITS_GROUP:
            return session_ms, session_ms
        set_ms = self._share_sessions.since(group, since_ms)
        known = [each for each in set_ms if each is not None]
        if len(known) < len(set_ms):
            return None, max([self._longest_share_session_ms, *known])
        return min(known), max(known)
