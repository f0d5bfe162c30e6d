"""Sessions end: who sends nothing any more is a member as long as its session lasts, and no longer,
also while the run goes on.

Owns what ends when, by who is silent (`silent_members`) and how long sessions last
(`session_lengths`). Sessions begin anew where a coordinator loads the group or stores a generation
(ERR-7, REB-6), and whatever is done to brokers meanwhile may keep one from ending; who waits for an
answer to a JoinGroup does not expire (SES-3).
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from ..verbs.row import Hurts, undone_by
from .base import NEVER, Judge, Line
from .grace import REAL_TIME, Grace
from .session_lengths import GROUP_GONE, REMOVED, REPLACED, SUBSCRIBED, SessionLengths
from .signs_of_life import SignsOfLife
from .silent_members import Silent, SilentMembers

_SEEN_LATE_MS: Final = 1_000
"""A clock that is set forward passes many ends at once: the coordinator acts on them before so much
more has passed. Under virtual time it acts at once."""
_UNDONE_BY: Final = undone_by(Hurts.BROKERS, Hurts.CLIENT, of_member=False)
_UNDOES: Final = frozenset(_UNDONE_BY.values())
_OF_REQUESTS: Final = frozenset(
    {
        "RequestFaultBegan",
        "RequestFaultEnded",
        "FaultSkipped",
        "RunEnded",
        "JumpMemberClock",
        "ResetMember",
    }
)
_REFUSED: Final = "AuthorizationRefused"
_RENEWING: Final = frozenset(
    {
        "join_group",
        "sync_group",
        "heartbeat",
        "consumer_group_heartbeat",
        "share_group_heartbeat",
        "find_coordinator",
    }
)
"""The requests that renew a session, and the one without which they are not sent."""
_FATAL: Final = frozenset({"consumer_group_heartbeat", "share_group_heartbeat"})
"""Without a right to these a member fails (KIP-848, KIP-932)."""
_JOINING: Final = frozenset({"RebalanceStarted", "GenerationStarted", "GroupUnloaded"})
_BEGIN_ANEW: Final = frozenset({"GenerationStored", "GroupLoaded"})
_OF_SESSIONS: Final = _JOINING | _BEGIN_ANEW | GROUP_GONE | REPLACED | REMOVED | SUBSCRIBED
"""The events of groups after which sessions begin, end, or are counted again."""
_FORGETS_EVERY_MS: Final = 60_000
_EXPIRED: Final = "session expired"
_BY_HAND: Final = "its session was ended by hand"
_WELL_AFTER_MS: Final = 15_000
"""So long after something was done to a member it has found its coordinator and has its rhythm."""

_Key = tuple[str, str]
"""Group and member id."""


class SessionsEnd(Judge):
    """Who is silent for longer than its session is a member no longer, and nobody else's session
    ends. `consumer_session_ms`: of members of consumer groups; `share_session_ms`: of members of
    share groups that have no setting of their own."""

    name = "sessions_end"
    promise = (
        "a member whose process has ended, is paused or is cut off from all brokers is removed when its session is over, which begins anew "
        "when its group is loaded or a generation is stored; not while its group joins or is not served, or something is done to brokers; "
        "and nobody's session ends sooner than that after the last that the log tells of the member, or after the heartbeat that it sent "
        "before it was killed, paused or cut off"
    )
    needs = frozenset({"group", "member"})
    of_streams = frozenset({"run", "fault", "group", "member"})
    also = frozenset({_REFUSED, "ConfigChanged"})
    timed = True

    def __init__(
        self,
        consumer_session_ms: int | None = None,
        grace: Grace = REAL_TIME,
        share_session_ms: int | None = None,
    ) -> None:
        super().__init__()
        self._grace = grace
        self._seen_late_ms = min(_SEEN_LATE_MS, grace.late_ms)
        self._sessions = SessionLengths(consumer_session_ms, share_session_ms)
        self._signs = SignsOfLife()
        self._silent = SilentMembers()
        self._joining: set[str] = set()
        self._anew: dict[str, int] = {}
        """When the sessions of a group may have begun anew last."""
        self._refused_at: dict[str, int] = {}
        """When each client had no right to renew its session last: what is refused renews none.
        NEVER: it fails by that, and sends no more, whenever its application looks."""
        self._undone: Counter[str] = Counter()
        self._disturbed_at = 0
        self._late: dict[_Key, int] = {}
        self._now = 0
        self._forgets_at = 0
        self._look_at = 0
        """When there may be something to say of the silent again, if nothing happens to a group, a
        member or a broker until then."""

    def see(self, line: Line) -> None:
        self._now = line["at_ms"]
        stream, kind = line["stream"], line["type"]
        if self._now >= self.due_ms:
            self.passed(self._now)
        if stream == "group":
            if kind in _OF_SESSIONS:
                self._look_at = 0
                self._of_group(line, kind)
            self._signs.see(line, kind)
        elif stream == "member" and "group" in line:
            if kind == "MemberStarted":
                self._refused_at.pop(line.get("client", ""), None)
            if self._silent.told(line, kind):
                self._look_at = 0
        elif stream == "fault":
            self._look_at = 0
            if not self._silent.fault(line, kind) and kind not in _OF_REQUESTS:
                self._disturbed(line, kind)
        elif kind == _REFUSED:
            if line["api"] in _RENEWING:
                self._refused_at[line["client"]] = NEVER if line["api"] in _FATAL else self._now
        elif kind == "ConfigChanged":
            self._sessions.set_anew(line)
        elif kind == "RunStarted":
            self._sessions.configured(line.get("config") or {})
        self.passed(self._now)

    def passed(self, now_ms: int) -> None:
        self._now = now_ms
        if self._silent.of_group and now_ms >= self._look_at:
            self._look()
        self.due_ms = self._look_at if self._silent.of_group else NEVER

    def _disturbed(self, line: Line, kind: str) -> None:
        """Something was done to brokers."""
        self._disturbed_at = line["at_ms"]
        if kind in _UNDONE_BY:
            self._undone[_UNDONE_BY[kind]] += 1
        elif kind in _UNDOES and self._undone[kind]:
            self._undone[kind] -= 1

    def _of_group(self, line: Line, kind: str) -> None:
        group = line.get("group", "")
        if kind in _JOINING:
            self._joining.add(group)
        elif kind in _BEGIN_ANEW or kind in GROUP_GONE:
            self._anew[group] = line["at_ms"]
            self._joining.discard(group)
            if kind in GROUP_GONE:
                self._silent.of_group.pop(group, None)
        elif kind in REPLACED:
            self._silent.speaks(group, line["replaced"])
        elif kind in REMOVED:
            if line.get("reason") == _EXPIRED and line.get("detail") != _BY_HAND:
                self._expired(line, group, line["member"])
            self._silent.speaks(group, line["member"])
        self._sessions.see(line, kind)

    # -- was it sooner

    def _expired(self, line: Line, group: str, member: str) -> None:
        """Was its session over? The log tells what the member did, and a healthy one's heartbeats
        can be told from when it fell silent."""
        session_ms = self._lasts(group, member)[0]
        since = self._heard_of(group, member)
        if session_ms is None or since is None:
            return
        early_ms = since + session_ms - line["at_ms"]
        if early_ms > self._grace.late_ms:
            self.blame(
                line,
                f"the session of {member} in group {group} ends {early_ms} ms before its {session_ms} ms are over",
            )

    def _heard_of(self, group: str, member: str) -> int | None:
        """Since when at the latest nothing has come from a member; None: nobody can say."""
        since = self._signs.of(group, member)
        who = self._silent.get(group, member)
        heartbeat_ms = self._grace.heartbeat_ms
        if who is not None and heartbeat_ms is not None and self._was_well(group, who):
            spoke = who.since_ms - heartbeat_ms - 2 * self._grace.link_ms
            since = spoke if since is None else max(since, spoke)
        return since

    def _lasts(self, group: str, member: str) -> tuple[int | None, int | None]:
        return self._sessions.lasts(group, member, self._heard_of(group, member) or 0)

    def _was_well(self, group: str, who: Silent) -> bool:
        """Nothing had been done to a client, its rights or to brokers for so long before it fell
        silent that its heartbeats came in time."""
        settled: int = max(
            self._disturbed_at,
            self._anew.get(group, 0),
            self._silent.heard_late.get(who.client, 0),
            self._refused_at.get(who.client, 0),
        )
        return (
            settled + _WELL_AFTER_MS <= who.since_ms
            and not self._silent.is_slow(who.client)
            and not +self._undone
        )

    # -- was it later

    def _over_at(self, key: _Key, who: Silent) -> int | None:
        """When a silent member should be one no more; None: nobody can say now."""
        group, member = key
        session_ms = self._lasts(group, member)[1]
        if (
            session_ms is None
            or group in self._joining
            or self._silent.is_slow(who.client)
            or +self._undone
        ):
            return None
        begun: int = max(
            who.line["at_ms"],
            self._disturbed_at,
            self._anew.get(group, 0),
            self._silent.heard_late.get(who.client, 0),
        )
        return begun + session_ms + self._grace.late_ms + self._grace.link_ms

    def _members(self) -> list[tuple[_Key, Silent]]:
        """The silent that are members."""
        found: list[tuple[_Key, Silent]] = []
        for group, silent in self._silent.of_group.items():
            members = sorted(silent.keys() & self._sessions.members(group))
            found.extend(((group, member), silent[member]) for member in members)
        return found

    def _look(self) -> None:
        self._look_at = NEVER
        for key, who in self._members():
            over_at = self._over_at(key, who)
            if over_at is None or self._now <= over_at:
                self._late.pop(key, None)
                self._look_at = min(self._look_at, NEVER if over_at is None else over_at + 1)
                continue
            due = self._late.setdefault(key, self._now) + self._seen_late_ms
            if self._now >= due:
                self._accuse(key, who)
                self._silent.speaks(*key)
            else:
                self._look_at = min(self._look_at, due)
        if self._now >= self._forgets_at:
            self._forgets_at = self._now + _FORGETS_EVERY_MS
            for group in self._silent.of_group:
                self._silent.forget(group, self._sessions.members(group), self._now)

    def finish(self) -> None:
        for key, who in self._members():
            over_at = self._over_at(key, who)
            if over_at is not None and self._now >= over_at + self._seen_late_ms:
                self._accuse(key, who)

    def _accuse(self, key: _Key, who: Silent) -> None:
        group, member = key
        session_ms = self._lasts(group, member)[1]
        still = (
            f"at {self._now} ms it is a member still, although its session lasts {session_ms} ms"
        )
        self.blame(
            who.line, f"{member} of group {group} falls silent ({who.line['type']}): {still}"
        )
