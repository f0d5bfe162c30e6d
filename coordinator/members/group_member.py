"""Interface of a member to its driver, whichever group protocol it speaks: `Member` (classic) and
`ConsumerMember` (KIP-848).

Owns the bookkeeping of requests and answers, positions, commits, metadata and the way out. What a
protocol does in `poll`, when it heartbeats and how it leaves is the subclass's.
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
    """Who takes the answer to each kind of request."""

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
        """Whether the member ran the assignor in this generation; never in the consumer protocol,
        whose coordinator assigns."""

    @property
    @abstractmethod
    def settled(self) -> bool:
        """Whether the member has its part of the assignment and no reason to rejoin."""

    @property
    @abstractmethod
    def going(self) -> Partitions:
        """Partitions that it is about to give up: what was fetched of them is not handed out any
        more (CLI-23, K8-CL-4)."""

    @property
    @abstractmethod
    def rejoin_reason(self) -> str:
        """Reason of the next JoinGroup; "" if none is due."""

    @abstractmethod
    def subscribe(self, topics_: Iterable[str], now: int) -> None:
        """Ask for topics by a list of names, in place of what was asked for; none at all:
        `unsubscribe`.

        Raises MemberConfigError for what are no names.
        """

    @abstractmethod
    def subscribe_pattern(self, pattern: str | re.Pattern[str], now: int) -> None:
        """Ask for all topics whose whole name matches, now and later (CLI-20, K8-RX-1)."""

    @abstractmethod
    def unsubscribe(self, now: int) -> None:
        """Leave the group and ask for nothing. Raises ListenerFault when that is done."""

    @abstractmethod
    def enforce_rebalance(self, reason: str = "the application asked for it") -> None:
        """Join anew at the next poll, whatever the group does (KIP-568). Nothing in the consumer
        protocol, as with Java's consumer."""

    @abstractmethod
    def beat_soon(self, now: int) -> None:
        """Let the next heartbeat be due now; where none is on its way."""

    @abstractmethod
    def poll(self, now: int) -> bool:
        """The application calls in. True: it is in the group and nothing is pending.

        Raises MemberFault for what the application has to know; the next poll goes on.
        """

    @abstractmethod
    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has something to do of its own accord, if the
        application polls; None if there is none."""

    @abstractmethod
    def _beat(self, now: int) -> None:
        """Send a heartbeat, leave, look for the coordinator: what is due without the
        application."""

    @abstractmethod
    def _next_beat(self) -> int | None:
        """Return the instant at which `_beat` has something to do, or None."""

    @abstractmethod
    def _close(self, closing: Closing, now: int) -> None:
        """Go on closing as far as possible."""

    @abstractmethod
    def _is_news(self, response: Response) -> bool:
        """Return whether `poll` or `take` has something to do after this answer."""

    @abstractmethod
    def _cannot_say(self, sent: InFlight, fault: Unsupported) -> None:
        """A request of the protocol's own cannot be sent to this broker."""

    # -- for drivers that skip heartbeats which change nothing

    @property
    @abstractmethod
    def is_quiet(self) -> bool:
        """Return whether the member is in its group, no message is in flight, and it only sends
        heartbeats until something falls due."""

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
        """Let each heartbeat be sent so much later than its interval says: the process looks at its
        timers only now and then."""

    @abstractmethod
    def heartbeat(self) -> Heartbeat:
        """The heartbeat that a quiet member would send now."""

    @abstractmethod
    def skip_heartbeats(self, count: int, sent_at: int, answered_at: int) -> None:
        """Be as after so many heartbeats that were answered well, the last one at these instants.
        It is to be polled then."""

    @abstractmethod
    def polled(self, now: int) -> None:
        """Its application polls without a pause, also while a poll has nothing to do: it has polled
        just now."""

    @abstractmethod
    def skip_poll(self, now: int) -> None:
        """Be as after a poll that found a quiet member with nothing to do."""

    @property
    def metadata_due(self) -> int | None:
        """Return the instant at which a quiet member asks for metadata to see changes, or None if
        it needs something new or subscribes to nothing."""
        return None if self._p.metadata_needed else topics.next_deadline(self._p)

    @property
    def offsets_due(self) -> int | None:
        """Return the instant at which a quiet member commits or looks up committed offsets, or
        None."""
        return offsets.next_deadline(self._p, settled=True)

    def metadata_question(self) -> FetchMetadata | None:
        """Its question for metadata now; None: its view is not an answer to that."""
        m = self._p
        wanted = m.subscribed.metadata_topics()
        known = m.view is not None and m.view.asked == wanted
        return FetchMetadata(wanted, m.config.allow_auto_create_topics) if known else None

    def skip_metadata(self, asked_at: int, answered_at: int) -> None:
        """Be as after metadata that are the same as before. It was polled when it asked; it is to
        be polled now."""
        view = self._p.view
        assert view is not None
        offsets.auto_commit(self._p, asked_at)
        self.metadata(view.again(), answered_at)

    def skip_round(self, beats: int, sent_at: int, asked_at: int, answered_at: int) -> None:
        """Be as after so many heartbeats, the last one sent then, and after metadata that are the
        same as before; all that comes again with later ones is left out."""
        self.skip_heartbeats(beats, sent_at, sent_at)
        offsets.auto_commit(self._p, asked_at)
        topics.renew(self._p, answered_at)
        offsets.auto_commit(self._p, answered_at)

    @property
    def commits_at(self) -> int | None:
        """Return the instant at which a quiet member commits all its positions of its own accord,
        or None if it does not, or does not know them all yet."""
        m = self._p
        knows = (
            m.config.enable_auto_commit and m.subscribed.positions and m.subscribed.positions_known
        )
        return m.next_auto_commit_at if knows else None

    def commit_request(self) -> OffsetCommitRequest:
        """The request to commit all its positions now."""
        return offsets.request(self._p, self._p.subscribed.positions)

    def skip_commit(self, sent_at: int) -> None:
        """Be as after a commit of all positions that was sent then and answered well. It is to be
        polled as when the answer came."""
        offsets.skip_commit(self._p, sent_at)

    # -- what it is

    @property
    def config(self) -> MemberConfig:
        """As given."""
        return self._p.config

    @property
    def generation(self) -> Generation:
        """Generation, member id and assignor as it believes them to be; in the consumer protocol
        the member epoch stands for the first."""
        return self._p.generation

    @property
    def coordinator(self) -> Node | None:
        """The coordinator, as far as known."""
        return self._p.coordinator

    @property
    def subscription(self) -> frozenset[str]:
        """The topics it asks for by name; with a pattern that it matches itself, those that
        match."""
        return self._p.subscribed.topics

    @property
    def subscribed(self) -> Subscribed:
        """Its subscription and what it holds, to look at."""
        return self._p.subscribed

    @property
    def owned(self) -> Partitions:
        """Its partitions, by topic and number."""
        return self._p.subscribed.owned_in_order

    @property
    def positions(self) -> Mapping[TopicPartition, Position]:
        """Positions in the member's partitions; those that are not known are left out."""
        return self._p.subscribed.positions

    @property
    def positions_known(self) -> bool:
        """Have the committed offsets of all its partitions been fetched?"""
        subscribed = self._p.subscribed
        return len(subscribed.looked_up) == len(subscribed.owned)

    @property
    def closed(self) -> bool:
        """Whether the member has ended."""
        return self._closing is not None and self._closing.ended

    # -- what the application asks for

    def seek(self, partition: TopicPartition, position: Position | int) -> None:
        """Set the position in an owned partition: what the next commit says. Raises NotOwnedError (a
        KeyError) if it is not owned, MemberConfigError for what is no offset."""
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
        """Commit positions (all, if none are named); the end comes as `Committed` under the number
        returned.

        `retry`: retriable failures are retried until default.api.timeout.ms, as commitSync does;
        else told, as commitAsync does.
        """
        m = self._p
        expires_at = now + m.config.default_api_timeout_ms if retry else None
        return offsets.commit(
            m, m.subscribed.positions if offsets_ is None else offsets_, expires_at, now
        ).number

    def pump(self, now: int) -> None:
        """The application waits for a commit and does not poll: send what waits for the coordinator
        or for its next try."""
        offsets.push(self._p, now)

    @property
    def commit_due(self) -> int | None:
        """Return the instant at which `pump` has something to do, or None while an answer is
        awaited."""
        m = self._p
        waiting = [commit.again_at for commit in m.commits.values() if not commit.in_flight]
        if m.coordinator is None and waiting:
            return None if m.find_in_flight else m.find_again_at
        return min(waiting, default=None)

    def close(
        self, now: int, timeout_ms: int = DEFAULT_CLOSE_TIMEOUT_MS, *, leave: bool | None = None
    ) -> None:
        """Commit (auto-commit), give everything up, leave, end; `Closed` comes when that is done,
        or time is up.

        `leave`: True also lets a static member leave for good, False lets nobody (KIP-1092); None
        as configured.
        """
        if self._closing is None:
            self._closing = Closing(now + timeout_ms, leave)
        self._close(self._closing, now)

    # -- what the driver tells

    def receive(self, number: int, response: Response, now: int) -> bool:
        """An answer came, in its newest shape (`requests.lift`). False: nothing new for `poll` or
        `take`, as after most heartbeats."""
        self._answer(number, response, now)
        return bool(self._p.effects) or self._closing is not None or self._is_news(response)

    def failed(self, number: int, now: int) -> None:
        """No answer will come: the connection could not be had, or was lost."""
        sent = self._p.in_flight.get(number)
        if sent is not None and sent.node is not None and sent.node == self._p.coordinator:
            discovery.forget(self._p, "a request got no answer", disconnected=True)
        self._answer(number, None, now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """The request was never sent: the broker's versions cannot carry it (VER-18). `poll` raises
        that, a commit ends with it."""
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
        """The connection to the coordinator is gone, and with it all answers that were to come on
        it."""
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
        """Return whether an answer to this request is still of use."""
        return number in self._p.in_flight

    def metadata(self, view: ClusterView, now: int) -> None:
        """Metadata came that this member asked for."""
        topics.on_metadata(self._p, view, now)

    def metadata_failed(self, now: int) -> None:
        """The metadata it asked for cannot be had just now."""
        topics.on_failure(self._p, now)

    def tick(self, now: int) -> None:
        """Do what has fallen due without the application: request timeouts, heartbeats, discovery,
        the end of a close."""
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
        """Return the instant at which `tick` has something to do, or None."""
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
        """The actions to take now, in order."""
        effects, self._p.effects = self._p.effects, []
        return effects


def earlier(a: int | None, b: int | None) -> int | None:
    """The earlier of two instants, either of which may be none."""
    return b if a is None or (b is not None and b < a) else a
