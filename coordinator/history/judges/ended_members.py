"""Members whose process has ended, and until when each may still be a member: until its session
expires.

This module has no judge. A session begins again when a coordinator loads the group or begins a
generation (ERR-7, SES-2).
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.events.cluster import ConfigChanged
from coordinator.events.groups import GroupDeleted, GroupLoaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
)
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.handlers import Reader, kinds_of, on
from coordinator.events.members import MemberClosed, MemberCrashed, MemberEvent, MemberStarted

from .base import Line
from .of_shares import SettingOfGroups

_Key = tuple[str, str]
"""Group and member id."""
_SESSION_MS = 60_000
"""Longest session of a member of a consumer group (group.consumer.max.session.timeout.ms), and
of a share group without a setting of its own (group.share.max.session.timeout.ms)."""
_SHARE_SESSION = "share.session.timeout.ms"


class EndedMembers(Reader):
    """The members of a log's groups, as far as the log has been read."""

    def __init__(self) -> None:
        self._ids: dict[_Key, str] = {}
        """The last member id of each process, by group and client."""
        self._ended: dict[_Key, Line] = {}
        self._sessions: dict[_Key, int] = {}
        """Session timeout of each member, in ms."""
        self._share_sessions = SettingOfGroups(_SHARE_SESSION, None)
        self._left: dict[_Key, int] = {}
        self._again: dict[str, int] = {}
        """For each group, the instant when its sessions last began again."""

    @on(ConfigChanged)
    def _configured(self, line: Line, event: ConfigChanged) -> None:
        self._share_sessions.changed(line, event)

    @on(*kinds_of("member"))
    def _told(self, line: Line, event: MemberEvent) -> None:
        if line.group is None:
            return
        whose = line.group, event.client
        if isinstance(event, MemberStarted):
            self._ids.pop(whose, None)
        elif line.member:
            self._ids[whose] = line.member
        if isinstance(event, MemberCrashed | MemberClosed) and whose in self._ids:
            self._ended[line.group, self._ids.pop(whose)] = line

    @on(GroupLoaded, GenerationStarted, ConsumerGroupUpgraded, ConsumerGroupDowngraded)
    def _begin_again(self, line: Line, _: object) -> None:
        self._again[line.group or ""] = line.at_ms

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        group = line.group or ""
        members = {member.member_id for member in event.members}
        for member in event.members:
            self._sessions[group, member.member_id] = member.session_timeout_ms
            self._left.pop((group, member.member_id), None)
        self._leave(line, [key for key in self._ended if key[0] == group and key[1] not in members])

    @on(ConsumerMemberSubscribed, ShareMemberSubscribed)
    def _subscribed(
        self, line: Line, event: ConsumerMemberSubscribed | ShareMemberSubscribed
    ) -> None:
        group = line.group or ""
        shares = isinstance(event, ShareMemberSubscribed)
        own_ms = self._share_sessions.now(group) if shares else None
        self._sessions[group, event.member_id] = max(_SESSION_MS, own_ms or 0)
        self._left.pop((group, event.member_id), None)

    @on(MemberRemoved, ConsumerMemberRemoved, ShareMemberRemoved)
    def _removed(
        self, line: Line, event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved
    ) -> None:
        self._leave(line, [(line.group or "", event.member_id)])

    @on(MemberReplaced, ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        self._leave(line, [(line.group or "", event.replaced)])

    @on(GroupEmptied, GroupDeleted)
    def _emptied(self, line: Line, _: GroupEmptied | GroupDeleted) -> None:
        self._leave(line, [key for key in self._sessions if key[0] == line.group])

    def _leave(self, line: Line, who: list[_Key]) -> None:
        for key in who:
            self._left.setdefault(key, line.at_ms)

    def overdue(self, at_ms: int) -> Iterator[tuple[str, str, int, Line]]:
        """Yield those that are still members although their session is over: group, member id,
        the instant at which it ended, and the line that shows it."""
        for (group, member), line in self._ended.items():
            session_ms = self._sessions.get((group, member))
            if session_ms is None or self._left.get((group, member), at_ms + 1) <= at_ms:
                continue
            if max(line.at_ms, self._again.get(group, 0)) + session_ms < at_ms:
                yield group, member, line.at_ms, line
