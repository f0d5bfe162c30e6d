"""The state of one member, and the few moves that every part of it makes: reset, ask to rejoin, send, forget the coordinator.

Parts work on it as the heart's functions work on a group: `discovery`, `joining`, `rebalancing`, `heartbeats`, `offsets`,
`leaving`, `topics`. Owns no rule of its own but what a reset means (CLI-3). Refuses to know responses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from assignors import Assignor, TopicPartition

from ..wire.messages.join_group import JoinGroupResponse
from ..wire.schema import Request
from .backoff import Backoff
from .cluster_view import ClusterView, Snapshot
from .config import MemberConfig
from .effects import Effect, Node, Position, RebalanceListener, Send
from .faults import MemberFault
from .pulse import Pulse
from .states import MOVES, NO_GENERATION, UNJOINED, Generation, MemberState
from .subscription import Subscribed


class InFlight(NamedTuple):
    """A request that waits for its answer."""

    message: Request
    node: Node | None
    generation: Generation
    """The member's when it was sent: answers to an older one change nothing."""
    deadline: int
    commit: Commit | None = None


class Commit:
    """A commit on its way: what, for whom, and how long it may be retried."""

    __slots__ = ("again_at", "expires_at", "in_flight", "is_own", "number", "offsets")

    def __init__(
        self, number: int, offsets: Mapping[TopicPartition, Position], expires_at: int | None, again_at: int, *, is_own: bool
    ) -> None:
        self.number = number
        self.offsets = offsets
        self.expires_at = expires_at
        """Until when retriable failures are retried; None: not at all."""
        self.again_at = again_at
        """When it may be sent (again)."""
        self.is_own = is_own
        """The machine's own: nobody is told how it ends."""
        self.in_flight = False


class JoinAttempt:
    """From JoinGroup to the answer of SyncGroup; `poll` takes what came of it."""

    __slots__ = ("assignment", "done", "fault")

    def __init__(self) -> None:
        self.done = False
        self.assignment = b""
        self.fault: MemberFault | None = None

    def succeed(self, assignment: bytes) -> None:
        """The member's part has come."""
        self.done, self.assignment = True, assignment

    def fail(self, fault: MemberFault) -> None:
        """It came to nothing."""
        self.done, self.fault = True, fault


class Membership:
    """Everything a member knows. `chance` draws from 0 to 1; it only jitters backoffs."""

    __slots__ = (
        "assignment_snapshot",
        "assignors",
        "beat_fault",
        "chance",
        "commit_backoff",
        "commits",
        "config",
        "cooperative",
        "coordinator",
        "effects",
        "election",
        "fatal_find",
        "find_again_at",
        "find_backoff",
        "find_in_flight",
        "generation",
        "in_flight",
        "is_leader",
        "join",
        "join_again_at",
        "join_backoff",
        "join_prepare_expires_at",
        "joined_topics",
        "listener",
        "metadata_again_at",
        "metadata_backoff",
        "metadata_expires_at",
        "metadata_in_flight",
        "metadata_needed",
        "needs_join_prepare",
        "next_auto_commit_at",
        "number",
        "offsets_again_at",
        "offsets_backoff",
        "offsets_fault",
        "offsets_in_flight",
        "pattern_refreshed",
        "prepare_commit",
        "prepare_committed",
        "pulse",
        "rejoin_needed",
        "rejoin_reason",
        "snapshot",
        "state",
        "subscribed",
        "topics_fault",
        "view",
        "view_seen",
    )  # fmt: skip

    def __init__(
        self, config: MemberConfig, assignors: tuple[Assignor, ...], cooperative: bool, listener: RebalanceListener,
        chance: Callable[[], float], now: int,
    ) -> None:  # fmt: skip
        self.config = config
        self.assignors = assignors
        self.cooperative = cooperative
        self.listener = listener
        self.chance = chance
        self.effects: list[Effect] = []
        self.in_flight: dict[int, InFlight] = {}
        self.number = 0
        self.subscribed = Subscribed(config.exclude_internal_topics)
        # membership
        self.state: MemberState = UNJOINED
        self.generation: Generation = NO_GENERATION
        self.rejoin_needed = True
        self.rejoin_reason = ""
        self.needs_join_prepare = True
        self.join: JoinAttempt | None = None
        self.join_again_at = 0
        self.join_backoff = self.backoff()
        self.join_prepare_expires_at: int | None = None
        self.prepare_commit: Commit | None = None
        self.prepare_committed = False
        self.joined_topics: frozenset[str] | None = None
        """What the last JoinGroup asked for."""
        self.is_leader = False
        self.election: JoinGroupResponse | None = None
        """Elected, but the metadata of the group's topics is still to come."""
        # coordinator
        self.coordinator: Node | None = None
        self.find_in_flight = False
        self.find_again_at = 0
        self.find_backoff = self.backoff()
        self.fatal_find: MemberFault | None = None
        self.pulse = Pulse(config, self.backoff(), now)
        self.beat_fault: MemberFault | None = None
        # topics
        self.view: ClusterView | None = None
        self.view_seen: ClusterView | None = None
        """The view that subscription and snapshot were taken from."""
        self.snapshot: Snapshot = ()
        self.assignment_snapshot: Snapshot | None = None
        self.topics_fault: MemberFault | None = None
        self.metadata_needed = False
        self.metadata_in_flight: frozenset[str] | bool = False
        """The topics asked for just now; True: all of them; False: nothing is asked."""
        self.metadata_again_at = 0
        self.metadata_backoff = self.backoff()
        self.metadata_expires_at = now
        self.pattern_refreshed = False
        """Metadata were asked for ahead of the next JoinGroup (CLI-20)."""
        # offsets
        self.commits: dict[int, Commit] = {}
        self.commit_backoff = self.backoff()
        self.next_auto_commit_at = now + config.auto_commit_interval_ms
        self.offsets_in_flight = False
        self.offsets_again_at = 0
        self.offsets_backoff = self.backoff()
        self.offsets_fault: MemberFault | None = None

    def backoff(self) -> Backoff:
        """A new backoff with the configured bounds."""
        return Backoff(self.config.retry_backoff_ms, self.config.retry_backoff_max_ms, self.chance)

    # -- state

    def move(self, state: MemberState) -> None:
        """Enter a state that may follow."""
        assert state in MOVES[self.state], f"{self.state} to {state}"
        self.state = state

    def request_rejoin(self, reason: str) -> None:
        """Join anew at the next poll; the reason goes out with the JoinGroup (KIP-800)."""
        self.rejoin_needed = True
        self.rejoin_reason = reason

    def reset_and_rejoin(self, reason: str, *, keep_member_id: bool) -> None:
        """Out of the generation; what is owned will be lost at the next join-prepare (CLI-23)."""
        self.state = UNJOINED
        self.generation = Generation(member_id=self.generation.member_id) if keep_member_id else NO_GENERATION
        self.request_rejoin(reason)
        self.needs_join_prepare = True

    # -- requests

    def send(
        self, message: Request, now: int, *, node: Node | None = None, timeout_ms: int | None = None, commit: Commit | None = None
    ) -> None:
        """Put a request among the effects; its answer comes back under the number it gets here."""
        self.number += 1
        deadline = now + (self.config.request_timeout_ms if timeout_ms is None else timeout_ms)
        self.in_flight[self.number] = InFlight(message, node, self.generation, deadline, commit)
        self.effects.append(Send(self.number, node, message))
