"""One producer in a world, simulated or live: its application, which sends at a steady rate, and
its process."""

from __future__ import annotations

from collections.abc import Sequence

from assignors import TopicPartition
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    Event,
    ProducerClosed,
    ProducerClosing,
    ProducerCrashed,
    ProducerFailed,
    ProducerStarted,
)
from coordinator.members.applications.producing import Producing
from coordinator.members.applications.reports import Report
from coordinator.members.connections.driver import Driver
from coordinator.members.faults import MemberFault
from coordinator.members.group_member import earlier
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.producers.producer import Producer

from ..chance import Draws
from ..environment import Surroundings
from .keys import NO_KEYS, Keys
from .reported import event_of


class SimulatedProducer:
    """A producer and its application. `name` is its client id and its host."""

    def __init__(
        self,
        world: Surroundings,
        config: ProducerConfig,
        partitions: Sequence[TopicPartition],
        first_broker: int,
        *,
        rate: int,
        transaction_ms: int,
        abort_every: int,
        until: int | None,
        batch: int = 1,
        keys: Keys = NO_KEYS,
    ) -> None:
        self.world = world
        self.name = config.client_id
        self.ended = False
        self.died = False
        """It ended by an error of its own."""
        self.fault: MemberFault | None = None
        self.producer = Producer(
            config,
            wall_ms=world.wall_ms(self.name),
            chance=Draws(world.seed, "retries", self.name).unit,
        )
        self.application = Producing(
            self.producer,
            partitions,
            self._reported,
            name=self.name,
            now=world.now,
            rate=rate,
            transaction_ms=transaction_ms,
            abort_every=abort_every,
            until=until,
            batch=batch,
            pick=keys.picking(partitions, Draws(world.seed, "keys", self.name)),
        )
        self._sends = True
        self._closing = False
        self._driver = Driver(
            world.transport(self.name), self.producer, self.turn, self.turn, first_broker - 1
        )
        self._write(ProducerStarted(self.name))
        self.turn()

    # -- what is done to it

    def close(self) -> None:
        """Stop sending; records in flight are still delivered."""
        if not self.ended:
            self._closing = True
            self._write(ProducerClosing(self.name))
            transactions = self.producer.transactions
            if transactions is not None and transactions.state is transactions.state.OPEN:
                transactions.end(commit=transactions.fault is None)
            self.turn()

    def leave(self) -> None:
        """The same as `close`, because a producer is in no group."""
        self.close()

    def crash(self) -> None:
        """Kill the process."""
        self._end(ProducerCrashed)

    def stall(self) -> None:
        """Stall the application until `resume`."""
        self._sends = False

    def resume(self) -> None:
        """Resume the application."""
        self._sends = True
        self.turn()

    def reset_connections(self) -> None:
        """Reset the producer's connections."""
        self._driver.reset()

    def clock_jumped(self) -> None:
        """Note that the wall clock of its host has jumped: later records are dated by it."""
        self.producer.wall_ms = self.world.wall_ms(self.name)

    @property
    def ready(self) -> bool:
        """Return True: a producer is in no group."""
        return True

    @property
    def polls(self) -> bool:
        """Return True: a producer does not poll, so it is never late."""
        return True

    # -- its driver

    def turn(self) -> None:
        """Continue after an event."""
        if self.ended:
            return
        now = self.world.now
        while True:
            try:
                if self._sends and not self._closing:
                    self.application.turn(now)
            except MemberFault as fault:
                self.fault, self.died = fault, True
                self._write(ProducerFailed(self.name, str(fault)))
                self._end(ProducerClosed)
                return
            self.producer.tick(now)
            told = self._driver.perform(self.producer.take())
            for effect in told:
                self.application.told(effect)
            if not told:
                break
        if self._closing and self.application.done:
            self._end(ProducerClosed)
        else:
            self.world.arm(self)

    def due(self) -> None:
        """Handle the deadline."""
        self.turn()

    def next_deadline(self) -> int | None:
        """Return the instant at which it has something to do, or None."""
        due = self.producer.next_deadline()
        return (
            earlier(due, self.application.next_turn()) if self._sends and not self._closing else due
        )

    def _end(self, kind: type[ProducerClosed | ProducerCrashed]) -> None:
        if not self.ended:
            self.ended = True
            self._write(kind(self.name, self.application.sent))
            self._driver.close()
            self.world.gone(self)

    def log(self, kind: type[ApplicationStalled | ApplicationResumed]) -> None:
        """Write a line of stream `member` of this class."""
        self._write(kind(self.name))

    def _reported(self, report: Report) -> None:
        event, partition = event_of(report, self.name, None)
        self._write(event, partition)

    def _write(self, event: Event, partition: TopicPartition | None = None) -> None:
        topic, index = (None, None) if partition is None else partition
        self.world.log.append(event, at_ms=self.world.now, topic=topic, partition=index)
