"""Members whose process has ended, and for how long each is a member all the same: no longer than
its session.

Owns no promise. A session begins anew where a coordinator loads the group or begins a generation
(ERR-7, SES-2).
"""

from __future__ import annotations

from collections.abc import Iterator

from .base import Line
from .of_shares import SettingOfGroups

_Key = tuple[str, str]
"""Group and member id."""
_SESSION_MS = 60_000
"""Of a member of a consumer group, at most (group.consumer.max.session.timeout.ms), and of one of a
share group that has no longer one of its own (group.share.max.session.timeout.ms)."""
_SHARE_SESSION = "share.session.timeout.ms"
_AGAIN = frozenset(
    {"GroupLoaded", "GenerationStarted", "ConsumerGroupUpgraded", "ConsumerGroupDowngraded"}
)
_GONE = frozenset({"MemberRemoved", "ConsumerMemberRemoved", "ShareMemberRemoved"})
_SUBSCRIBED = frozenset({"ConsumerMemberSubscribed", "ShareMemberSubscribed"})
_REPLACED = frozenset({"MemberReplaced", "ConsumerMemberReplaced"})


class EndedMembers:
    """The members of a log's groups, as far as it was seen."""

    def __init__(self) -> None:
        self._ids: dict[_Key, str] = {}
        """The last name of each process, by group and client."""
        self._ended: dict[_Key, Line] = {}
        self._sessions: dict[_Key, int] = {}
        """How long the session of each member lasts."""
        self._share_sessions = SettingOfGroups(_SHARE_SESSION, None)
        self._left: dict[_Key, int] = {}
        self._again: dict[str, int] = {}
        """When the sessions of a group began anew last."""

    def see(self, line: Line) -> None:
        """Look at the next line."""
        kind, group = line["type"], line.get("group")
        if kind == "ConfigChanged":
            self._share_sessions.see(line)
        if group is None:
            return
        if line["stream"] == "member":
            self._told(line, kind, group)
        elif line["stream"] == "group":
            self._changed(line, kind, group)

    def _told(self, line: Line, kind: str, group: str) -> None:
        whose = group, line.get("client", "")
        if kind == "MemberStarted":
            self._ids.pop(whose, None)
        elif line.get("member"):
            self._ids[whose] = line["member"]
        if kind in ("MemberCrashed", "MemberClosed") and whose in self._ids:
            self._ended[group, self._ids.pop(whose)] = line

    def _changed(self, line: Line, kind: str, group: str) -> None:
        if kind in _AGAIN:
            self._again[group] = line["at_ms"]
        if kind == "GenerationStored":
            stored = {
                member["member_id"]: member.get("session_timeout_ms", _SESSION_MS)
                for member in line.get("members", ())
            }
            for member, session_ms in stored.items():
                self._sessions[group, member] = session_ms
                self._left.pop((group, member), None)
            self._leave(
                line, [key for key in self._ended if key[0] == group and key[1] not in stored]
            )
        elif kind in _SUBSCRIBED:
            own = self._share_sessions.now(group) if kind == "ShareMemberSubscribed" else None
            self._sessions[group, line["member"]] = max(_SESSION_MS, own or 0)
            self._left.pop((group, line["member"]), None)
        elif kind in _GONE:
            self._leave(line, [(group, line["member"])])
        elif kind in _REPLACED:
            self._leave(line, [(group, line["replaced"])])
        elif kind in ("GroupEmptied", "GroupDeleted"):
            self._leave(line, [key for key in self._sessions if key[0] == group])

    def _leave(self, line: Line, who: list[_Key]) -> None:
        for key in who:
            self._left.setdefault(key, line["at_ms"])

    def overdue(self, at_ms: int) -> Iterator[tuple[str, str, int, Line]]:
        """Who is a member then, although its session is over: group, member id, since when it has
        ended, the line that tells of that."""
        for (group, member), line in self._ended.items():
            session_ms = self._sessions.get((group, member))
            if session_ms is None or self._left.get((group, member), at_ms + 1) <= at_ms:
                continue
            if max(line["at_ms"], self._again.get(group, 0)) + session_ms < at_ms:
                yield group, member, line["at_ms"], line
