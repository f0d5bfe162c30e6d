"""Session timeout of each member by the log: the member's own in a classic group, the brokers'
setting in a consumer group, the group's setting in a share group.

Knows the members of each group. It must not depend on signs of life.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

from coordinator.events.cluster import ConfigChanged
from coordinator.events.groups import GroupDeleted
from coordinator.events.groups.classic import (
    GenerationStored,
    GroupEmptied,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
)
from coordinator.events.groups.share import (
    ShareGroupCreated,
    ShareMemberRemoved,
    ShareMemberSubscribed,
)
from coordinator.events.handlers import Reader, on

from .base import Line
from .of_shares import SettingOfGroups

REMOVALS: Final = (MemberRemoved, ConsumerMemberRemoved, ShareMemberRemoved)
REPLACEMENTS: Final = (MemberReplaced, ConsumerMemberReplaced)
GROUP_GONE: Final[tuple[type[Any], ...]] = (
    GroupEmptied,
    GroupDeleted,
    ConsumerGroupCreated,
    ConsumerGroupUpgraded,
    ConsumerGroupDowngraded,
    ShareGroupCreated,
    MembershipReset,
)
"""Events after which a group has no members, or none of the former ones."""
_MAX_SESSION: Final = "group.consumer.max.session.timeout.ms"
_CONSUMER_SESSION_MS: Final = 60_000
_SHARE_SESSION: Final = "share.session.timeout.ms"
_MAX_SHARE_SESSION: Final = "group.share.max.session.timeout.ms"
_SHARE_SESSION_MS: Final = 60_000
_AS_ITS_GROUP: Final = 0
"""Stands for the session timeout of a member of a share group, whose setting decides."""

_Key = tuple[str, str]
"""Group and member id."""


class SessionLengths(Reader):
    """Session timeouts of the members of all groups. `consumer_session_ms`: in consumer groups;
    `share_session_ms`: in share groups without a setting of their own; None: the brokers'
    setting, if the log has it."""

    def __init__(self, consumer_session_ms: int | None, share_session_ms: int | None) -> None:
        self._consumer_session_ms = consumer_session_ms
        self._session_is_known = consumer_session_ms is not None
        self._share_sessions = SettingOfGroups(_SHARE_SESSION, share_session_ms)
        self._longest_share_session_ms = _SHARE_SESSION_MS
        self._sessions: dict[str, dict[str, int]] = {}
        """Session timeouts of the members of each group, in ms."""
        self._at_most: set[_Key] = set()
        """Members for which only the longest session that brokers allow is known."""

    # -- what is set

    def configured(self, config: Mapping[str, object]) -> None:
        """Note the brokers' settings, except those that are known already."""
        told = {name: int(str(value)) for name, value in config.items() if str(value).isdecimal()}
        if self._consumer_session_ms is None:
            self._consumer_session_ms = told.get(_MAX_SESSION)
        if self._share_sessions.default is None:
            self._share_sessions.default = told.get(f"group.{_SHARE_SESSION}")
        self._longest_share_session_ms = told.get(_MAX_SHARE_SESSION, _SHARE_SESSION_MS)

    @on(ConfigChanged)
    def _set_anew(self, line: Line, event: ConfigChanged) -> None:
        self._share_sessions.changed(line, event)

    # -- who is a member

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        self._sessions[line.group or ""] = {
            member.member_id: member.session_timeout_ms for member in event.members
        }

    @on(*GROUP_GONE)
    def _group_gone(self, line: Line, _: object) -> None:
        self._sessions.pop(line.group or "", None)

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        group = line.group or ""
        if event.classic is not None:
            session_ms = event.classic.session_timeout_ms
        else:
            if not self._session_is_known:
                self._at_most.add((group, event.member_id))
            session_ms = self._consumer_session_ms or _CONSUMER_SESSION_MS
        self._sessions.setdefault(group, {})[event.member_id] = session_ms

    @on(ShareMemberSubscribed)
    def _shares(self, line: Line, event: ShareMemberSubscribed) -> None:
        self._sessions.setdefault(line.group or "", {})[event.member_id] = _AS_ITS_GROUP

    @on(*REPLACEMENTS)
    def _replaced(self, line: Line, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        group = line.group or ""
        members = self._sessions.setdefault(group, {})
        session_ms = members.pop(event.replaced, 0)
        if (group, event.replaced) in self._at_most:
            self._at_most.add((group, event.member_id))
        if session_ms:
            own_ms = event.session_timeout_ms if isinstance(event, MemberReplaced) else 0
            members[event.member_id] = max(session_ms, own_ms)

    @on(*REMOVALS)
    def _removed(
        self, line: Line, event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved
    ) -> None:
        self._sessions.get(line.group or "", {}).pop(event.member_id, None)

    def members(self, group: str) -> Set[str]:
        """Return the members of a group."""
        return self._sessions.get(group, {}).keys()

    def lasts(self, group: str, member: str, since_ms: int) -> tuple[int | None, int | None]:
        """Return the shortest and the longest session timeout of a member that was in force
        since an instant; None if it is unknown, as for a client that is no member."""
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
