"""Interface of a group member to its driver, for either group protocol: `Member` (classic) and
`ConsumerMember` (KIP-848) implement it.

Owns the bookkeeping of requests and answers, positions, commits, metadata and the close.
Subclasses decide what `poll` does, when to heartbeat and how to leave.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from assignors import TopicPartition
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest
from coordinator.wire.schema import Request, Response

from . import discovery, offsets, topics
from .closing import Closing
from .cluster_view import ClusterView
from .config import MemberConfig, MemberConfigError, NotOwnedError
from .consumer_states import ConsumerState
from .effects import Disconnect, Effect, FetchMetadata, Node, Position
from .participant import InFlight, Participant
from .requests import Unsupported
from .states import Generation, MemberState
from .subscription import Partitions, Subscribed

if TYPE_CHECKING:
    from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
    from coordinator.wire.messages.heartbeat import HeartbeatRequest

Heartbeat: TypeAlias = "HeartbeatRequest | ConsumerGroupHeartbeatRequest"
AnswerTable = dict[type[Request], Callable[[Any, InFlight, "Response | None", int], None]]
DEFAULT_CLOSE_TIMEOUT_MS = 30_000
_MOST: Final = (1 << 63) - 1


class GroupMember(ABC):
    """A member of one group, as its driver sees it."""

    __slots__ = ("_closing", "_p")

    ANSWERS: ClassVar[AnswerTable] = {
        FindCoordinatorRequest: discovery.on_find,
        OffsetCommitRequest: offsets.on_commit,
        OffsetFetchRequest: offsets.on_offsets,
    }
    """The method that handles the response, by class of request."""

    _closing: Closing | None
    _p: Participant
    """Its state, which a protocol's own member knows more of."""

    # -- what a protocol adds

    @property
    @abstractmethod
    def state(self) -> MemberState | ConsumerState:
        """State of the membership (CLI-3, K8-CL-1)."""

    @property
    @abstractmethod
    def is_leader(self) -> bool:
        """True if the member ran the assignor in this generation; never in the consumer protocol,
        whose coordinator assigns.
        """

    @property
    @abstractmethod
    def settled(self) -> bool:
        """True if the member has its assignment and no reason to rejoin."""

    @property
    @abstractmethod
    def going(self) -> Partitions:
        """Partitions that it is about to revoke: records fetched from them are not returned any
        more (CLI-23, K8-CL-4).
        """

    @property
    @abstractmethod
    def rejoin_reason(self) -> str:
        """Reason of the next JoinGroup; "" if none is due."""

    @abstractmethod
    def subscribe(self, topics_: Iterable[str], now: int) -> None:
        """Subscribe to topics by name, replacing the former subscription; an empty list means
        `unsubscribe`. Raises MemberConfigError for invalid names.
        """

    @abstractmethod
    def subscribe_pattern(self, pattern: str | re.Pattern[str], now: int) -> None:
        """Subscribe to all topics whose whole name matches, now and later (CLI-20, K8-RX-1)."""

    @abstractmethod
    def unsubscribe(self, now: int) -> None:
        """Leave the group and drop the subscription. Raises ListenerFault after that."""

    @abstractmethod
    def enforce_rebalance(self, reason: str = "the application asked for it") -> None:
        """Rejoin at the next poll, so that the group rebalances (KIP-568). Does nothing in the
        consumer protocol, as in Java's consumer.
        """

    @abstractmethod
    def beat_soon(self, now: int) -> None:
        """Make the next heartbeat due now, if none is in flight."""

    @abstractmethod
    def poll(self, now: int) -> bool:
        """Poll for the application; return True if the member is in the group and nothing is
        pending. Raises MemberFault for faults that concern the application; the next poll
        continues.
        """

    @abstractmethod
    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has work of its own, or None."""

    @abstractmethod
    def _beat(self, now: int) -> None:
        """Do what is due without the application: send a heartbeat, leave, look up the coordinator."""

    @abstractmethod
    def _next_beat(self) -> int | None:
        """Return the instant at which `_beat` is due, or None."""

    @abstractmethod
    def _close(self, closing: Closing, now: int) -> None:
        """Continue to close as far as possible."""

    @abstractmethod
    def _is_news(self, response: Response) -> bool:
        """Return whether this answer gives `poll` or `take` something to do."""

    @abstractmethod
    def _cannot_say(self, sent: InFlight, fault: Unsupported) -> None:
        """Handle a request of the protocol's own that no common version can express."""

    # -- for drivers that skip heartbeats which change nothing

    @property
    @abstractmethod
    def is_quiet(self) -> bool:
        """Return whether the member is in its group with no request in flight, and only sends
        heartbeats until its next deadline.
        """

    @property
    @abstractmethod
    def beat_at(self) -> int:
        """Instant of the next heartbeat."""

    @property
    @abstractmethod
    def beat_interval_ms(self) -> int:
        """Heartbeat interval in ms."""

    @abstractmethod
    def beats_late(self, duration_ms: int) -> None:
        """Delay each heartbeat by `duration_ms` beyond its interval, like a process that checks its
        timers rarely.
        """

    @abstractmethod
    def heartbeat(self) -> Heartbeat:
        """Return the heartbeat that a quiet member would send now."""

    @abstractmethod
    def skip_heartbeats(self, count: int, sent_at: int, answered_at: int) -> None:
        """Update the state as after `count` successful heartbeats, the last one sent and answered
        at these instants. A poll must follow.
        """

    @abstractmethod
    def polled(self, now: int) -> None:
        """Note a poll at this instant, for an application that polls continuously even while a poll
        has nothing to do.
        """

    @abstractmethod
    def skip_poll(self, now: int) -> None:
        """Update the state as after a poll of a quiet member that found nothing to do."""

    @property
    def metadata_due(self) -> int | None:
        """Return the instant at which a quiet member requests metadata to detect changes, or None
        if it needs metadata now or has no subscription.
        """
        return None if self._p.metadata_needed else topics.next_deadline(self._p)

    @property
    def offsets_due(self) -> int | None:
        """Return the instant at which a quiet member commits or fetches committed offsets, or None."""
        return offsets.next_deadline(self._p, settled=True)

    def metadata_question(self) -> FetchMetadata | None:
        """Return the member's metadata request of now, or None if its present view answers another
        one.
        """
        m = self._p
        wanted = m.subscribed.metadata_topics()
        known = m.view is not None and m.view.asked == wanted
        return FetchMetadata(wanted, m.config.allow_auto_create_topics) if known else None

    def skip_metadata(self, asked_at: int, answered_at: int) -> None:
        """Update the state as after an unchanged Metadata response. The member was polled at the
        request; a poll must follow.
        """
        view = self._p.view
        assert view is not None
        offsets.auto_commit(self._p, asked_at)
        self.metadata(view.again(), answered_at)

    def skip_round(self, beats: int, sent_at: int, asked_at: int, answered_at: int) -> None:
        """Update the state as after `beats` heartbeats, the last one sent at `sent_at`, and an
        unchanged Metadata response. Parts that later rounds repeat are left out.
        """
        self.skip_heartbeats(beats, sent_at, sent_at)
        offsets.auto_commit(self._p, asked_at)
        topics.renew(self._p, answered_at)
        offsets.auto_commit(self._p, answered_at)

    @property
    def commits_at(self) -> int | None:
        """Return the instant at which a quiet member auto-commits all its positions, or None if it
        does not, or does not know all of them yet.
        """
        m = self._p
        knows = (
            m.config.enable_auto_commit and m.subscribed.positions and m.subscribed.positions_known
        )
        return m.next_auto_commit_at if knows else None

    def commit_request(self) -> OffsetCommitRequest:
        """Return the request that commits all positions now."""
        return offsets.request(self._p, self._p.subscribed.positions)

    def skip_commit(self, sent_at: int) -> None:
        """Update the state as after a successful commit of all positions, sent at that instant. A
        poll as at the answer must follow.
        """
        offsets.skip_commit(self._p, sent_at)

    # -- what it is

    @property
    def config(self) -> MemberConfig:
        """The configuration, as given."""
        return self._p.config

    @property
    def generation(self) -> Generation:
        """Generation, member id and assignor as the member believes; in the consumer protocol the
        member epoch stands for the generation.
        """
        return self._p.generation

    @property
    def coordinator(self) -> Node | None:
        """The group coordinator, or None if unknown."""
        return self._p.coordinator

    @property
    def subscription(self) -> frozenset[str]:
        """The subscribed topic names; with a pattern that the member matches itself, the matching
        ones.
        """
        return self._p.subscribed.topics

    @property
    def subscribed(self) -> Subscribed:
        """The subscription and the owned partitions, for reading."""
        return self._p.subscribed

    @property
    def owned(self) -> Partitions:
        """The owned partitions, sorted by topic and number."""
        return self._p.subscribed.owned_in_order

    @property
    def positions(self) -> Mapping[TopicPartition, Position]:
        """Positions in the owned partitions; unknown ones are left out."""
        return self._p.subscribed.positions

    @property
    def positions_known(self) -> bool:
        """True if the committed offsets of all owned partitions have been fetched."""
        subscribed = self._p.subscribed
        return len(subscribed.looked_up) == len(subscribed.owned)

    @property
    def closed(self) -> bool:
        """True if the member has ended."""
        return self._closing is not None and self._closing.ended

    # -- what the application asks for

    def seek(self, partition: TopicPartition, position: Position | int) -> None:
        """Set the position in an owned partition, which the next commit contains. Raises
        NotOwnedError (a KeyError) if it is not owned, MemberConfigError for an invalid offset.
        """
        subscribed = self._p.subscribed
        if partition not in subscribed.owned:
            raise NotOwnedError(f"{partition} is not owned")
        offset: object = position.offset if isinstance(position, Position) else position
        if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset <= _MOST:
            raise MemberConfigError(f"offset {offset!r}: a whole number from 0 to {_MOST} is meant")
        subscribed.positions[partition] = (
            position if isinstance(position, Position) else Position(position)
        )

    def seek_all(self, position: Position) -> None:
        """Set the position in every owned partition."""
        subscribed = self._p.subscribed
        known = len(subscribed.positions) == len(subscribed.owned)
        subscribed.positions.update(
            dict.fromkeys(subscribed.positions if known else self.owned, position)
        )

    def commit(
        self,
        now: int,
        offsets_: Mapping[TopicPartition, Position] | None = None,
        *,
        retry: bool = True,
    ) -> int:
        """Commit positions (default: all); `Committed` reports the result with the returned number.

        `retry`: retriable faults are retried until default.api.timeout.ms, as by commitSync;
        else reported, as by commitAsync.
        """
        m = self._p
        expires_at = now + m.config.default_api_timeout_ms if retry else None
        return offsets.commit(
            m, m.subscribed.positions if offsets_ is None else offsets_, expires_at, now
        ).number

    def pump(self, now: int) -> None:
        """Send commits that wait for the coordinator or for a retry, while the application waits
        for a commit and does not poll.
        """
        offsets.push(self._p, now)

    @property
    def commit_due(self) -> int | None:
        """Return the instant at which `pump` is due, or None while an answer is awaited."""
        m = self._p
        waiting = [commit.again_at for commit in m.commits.values() if not commit.in_flight]
        if m.coordinator is None and waiting:
            return None if m.find_in_flight else m.find_again_at
        return min(waiting, default=None)

    def close(
        self, now: int, timeout_ms: int = DEFAULT_CLOSE_TIMEOUT_MS, *, leave: bool | None = None
    ) -> None:
        """Close the member: auto-commit, revoke all partitions, leave, end. `Closed` reports the
        end, at the latest after `timeout_ms`.

        `leave`: True lets a static member leave for good too, False sends no leave at all
        (KIP-1092); None as configured.
        """
        if self._closing is None:
            self._closing = Closing(now + timeout_ms, leave)
        self._close(self._closing, now)

    # -- what the driver tells

    def receive(self, number: int, response: Response, now: int) -> bool:
        """Take an answer in its newest form (`requests.lift`); return False if it gives `poll` and
        `take` nothing to do, as after most heartbeats.
        """
        self._answer(number, response, now)
        return bool(self._p.effects) or self._closing is not None or self._is_news(response)

    def failed(self, number: int, now: int) -> None:
        """Note that a request will get no answer: there was no connection, or it was lost."""
        sent = self._p.in_flight.get(number)
        if sent is not None and sent.node is not None and sent.node == self._p.coordinator:
            discovery.forget(self._p, "a request got no answer", disconnected=True)
        self._answer(number, None, now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """Note that a request was not sent, because no common version can express it (VER-18).
        `poll` raises the fault, or the commit ends with it.
        """
        m = self._p
        sent = m.in_flight.pop(number, None)
        if sent is None:
            return
        if sent.commit is not None:
            offsets.end(m, sent.commit, fault)
        elif isinstance(sent.message, OffsetFetchRequest):
            m.offsets_in_flight, m.offsets_fault = False, fault
        else:
            self._cannot_say(sent, fault)
        self._go_on(now)

    def disconnected(self, now: int) -> None:
        """Note that the connection to the coordinator is lost, with all answers to come on it."""
        m = self._p
        discovery.forget(m, "the connection was lost", disconnected=True)
        for number in [number for number, sent in m.in_flight.items() if sent.node is not None]:
            self._answer(number, None, now)

    def _answer(self, number: int, response: Response | None, now: int) -> None:
        sent = self._p.in_flight.pop(number, None)
        if sent is None:
            return
        self.ANSWERS[type(sent.message)](self._p, sent, response, now)
        self._go_on(now)

    def waits_for(self, number: int) -> bool:
        """Return whether the answer to this request is still awaited."""
        return number in self._p.in_flight

    def metadata(self, view: ClusterView, now: int) -> None:
        """Take metadata that this member requested."""
        topics.on_metadata(self._p, view, now)

    def metadata_failed(self, now: int) -> None:
        """Note that requested metadata is not available now."""
        topics.on_failure(self._p, now)

    def tick(self, now: int) -> None:
        """Run timers that do not need the application: request timeouts, heartbeats, discovery, the
        end of a close.
        """
        m = self._p
        overdue = [number for number, sent in m.in_flight.items() if now >= sent.deadline]
        if overdue:
            self._time_out(overdue, now)
        if self._closing is None:
            self._beat(now)
            topics.ask(m, now)
        self._go_on(now)

    def _time_out(self, overdue: Iterable[int], now: int) -> None:
        m = self._p
        if any(m.in_flight[number].node is not None for number in overdue):
            if m.coordinator is not None:
                m.effects.append(Disconnect(m.coordinator, "a request was not answered in time"))
            self.disconnected(now)
        for number in overdue:
            self._answer(number, None, now)

    def _go_on(self, now: int) -> None:
        if self._closing is not None:
            self._close(self._closing, now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        m = self._p
        if self._closing is not None:
            if self._closing.ended:
                return None
            waits = (
                m.coordinator is None
                and not m.find_in_flight
                and any(not commit.in_flight for commit in m.commits.values())
            )
            find_at = (
                m.find_again_at if waits else None
            )  # what is on its way to a coordinator that was given up needs no other
            due = earlier(
                earlier(self._closing.deadline, offsets.next_deadline(m, settled=False)), find_at
            )
        else:
            due, other = self._next_beat(), topics.next_deadline(m)
            if due is None or (other is not None and other < due):
                due = other
        if m.in_flight:
            for sent in m.in_flight.values():
                if due is None or sent.deadline < due:
                    due = sent.deadline
        return due

    def take(self) -> list[Effect]:
        """Return the effects to carry out now, in order."""
        effects, self._p.effects = self._p.effects, []
        return effects


def earlier(a: int | None, b: int | None) -> int | None:
    """Return the earlier of two instants, where None means none."""
    return b if a is None or (b is not None and b < a) else a
