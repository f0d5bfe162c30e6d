"""Steps with a timeout end when it is over, neither later nor sooner: join phases, sync phases, the
time to use a member id, to revoke, and transactions.

While something is done to brokers, and for a while after that, nothing is too late.
"""

from __future__ import annotations

from typing import Final

from .base import Judge, Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers
from .grace import REAL_TIME
from .timers import (
    JOIN,
    OF_GROUPS,
    OF_TRANSACTIONS,
    PENDING,
    REVOCATION,
    SYNC,
    TRANSACTION,
    Key,
    Timers,
)

LOOKS_MS: Final = 10_000
"""transaction.abort.timed.out.transaction.cleanup.interval.ms"""
_TIMER_OF: Final = {
    "did not rejoin in time": JOIN,
    "did not sync in time": SYNC,
    "did not revoke in time": REVOCATION,
}
"""The timer by whose end a member is removed, by the reason that is given."""
_TOO_LONG: Final = "not ended within"


class TimeoutsEnd(Judge):
    """Steps with a timeout end when it is over.

    `looks_ms`: how often a coordinator looks for transactions that are open for too long.
    `late_ms`: as of Grace.
    """

    name = "timeouts_end"
    promise = (
        "a join phase lasts no longer than the longest rebalance timeout of the group's members, an initial one as long as its delay, "
        "and once more only while nobody but static members that are away is in it (REB-5, DLY-2); a sync phase lasts no longer than that "
        "timeout (SYNC-6), a member id that was given and not used no longer than its session (MID-5), a revocation no longer than the "
        "member's rebalance timeout (K8-REC-6), an open transaction no longer than its own; not while something is done to brokers; and "
        "none of these times is over sooner for who is removed, left out or aborted because of it"
    )
    looks_at = OF_GROUPS | OF_TRANSACTIONS | DONE_TO_BROKERS | {"RunEnded"}
    timed = True

    def __init__(self, looks_ms: int = LOOKS_MS, late_ms: int = REAL_TIME.late_ms) -> None:
        super().__init__()
        self._timers = Timers(looks_ms)
        self._looks_ms = looks_ms
        self._late_ms = late_ms
        self._brokers = DoneToBrokers()

    def see(self, line: Line) -> None:
        now, stream, kind = line["at_ms"], line["stream"], line["type"]
        if now >= self.due_ms:
            self.passed(now)
        if stream == "group":
            group = line["group"]
            self._ends_early(line, kind, group)
            if kind == "JoinPhaseExtended" and (here := self._timers.here.get(group)):
                self.blame(
                    line,
                    f"group {group} waits once more for members that did not rejoin, although {min(here)} did",
                )
            self._timers.of_group(line, kind, group)
        elif stream == "transaction":
            name = line["transactional_id"]
            if kind == "TransactionPrepared" and line.get("reason", "").startswith(_TOO_LONG):
                self._too_early(line, (TRANSACTION, name, ""), f"the transaction of {name}")
            self._timers.of_transaction(line, kind, name)
        elif stream == "fault":
            self._brokers.see(kind, now)
        self._look_later()

    # -- too early

    def _ends_early(self, line: Line, kind: str, group: str) -> None:
        if kind in ("MemberRemoved", "ConsumerMemberRemoved"):
            timer = _TIMER_OF.get(line.get("reason", ""))
            if timer is not None:
                member = line["member"] if timer is REVOCATION else ""
                self._too_early(line, (timer, group, member), f"the {timer} of {line['member']}")
        elif kind == "PendingMemberRemoved" and line.get("reason") == "session expired":
            key = PENDING, group, line["member"]
            self._too_early(line, key, f"the {PENDING} of {line['member']}")
        elif kind == "GenerationStarted":
            self._begins_early(line, group)

    def _begins_early(self, line: Line, group: str) -> None:
        due = self._timers.due.get((JOIN, group, ""))
        if due is None:
            return
        absent = set(line["members"]) - self._timers.here.get(group, set())
        if absent:
            what = f"the {JOIN} of group {group}, without {min(absent)}"
            self._too_early(line, (JOIN, group, ""), what)
        elif due.exact:
            self._too_early(line, (JOIN, group, ""), f"the initial delay of group {group}")

    def _too_early(self, line: Line, key: Key, what: str) -> None:
        due = self._timers.due.get(key)
        if due is None:
            return
        left_ms = due.line["at_ms"] + due.timeout_ms - line["at_ms"]
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
            self.blame(
                due.line,
                f"the {_told(key)} goes on at {now_ms} ms, although its timeout is {due.timeout_ms} ms",
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
