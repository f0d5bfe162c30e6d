"""One consumer-group member: what its driver calls, and what comes out.

    member = Member(MemberConfig(group_id="billing", client_id="c1"), listener, chance=random.random)
    member.subscribe(["orders"], now)
    member.poll(now)                          # the application calls in
    for effect in member.take(): ...          # send, disconnect, fetch metadata, tell of a commit
    member.receive(number, response, now)     # an answer; then poll again
    member.tick(now)                          # when next_deadline() has come: heartbeats, timeouts; poll again, if the application does

`tick` is Java's heartbeat thread, `poll` the application's: a member whose application stalls is ticked and not polled, and
leaves after max.poll.interval.ms (CLI-14). Time is told in milliseconds; chance only jitters backoffs. One thread at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from assignors import AssignorError, TopicPartition, common_protocol

from ..wire.messages.find_coordinator import FindCoordinatorRequest
from ..wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ..wire.messages.join_group import JoinGroupRequest
from ..wire.messages.leave_group import LeaveGroupRequest
from ..wire.messages.offset_commit import OffsetCommitRequest
from ..wire.messages.offset_fetch import OffsetFetchRequest
from ..wire.messages.sync_group import SyncGroupRequest
from ..wire.schema import Request, Response
from . import discovery, heartbeats, joining, leaving, offsets, topics
from .cluster_view import ClusterView
from .config import MemberConfig, MemberConfigError
from .effects import Disconnect, Effect, Node, Position, RebalanceListener, SilentListener
from .leaving import Closing
from .membership import InFlight, Membership
from .requests import Unsupported
from .states import STABLE, Generation, MemberState
from .subscription import Partitions, in_order

_ANSWERS: dict[type[Request], Callable[[Membership, InFlight, Response | None, int], None]] = {
    FindCoordinatorRequest: discovery.on_find,
    JoinGroupRequest: joining.on_join,
    SyncGroupRequest: joining.on_sync,
    HeartbeatRequest: heartbeats.on_heartbeat,
    LeaveGroupRequest: leaving.on_leave,
    OffsetCommitRequest: offsets.on_commit,
    OffsetFetchRequest: offsets.on_offsets,
}
DEFAULT_CLOSE_TIMEOUT_MS = 30_000


class Member:
    """A member of one group. Raises MemberConfigError for assignors that cannot be had, or that do not go together."""

    __slots__ = ("_closing", "_m")

    def __init__(
        self, config: MemberConfig, listener: RebalanceListener | None = None, *, chance: Callable[[], float] = lambda: 0.5, now: int = 0,
    ) -> None:  # fmt: skip
        assignors = config.make_assignors()
        try:
            protocol = common_protocol(assignors)
        except AssignorError as error:
            raise MemberConfigError(f"partition.assignment.strategy: {error}") from error
        self._m = Membership(config, assignors, protocol.name == "COOPERATIVE", listener or SilentListener(), chance, now)
        self._closing: Closing | None = None

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def config(self) -> MemberConfig:
        """As given."""
        return self._m.config

    @property
    def state(self) -> MemberState:
        """Where it stands (CLI-3)."""
        return self._m.state

    @property
    def generation(self) -> Generation:
        """Generation, member id and protocol as it believes them to be."""
        return self._m.generation

    @property
    def is_leader(self) -> bool:
        """Did it assign in this generation?"""
        return self._m.is_leader

    @property
    def cooperative(self) -> bool:
        """Which rebalance protocol its assignors make it follow (CLI-22)."""
        return self._m.cooperative

    @property
    def coordinator(self) -> Node | None:
        """The coordinator, as far as known."""
        return self._m.coordinator

    @property
    def subscription(self) -> frozenset[str]:
        """The topics it asks for now; with a pattern, those that match."""
        return self._m.subscribed.topics

    @property
    def owned(self) -> Partitions:
        """Its partitions, by topic and number."""
        return in_order(self._m.subscribed.owned)

    @property
    def positions(self) -> Mapping[TopicPartition, Position]:
        """Where it stands in its partitions; those of unknown position are left out."""
        return self._m.subscribed.positions

    @property
    def positions_known(self) -> bool:
        """Have the committed offsets of all its partitions been fetched?"""
        return not self._m.subscribed.unknown_positions()

    @property
    def settled(self) -> bool:
        """Stable, assigned, and without a reason to join again."""
        m = self._m
        return m.state is STABLE and m.join is None and not m.rejoin_needed

    @property
    def rejoin_reason(self) -> str:
        """Why it joins next; "" if it does not."""
        return self._m.rejoin_reason

    @property
    def closed(self) -> bool:
        """Has it ended?"""
        return self._closing is not None and self._closing.ended

    # -- what the application asks for ---------------------------------------------------------------------------------

    def subscribe(self, topics_: Collection[str], now: int) -> None:
        """Ask for topics by name, in place of what was asked for; none at all: `unsubscribe`."""
        if isinstance(topics_, str):
            raise TypeError(f"topics come as a list: [{topics_!r}]")
        if not topics_:
            self.unsubscribe(now)
            return
        self._m.subscribed.ask_for(topics_, None)
        self._new_topics(now)

    def subscribe_pattern(self, pattern: str | re.Pattern[str], now: int) -> None:
        """Ask for all topics whose whole name matches, now and later (CLI-20)."""
        compiled = re.compile(pattern)
        self._m.subscribed.ask_for((), compiled)
        self._m.view_seen = None
        self._new_topics(now)

    def _new_topics(self, now: int) -> None:
        m = self._m
        if m.view is None or not m.view.covers(m.subscribed.metadata_topics()):
            topics.need(m)
            m.metadata_again_at = now
        else:
            m.view_seen = None
        topics.ask(m, now)

    def unsubscribe(self, now: int) -> None:
        """Leave the group and ask for nothing. Raises ListenerFault when that is done."""
        leaving.unsubscribe(self._m, now)

    def enforce_rebalance(self, reason: str = "the application asked for it") -> None:
        """Join anew at the next poll, whatever the group does (KIP-568)."""
        self._m.request_rejoin(reason)

    def beat_soon(self, now: int) -> None:
        """Let the next heartbeat be due now; where none is on its way."""
        self._m.pulse.beat_at = now

    def poll(self, now: int) -> bool:
        """The application calls in. True: it is in the group and nothing is pending.

        Raises MemberFault for what the application has to know; the next poll goes on.
        """
        m = self._m
        if self._closing is not None or not m.subscribed.wanted:
            return False
        topics.ask(m, now)
        topics.raise_faults(m)
        topics.take_over(m)
        self._raise_beat_fault()
        m.pulse.polled(now)
        offsets.push(m, now)
        if not discovery.ready(m, now):
            return False
        if joining.rejoin_needed(m):
            if m.subscribed.pattern is not None and not self._pattern_is_fresh(now):
                return False
            if not joining.join_if_needed(m, now):
                return False
        offsets.auto_commit(m, now)
        offsets.look_up_positions(m, now)
        topics.ask(m, now)
        return True

    def _raise_beat_fault(self) -> None:
        if self._m.beat_fault is not None:
            fault, self._m.beat_fault = self._m.beat_fault, None
            raise fault

    def _pattern_is_fresh(self, now: int) -> bool:
        """CLI-20: before joining by pattern, metadata are asked for once more if the backoff allows."""
        m = self._m
        if m.join is None and not m.pattern_refreshed and now >= m.metadata_again_at:
            m.pattern_refreshed = True
            topics.need(m)
        if topics.is_fresh(m):
            topics.take_over(m)
            return True
        topics.ask(m, now)
        return False

    def seek(self, partition: TopicPartition, position: Position | int) -> None:
        """Set the position in an owned partition: what the next commit says. Raises KeyError if it is not owned."""
        if partition not in self._m.subscribed.owned:
            raise KeyError(f"{partition} is not owned")
        self._m.subscribed.positions[partition] = position if isinstance(position, Position) else Position(position)

    def commit(self, now: int, offsets_: Mapping[TopicPartition, Position] | None = None, *, retry: bool = True) -> int:
        """Commit positions (all, if none are named); the end comes as `Committed` under the number returned.

        `retry`: retriable failures are retried until default.api.timeout.ms, as commitSync does; else told, as commitAsync does.
        """
        m = self._m
        expires_at = now + m.config.default_api_timeout_ms if retry else None
        return offsets.commit(m, m.subscribed.positions if offsets_ is None else offsets_, expires_at, now).number

    def close(self, now: int, timeout_ms: int = DEFAULT_CLOSE_TIMEOUT_MS, *, leave: bool | None = None) -> None:
        """Commit (auto-commit), give everything up, leave, end; `Closed` comes when that is done, or time is up.

        `leave`: True also lets a static member leave, False lets nobody (KIP-1092); None as configured.
        """
        if self._closing is None:
            self._closing = Closing(now + timeout_ms, leave)
        leaving.close(self._m, self._closing, now)

    # -- what the driver tells -----------------------------------------------------------------------------------------

    def receive(self, number: int, response: Response, now: int) -> bool:
        """An answer came, in its newest shape (`requests.lift`). False: nothing new for `poll` or `take`, as after most heartbeats."""
        self._answer(number, response, now)
        return type(response) is not HeartbeatResponse or bool(self._m.effects) or not self.settled or self._closing is not None

    def failed(self, number: int, now: int) -> None:
        """No answer will come: the connection could not be had, or was lost."""
        sent = self._m.in_flight.get(number)
        if sent is not None and sent.node is not None and sent.node == self._m.coordinator:
            discovery.forget(self._m, "a request got no answer", disconnected=True)
        self._answer(number, None, now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """The request was never sent: the broker's versions cannot carry it (VER-18). `poll` raises that, a commit ends with it."""
        m = self._m
        sent = m.in_flight.pop(number, None)
        if sent is None:
            return
        if sent.commit is not None:
            offsets.end(m, sent.commit, fault)
        elif isinstance(sent.message, OffsetFetchRequest):
            m.offsets_in_flight, m.offsets_fault = False, fault
        elif isinstance(sent.message, HeartbeatRequest):
            m.pulse.in_flight, m.beat_fault = False, fault
        elif m.join is not None and isinstance(sent.message, JoinGroupRequest | SyncGroupRequest):
            m.join.fail(fault)
        self._go_on(now)

    def disconnected(self, now: int) -> None:
        """The connection to the coordinator is gone, and with it all answers that were to come on it."""
        m = self._m
        discovery.forget(m, "the connection was lost", disconnected=True)
        for number in [number for number, sent in m.in_flight.items() if sent.node is not None]:
            self._answer(number, None, now)

    def _answer(self, number: int, response: Response | None, now: int) -> None:
        sent = self._m.in_flight.pop(number, None)
        if sent is None:
            return
        _ANSWERS[type(sent.message)](self._m, sent, response, now)
        self._go_on(now)

    def waits_for(self, number: int) -> bool:
        """Is an answer to this request still of use?"""
        return number in self._m.in_flight

    def metadata(self, view: ClusterView, now: int) -> None:
        """Metadata came that this member asked for."""
        topics.on_metadata(self._m, view, now)
        joining.lead(self._m, now)

    def metadata_failed(self, now: int) -> None:
        """The metadata it asked for cannot be had just now."""
        topics.on_failure(self._m, now)

    def tick(self, now: int) -> None:
        """Do what has fallen due without the application: request timeouts, heartbeats, discovery, the end of a close."""
        m = self._m
        overdue = [number for number, sent in m.in_flight.items() if now >= sent.deadline]
        if overdue:
            self._time_out(overdue, now)
        if self._closing is None:
            heartbeats.beat(m, now)
            topics.ask(m, now)
        self._go_on(now)

    def _time_out(self, overdue: Iterable[int], now: int) -> None:
        m = self._m
        if any(m.in_flight[number].node is not None for number in overdue):
            if m.coordinator is not None:
                m.effects.append(Disconnect(m.coordinator, "a request was not answered in time"))
            self.disconnected(now)
        for number in overdue:
            self._answer(number, None, now)

    def _go_on(self, now: int) -> None:
        if self._closing is not None:
            leaving.close(self._m, self._closing, now)

    def next_deadline(self) -> int | None:
        """When `tick` has something to do."""
        m = self._m
        if self._closing is not None:
            if self._closing.ended:
                return None
            find_at = None if m.coordinator is not None or m.find_in_flight else m.find_again_at
            due = _earlier(_earlier(self._closing.deadline, offsets.next_deadline(m, settled=False)), find_at)
        else:
            due = _earlier(heartbeats.next_deadline(m), topics.next_deadline(m))
        for sent in m.in_flight.values():
            due = _earlier(due, sent.deadline)
        return due

    def next_poll(self) -> int | None:
        """When `poll` has something to do of its own accord, provided that the application polls."""
        m = self._m
        if self._closing is not None or not m.subscribed.wanted:
            return None
        if m.coordinator is None:
            return None if m.find_in_flight else m.find_again_at
        rejoins = joining.rejoin_needed(m)
        waits_for_metadata = m.subscribed.pattern is not None and not topics.is_fresh(m)  # `tick` asks, the answer polls
        waits_for_backoff = rejoins and m.join is None and m.prepare_commit is None and not waits_for_metadata
        return _earlier(m.join_again_at if waits_for_backoff else None, offsets.next_deadline(m, settled=not rejoins))

    def take(self) -> list[Effect]:
        """What is to be done now, in order."""
        effects, self._m.effects = self._m.effects, []
        return effects


def _earlier(a: int | None, b: int | None) -> int | None:
    """The earlier of two instants, either of which may be none."""
    return b if a is None or (b is not None and b < a) else a

