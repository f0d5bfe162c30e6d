"""What has a timeout ends when it is over: join phases, sync phases, transactions.

Owns what judges know of these timeouts: those of the members as they joined with them, and those of
producers. While something is done to brokers, and for a while after that, nobody is held to them.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from ..verbs.row import Hurts, undone_by
from .base import NEVER, Judge, Line

_GRACE_MS: Final = 10_000
"""For brokers that look whether something is over every so often, and for a live driver that is
late."""
LOOKS_MS: Final = 10_000
"""transaction.abort.timed.out.transaction.cleanup.interval.ms"""
_JOINS: Final = frozenset({"MemberJoined", "MemberRejoined", "MemberReplaced"})
_PHASE_ENDS: Final = frozenset(
    {
        "GenerationStored",
        "GroupEmptied",
        "GroupDeleted",
        "GroupUnloaded",
        "GroupLoaded",
        "ConsumerGroupUpgraded",
        "AssignmentRejected",
    }
)
_UNDONE_BY: Final = undone_by(Hurts.BROKERS)
_UNDOES: Final = frozenset(_UNDONE_BY.values())
_TO_BROKERS: Final = (
    _UNDOES | _UNDONE_BY.keys() | undone_by(Hurts.A_WHILE).keys() | {"SnapshotRestored"}
)


class _Due(NamedTuple):
    """What has to have ended at an instant: `line` began it, `timeout_ms` is how long it may
    last."""

    at_ms: int
    timeout_ms: int
    line: Line


class TimeoutsEnd(Judge):
    """A rebalance waits for nobody longer than the longest rebalance timeout, and a transaction is
    open no longer than its timeout.

    `looks_ms`: how often its coordinator looks for transactions that are open for too long.
    """

    name = "timeouts_end"
    promise = (
        "a join phase lasts no longer than the longest rebalance timeout of the group's members, or than its initial delay, and once more "
        "only while nobody but static members that are away is in it (REB-5); a sync phase lasts no longer than that timeout (SYNC-6); a "
        "transaction is aborted when its timeout is over; not while something is done to brokers"
    )
    looks_at = (
        _JOINS
        | _PHASE_ENDS
        | _TO_BROKERS
        | {
            "MemberRemoved",
            "RebalanceStarted",
            "JoinPhaseExtended",
            "GenerationStarted",
            "ProducerInitialized",
            "PartitionsEnlisted",
            "TransactionPrepared",
            "TransactionalIdDeleted",
            "TransactionalIdExpired",
            "RunEnded",
        }
    )
    timed = True

    def __init__(self, looks_ms: int = LOOKS_MS) -> None:
        super().__init__()
        self._looks_ms = looks_ms
        self._timeouts: dict[str, dict[str, int]] = {}
        """The rebalance timeout of each member of a group."""
        self._here: dict[str, set[str]] = {}
        """Who waits for the next generation of a group."""
        self._phases: dict[str, _Due] = {}
        self._transactions: dict[str, _Due] = {}
        self._transaction_ms: dict[str, int] = {}
        self._undone: Counter[str] = Counter()
        self._disturbed_at = -NEVER

    def see(self, line: Line) -> None:
        now, stream, kind = line["at_ms"], line["stream"], line["type"]
        if stream == "group":
            self._of_group(line, kind, line["group"], now)
        elif stream == "transaction":
            self._of_transaction(line, kind, line["transactional_id"], now)
        elif stream == "fault" and kind in _TO_BROKERS:
            self._disturbed_at = now
            if kind in _UNDONE_BY:
                self._undone[_UNDONE_BY[kind]] += 1
            elif kind in _UNDOES and self._undone[kind]:
                self._undone[kind] -= 1

    def _of_group(self, line: Line, kind: str, group: str, now: int) -> None:
        timeouts = self._timeouts.setdefault(group, {})
        here = self._here.setdefault(group, set())
        if kind in _JOINS:
            timeouts[line["member"]] = line["rebalance_timeout_ms"]
            if line.get("parked", True):
                here.add(line["member"])
            if kind == "MemberReplaced":
                here.discard(line["replaced"])
            due = self._phases.get(group)
            if due is not None:  # who comes later may have a longer timeout
                self._expect(group, max(due.timeout_ms, line["rebalance_timeout_ms"]), due.line)
        elif kind == "MemberRemoved":
            here.discard(line["member"])
        elif kind == "RebalanceStarted":
            self._expect(group, max([line["delay_ms"] or 0, *timeouts.values()]), line)
        elif kind == "JoinPhaseExtended":
            if here:
                self.blame(
                    line,
                    f"group {group} waits once more for members that did not rejoin, although {min(here)} did",
                )
            self._expect(group, max(timeouts.values(), default=0), line)
        elif kind == "GenerationStarted":
            here.clear()
            timeouts = self._timeouts[group] = {
                member: timeouts.get(member, 0) for member in line["members"]
            }
            self._expect(group, max(timeouts.values(), default=0), line)
        elif kind in _PHASE_ENDS:
            self._phases.pop(group, None)
            here.clear()
            if kind == "GenerationStored":
                self._timeouts[group] = {
                    row["member_id"]: row["rebalance_timeout_ms"] for row in line["members"]
                }

    def _of_transaction(self, line: Line, kind: str, name: str, now: int) -> None:
        if kind == "ProducerInitialized":
            self._transaction_ms[name] = line["timeout_ms"]
        elif kind == "PartitionsEnlisted":
            if name not in self._transactions and name in self._transaction_ms:
                timeout_ms = self._transaction_ms[name]
                self._transactions[name] = _Due(
                    now + timeout_ms + self._looks_ms + _GRACE_MS, timeout_ms, line
                )
                self.due_ms = min(self.due_ms, self._transactions[name].at_ms + 1)
        else:
            self._transactions.pop(name, None)

    def _expect(self, group: str, timeout_ms: int, line: Line) -> None:
        self._phases[group] = _Due(line["at_ms"] + timeout_ms + _GRACE_MS, timeout_ms, line)
        self.due_ms = min(self.due_ms, self._phases[group].at_ms + 1)

    def passed(self, now_ms: int) -> None:
        for of in (self._phases, self._transactions):
            for name, due in [(name, due) for name, due in of.items() if due.at_ms < now_ms]:
                later = self._disturbed_at + due.timeout_ms + self._looks_ms + _GRACE_MS
                if +self._undone or later >= now_ms:
                    of[name] = due._replace(at_ms=max(now_ms, later))
                    continue
                del of[name]
                what = (
                    f"transaction of {name}"
                    if of is self._transactions
                    else f"{_PHASES[due.line['type']]} phase of group {name}"
                )
                self.blame(
                    due.line,
                    f"the {what} goes on at {now_ms} ms, although its timeout is {due.timeout_ms} ms",
                )
        self.due_ms = (
            min(
                (due.at_ms for of in (self._phases, self._transactions) for due in of.values()),
                default=NEVER - 1,
            )
            + 1
        )


_PHASES: Final = {
    "RebalanceStarted": "join",
    "JoinPhaseExtended": "join",
    "GenerationStarted": "sync",
}
