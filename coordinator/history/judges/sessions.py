"""Judges that a silent member is removed when its session is over, and not before.

`silent_members` finds the silent members, `session_lengths` their session timeouts. A session
begins again when a coordinator loads the group or stores a generation (ERR-7, REB-6). A member
that waits for a JoinGroup response does not expire (SES-3). A disturbance of brokers excuses a
session that lasts too long.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from coordinator.events.cluster import ConfigChanged
from coordinator.events.faults import (
    FaultSkipped,
    RequestFaultBegan,
    RequestFaultEnded,
    RunEnded,
)
from coordinator.events.groups import GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    MemberRemoved,
    RebalanceStarted,
    Removal,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved, ConsumerMemberSubscribed
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.handlers import kinds_of, on
from coordinator.events.members import MemberEvent, MemberStarted
from coordinator.events.run import RunStarted
from coordinator.events.wire import AuthorizationRefused
from coordinator.verbs.members import JumpMemberClock, ResetMember
from coordinator.verbs.row import Hurts

from .base import NEVER, Judge, Line
from .disturbances import Kind, ends_of
from .grace import REAL_TIME, Grace
from .running_members import RunningMembers
from .session_lengths import GROUP_GONE, REMOVALS, REPLACEMENTS, SessionLengths
from .signs_of_life import SignsOfLife
from .silent_members import Silent, SilentMembers

_SEEN_LATE_MS: Final = 1_000
"""A clock that is set forward passes many deadlines at once; the coordinator handles them within
this time. Under virtual time it handles them at once."""
_UNDONE_BY: Final = ends_of(Hurts.BROKERS, Hurts.CLIENT, of_member=False)
_UNDOES: Final = frozenset(_UNDONE_BY.values())
_OF_REQUESTS: Final = frozenset[Kind](
    {
        RequestFaultBegan,
        RequestFaultEnded,
        FaultSkipped,
        RunEnded,
        JumpMemberClock,
        ResetMember,
    }
)
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
"""Requests without whose right a member fails (KIP-848, KIP-932)."""
_JOINING: Final = frozenset[Kind]({RebalanceStarted, GenerationStarted, GroupUnloaded})
_BEGIN_ANEW: Final = frozenset[Kind]({GenerationStored, GroupLoaded, *GROUP_GONE})
_OF_SESSIONS: Final = (_JOINING | _BEGIN_ANEW | SessionLengths.handlers.keys()) - {ConfigChanged}
"""The events of groups after which sessions begin, end, or change."""
_FORGETS_EVERY_MS: Final = 60_000
_WELL_AFTER_MS: Final = 15_000
"""Time in ms after a disturbance until a member has found its coordinator and sends heartbeats
regularly."""

_Key = tuple[str, str]
"""Group and member id."""


class SessionsEnd(Judge):
    """Judges that a member which is silent for longer than its session timeout is removed, and
    that no other session ends. `consumer_session_ms`: session timeout in consumer groups.
    `share_session_ms`: the same in share groups without a setting of their own."""

    name = "sessions_end"
    promise = (
        "a member whose process has ended, is paused or is cut off from all brokers is removed when its session ends; a session "
        "starts anew when its group is loaded or a generation is stored. This is not judged during a join phase, while the group "
        "has no coordinator, or while brokers are disturbed. No session ends sooner than its timeout after the member's last sign "
        "of life in the log, or after the heartbeat that it sent before it was killed, paused or cut off. No session of a healthy "
        "member ends, and none is ended by hand unless a test did so"
    )
    needs = frozenset({"group", "member"})
    timed = time_first = True

    def __init__(
        self,
        consumer_session_ms: int | None = None,
        grace: Grace = REAL_TIME,
        share_session_ms: int | None = None,
        *,
        by_hand: bool = True,
    ) -> None:
        """`by_hand`: a test or a person may have ended sessions, which only the coordinator's
        lines show."""
        super().__init__()
        self._grace = grace
        self._by_hand = by_hand
        self._seen_late_ms = min(_SEEN_LATE_MS, grace.late_ms)
        self._sessions = SessionLengths(consumer_session_ms, share_session_ms)
        self._signs = SignsOfLife()
        self._silent = SilentMembers()
        self._running = RunningMembers()
        self._reset_at: dict[str, int] = {}
        """For each client, the instant at which a connection of it was last reset."""
        self._joining: set[str] = set()
        self._anew: dict[str, int] = {}
        """For each group, the last instant at which its sessions may have begun again."""
        self._refused_at: dict[str, int] = {}
        """For each client, the last instant at which it was refused the right to renew its
        session; a refused request renews none. NEVER: the refusal made it fail, so it may stop
        at any time."""
        self._undone: Counter[Kind] = Counter()
        self._disturbed_at = 0
        self._late: dict[_Key, int] = {}
        self._now = 0
        self._forgets_at = 0
        self._look_at = 0
        """The instant at which to look at silent members again if no group, member or broker
        changes before."""

    @on(RunStarted)
    def _began(self, _: Line, event: RunStarted) -> None:
        self._sessions.configured(event.config)

    @on(ConfigChanged)
    def _configured(self, line: Line, _: ConfigChanged) -> None:
        self._sessions.see(line)

    @on(AuthorizationRefused)
    def _refused(self, line: Line, event: AuthorizationRefused) -> None:
        if event.api in _RENEWING:
            self._refused_at[event.client] = NEVER if event.api in _FATAL else line.at_ms

    @on(*kinds_of("member"))
    def _told(self, line: Line, event: MemberEvent) -> None:
        if line.group is None:
            return
        if isinstance(event, MemberStarted):
            self._refused_at.pop(event.client, None)
        self._running.told(line.group, line.member, event)
        if self._silent.told(line, line.group, event):
            self._look_again()

    @on(*kinds_of("fault"))
    def _fault(self, line: Line, event: object) -> None:
        self._look_again()
        if isinstance(event, ResetMember):
            self._reset_at[event.member] = line.at_ms
        if not self._silent.fault(line, event) and line.kind not in _OF_REQUESTS:
            self._disturbed(line)

    def _look_again(self) -> None:
        self._look_at = self.due_ms = 0

    def passed(self, now_ms: int) -> None:
        self._now = now_ms
        if self._silent.of_group and now_ms >= self._look_at:
            self._look()
        self.due_ms = self._look_at if self._silent.of_group else NEVER

    def _disturbed(self, line: Line) -> None:
        """Note that brokers were disturbed, or a disturbance was undone."""
        kind = line.kind
        self._disturbed_at = line.at_ms
        if kind in _UNDONE_BY:
            self._undone[_UNDONE_BY[kind]] += 1
        elif kind in _UNDOES and self._undone[kind]:
            self._undone[kind] -= 1

    @on(*_OF_SESSIONS, *SignsOfLife.handlers)
    def _of_group(self, line: Line, event: object) -> None:
        if line.kind in _OF_SESSIONS:
            self._look_again()
            self._of_sessions(line, event, line.group or "")
            self._sessions.see(line)
        self._signs.see(line)

    def _of_sessions(self, line: Line, event: object, group: str) -> None:
        kind = line.kind
        if kind in _JOINING:
            self._joining.add(group)
        elif kind in _BEGIN_ANEW:
            self._anew[group] = line.at_ms
            self._joining.discard(group)
            if kind in GROUP_GONE:
                self._silent.of_group.pop(group, None)
        elif isinstance(event, REPLACEMENTS):
            self._silent.speaks(group, event.replaced)
        elif isinstance(event, ConsumerMemberSubscribed | ShareMemberSubscribed):
            self._running.subscribed(group, event)
        elif isinstance(event, REMOVALS):
            self._removed(line, group, event)
            self._silent.speaks(group, event.member_id)

    # -- was it sooner

    def _removed(
        self,
        line: Line,
        group: str,
        event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved,
    ) -> None:
        by_hand = event.reason == Removal.ENDED_BY_HAND or (
            not isinstance(event, ShareMemberRemoved) and event.detail == Removal.ENDED_BY_HAND
        )
        if by_hand and not self._by_hand:
            text = f"the session of {event.member_id} in group {group} was ended by hand, according to the log"
            self.blame(line, f"{text}, but nothing ends sessions by hand here")
        elif event.reason == Removal.SESSION_EXPIRED and not by_hand:
            self._expired(line, group, event.member_id)

    def _expired(self, line: Line, group: str, member: str) -> None:
        """Check that an expired member's session was over. The log shows what the member did; if
        it fell silent, the last heartbeat of a healthy member can be computed from that instant."""
        session_ms = self._lasts(group, member)[0]
        since = self._heard_of(group, member)
        beat_ms = self._well_since(group, member, line.at_ms)
        if beat_ms is not None:
            since = beat_ms if since is None else max(since, beat_ms)
        if session_ms is None or since is None:
            return
        early_ms = since + session_ms - line.at_ms
        if early_ms > self._grace.late_ms:
            self.blame(
                line,
                f"the session of {member} in group {group} ends {early_ms} ms before its {session_ms} ms are over",
            )

    def _heard_of(self, group: str, member: str) -> int | None:
        """Return the latest instant at which the member certainly gave a sign of life, or None
        if that is unknown."""
        since = self._signs.of(group, member)
        who = self._silent.get(group, member)
        heartbeat_ms = self._grace.heartbeat_ms
        if (
            who is not None
            and heartbeat_ms is not None
            and self._was_well(group, who.client, who.since_ms)
        ):
            spoke = who.since_ms - heartbeat_ms - 2 * self._grace.link_ms
            since = spoke if since is None else max(since, spoke)
        return since

    def _well_since(self, group: str, member: str, now_ms: int) -> int | None:
        """Return the earliest instant at which the last heartbeat of a member that is healthy
        now can have arrived; None if it is not healthy."""
        client = self._running.client_of(group, member)
        heartbeat_ms = self._grace.heartbeat_ms
        if (
            client is None
            or heartbeat_ms is None
            or self._silent.get(group, member) is not None
            or self._silent.is_held(client)
            or not self._was_well(group, client, now_ms)
        ):
            return None
        return now_ms - heartbeat_ms - 2 * self._grace.link_ms

    def _lasts(self, group: str, member: str) -> tuple[int | None, int | None]:
        return self._sessions.lasts(group, member, self._heard_of(group, member) or 0)

    def _was_well(self, group: str, client: str, at_ms: int) -> bool:
        """Return True if, before this instant, neither the client, nor its rights, nor brokers
        were disturbed for so long that its heartbeats were in time."""
        settled: int = max(
            self._disturbed_at,
            self._anew.get(group, 0),
            self._silent.heard_late.get(client, 0),
            self._refused_at.get(client, 0),
            self._reset_at.get(client, 0),
        )
        return (
            settled + _WELL_AFTER_MS <= at_ms
            and not self._silent.is_slow(client)
            and not +self._undone
        )

    # -- was it later

    def _over_at(self, key: _Key, who: Silent) -> int | None:
        """Return the instant at which a silent member should be removed, or None if it cannot be
        known now."""
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
            who.line.at_ms,
            self._disturbed_at,
            self._anew.get(group, 0),
            self._silent.heard_late.get(who.client, 0),
        )
        return begun + session_ms + self._grace.late_ms + self._grace.link_ms

    def _members(self) -> list[tuple[_Key, Silent]]:
        """Return the silent clients that are members."""
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
        still = f"at {self._now} ms it is still a member, although its session timeout is {session_ms} ms"
        self.blame(who.line, f"{member} of group {group} falls silent ({who.line.name}): {still}")
