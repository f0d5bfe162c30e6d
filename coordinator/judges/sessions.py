"""Sessions end: who sends nothing any more is a member as long as its session lasts, and no longer,
also while the run goes on.

Owns who is silent: a process that was killed, has ended or is paused, or whose way to the brokers
is cut. Heartbeats do not stand in the log, so of other members nothing is said here. Sessions begin
anew where a coordinator loads the group or stores a generation (ERR-7, REB-6), and whatever is done
to brokers meanwhile may keep one from ending; who waits for an answer to a JoinGroup does not
expire (SES-3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from ..verbs.row import Hurts, undone_by
from .base import NEVER, Judge, Line
from .grace import REAL_TIME, Grace
from .of_shares import SettingOfGroups
from .signs_of_life import SignsOfLife

_MAX_SESSION: Final = "group.consumer.max.session.timeout.ms"
_CONSUMER_SESSION_MS: Final = 60_000
_SHARE_SESSION: Final = "share.session.timeout.ms"
_MAX_SHARE_SESSION: Final = "group.share.max.session.timeout.ms"
_SHARE_SESSION_MS: Final = 60_000
_AS_ITS_GROUP: Final = 0
"""In place of how long a session lasts: of a member of a share group, whose settings say it."""
_HELD_BACK_MS: Final = 120_000
"""So late may a request arrive that a fault has delayed."""
_FORGOTTEN_MS: Final = 3_600_000
"""Who was in no generation for so long after it fell silent will be in none."""
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
_ENDS: Final = frozenset({"MemberCrashed", "MemberClosed"})
_GOES_ON: Final = frozenset({"MemberResumed", "MemberHealed", "MemberSpedUp"})
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
_JOINING: Final = frozenset({"RebalanceStarted", "GenerationStarted", "GroupUnloaded"})
_GROUP_GONE: Final = frozenset(
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
_REPLACED: Final = frozenset({"MemberReplaced", "ConsumerMemberReplaced"})
_REMOVED: Final = frozenset({"MemberRemoved", "ConsumerMemberRemoved", "ShareMemberRemoved"})

_OF_SESSIONS: Final = (
    _JOINING
    | _GROUP_GONE
    | _REPLACED
    | _REMOVED
    | {"GenerationStored", "GroupLoaded", "ConsumerMemberSubscribed", "ShareMemberSubscribed"}
)
"""The events of groups after which sessions begin, end, or are counted again."""
_FORGETS_EVERY_MS: Final = 60_000
_EXPIRED: Final = "session expired"
_WELL_AFTER_MS: Final = 15_000
"""So long after something was done to a member it has found its coordinator and has its rhythm."""

_Key = tuple[str, str]
"""Group and member id."""


class _Silent(NamedTuple):
    """`since_ms`: when it fell silent first, as who is cut off and killed then."""

    line: Line
    client: str
    since_ms: int


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
        self._consumer_session_ms = consumer_session_ms
        self._share_sessions = SettingOfGroups(_SHARE_SESSION, share_session_ms)
        self._longest_share_session_ms = _SHARE_SESSION_MS
        self._grace = grace
        self._session_is_known = consumer_session_ms is not None
        self._seen_late_ms = min(_SEEN_LATE_MS, grace.late_ms)
        self._signs = SignsOfLife()
        self._clients: dict[_Key, str] = {}
        """What each process, by group and client, called itself last."""
        self._silent: dict[str, dict[str, _Silent]] = {}
        """The silent of each group, by member id; whether they are members does not matter here."""
        self._slowed: Counter[str] = Counter()
        self._cuts: Counter[str] = Counter()
        """Of each client, how many faults last that slow its links down, and how many that cut
        them."""
        self._held_since: dict[str, int] = {}
        """When each client was paused or cut off that is so still, whether it has an id or not."""
        self._partly: set[str] = set()
        """Clients of which at least one of the lasting cuts leaves a way."""
        self._sessions: dict[str, dict[str, int]] = {}
        """How long the session of each member of a group lasts."""
        self._at_most: set[_Key] = set()
        """Members of which only the longest session is known that brokers allow."""
        self._joining: set[str] = set()
        self._anew: dict[str, int] = {}
        """When the sessions of a group, or of a client's members, may have begun anew last."""
        self._refused_at: dict[str, int] = {}
        """When each client had no right to renew its session last: what is refused renews none."""
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
            self._of_member(line, kind)
        elif stream == "fault":
            self._look_at = 0
            self._fault(line, kind)
        elif kind == _REFUSED:
            if line["api"] in _RENEWING:
                self._refused_at[line["client"]] = self._now
        elif kind == "ConfigChanged":
            self._share_sessions.see(line)
        elif kind == "RunStarted":
            self._configured(line.get("config") or {})
        self.passed(self._now)

    def passed(self, now_ms: int) -> None:
        self._now = now_ms
        if self._silent and now_ms >= self._look_at:
            self._look()
        self.due_ms = self._look_at if self._silent else NEVER

    def _configured(self, config: Mapping[str, object]) -> None:
        """What brokers are set to, as far as nobody has said it before."""
        told = {name: int(str(value)) for name, value in config.items() if str(value).isdecimal()}
        if self._consumer_session_ms is None:
            self._consumer_session_ms = told.get(_MAX_SESSION)
        if self._share_sessions.default is None:
            self._share_sessions.default = told.get(f"group.{_SHARE_SESSION}")
        self._longest_share_session_ms = told.get(_MAX_SHARE_SESSION, _SHARE_SESSION_MS)

    # -- who is silent

    def _of_member(self, line: Line, kind: str) -> None:
        whose = line["group"], line.get("client", "")
        if kind == "MemberStarted":
            self._clients.pop(whose, None)
        if line.get("member"):
            self._clients[whose] = line["member"]
        if kind in _ENDS:
            self._falls_silent(line, whose[1], line["group"])
            self._clients.pop(whose, None)

    def _falls_silent(self, line: Line, client: str, group: str | None = None) -> None:
        self._look_at = 0
        for (of, name), member in (
            self._clients.items() if group is None else self._only(group, client)
        ):
            if name == client:
                silent = self._silent.setdefault(of, {})
                before = silent.get(member)
                since_ms: int = line["at_ms"] if before is None else before.since_ms
                if before is None and client in self._held_since:
                    since_ms = self._held_since[client]
                silent[member] = _Silent(line, client, since_ms)

    def _only(self, group: str, client: str) -> list[tuple[_Key, str]]:
        """One process of `_clients`, as its items are; none if it is not there."""
        whose = group, client
        return [(whose, self._clients[whose])] if whose in self._clients else []

    def _fault(self, line: Line, kind: str) -> None:
        client = line.get("client", "")
        if kind == "FaultInjected":
            self._anew[client] = line["at_ms"] + _HELD_BACK_MS
        elif kind == "PauseMember" or (
            kind == "CutMember"
            and line.get("broker") is None
            and line.get("direction") != "from_broker"
        ):
            self._cuts[client] += kind == "CutMember"
            self._held_since.setdefault(client, line["at_ms"])
            self._falls_silent(line, client)
        elif kind in _GOES_ON:
            self._held_since.pop(client, None)
            self._undo(kind, client)
            self._anew[client] = max(line["at_ms"], self._anew.get(client, 0))
            for (group, name), member in self._clients.items():
                if name == client:
                    self._speaks(group, member)
        elif kind == "SlowMember":
            self._slowed[client] += 1
        elif kind == "CutMember":
            self._cuts[client] += 1
            self._partly.add(client)
        elif kind not in _OF_REQUESTS:
            self._disturbed_at = line["at_ms"]
            if kind in _UNDONE_BY:
                self._undone[_UNDONE_BY[kind]] += 1
            elif kind in _UNDOES and self._undone[kind]:
                self._undone[kind] -= 1

    def _undo(self, kind: str, client: str) -> None:
        """One fault of a client is over; others may last."""
        if kind == "MemberSpedUp":
            self._slowed[client] -= 1
        elif kind == "MemberHealed":
            self._cuts[client] -= 1
            if self._cuts[client] <= 0:
                self._partly.discard(client)

    def _is_slow(self, client: str) -> bool:
        """May what it said long ago still be on its way?"""
        return self._slowed[client] > 0 or client in self._partly

    def _speaks(self, group: str, member: str) -> None:
        self._silent.get(group, {}).pop(member, None)

    # -- who is a member

    def _of_group(self, line: Line, kind: str) -> None:
        group = line.get("group", "")
        if kind == "GenerationStored":
            self._sessions[group] = {
                member["member_id"]: member["session_timeout_ms"] for member in line["members"]
            }
            self._begin_anew(line, group)
        elif kind == "GroupLoaded":
            self._begin_anew(line, group)
        elif kind in _JOINING:
            self._joining.add(group)
        elif kind in _GROUP_GONE:
            self._sessions.pop(group, None)
            self._silent.pop(group, None)
            self._joining.discard(group)
            self._anew[group] = line["at_ms"]
        elif kind == "ConsumerMemberSubscribed":
            if not (line["classic"] or self._session_is_known):
                self._at_most.add((group, line["member"]))
            session_ms = (
                line["classic"]["session_timeout_ms"]
                if line["classic"]
                else self._consumer_session_ms or _CONSUMER_SESSION_MS
            )
            self._sessions.setdefault(group, {})[line["member"]] = session_ms
        elif kind == "ShareMemberSubscribed":
            self._sessions.setdefault(group, {})[line["member"]] = _AS_ITS_GROUP
        elif kind in _REPLACED:
            members = self._sessions.setdefault(group, {})
            session_ms = members.pop(line["replaced"], 0)
            if (group, line["replaced"]) in self._at_most:
                self._at_most.add((group, line["member"]))
            self._speaks(group, line["replaced"])
            if session_ms:
                members[line["member"]] = max(session_ms, line.get("session_timeout_ms", 0))
        elif kind in _REMOVED:
            if line.get("reason") == _EXPIRED:
                self._expired(line, group, line["member"])
            self._sessions.get(group, {}).pop(line["member"], None)
            self._speaks(group, line["member"])

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
        who = self._silent.get(group, {}).get(member)
        heartbeat_ms = self._grace.heartbeat_ms
        if who is not None and heartbeat_ms is not None and self._was_well(group, who):
            spoke = who.since_ms - heartbeat_ms - 2 * self._grace.link_ms
            since = spoke if since is None else max(since, spoke)
        return since

    def _lasts(self, group: str, member: str) -> tuple[int | None, int | None]:
        """How long a member's session lasts at least and at most, by all that was in force since it
        was heard of; None: that is not known, as of who is no member."""
        session_ms = self._sessions.get(group, {}).get(member)
        if session_ms is None or (group, member) in self._at_most:
            return None, session_ms
        if session_ms != _AS_ITS_GROUP:
            return session_ms, session_ms
        set_ms = self._share_sessions.since(group, self._heard_of(group, member) or 0)
        known = [each for each in set_ms if each is not None]
        if len(known) < len(set_ms):
            return None, max([self._longest_share_session_ms, *known])
        return min(known), max(known)

    def _was_well(self, group: str, who: _Silent) -> bool:
        """Nothing had been done to a client, its rights or to brokers for so long before it fell
        silent that its heartbeats came in time."""
        settled: int = max(
            self._disturbed_at,
            self._anew.get(group, 0),
            self._anew.get(who.client, 0),
            self._refused_at.get(who.client, 0),
        )
        return (
            settled + _WELL_AFTER_MS <= who.since_ms
            and not self._is_slow(who.client)
            and not +self._undone
        )

    def _begin_anew(self, line: Line, group: str) -> None:
        self._anew[group] = line["at_ms"]
        self._joining.discard(group)

    # -- the judgement

    def _over_at(self, key: _Key, who: _Silent) -> int | None:
        """When a silent member should be one no more; None: nobody can say now."""
        group, member = key
        session_ms = self._lasts(group, member)[1]
        if (
            session_ms is None
            or group in self._joining
            or self._is_slow(who.client)
            or +self._undone
        ):
            return None
        begun: int = max(
            who.line["at_ms"],
            self._disturbed_at,
            self._anew.get(group, 0),
            self._anew.get(who.client, 0),
        )
        return begun + session_ms + self._grace.late_ms + self._grace.link_ms

    def _members(self) -> list[tuple[_Key, _Silent]]:
        """The silent that are members."""
        found: list[tuple[_Key, _Silent]] = []
        for group, silent in self._silent.items():
            members = sorted(silent.keys() & self._sessions.get(group, {}).keys())
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
                self._speaks(*key)
            else:
                self._look_at = min(self._look_at, due)
        if self._now >= self._forgets_at:
            self._forgets_at = self._now + _FORGETS_EVERY_MS
            self._forget()

    def _forget(self) -> None:
        """Who is no member, and has been silent for long."""
        for group, silent in self._silent.items():
            members = self._sessions.get(group, {})
            for member in [
                member
                for member, who in silent.items()
                if self._now > who.line["at_ms"] + _FORGOTTEN_MS
            ]:
                if member not in members:
                    del silent[member]

    def finish(self) -> None:
        for key, who in self._members():
            over_at = self._over_at(key, who)
            if over_at is not None and self._now >= over_at + self._seen_late_ms:
                self._accuse(key, who)

    def _accuse(self, key: _Key, who: _Silent) -> None:
        group, member = key
        session_ms = self._lasts(group, member)[1]
        still = (
            f"at {self._now} ms it is a member still, although its session lasts {session_ms} ms"
        )
        self.blame(
            who.line, f"{member} of group {group} falls silent ({who.line['type']}): {still}"
        )
