"""State of one member of the consumer protocol (KIP-848), and the changes that all its parts make.

Its parts are `heartbeats` and `reconciling`; `discovery`, `topics` and `offsets` are shared with
classic members. Owns the effect of a new epoch on commits (K8-OFF-1). Does not know responses.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable

from coordinator.base.errors import ErrorCode
from coordinator.wire.schema import Request

from ..backoff import Backoff
from ..config import MemberConfig
from ..consumer_states import (
    JOIN_EPOCH,
    MOVES,
    NO_ASSIGNMENT,
    STABLE,
    UNSUBSCRIBED,
    ConsumerState,
    LocalAssignment,
)
from ..effects import RebalanceListener
from ..faults import CommitFailed, FencedInstance, MemberFault, Refused
from ..participant import InFlight, Participant
from ..states import Generation

_ID_BYTES = 16


class SentFields:
    """Fields that the coordinator knows; a heartbeat contains those that differ (K8-CL-2)."""

    __slots__ = ("assignment", "names", "rebalance_timeout_ms", "regex", "server_assignor")

    def __init__(self) -> None:
        self.rebalance_timeout_ms = -1
        self.names: frozenset[str] | None = None
        self.regex: str | None = None
        self.server_assignor: str | None = None
        self.assignment: LocalAssignment | None = None


class ConsumerPulse:
    """Deadlines of a member: the next heartbeat, and the application's next poll. The coordinator
    sets the heartbeat interval.
    """

    __slots__ = (
        "backoff",
        "beat_at",
        "in_flight",
        "late_ms",
        "poll_expires_at",
        "retry_at",
        "told_ms",
    )

    def __init__(self, backoff: Backoff, poll_expires_at: int) -> None:
        self.backoff = backoff
        self.told_ms = 0
        """The coordinator's interval; 0 until it has said."""
        self.late_ms = 0
        """The time by which each heartbeat is sent later than that."""
        self.beat_at = 0
        self.retry_at = 0
        """No heartbeat before this: the last one was refused."""
        self.in_flight: Request | None = None
        """The heartbeat that waits for its answer."""
        self.poll_expires_at = poll_expires_at

    @property
    def interval_ms(self) -> int:
        """Heartbeat interval in ms; 0 until the coordinator has sent it."""
        return self.told_ms and self.told_ms + self.late_ms

    def sent(self, heartbeat: Request, now: int) -> None:
        """Note that a heartbeat was sent."""
        self.in_flight = heartbeat
        self.beat_at = now + self.interval_ms

    def answered(self, interval_ms: int, now: int) -> None:
        """Note a successful answer; a new interval counts from now."""
        self.in_flight = None
        self.backoff.reset()
        if interval_ms != self.told_ms:
            self.told_ms = interval_ms
            self.beat_at = now + self.interval_ms

    def failed(self, now: int) -> None:
        """Note a failure: the next heartbeat is sent after a backoff."""
        self.in_flight = None
        self.beat_at = now
        self.retry_at = now + self.backoff.next()

    def at_once(self, now: int) -> None:
        """Forget the heartbeat in flight and the backoff: the next heartbeat is due at once."""
        self.in_flight = None
        self.backoff.reset()
        self.beat_at = self.retry_at = now


class ConsumerMembership(Participant):
    """State of a member of the consumer protocol."""

    __slots__ = (
        "acknowledged",
        "current",
        "fault",
        "member_epoch",
        "member_id",
        "names",
        "pulse",
        "reconciling",
        "sent",
        "state",
        "subscription_is_new",
        "target",
    )

    def __init__(
        self,
        config: MemberConfig,
        listener: RebalanceListener,
        chance: Callable[[], float],
        now: int,
        member_id: str | None,
    ) -> None:
        super().__init__(config, listener, chance, now)
        self.state: ConsumerState = UNSUBSCRIBED
        self.member_id = member_id or new_member_id(chance)
        """Its own for as long as the process lives, also when it is fenced or leaves (KIP-1082)."""
        self.member_epoch = JOIN_EPOCH
        self.target: LocalAssignment = NO_ASSIGNMENT
        """The coordinator's last assignment."""
        self.current: LocalAssignment = NO_ASSIGNMENT
        """Assignment taken over last."""
        self.names: dict[bytes, str] = {}
        """Topic ids of the assignment that were resolved; kept while the topic is assigned,
        whatever becomes of the metadata."""
        self.reconciling: LocalAssignment | None = None
        """The assignment that is being taken over while the commit before it is under way."""
        self.sent = SentFields()
        self.pulse = ConsumerPulse(self.backoff(), now + config.max_poll_interval_ms)
        self.acknowledged = False
        """Has the coordinator answered since the last assignment was taken over?"""
        self.fault: MemberFault | None = None
        """Its fatal error, until `poll` has raised it."""
        self.subscription_is_new = False

    def move(self, state: ConsumerState) -> None:
        """Enter a state that may follow the present one."""
        assert state is self.state or state in MOVES[self.state], f"{self.state} to {state}"
        self.state = state

    def take_epoch(self, epoch: int) -> None:
        """Set the member epoch; commits use it only while the member is in the group (above 0)."""
        self.member_epoch = epoch
        self.generation = Generation(epoch if epoch > JOIN_EPOCH else -1, self.member_id)

    def forget_assignment(self) -> None:
        """Drop the target, the current assignment, and a reconciliation in progress."""
        self.target = self.current = NO_ASSIGNMENT
        self.names.clear()
        self.stop_reconciling()

    def stop_reconciling(self) -> None:
        """Drop the reconciliation in progress, without waiting for its commit."""
        self.reconciling = None
        self.join_prepare_expires_at = None
        self.prepare_committed = False
        if self.prepare_commit is not None:
            self.commits.pop(self.prepare_commit.number, None)
            self.prepare_commit = None

    # -- what differs from the classic protocol

    def coordinator_found(self, now: int) -> None:
        """Do nothing: the coordinator keeps the session."""

    def refuse_commit(self) -> MemberFault | None:
        """Return None: only the coordinator refuses commits."""
        return None

    def on_commit_refused(self, sent: InFlight, error: ErrorCode, where: str) -> MemberFault | None:
        """Return the fault for a commit's error. A stale epoch is corrected by the next heartbeat,
        and only commits before a rebalance wait for that (K8-OFF-1).
        """
        if error is ErrorCode.STALE_MEMBER_EPOCH:
            commit = sent.commit
            waits = (
                commit is not None
                and commit.is_own
                and commit.expires_at is not None
                and self.member_epoch > JOIN_EPOCH
            )
            if waits:
                return Refused("OffsetCommit", error, where, retriable=True)
            return CommitFailed(f"{error.name}: the member epoch has changed since")
        if error is ErrorCode.UNKNOWN_MEMBER_ID:
            return CommitFailed(f"{error.name}: the group has gone on without this member")
        if error is ErrorCode.FENCED_INSTANCE_ID:
            return FencedInstance(
                "OffsetCommit",
                error,
                f"group.instance.id {self.config.group_instance_id}",
                retriable=False,
            )
        return None

    def fetch_identity(self) -> tuple[str | None, int]:
        """Return member id and epoch for OffsetFetch, as for commits."""
        return (self.member_id, self.member_epoch) if self.member_epoch > JOIN_EPOCH else (None, -1)

    def refetches_offsets(self, error: ErrorCode) -> bool:
        """Return whether OffsetFetch is retried: the next heartbeat brings a new epoch, or fences
        the member (K8-OFF-2).
        """
        return error in (ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID)

    @property
    def settled(self) -> bool:
        """True if the member has taken over its assignment, and the coordinator has answered that."""
        return self.state is STABLE and self.acknowledged and self.current == self.target


def new_member_id(chance: Callable[[], float]) -> str:
    """Return a random UUID in Kafka's form: 22 characters of URL-safe base64, not starting with
    "-".
    """
    while True:
        raw = bytearray(int(chance() * 256) & 0xFF for _ in range(_ID_BYTES))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = urlsafe_b64encode(raw).decode().rstrip("=")
        if not text.startswith("-"):
            return text
