"""Steps falling due in a log: join and sync phases, ids that were given and not used, revocations,
transactions. When each began, how long it may last, and what tells that it is over.

Owns what judges know of these timers: those of members as they joined with them, and those of
producers. Sessions are not among them (`sessions`). Owns no promise.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..history.consumer_groups import LEFT_FOR_NOW
from .base import NEVER, Line

JOINS: Final = frozenset({"MemberJoined", "MemberRejoined", "MemberReplaced"})
_PHASE_ENDS: Final = frozenset(
    {"GenerationStored", "GroupEmptied", "ConsumerGroupUpgraded", "AssignmentRejected"}
)
_GROUP_ENDS: Final = frozenset({"GroupDeleted", "GroupUnloaded", "GroupLoaded"})
OF_GROUPS: Final = (
    JOINS
    | _PHASE_ENDS
    | _GROUP_ENDS
    | {
        "MemberPending",
        "PendingMemberRemoved",
        "MemberRemoved",
        "RebalanceStarted",
        "DelayExtended",
        "JoinPhaseExtended",
        "GenerationStarted",
        "ConsumerGroupDowngraded",
        "ConsumerMemberSubscribed",
        "ConsumerMemberReplaced",
        "ConsumerMemberReconciled",
        "ConsumerMemberRemoved",
    }
)
OF_TRANSACTIONS: Final = frozenset(
    {
        "ProducerInitialized",
        "PartitionsEnlisted",
        "TransactionPrepared",
        "TransactionalIdDeleted",
        "TransactionalIdExpired",
    }
)
_LEAST_EXTENSION_MS: Final = 100
_REVOKING: Final = "unrevoked partitions"
_EXPIRED: Final = frozenset(
    {"session expired", "its session was ended by hand", "first join never completed"}
)

JOIN: Final = "join phase"
SYNC: Final = "sync phase"
PENDING: Final = "time to join"
REVOCATION: Final = "time to revoke"
TRANSACTION: Final = "transaction"

Key = tuple[str, str, str]
"""Which timer: what it is, of which group or transactional id, of which member ("": of none)."""


class Due(NamedTuple):
    """A step over at an instant: `line` began it, `timeout_ms` is how long it lasts. `exact`:
    neither may it last any longer nor end sooner."""

    at_ms: int
    timeout_ms: int
    line: Line
    exact: bool = False


class Timers:
    """All timers of a log. `looks_ms`: how often coordinators look for transactions that are open
    for too long."""

    def __init__(self, looks_ms: int) -> None:
        self.due: dict[Key, Due] = {}
        self.next_ms = NEVER
        """When the first of them is over; it may tell of one that was called off."""
        self.here: dict[str, set[str]] = {}
        """Who waits for the next generation of a group."""
        self._looks_ms = looks_ms
        self._timeouts: dict[str, dict[str, int]] = {}
        """The rebalance timeout of each member of a group."""
        self._rests: dict[str, tuple[int, int]] = {}
        """Of each group with an initial delay: how long it is now, and by how much it may grow."""
        self._to_revoke: dict[str, dict[str, int]] = {}
        """How long each member of a consumer group has to revoke."""
        self._transaction_ms: dict[str, int] = {}

    def expect(self, key: Key, timeout_ms: int, line: Line, *, exact: bool = False) -> None:
        """From this line on it may last so long."""
        at_ms = line["at_ms"] + timeout_ms
        if key[0] == TRANSACTION:
            at_ms += self._looks_ms
        self.due[key] = Due(at_ms, timeout_ms, line, exact)
        self.next_ms = min(self.next_ms, at_ms)

    def of_group(self, line: Line, kind: str, group: str) -> None:
        """Follow an event of a group."""
        if kind not in OF_GROUPS:
            return
        if kind.startswith("Consumer"):
            self._of_consumer_group(line, kind, group)
        elif kind == "MemberPending":
            left_ms = line["deadline_ms"] - line["at_ms"]
            self.expect((PENDING, group, line["member"]), left_ms, line)
        elif kind == "PendingMemberRemoved":
            self.due.pop((PENDING, group, line["member"]), None)
            self._cut_short(line, group)
        elif kind in JOINS:
            self._joined(line, kind, group)
        elif kind == "MemberRemoved":
            self.here.setdefault(group, set()).discard(line["member"])
            self._timeouts.get(group, {}).pop(line["member"], None)
            self._cut_short(line, group)
        elif kind in _PHASE_ENDS or kind in _GROUP_ENDS:
            self._over(line, kind, group)
        else:
            self._phase(line, kind, group)

    def _joined(self, line: Line, kind: str, group: str) -> None:
        here = self.here.setdefault(group, set())
        timeouts = self._timeouts.setdefault(group, {})
        if kind == "MemberReplaced":
            here.discard(line["replaced"])
            timeouts.pop(line["replaced"], None)
        self.due.pop((PENDING, group, line["member"]), None)
        timeouts[line["member"]] = max(line["rebalance_timeout_ms"], 0)
        if line.get("parked", True):
            here.add(line["member"])

    def _cut_short(self, line: Line, group: str) -> None:
        """DLY-4: an expiry may end an initial delay."""
        due = self.due.get((JOIN, group, ""))
        if due is not None and due.exact and line.get("reason") in _EXPIRED:
            self.due[JOIN, group, ""] = due._replace(exact=False)

    def _phase(self, line: Line, kind: str, group: str) -> None:
        timeouts = self._timeouts.setdefault(group, {})
        longest_ms = max(timeouts.values(), default=0)
        if kind == "RebalanceStarted":
            self.due.pop((SYNC, group, ""), None)
            delay_ms = line["delay_ms"]
            if delay_ms is None:
                self.expect((JOIN, group, ""), longest_ms, line)
            else:
                self._rests[group] = delay_ms, max(longest_ms - delay_ms, 0)
                self.expect((JOIN, group, ""), delay_ms, line, exact=True)
        elif kind == "DelayExtended":  # DLY-2
            before_ms, rest_ms = self._rests.get(group, (line["delay_ms"], line["delay_ms"]))
            delay_ms = min(before_ms, rest_ms)
            self._rests[group] = delay_ms, max(rest_ms - before_ms, 0)
            self.expect((JOIN, group, ""), delay_ms, line, exact=True)
        elif kind == "JoinPhaseExtended":
            self.expect((JOIN, group, ""), max(longest_ms, _LEAST_EXTENSION_MS), line)
        elif kind == "GenerationStarted":
            self.here[group] = set()
            timeouts = {member: timeouts.get(member, 0) for member in line["members"]}
            self._timeouts[group] = timeouts
            self.due.pop((JOIN, group, ""), None)
            self.expect((SYNC, group, ""), max(timeouts.values(), default=0), line)

    def _over(self, line: Line, kind: str, group: str) -> None:
        if kind in _GROUP_ENDS:
            self._reload(line, kind, group)
        self.due.pop((JOIN, group, ""), None)
        self.due.pop((SYNC, group, ""), None)
        self.here.pop(group, None)
        if kind == "GenerationStored":
            self._timeouts[group] = {
                row["member_id"]: max(row["rebalance_timeout_ms"], 0) for row in line["members"]
            }

    def _reload(self, line: Line, kind: str, group: str) -> None:
        """Who loads a group times revocations anew, and knows of no phase and no id that was not
        used."""
        for key in [key for key in self.due if key[1] == group and key[0] != TRANSACTION]:
            due = self.due.pop(key)
            if key[0] == REVOCATION and kind == "GroupLoaded":
                self.expect(key, due.timeout_ms, line)

    def _of_consumer_group(self, line: Line, kind: str, group: str) -> None:
        if kind == "ConsumerGroupUpgraded":
            self._over(line, kind, group)
        elif kind == "ConsumerGroupDowngraded":
            self._timeouts[group] = {
                row["member_id"]: max(row["rebalance_timeout_ms"], 0) for row in line["members"]
            }
        elif kind == "ConsumerMemberReconciled":
            key = REVOCATION, group, line["member"]
            if line["state"] != _REVOKING or line["member_epoch"] == LEFT_FOR_NOW:
                # a static member that left for a while has no time to revoke (K8-LV-2)
                self.due.pop(key, None)
            elif (to_revoke := self._to_revoke.get(group, {}).get(line["member"])) is not None:
                self.expect(key, to_revoke, line)
        elif kind == "ConsumerMemberRemoved":
            self._to_revoke.get(group, {}).pop(line["member"], None)
            self.due.pop((REVOCATION, group, line["member"]), None)
        else:
            said = line if kind == "ConsumerMemberSubscribed" else line["subscription"]
            members = self._to_revoke.setdefault(group, {})
            if kind == "ConsumerMemberReplaced":
                members.pop(line["replaced"], None)
                self.due.pop((REVOCATION, group, line["replaced"]), None)
            members.pop(line["member"], None)
            if said["classic"] is None:
                members[line["member"]] = max(said["rebalance_timeout_ms"], 0)

    def of_transaction(self, line: Line, kind: str, name: str) -> None:
        """Follow an event of a transactional id."""
        key = TRANSACTION, name, ""
        if kind == "ProducerInitialized":
            self._transaction_ms[name] = line["timeout_ms"]
        elif kind == "PartitionsEnlisted":
            if key not in self.due and name in self._transaction_ms:
                self.expect(key, self._transaction_ms[name], line)
        else:
            self.due.pop(key, None)

    def late(self, now_ms: int) -> list[Key]:
        """Those that were to be over before this instant."""
        return [key for key, due in self.due.items() if due.at_ms < now_ms]

    def look_again(self) -> None:
        """Find anew when the first of them is over."""
        self.next_ms = min((due.at_ms for due in self.due.values()), default=NEVER)
