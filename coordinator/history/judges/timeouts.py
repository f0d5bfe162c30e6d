"""Judges steps with a timeout: each ends when its time is over, neither later nor sooner. They are
join phases, sync phases, unused member ids, revocations and transactions.

While brokers are disturbed, and for a while after that, nothing counts as late. The timers are
followed by `timers`; sessions are judged by `sessions`.
"""

from __future__ import annotations

from typing import Final

from coordinator.events.groups.classic import (
    GenerationStarted,
    JoinPhaseExtended,
    MemberRemoved,
    PendingMemberRemoved,
    Removal,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved
from coordinator.events.groups.consumer import Removal as ConsumerRemoval
from coordinator.events.handlers import on
from coordinator.events.transactions import TransactionPrepared

from .base import Judge, Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers
from .grace import REAL_TIME
from .timers import JOIN, PENDING, REVOCATION, SYNC, TRANSACTION, Key, Timers

LOOKS_MS: Final = 10_000
"""transaction.abort.timed.out.transaction.cleanup.interval.ms"""
_TIMER_OF: Final = {
    Removal.DID_NOT_REJOIN: JOIN,
    Removal.DID_NOT_SYNC: SYNC,
    ConsumerRemoval.DID_NOT_REVOKE: REVOCATION,
}
"""The timer that removes a member, by the reason of the removal."""
_TOO_LONG: Final = "not ended within"


class TimeoutsEnd(Judge):
    """Judges that steps with a timeout end when it is over. `looks_ms`: interval at which a
    coordinator checks for transactions that are open too long. `late_ms`: see Grace."""

    name = "timeouts_end"
    promise = (
        "nothing lasts longer than its timeout, unless brokers are disturbed. A join phase lasts at most the longest rebalance "
        "timeout of the group's members; an initial one lasts as long as its delay; it is extended only while it contains only "
        "absent static members (REB-5, DLY-2). A sync phase lasts at most that timeout (SYNC-6), a member id that was "
        "assigned and not used at most its session timeout (MID-5), a revocation at most the member's rebalance timeout "
        "(K8-REC-6), an open transaction at most its own timeout. None of these timeouts fires early: a member is removed or left "
        "out, or a transaction aborted, only when the timeout is over and the step was really missing"
    )
    timed = time_first = True

    def __init__(self, looks_ms: int = LOOKS_MS, late_ms: int = REAL_TIME.late_ms) -> None:
        super().__init__()
        self._timers = Timers(looks_ms)
        self._looks_ms = looks_ms
        self._late_ms = late_ms
        self._brokers = DoneToBrokers()

    @on(*DONE_TO_BROKERS)
    def _done_to_brokers(self, line: Line, _: object) -> None:
        self._brokers.see(line)

    @on(*Timers.handlers)
    def _follow(self, line: Line, event: object) -> None:
        group = line.group or ""
        match event:
            case MemberRemoved() | ConsumerMemberRemoved():
                self._removed(line, group, event)
            case PendingMemberRemoved(member, Removal.SESSION_EXPIRED):
                self._too_early(line, (PENDING, group, member), f"the {PENDING} of {member}")
            case GenerationStarted():
                self._begins_early(line, group, event)
            case JoinPhaseExtended():
                self._extended(line, group)
            case TransactionPrepared(name) if event.reason.startswith(_TOO_LONG):
                self._too_early(line, (TRANSACTION, name, ""), f"the transaction of {name}")
        self._timers.see(line)
        self._look_later()

    # -- too early

    def _removed(
        self, line: Line, group: str, event: MemberRemoved | ConsumerMemberRemoved
    ) -> None:
        timer = _TIMER_OF.get(event.reason)
        if timer is None:
            return
        member = event.member_id if timer is REVOCATION else ""
        self._too_early(line, (timer, group, member), f"the {timer} of {event.member_id}")
        if isinstance(event, ConsumerMemberRemoved):
            unfounded = self._unfounded_of_consumer(line, group, event.member_id, timer)
        else:
            unfounded = self._unfounded(line, group, event.member_id, timer)
        if unfounded:
            text = (
                f'{event.member_id} is removed from group {group} with the reason "{event.reason}"'
            )
            self.blame(line, f"{text}, but {unfounded}")

    def _unfounded(self, line: Line, group: str, member: str, timer: str) -> str:
        """Return what in the log contradicts the reason for removing a member of a classic
        group, or "" if nothing does."""
        timers = self._timers
        done = timers.here if timer is JOIN else timers.synced
        if member in done.get(group, ()):
            return "it did so"
        if group not in timers.known or self._brokers.lasts:
            return ""
        if timer is JOIN:
            return "" if timers.goes_on((timer, group, "")) else f"there is no {timer}"
        if group not in timers.synced:
            return f"there is no {timer}"
        left_ms = timers.sync_ends[group] - line.at_ms
        is_told = (timer, group, "") in timers.due
        early = left_ms > self._late_ms and not is_told
        return f"it still has {left_ms} ms to do so" if early else ""

    def _unfounded_of_consumer(self, line: Line, group: str, member: str, timer: str) -> str:
        """The same as `_unfounded` for a member of a consumer group."""
        timers = self._timers
        if timer is REVOCATION:
            nothing = timers.revokes_at_its_pace(group, member)
            return "it had nothing to revoke" if nothing else ""
        known = timers.classic.get((group, member))
        if known is None:
            joins = timers.revokes_at_its_pace(group, member)
            return "it speaks the consumer protocol, which has no such step" if joins else ""
        left_ms = known[1] + known[0] - line.at_ms
        return f"it still has {left_ms} of its {known[0]} ms" if left_ms > self._late_ms else ""

    def _extended(self, line: Line, group: str) -> None:
        if here := self._timers.here.get(group):
            self.blame(
                line,
                f"group {group} extends its join phase, although {min(here)} has joined",
            )

    def _begins_early(self, line: Line, group: str, event: GenerationStarted) -> None:
        due = self._timers.due.get((JOIN, group, ""))
        if due is None:
            return
        absent = set(event.members) - self._timers.here.get(group, set())
        if absent:
            what = f"the {JOIN} of group {group}, without {min(absent)}"
            self._too_early(line, (JOIN, group, ""), what)
        elif due.exact:
            self._too_early(line, (JOIN, group, ""), f"the initial delay of group {group}")

    def _too_early(self, line: Line, key: Key, what: str) -> None:
        due = self._timers.due.get(key)
        if due is None:
            return
        left_ms = due.line.at_ms + due.timeout_ms - line.at_ms
        if left_ms > self._late_ms:
            self.blame(
                line, f"{what} ends {left_ms} ms before its timeout of {due.timeout_ms} ms is over"
            )

    # -- too late

    def passed(self, now_ms: int) -> None:
        timers = self._timers
        for key in timers.late(now_ms - self._late_ms):
            due = timers.due[key]
            later = self._brokers.last_ms + due.timeout_ms + self._looks_ms
            if self._brokers.lasts or later + self._late_ms >= now_ms:
                timers.due[key] = due._replace(at_ms=max(now_ms - self._late_ms, later))
                continue
            del timers.due[key]
            timers.overdue.add(key)
            self.blame(
                due.line,
                f"the {_told(key)} continues at {now_ms} ms, although its timeout is {due.timeout_ms} ms",
            )
        timers.look_again()
        self._look_later()

    def _look_later(self) -> None:
        self.due_ms = self._timers.next_ms + self._late_ms + 1


def _told(key: Key) -> str:
    what, whose, member = key
    if what is TRANSACTION:
        return f"{what} of {whose}"
    return f"{what} of group {whose}" if not member else f"{what} of {member} in group {whose}"
