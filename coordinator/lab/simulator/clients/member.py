"""One member in a world, simulated or live: its application, which polls unless it is stalled, and
its process, which can be paused or killed.

It logs the application's callbacks and actions in the stream `member`. An error that `poll`
raises ends the application, as it ends most. A member that does not consume pretends to read
`reads` records a second from each of its partitions, at the offsets that any member would have
reached, and commits them; a member that consumes follows its `Consuming`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assignors import TopicPartition
from coordinator.events.members import (
    Event,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from coordinator.members import GroupMember, MemberConfig, make_member
from coordinator.members.applications.consuming import Application, CommitPolicy, Fate, PoisonRecord
from coordinator.members.applications.reports import Report
from coordinator.members.classic.member import Member
from coordinator.members.connections.driver import Driver, Link
from coordinator.members.consumer_protocol.membership import new_member_id
from coordinator.members.consuming.consumer import Consumer
from coordinator.members.consuming.fetch_config import FetchConfig
from coordinator.members.effects import AskBroker, Closed, Position
from coordinator.members.faults import MemberFault
from coordinator.members.group_member import earlier
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.producers.producer import Producer
from coordinator.wire.schema import Request

from ..chance import Draws
from ..environment import Surroundings
from ..work import Work, WorkPlan
from .reported import event_of

CLOSE_TIMEOUT_MS = 5_000
_NOBODY: Final = -1
"""The number of requests whose response is ignored."""


@dataclass(frozen=True, slots=True)
class Consuming:
    """Plan of an application's consumption. `output`: the partitions that an application which
    works in transactions writes to."""

    fetch: FetchConfig
    policy: CommitPolicy = CommitPolicy.AUTO
    processing_ms: int = 0
    work: WorkPlan | None = None
    """Time that it takes for each record, if that is not the same for all."""
    output: tuple[TopicPartition, ...] = ()
    producer: ProducerConfig | None = None


class SimulatedMember:
    """A member and its application. `name` is its client id and its host."""

    def __init__(
        self,
        world: Surroundings,
        config: MemberConfig,
        topics: tuple[str, ...],
        first_broker: int,
        reads: int = 0,
        consuming: Consuming | None = None,
        highest: Mapping[int, int] | None = None,
        assigning_ms: int = 0,
        late_ms: tuple[int, int] = (0, 0),
    ) -> None:
        self.world = world
        self.name = config.client_id
        chance = Draws(world.seed, "backoff", self.name).unit
        process = world.new_process(self.name)
        identity = (
            new_member_id(Draws(world.seed, "member id", process).unit)
            if config.speaks_consumer
            else None
        )
        self.member = make_member(config, self, chance=chance, now=world.now, member_id=identity)
        if assigning_ms and isinstance(self.member, Member):
            self.member.assigns_for(assigning_ms)
        if late_ms[1]:
            self.member.beats_late(Draws(world.seed, "late", self.name).between(*late_ms))
        self.ended = False
        self.fault: MemberFault | None = None
        """The error that ended the application, or that of its closing."""
        self.died = False
        """It ended by an error of its own."""
        self.application: Application | None = None
        self._polling = True
        self._closing = False
        self._reads = reads
        self._unread_since: int | None = None
        self._client: GroupMember | Consumer = self.member
        self._drivers: list[Driver] = []
        transport = world.transport(self.name, highest)
        self._producer: Producer | None = None
        if consuming is not None:
            self._client = Consumer(
                config, consuming.fetch, chance=chance, now=world.now, member=self.member
            )
            if consuming.producer is not None:
                self._producer = Producer(
                    consuming.producer,
                    wall_ms=world.wall_ms(self.name),
                    chance=Draws(world.seed, "retries", self.name).unit,
                )
            self.application = Application(
                self._client,
                self._reported,
                policy=consuming.policy,
                processing_ms=consuming.processing_ms,
                work=None if consuming.work is None else Work(world.seed, consuming.work),
                producer=self._producer,
                output=consuming.output,
            )
        self._driver = Driver(transport, self._client, self.turn, self._arm, first_broker - 1)
        self._producer_driver = Driver(
            transport, self._producer, self.turn, self.turn, first_broker - 1
        )
        self.log(MemberStarted)
        self.member.subscribe(topics, world.now)
        self.turn()

    # -- what is done to it

    def close(self) -> None:
        """Close the application's consumer: it commits and leaves."""
        if not self.ended and not self._closing:
            self.log(MemberClosing)
            self._close()
            self.turn()

    def leave(self) -> None:
        """Close the consumer so that a static member leaves for good, too."""
        if not self.ended and not self._closing:
            self._close(leave=True)
            self.turn()

    def _close(self, *, leave: bool | None = None) -> None:
        self._closing = True
        self._polling = True
        self._client.close(self.world.now, CLOSE_TIMEOUT_MS, leave=leave)

    def crash(self) -> None:
        """Kill the process; its host closes its connections."""
        self._end(MemberCrashed)

    def stall(self) -> None:
        """Stop polling until `resume`; the member leaves after max.poll.interval.ms (CLI-14)."""
        self._polling = False
        self._arm()

    def resume(self) -> None:
        """Poll again."""
        if not self.ended:
            self._polling = True
            self.turn()

    def reset_connections(self) -> None:
        """Reset the member's connections."""
        self._driver.reset()
        self._producer_driver.reset()

    def clock_jumped(self) -> None:
        """Note that the wall clock of its host has jumped: records that it writes are dated by
        it from now on."""
        if self._producer is not None:
            self._producer.wall_ms = self.world.wall_ms(self.name)

    def send(self, message: Request) -> bool:
        """Send the coordinator a request of the application's own, whatever the member's state; its
        response is ignored.

        The request uses another connection than the member's, because a broker reads nothing
        from that one while it parks a JoinGroup or SyncGroup. Return False if no coordinator is
        known.
        """
        node = self.member.coordinator
        if self.ended or node is None:
            return False
        self._driver.perform([AskBroker(_NOBODY, node, message)])
        return True

    # -- its driver

    def turn(self) -> None:
        """Let the application continue after an event, carry out the member's effects, and set
        the next deadline."""
        if self.ended:
            return
        now = self.world.now
        try:
            if self._polling and not self._closing:
                self._go_on(now)
            if self._producer is not None:
                self._producer.tick(now)
        except MemberFault as fault:
            self._failed(fault)
        self._perform()
        self._arm()

    def _go_on(self, now: int) -> None:
        if self.application is not None:
            self.application.turn(now)
            return
        if self._reads:
            self.read(now)
        self._unread_since = None
        self.member.poll(now)

    def read(self, now: int) -> None:
        """Advance the positions of a member that only pretends to read."""
        self._unread_since = None
        if self._reads and self.member.positions_known:
            self.member.seek_all(Position(self._reads * now // 1000))

    def _failed(self, fault: MemberFault) -> None:
        self.fault = self.fault or fault
        self.died = self.died or not self._closing
        if isinstance(fault, PoisonRecord) and fault.fate is Fate.CRASHES:
            self._end(MemberCrashed, why=str(fault))
            return
        self.log(MemberFailed, why=str(fault))
        if not self._closing:
            self._close()

    def _perform(self) -> None:
        while not self.ended:
            effects = self._client.take()
            told = self._driver.perform(effects) if effects else effects
            if self._producer is not None:
                told += self._producer_driver.perform(self._producer.take())
            for effect in told:
                if isinstance(effect, Closed):
                    self.fault = self.fault or effect.fault
                    self._end(MemberClosed)
                    return
                if self.application is not None:
                    self.application.told(effect)
            if not told or self.application is None:
                return
            try:
                if self._polling and not self._closing:
                    self.application.turn(self.world.now)
                if self._producer is not None:
                    self._producer.tick(self.world.now)
            except MemberFault as fault:
                self._failed(fault)

    def due(self) -> None:
        """Handle the deadline. An application that is neither stalled nor busy polls all the
        time, so it has polled up to now."""
        if (
            self._polling
            and not self._closing
            and (self.application is None or self.application.idle)
        ):
            self.member.polled(self.world.now)
        self._client.tick(self.world.now)
        self.turn()

    @property
    def ready(self) -> bool:
        """Return True if it has its part of an assignment, as a readiness probe asks."""
        return self.member.settled and not self._closing

    @property
    def polls(self) -> bool:
        """Return True if its application polls, and is neither busy nor hanging, as a liveness
        probe asks."""
        return self._closing or (
            self._polling and (self.application is None or self.application.idle)
        )

    @property
    def only_link(self) -> Link | None:
        """The connection to the coordinator, if the member does nothing but belong to its group
        and poll, so that it uses no other; else None."""
        if self.application is not None or not self._polling or self._closing:
            return None
        return self._driver.only_link()

    @property
    def any_link(self) -> Link | None:
        """A connection to any broker, which the member uses for metadata."""
        return self._driver.any_link

    def skip_metadata(self, asked_at: int, answered_at: int) -> None:
        """See `GroupMember.skip_metadata`."""
        self.member.skip_metadata(asked_at, answered_at)
        self._go_on(answered_at)

    def skip_commit(self, sent_at: int, answered_at: int) -> None:
        """See `GroupMember.skip_commit`."""
        self.member.skip_commit(sent_at)
        self.member.skip_poll(answered_at)
        self._unread_since = answered_at

    def skip_heartbeats(self, count: int, sent_at: int, answered_at: int) -> None:
        """See `GroupMember.skip_heartbeats`."""
        self.member.skip_heartbeats(count, sent_at, answered_at)
        self.member.skip_poll(sent_at)
        self._unread_since = sent_at

    def catch_up_reading(self) -> None:
        """Read up to the last poll, if that was skipped."""
        if self._unread_since is not None:
            self.read(self._unread_since)

    def next_deadline(self) -> int | None:
        """Return the instant at which it has something to do, or None."""
        due = self._client.next_deadline()
        if self._polling and not self._closing:
            turn = (
                self.application.next_turn()
                if self.application is not None
                else self.member.next_poll()
            )
            if due is None or (turn is not None and turn < due):
                due = turn
        if self._producer is not None:
            due = earlier(due, self._producer.next_deadline())
        return due

    def _arm(self) -> None:
        if not self.ended:
            self.world.arm(self)

    def _end(self, kind: type[MemberClosed | MemberCrashed], **fields: Any) -> None:
        if self.ended:
            return
        self.ended = True
        self.log(kind, **fields)
        self._driver.close()
        self._producer_driver.close()
        self.world.gone(self)

    # -- its application's listener

    def on_partitions_revoked(self, partitions: tuple[TopicPartition, ...]) -> None:
        """See RebalanceListener."""
        self.log(PartitionsRevoked, partitions=partitions)

    def on_partitions_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        """See RebalanceListener."""
        self.log(PartitionsAssigned, partitions=partitions)

    def on_partitions_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        """See RebalanceListener."""
        self.log(PartitionsLost, partitions=partitions)

    def _reported(self, report: Report) -> None:
        event, partition = event_of(report, self.name, self._epoch)
        self._write(event, partition)

    def log(self, kind: type[MemberEvent], **fields: Any) -> None:
        """Write a line of stream `member`, with these fields and client and member epoch."""
        self._write(kind(client=self.name, member_epoch=self._epoch, **fields), None)

    @property
    def _epoch(self) -> int | None:
        """The member epoch; None before it has one, and in the classic protocol."""
        number = self.member.generation.generation_id
        return number if self.member.config.speaks_consumer and number >= 0 else None

    def _write(self, event: Event, partition: TopicPartition | None) -> None:
        generation, config = self.member.generation, self.member.config
        number = generation.generation_id
        topic, index = (None, None) if partition is None else partition
        self.world.log.append(
            event,
            at_ms=self.world.now,
            group=config.group_id,
            generation=None if config.speaks_consumer or number < 0 else number,
            member=generation.member_id or None,
            topic=topic,
            partition=index,
        )
