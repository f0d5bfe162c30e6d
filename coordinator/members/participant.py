"""State and actions common to members of both group protocols: requests, coordinator, topics and
offsets.

`Membership` (classic) and `ConsumerMembership` (KIP-848) add their own state; `discovery`,
`topics` and `offsets` use this part alone. Contains no rule of a protocol: subclasses answer
where they differ. Does not know responses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.wire.schema import Request

from .backoff import Backoff
from .cluster_view import ClusterView
from .config import MemberConfig
from .effects import Effect, Node, Position, RebalanceListener, Send
from .faults import MemberFault
from .states import NO_GENERATION, Generation
from .subscription import Subscribed


class InFlight(NamedTuple):
    """A request that waits for its answer."""

    message: Request
    node: Node | None
    generation: Generation
    """The member's generation when it was sent: answers for an older one change nothing."""
    deadline: int
    commit: Commit | None = None


class Commit:
    """A commit in progress: its offsets, and how long it may be retried."""

    __slots__ = ("again_at", "expires_at", "in_flight", "is_own", "number", "offsets")

    def __init__(
        self,
        number: int,
        offsets: Mapping[TopicPartition, Position],
        expires_at: int | None,
        again_at: int,
        *,
        is_own: bool,
    ) -> None:
        self.number = number
        self.offsets = offsets
        self.expires_at = expires_at
        """Until when retriable failures are retried; None: not at all."""
        self.again_at = again_at
        """The instant from which it may be sent (again)."""
        self.is_own = is_own
        """True for the machine's own request, whose outcome no application gets."""
        self.in_flight = False


class Participant:
    """Protocol-independent state of one member. `chance` draws from 0 to 1, for the jitter of
    backoffs.
    """

    __slots__ = (
        "chance",
        "commit_backoff",
        "commits",
        "config",
        "coordinator",
        "effects",
        "fatal_find",
        "find_again_at",
        "find_backoff",
        "find_in_flight",
        "generation",
        "in_flight",
        "join_prepare_expires_at",
        "listener",
        "metadata_again_at",
        "metadata_backoff",
        "metadata_expires_at",
        "metadata_in_flight",
        "metadata_needed",
        "next_auto_commit_at",
        "number",
        "offsets_again_at",
        "offsets_backoff",
        "offsets_fault",
        "offsets_in_flight",
        "prepare_commit",
        "prepare_committed",
        "subscribed",
        "topics_fault",
        "view",
    )

    def __init__(
        self,
        config: MemberConfig,
        listener: RebalanceListener,
        chance: Callable[[], float],
        now: int,
    ) -> None:
        self.config = config
        self.listener = listener
        self.chance = chance
        self.effects: list[Effect] = []
        self.in_flight: dict[int, InFlight] = {}
        self.number = 0
        self.subscribed = Subscribed(config.exclude_internal_topics)
        self.generation: Generation = NO_GENERATION
        """The fields of its commits: the generation, or in the consumer protocol the member epoch,
        and the member id."""
        # coordinator
        self.coordinator: Node | None = None
        self.find_in_flight = False
        self.find_again_at = 0
        self.find_backoff = self.backoff()
        self.fatal_find: MemberFault | None = None
        # topics
        self.view: ClusterView | None = None
        self.topics_fault: MemberFault | None = None
        self.metadata_needed = False
        self.metadata_in_flight: frozenset[str] | bool = False
        """The topics asked for just now; True: all of them; False: nothing is asked."""
        self.metadata_again_at = 0
        self.metadata_backoff = self.backoff()
        self.metadata_expires_at = now
        # offsets
        self.commits: dict[int, Commit] = {}
        self.commit_backoff = self.backoff()
        self.next_auto_commit_at = now + config.auto_commit_interval_ms
        self.offsets_in_flight = False
        self.offsets_again_at = 0
        self.offsets_backoff = self.backoff()
        self.offsets_fault: MemberFault | None = None
        # the commit before partitions are given up
        self.join_prepare_expires_at: int | None = None
        self.prepare_commit: Commit | None = None
        self.prepare_committed = False

    def backoff(self) -> Backoff:
        """Return a new backoff with the configured bounds."""
        return Backoff(self.config.retry_backoff_ms, self.config.retry_backoff_max_ms, self.chance)

    def send(
        self,
        message: Request,
        now: int,
        *,
        node: Node | None = None,
        timeout_ms: int | None = None,
        commit: Commit | None = None,
    ) -> None:
        """Add a request to the effects, with a new number for its answer."""
        self.number += 1
        deadline = now + (self.config.request_timeout_ms if timeout_ms is None else timeout_ms)
        self.in_flight[self.number] = InFlight(message, node, self.generation, deadline, commit)
        self.effects.append(Send(self.number, node, message))

    # -- what the protocols differ in

    def coordinator_found(self, now: int) -> None:
        """Handle a successful FindCoordinator."""
        raise NotImplementedError

    def refuse_commit(self) -> MemberFault | None:
        """Return the fault if a commit cannot be sent now, without asking the coordinator, else
        None.
        """
        raise NotImplementedError

    def on_commit_refused(self, sent: InFlight, error: ErrorCode, where: str) -> MemberFault | None:
        """Return the fault for a group's error of a commit, after its effect on the member; None:
        it is not an error of the protocol.
        """
        raise NotImplementedError

    def fetch_identity(self) -> tuple[str | None, int]:
        """Return member id and epoch for OffsetFetch; (None, -1): none."""
        raise NotImplementedError

    def refetches_offsets(self, error: ErrorCode) -> bool:
        """Return whether this error of OffsetFetch only means that the membership is about to
        change, so that offsets are requested again.
        """
        raise NotImplementedError
