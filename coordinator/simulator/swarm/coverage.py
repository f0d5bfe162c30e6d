"""The coverage of a swarm: events, refusals, faults, and conditions that have to come about
sometimes.

A swarm that never moves a coordinator during a rebalance proves nothing about that. Owns the list
of what is to be reached, and reads the event log alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from ...history.classic_groups import COMPLETING, PREPARING, ClassicGroups
from ...judges.timers import (
    JOIN,
    OF_GROUPS,
    OF_TRANSACTIONS,
    PENDING,
    REVOCATION,
    SYNC,
    TRANSACTION,
    Timers,
)
from ...verbs import ROWS

Line = dict[str, Any]

SOMETIMES: Final = (
    "a coordinator moved during a join phase",
    "a coordinator moved during a sync phase",
    "a coordinator moved while its group was Stable",
    "a coordinator moved while its group was Empty",
    "a commit was accepted during a join phase",
    "a process was killed during a join phase",
    "a process was killed during a sync phase",
    "a static member came back",
    "a static member came back during a rebalance",
    "a member left because it did not poll",
    "a session ran out",
    "a session of a consumer group ran out",
    "a member did not rejoin in time",
    "offsets expired",
    "a group came back before its offsets expired",
    "a leader went during a rebalance",
    "partitions were lost",
    "a group became empty",
    "a record was given again",
    "a transaction was aborted",
    "a transaction was aborted because time ran out",
    "a producer was fenced",
    "a pipeline's transaction failed",
    "a lock of a share group ended",
    "a share partition moved with records in flight",
    "a record of a share group was delivered again",
    "a record of a share group was given up",
    "a dead letter was written",
    "an acknowledgement came too late",
)
"""Conditions that a large swarm has to meet."""

_SHARE_SESSION: Final = "session of a share group"
TIMERS: Final = (JOIN, SYNC, PENDING, REVOCATION, TRANSACTION, _SHARE_SESSION)
"""Each of these has to run out sometimes, and to be over before: only then has a judge seen it from
both sides."""
_RUNS_OUT: Final = "ran out"
_IN_TIME: Final = "was over in time"
_LOOKS_MS: Final = 10_000

EVENTS: Final = (
    "MemberJoined",
    "MemberRejoined",
    "MemberReplaced",
    "MemberRemoved",
    "MemberPending",
    "PendingMemberRemoved",
    "LeaderElected",
    "RebalanceStarted",
    "DelayExtended",
    "GenerationStarted",
    "GroupEmptied",
    "MemberSynced",
    "GenerationStored",
    "OffsetsCommitted",
    "OffsetsPending",
    "PendingOffsetsEnded",
    "GroupUnloaded",
    "GroupLoaded",
    "TransactionPrepared",
    "TransactionCompleted",
)
FAULTS: Final = (
    *(kind for row in ROWS.values() if row.drawn for kind in row.lines),
    "RequestFaultBegan",
    "RequestFaultEnded",
    "FaultInjected",
)
REFUSALS: Final = (
    "JoinGroup MEMBER_ID_REQUIRED",
    "JoinGroup UNKNOWN_MEMBER_ID",
    "JoinGroup FENCED_INSTANCE_ID",
    "JoinGroup NOT_COORDINATOR",
    "SyncGroup REBALANCE_IN_PROGRESS",
    "SyncGroup UNKNOWN_MEMBER_ID",
    "SyncGroup FENCED_INSTANCE_ID",
    "SyncGroup NOT_COORDINATOR",
    "SyncGroup GROUP_AUTHORIZATION_FAILED",
    "Heartbeat REBALANCE_IN_PROGRESS",
    "Heartbeat UNKNOWN_MEMBER_ID",
    "Heartbeat ILLEGAL_GENERATION",
    "Heartbeat FENCED_INSTANCE_ID",
    "Heartbeat NOT_COORDINATOR",
    "Heartbeat GROUP_AUTHORIZATION_FAILED",
    "ConsumerGroupHeartbeat UNKNOWN_MEMBER_ID",
    "ConsumerGroupHeartbeat UNRELEASED_INSTANCE_ID",
    "ConsumerGroupHeartbeat NOT_COORDINATOR",
    "ConsumerGroupHeartbeat GROUP_AUTHORIZATION_FAILED",
    "OffsetCommit UNKNOWN_MEMBER_ID",
    "OffsetCommit ILLEGAL_GENERATION",
    "OffsetCommit FENCED_INSTANCE_ID",
    "OffsetCommit NOT_COORDINATOR",
    "OffsetCommit UNKNOWN_TOPIC_OR_PARTITION",
    "OffsetCommit GROUP_AUTHORIZATION_FAILED",
    "OffsetCommit TOPIC_AUTHORIZATION_FAILED",
    "OffsetFetch NOT_COORDINATOR",
    "OffsetFetch TOPIC_AUTHORIZATION_FAILED",
    "AddPartitionsToTxn NOT_COORDINATOR",
    "AddPartitionsToTxn PRODUCER_FENCED",
    "AddPartitionsToTxn TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "EndTxn PRODUCER_FENCED",
    "ShareGroupHeartbeat NOT_COORDINATOR",
    "ShareGroupHeartbeat GROUP_AUTHORIZATION_FAILED",
    "ShareFetch NOT_LEADER_OR_FOLLOWER",
    "ShareFetch INVALID_SHARE_SESSION_EPOCH",
    "ShareFetch SHARE_SESSION_NOT_FOUND",
    "ShareFetch GROUP_AUTHORIZATION_FAILED",
)
"""Errors that brokers find by themselves, not those of injected answers. Each was met in the
first 260 seeds."""


_PHASES: Final = {PREPARING: "join", COMPLETING: "sync"}
_CALL_OFF: Final = frozenset({"GroupUnloaded", "GroupDeleted", "GroupLoaded"})
"""With these nothing is over: whoever loads the group begins anew."""


class Coverage:
    """The things reached, and how often."""

    def __init__(self) -> None:
        self.reached: Counter[str] = Counter()
        self._classic = ClassicGroups()
        self._groups: dict[str, str] = {}
        self._given: dict[tuple[str, str, int], int] = {}
        self._timers = Timers(_LOOKS_MS)
        self._share_members: dict[str, str] = {}
        """The ids of members of share groups, by client."""
        self._silent: dict[str, str] = {}
        """Of those that are paused or cut off."""
        self._unused: set[str] = set()
        """Groups that are Empty and may have offsets."""

    def see(self, line: Line) -> None:
        """Look at a line of a log."""
        kind, stream = line["type"], line["stream"]
        if stream in ("group", "transaction", "coordinator"):
            self.reached[f"event {kind}"] += 1
            self._group(line, kind, line.get("group", ""))
            self._of_share_group(line, kind)
            if kind in OF_GROUPS or kind in OF_TRANSACTIONS:
                self._timer(line, kind, stream)
        elif stream == "fault":
            self.reached[f"fault {kind}"] += 1
            self._of_client(line, kind)
        elif kind == "RequestRefused":
            api = "".join(word.capitalize() for word in line["api"].split("_"))
            for error in line["errors"]:
                self.reached[f"refusal {api} {error}"] += 1
        elif stream == "member":
            self._member(line, kind)
        elif stream == "share":
            self._shares(line, kind)

    def _timer(self, line: Line, kind: str, stream: str) -> None:
        """Which timers are over with this line, and on which side."""
        timers = self._timers
        before = dict(timers.due)
        if stream == "group":
            timers.of_group(line, kind, line["group"])
        elif stream == "transaction":
            timers.of_transaction(line, kind, line["transactional_id"])
        for key, due in before.items():
            if timers.due.get(key) is not due and kind not in _CALL_OFF:
                self._over(key[0], line["at_ms"] >= due.line["at_ms"] + due.timeout_ms)

    def _over(self, timer: str, ran_out: bool) -> None:
        self.reached[f"timer {timer} {_RUNS_OUT if ran_out else _IN_TIME}"] += 1

    def _of_client(self, line: Line, kind: str) -> None:
        """A member of a share group falls silent, or goes on before its session has ended."""
        client = line.get("client", "")
        if kind == "PauseMember" or (
            kind == "CutMember"
            and line.get("broker") is None
            and line.get("direction") != "from_broker"
        ):
            if client in self._share_members:
                self._silent[client] = self._share_members[client]
        elif kind in ("MemberResumed", "MemberHealed"):
            member = self._silent.pop(client, None)
            if member is not None and member == self._share_members.get(client):
                self._over(_SHARE_SESSION, ran_out=False)

    def _of_share_group(self, line: Line, kind: str) -> None:
        if kind == "ShareMemberSubscribed":
            self._share_members[line["client_id"]] = line["member"]
        elif kind == "ShareMemberRemoved":
            self._share_members = {
                client: member
                for client, member in self._share_members.items()
                if member != line["member"]
            }
            if line["reason"] == "session expired":
                self._over(_SHARE_SESSION, ran_out=True)

    def _shares(self, line: Line, kind: str) -> None:
        if kind == "RecordsReleased" and line["reason"] == "the lock ended":
            self._some("a lock of a share group ended")
        elif kind == "SharePartitionOpened" and line["records"]:
            self._some("a share partition moved with records in flight")
        elif kind == "DeadLettersWritten":
            self._some("a dead letter was written")
        elif kind == "RecordsAcquired" and any(of["delivery_count"] > 1 for of in line["records"]):
            self._some("a record of a share group was delivered again")
        if kind in ("RecordsAcknowledged", "RecordsReleased") and any(
            of["state"] in ("Archiving", "Archived") for of in line["records"]
        ):
            self._some("a record of a share group was given up")

    def _some(self, what: str) -> None:
        self.reached[f"sometimes {what}"] += 1

    def _group(self, line: Line, kind: str, group: str) -> None:
        phase = self._phase(group)
        self._classic.see(line)
        if kind == "GroupEmptied":
            self._some("a group became empty")
            self._unused.add(group)
        elif kind == "GroupLoaded":
            when = f"during a {phase} phase" if phase else f"while its group was {line['state']}"
            self._some(f"a coordinator moved {when}")
        elif kind == "OffsetsCommitted" and phase == "join":
            self._some("a commit was accepted during a join phase")
        elif kind == "OffsetsRemoved" and line["reason"] == "expired":
            self._some("offsets expired")
            self._unused.discard(group)
        elif kind == "MemberJoined" and group in self._unused:
            self._some("a group came back before its offsets expired")
            self._unused.discard(group)
        elif kind == "ConsumerMemberRemoved" and line["reason"] == "session expired":
            self._some("a session of a consumer group ran out")
        elif kind == "MemberReplaced":
            self._some("a static member came back")
            if phase:
                self._some("a static member came back during a rebalance")
        elif kind == "MemberRemoved":
            self._removed(line, phase, self._classic.get(group).leader)
        elif kind == "TransactionPrepared" and not line["committed"]:
            self._some("a transaction was aborted")
            if line["reason"].startswith("not ended within"):
                self._some("a transaction was aborted because time ran out")

    def _phase(self, group: str) -> str:
        """Of the rebalance that a group is in; "" if it is in none."""
        return _PHASES.get(self._classic.get(group).state, "")

    def _removed(self, line: Line, phase: str, leader: str | None) -> None:
        if line["reason"] == "session expired":
            self._some("a session ran out")
        if line["reason"] == "did not rejoin in time":
            self._some("a member did not rejoin in time")
        if "max.poll.interval" in (line.get("detail") or ""):
            self._some("a member left because it did not poll")
        if phase and line["member"] == leader:
            self._some("a leader went during a rebalance")

    def _member(self, line: Line, kind: str) -> None:
        if kind == "AcknowledgementsEnded" and line["failed"] == "INVALID_RECORD_STATE":
            self._some("an acknowledgement came too late")
        if "group" in line:
            self._groups[line["client"]] = line["group"]
        phase = self._phase(self._groups.get(line["client"], ""))
        if kind == "MemberCrashed" and phase:
            self._some(f"a process was killed during a {phase} phase")
        elif kind == "PartitionsLost":
            self._some("partitions were lost")
        elif kind == "RecordsPolled":
            key = (line["group"], line["topic"], line["partition"])
            if line["ranges"][0][0] < self._given.get(key, 0):
                self._some("a record was given again")
            self._given[key] = max(self._given.get(key, 0), line["ranges"][-1][1] + 1)
        elif kind == "TransactionEnded" and line["failed"] and "group" in line:
            self._some("a pipeline's transaction failed")
        elif kind in ("MemberFailed", "ProducerFailed") and (
            "FENCED" in line["why"] or "PRODUCER_EPOCH" in line["why"]
        ):
            self._some("a producer was fenced")


def expected() -> list[str]:
    """Everything that a large swarm has to reach."""
    return [
        *(f"event {kind}" for kind in EVENTS),
        *(f"fault {kind}" for kind in FAULTS),
        *(f"refusal {each}" for each in REFUSALS),
        *(f"sometimes {what}" for what in SOMETIMES),
        *(f"timer {timer} {side}" for timer in TIMERS for side in (_RUNS_OUT, _IN_TIME)),
    ]
