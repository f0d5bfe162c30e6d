"""State of one classic member, and the changes that all its parts make: reset, and rejoin.

Its parts are `classic`, `rebalancing`, `discovery`, `offsets` and `topics`. Owns the effect of a
reset (CLI-3) and of a commit's error on the membership (CLI-15, CLI-16). Does not know
responses.
"""

from __future__ import annotations

from collections.abc import Callable

from assignors import Assignor
from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupResponse

from .cluster_view import ClusterView, Snapshot
from .config import MemberConfig
from .effects import RebalanceListener
from .faults import CommitFailed, FencedInstance, MemberFault, RebalanceInProgress
from .participant import InFlight, Participant
from .pulse import Pulse
from .states import (
    MOVES,
    NO_GENERATION,
    PREPARING_REBALANCE,
    REBALANCING,
    STABLE,
    UNJOINED,
    Generation,
    MemberState,
)

_EXPELLED = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})


class JoinAttempt:
    """One attempt to join, from JoinGroup to the answer of SyncGroup; `poll` takes its result."""

    __slots__ = ("assignment", "done", "fault")

    def __init__(self) -> None:
        self.done = False
        self.assignment = b""
        self.fault: MemberFault | None = None

    def succeed(self, assignment: bytes) -> None:
        """End the attempt with the member's assignment."""
        self.done, self.assignment = True, assignment

    def fail(self, fault: MemberFault) -> None:
        """End the attempt with a fault."""
        self.done, self.fault = True, fault


class Membership(Participant):
    """State of a classic member."""

    __slots__ = (
        "assigning_ms",
        "assignment_snapshot",
        "assignors",
        "assigns_at",
        "beat_fault",
        "cooperative",
        "election",
        "heartbeat",
        "is_leader",
        "join",
        "join_again_at",
        "join_backoff",
        "joined_topics",
        "needs_join_prepare",
        "pattern_refreshed",
        "pulse",
        "rejoin_needed",
        "rejoin_reason",
        "snapshot",
        "state",
        "view_seen",
    )

    def __init__(
        self,
        config: MemberConfig,
        assignors: tuple[Assignor, ...],
        cooperative: bool,
        listener: RebalanceListener,
        chance: Callable[[], float],
        now: int,
    ) -> None:
        super().__init__(config, listener, chance, now)
        self.assignors = assignors
        self.cooperative = cooperative
        self.state: MemberState = UNJOINED
        self.heartbeat: tuple[Generation, HeartbeatRequest] | None = None
        """The heartbeat of a generation: all of them are the same."""
        self.rejoin_needed = True
        self.rejoin_reason = ""
        self.needs_join_prepare = True
        self.join: JoinAttempt | None = None
        self.join_again_at = 0
        self.join_backoff = self.backoff()
        self.joined_topics: frozenset[str] | None = None
        """The wishes of the last JoinGroup."""
        self.is_leader = False
        self.election: JoinGroupResponse | None = None
        """Elected, but the metadata of the group's topics is still to come, or the assignor is still
        at work."""
        self.assigning_ms = 0
        """The simulated duration of an assignor's work."""
        self.assigns_at: int | None = None
        """The instant at which the simulated assignor finishes; 0: it has finished; None: it has
        not begun."""
        self.pulse = Pulse(config, self.backoff(), now)
        self.beat_fault: MemberFault | None = None
        # topics
        self.view_seen: ClusterView | None = None
        """The view that subscription and snapshot were taken from."""
        self.snapshot: Snapshot = ()
        self.assignment_snapshot: Snapshot | None = None
        self.pattern_refreshed = False
        """Metadata were asked for ahead of the next JoinGroup (CLI-20)."""

    # -- state

    def move(self, state: MemberState) -> None:
        """Enter a state that may follow the present one."""
        assert state in MOVES[self.state], f"{self.state} to {state}"
        self.state = state

    def request_rejoin(self, reason: str) -> None:
        """Rejoin at the next poll; the JoinGroup contains the reason (KIP-800)."""
        self.rejoin_needed = True
        self.rejoin_reason = reason

    def reset_and_rejoin(self, reason: str, *, keep_member_id: bool) -> None:
        """Drop the generation and rejoin; owned partitions are lost at the next join-prepare
        (CLI-23).
        """
        self.state = UNJOINED
        self.generation = (
            Generation(member_id=self.generation.member_id) if keep_member_id else NO_GENERATION
        )
        self.request_rejoin(reason)
        self.needs_join_prepare = True

    # -- what differs from the consumer protocol

    def coordinator_found(self, now: int) -> None:
        """Restart the session timeout."""
        self.pulse.reset_session(now)

    def refuse_commit(self) -> MemberFault | None:
        """Return a fault if the member is in no generation: then the coordinator is not asked
        (CLI-15).
        """
        if not self.subscribed.wanted or self.state is STABLE:
            return None
        if self.state in REBALANCING:
            return RebalanceInProgress("this member is in a rebalance")
        return CommitFailed("this consumer is not a member of the group")

    def on_commit_refused(self, sent: InFlight, error: ErrorCode, where: str) -> MemberFault | None:
        """Return the fault for a commit's error; a member that is no longer in its generation
        rejoins (CLI-16).
        """
        unchanged = self.generation == sent.generation
        if error is ErrorCode.FENCED_INSTANCE_ID:
            if unchanged:
                return FencedInstance(
                    "OffsetCommit",
                    error,
                    f"group.instance.id {self.config.group_instance_id}",
                    retriable=False,
                )
            if self.state is PREPARING_REBALANCE:
                return RebalanceInProgress("the group rebalances")
            return CommitFailed("the group has gone on without this member")
        if error is ErrorCode.REBALANCE_IN_PROGRESS:
            self.request_rejoin("a commit was answered that the group rebalances")
            return RebalanceInProgress("the group rebalances")
        if error in _EXPELLED:
            if not unchanged and self.state is PREPARING_REBALANCE:
                return RebalanceInProgress("this member joins anew")
            self.reset_and_rejoin(
                f"{error.name} in the answer to OffsetCommit",
                keep_member_id=error is ErrorCode.ILLEGAL_GENERATION,
            )
            return CommitFailed(f"{error.name}: the group has gone on without this member")
        return None

    def fetch_identity(self) -> tuple[str | None, int]:
        """Return (None, -1): a classic member's OffsetFetch has no member id."""
        return None, -1

    def refetches_offsets(self, error: ErrorCode) -> bool:
        """Return False: a classic member's OffsetFetch has no generation, so no error concerns one."""
        return False
