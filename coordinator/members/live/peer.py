"""Peer: one member on real sockets, which polls continuously unless stalled, and records what
happened.

Owns the connection to the coordinator, the recorded callbacks, and waits for commits and the
end. A fault raised by `poll` ends the peer as it ends most applications: it is kept, and the
peer leaves, so that the group goes on without it. A peer does not consume: its positions are the
committed offsets, and it commits the positions set by `seek`, or the same again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Protocol

from assignors import TopicPartition
from coordinator.base.counting import how_many
from coordinator.base.printable import printable
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response

from ..consumer_protocol.membership import new_member_id
from ..consumer_states import ConsumerState
from ..effects import (
    Closed,
    Committed,
    Disconnect,
    Effect,
    FetchMetadata,
    Node,
    Position,
    RebalanceListener,
    Send,
)
from ..faults import MemberFault
from ..making import make_member
from ..requests import Unsupported
from ..states import MemberState
from .gate import Gate
from .recorder import Callback, Recorder
from .wire import Entry, Wire

if TYPE_CHECKING:
    from ..cluster_view import ClusterView
    from ..config import MemberConfig
    from .bootstrap import Bootstrap

logger = logging.getLogger("coordinator.members")
CONNECT_TIMEOUT_S = 10.0


class PeerError(Exception):
    """Error: an action on a peer is not possible, or an expected event did not happen; the message
    says what was seen.
    """


class PeerDriver(Protocol):
    """Interface of a peer's driver (`Fleet`): a loop, a clock, the shared connections, and
    notifications.
    """

    loop: asyncio.AbstractEventLoop
    random: Random
    identities: Random
    buffer: memoryview
    connecting: asyncio.Semaphore
    close_timeout_ms: int
    routes: dict[tuple[str, int], tuple[str, int]]
    entry: Entry | None
    wires: set[Wire]
    bootstrap: Bootstrap

    def now(self) -> int:
        """Return milliseconds since the driver's zero."""

    def arm(self, peer: Peer) -> None:
        """Schedule the peer's next call, because its deadline may have changed."""

    def changed(self, peer: Peer) -> None:
        """Note that the peer's state changed."""

    def called_back(self, peer: Peer, callback: Callback) -> None:
        """Note a callback before the peer's application gets it."""

    def gone(self, peer: Peer) -> None:
        """Note that the peer has ended."""


class Peer:
    """A live member, created by `Fleet.peer`. Use it on the fleet's loop only."""

    def __init__(
        self,
        fleet: PeerDriver,
        config: MemberConfig,
        listener: RebalanceListener | None,
        gate: Gate,
        *,
        keep_going: bool,
    ) -> None:
        self._fleet = fleet
        self._recorder = Recorder(
            lambda: (self.generation, fleet.now()),
            listener,
            lambda callback: fleet.called_back(self, callback),
        )
        self.member = make_member(
            config,
            self._recorder,
            chance=fleet.random.random,
            now=fleet.now(),
            member_id=new_member_id(fleet.identities.random),
        )
        self.fault: MemberFault | None = None
        """The last one that `poll` raised, or that came on the way out."""
        self.polling = True
        self.paused = False
        self._missed: list[Callable[[], None]] = []  # what came while it was paused
        self.ended = False
        self._keep_going = keep_going
        self._gate = gate
        if not config.speaks_consumer:  # nobody waits for others in the consumer protocol
            gate.enter(self)
        self._wire: Wire | None = None
        self._wire_node: Node | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._commits: dict[int, asyncio.Future[None]] = {}
        self._end: asyncio.Future[None] | None = None

    # -- what it is

    @property
    def client_id(self) -> str:
        """The peer's client.id."""
        return self.member.config.client_id

    @property
    def state(self) -> MemberState | ConsumerState:
        """State of the membership."""
        return self.member.state

    @property
    def generation(self) -> int:
        """The generation, in the consumer protocol the member epoch; -1: none."""
        return self.member.generation.generation_id

    @property
    def member_id(self) -> str:
        """The member id; "" until the coordinator has sent it."""
        return self.member.generation.member_id

    @property
    def owned(self) -> tuple[TopicPartition, ...]:
        """The owned partitions, sorted by topic and number."""
        return self.member.owned

    @property
    def callbacks(self) -> list[Callback]:
        """The calls of the application's listener, in order."""
        return self._recorder.callbacks

    @property
    def now_ms(self) -> int:
        """The fleet's time in ms."""
        return self._fleet.now()

    @property
    def settled(self) -> bool:
        """True if it is Stable with its assignment, and has no reason to rejoin."""
        return not self.ended and self.member.settled

    def __repr__(self) -> str:
        state = "ended" if self.ended else str(self.state)
        number = "epoch" if self.member.config.speaks_consumer else "generation"
        trouble = f", {self.fault}" if self.fault else ""
        return f"<peer {self.client_id}: {state}, {number} {self.generation}, {how_many(len(self.owned), 'partition')}{trouble}>"

    # -- what it is told to do

    def subscribe(self, topics: Iterable[str] | None = None, pattern: str | None = None) -> None:
        """Subscribe to topics, or to those that match a pattern, replacing the former subscription."""
        now = self._fleet.now()
        if pattern is not None:
            self.member.subscribe_pattern(pattern, now)
        else:
            self.member.subscribe(topics or (), now)
        self.turn(now)

    def stall(self) -> None:
        """Stop polling until `resume`, like a busy application; the member leaves after
        max.poll.interval.ms (CLI-14).
        """
        if self.ended:
            return
        self.polling = False
        self._fleet.arm(self)

    def pause(self) -> None:
        """Freeze the peer until `resume`, like a process in a long garbage collection: nothing is
        sent or read, and its session will expire.
        """
        if not self.ended:
            self.paused = True
            self._fleet.arm(self)

    def resume(self) -> None:
        """Continue after `stall` or `pause`: handle the data that arrived meanwhile, and expired
        timers.
        """
        self.polling = True
        self.paused = False
        missed, self._missed = self._missed, []
        for take in missed:
            take()
        self.due(self._fleet.now())

    def rebalance(self, reason: str = "a peer was told to rebalance") -> None:
        """Rejoin, so that the group rebalances (KIP-568). Does nothing in the consumer protocol, as
        in Java's consumer.
        """
        self.member.enforce_rebalance(reason)
        self.turn(self._fleet.now())

    def beat_soon(self) -> None:
        """Send the next heartbeat now."""
        now = self._fleet.now()
        self.member.beat_soon(now)
        self.due(now)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Set the position, as if the peer had read up to an offset."""
        self.member.seek(partition, offset)

    async def commit(self, offsets: Mapping[TopicPartition, Position] | None = None) -> None:
        """Commit positions (default: all), like commitSync. Raises MemberFault, or PeerError if the
        peer has ended.
        """
        if self.ended:
            raise PeerError(f"{self.client_id} has ended{f': {self.fault}' if self.fault else ''}")
        now = self._fleet.now()
        number = self.member.commit(now, offsets)
        done: asyncio.Future[None] = self._fleet.loop.create_future()
        self._commits[number] = done
        self.turn(now)
        await done

    def close(self, *, leave: bool | None = None) -> asyncio.Future[None]:
        """Start to leave, like a consumer that is closed; the future is done when it has ended."""
        if self._end is None:
            self._end = self._fleet.loop.create_future()
            if self.ended:
                self._end.set_result(None)
            elif self.paused:  # a process that stands still cannot say goodbye
                self.crash()
            else:
                now = self._fleet.now()
                self.member.close(now, self._fleet.close_timeout_ms, leave=leave)
                self.turn(now)
        return self._end

    def crash(self) -> None:
        """End without leaving: the coordinator notices when the session expires."""
        self._finish(abort=True)

    # -- its driver

    def turn(self, now: int) -> None:
        """After any event, let the application poll, carry out the machine's effects, and schedule
        the next call.
        """
        if self.ended or self.paused:
            return
        member = self.member
        if self.polling:
            try:
                member.poll(now)
            except MemberFault as fault:
                self._on_fault(fault, now)
        effects = member.take()
        while effects:
            self._perform(effects, now)
            effects = member.take()
        if not self.ended:
            self._fleet.arm(self)
        self._fleet.changed(self)

    def due(self, now: int) -> None:
        """Run the timers that are due."""
        if not self.ended and not self.paused:
            self.member.tick(now)
            self.turn(now)

    def _on_fault(self, fault: MemberFault, now: int) -> None:
        self.fault = fault
        if self._keep_going:
            logger.warning("%s: %s", self.client_id, printable(fault))
            if self.polling:  # come back after a backoff
                self.polling = False
                self._fleet.loop.call_later(self.member.config.retry_backoff_ms / 1000, self.resume)
            return
        logger.error("%s: %s", self.client_id, printable(fault))
        self.member.close(now, self._fleet.close_timeout_ms)

    def _perform(self, effects: list[Effect], now: int) -> None:
        for effect in effects:
            match effect:
                case Send(number, None, message):
                    assert isinstance(message, FindCoordinatorRequest)
                    self._fleet.bootstrap.find(
                        message,
                        lambda response, number=number: self._on_answer(number, response),  # type: ignore[misc]
                    )
                case Send(_, node, message):
                    assert node is not None
                    if (
                        not self._gate.is_open
                        and _is_last_join(message)
                        and self._gate.wait(self, lambda send=effect: self._late(send))  # type: ignore[misc]
                    ):
                        continue
                    self._to_coordinator(node, effect)
                case Disconnect():
                    self._hang_up()
                    self._fleet.loop.call_soon(self._hung_up)
                case FetchMetadata(topics, allowed):
                    self._fleet.bootstrap.metadata(topics, allowed, self._on_metadata)
                case Committed(number, _, fault):
                    self._tell_commit(number, fault)
                case Closed(fault):
                    self.fault = self.fault or fault
                    self._finish(abort=False)

    # -- the coordinator's connection

    def _late(self, send: Send) -> None:
        """Send a request for which the gate has opened, if it is still awaited."""
        if not self.ended and send.node is not None and self.member.waits_for(send.number):
            self._to_coordinator(send.node, send)

    def _to_coordinator(self, node: Node, send: Send) -> None:
        if self._wire is None or self._wire_node != node:
            self._hang_up()
            self._wire_node = node
            self._wire = Wire(
                self.client_id,
                self._fleet.buffer,
                self._on_answer_or_fault,
                self._on_lost,
                self._fleet.entry,
                self._fleet.wires,
            )
            self._connecting = self._fleet.loop.create_task(self._connect(self._wire, node))
        try:
            self._wire.ask(send.message, send.number)
        except (Unsupported, WireError) as error:
            fault = error if isinstance(error, Unsupported) else Unsupported(str(error))
            self._fleet.loop.call_soon(self._on_answer_or_fault, send.number, fault)

    async def _connect(self, wire: Wire, node: Node) -> None:
        try:
            async with self._fleet.connecting:
                host, port = self._fleet.routes.get((node.host, node.port), (node.host, node.port))
                await wire.connect(self._fleet.loop, host, port, CONNECT_TIMEOUT_S)
        except OSError as error:
            logger.info(
                "%s: no connection to %s:%d: %s",
                self.client_id,
                printable(node.host),
                node.port,
                error.strerror or error,
            )
            self._on_lost(wire, wire.channel.unanswered(), str(error))

    def _on_lost(self, wire: Wire, unanswered: list[object], why: str) -> None:
        if self.paused:
            self._missed.append(lambda: self._on_lost(wire, unanswered, why))
        elif self._wire is wire and not self.ended:
            self._wire = None
            now = self._fleet.now()
            self.member.disconnected(now)
            self.turn(now)

    def _hang_up(self) -> None:
        if self._wire is not None:
            wire, self._wire = self._wire, None
            wire.close()

    def _hung_up(self) -> None:
        """Report the requests of a connection that the member dropped as unanswered (CLI-13), like
        `connections.driver`.
        """
        if self.paused:
            self._missed.append(self._hung_up)
        elif self._wire is None and not self.ended:
            now = self._fleet.now()
            self.member.disconnected(now)
            self.turn(now)

    # -- answers

    def _on_answer_or_fault(self, number: int, answer: Response | Unsupported) -> None:
        if self.ended:
            return
        if self.paused:
            self._missed.append(lambda: self._on_answer_or_fault(number, answer))
            return
        if isinstance(answer, Unsupported):
            now = self._fleet.now()
            self.member.unsupported(number, answer, now)
            self.turn(now)
        else:
            self._on_answer(number, answer)

    def _on_answer(self, number: int, response: Response | None) -> None:
        if self.ended:
            return
        if self.paused:
            self._missed.append(lambda: self._on_answer(number, response))
            return
        now = self._fleet.now()
        if response is None:
            self.member.failed(number, now)
        elif not self.member.receive(number, response, now):
            self._fleet.arm(self)
            return
        self.turn(now)

    def _on_metadata(self, view: ClusterView | None) -> None:
        if self.ended:
            return
        if self.paused:
            self._missed.append(lambda: self._on_metadata(view))
            return
        now = self._fleet.now()
        if view is None:
            self.member.metadata_failed(now)
        else:
            self.member.metadata(view, now)
        self.turn(now)

    def _tell_commit(self, number: int, fault: MemberFault | None) -> None:
        done = self._commits.pop(number, None)
        if done is not None and not done.done():
            if fault is None:
                done.set_result(None)
            else:
                done.set_exception(fault)

    # -- the end

    def _finish(self, *, abort: bool) -> None:
        if self.ended:
            return
        self.ended = True
        self._gate.leave(self)
        if self._connecting is not None:
            self._connecting.cancel()
        if self._wire is not None:
            wire, self._wire = self._wire, None
            (wire.abort if abort else wire.close)()
        for done in self._commits.values():
            if not done.done():
                done.set_exception(
                    PeerError(f"{self.client_id} ended before its commit was answered")
                )
        self._commits.clear()
        if self._end is not None and not self._end.done():
            self._end.set_result(None)
        self._fleet.gone(self)


def _is_last_join(message: Request) -> bool:
    """Return whether this JoinGroup creates a member, and does not only ask for a member id
    (KIP-394).
    """
    return isinstance(message, JoinGroupRequest) and (
        message.member_id != "" or message.group_instance_id is not None
    )
