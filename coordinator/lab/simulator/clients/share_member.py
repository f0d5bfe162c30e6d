"""One member of a share group in a world, simulated or live: its application, which processes what
it fetches unless it is stalled, and its process, which can be paused or killed.

It logs the acquired records and the outcomes of its acknowledgements in the stream `member`. An
error that `poll` raises ends the application, as it ends most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.states import ACKNOWLEDGEMENTS
from coordinator.events.members import (
    AcknowledgedOffsets,
    AcknowledgementsEnded,
    DeliveredRange,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberFailed,
    MemberStarted,
    RequestRepeated,
    SharedRecordsPolled,
)
from coordinator.members.applications.sharing import ShareApplication, Work
from coordinator.members.connections.driver import Driver
from coordinator.members.consumer_protocol.membership import new_member_id
from coordinator.members.effects import Closed
from coordinator.members.faults import MemberFault
from coordinator.members.group_member import earlier
from coordinator.members.share.config import ShareConfig
from coordinator.members.share.consumer import ShareConsumer
from coordinator.members.share.member import JOIN_EPOCH
from coordinator.members.share.session import SharedRecord

from ..chance import Draws
from ..environment import Surroundings
from .member import CLOSE_TIMEOUT_MS
from .repeating import RepeatingConsumer


class SimulatedShareMember:
    """A share consumer and its application. `name` is its client id and its host. `repeats`:
    every n-th of its requests arrives twice; 0: none."""

    def __init__(
        self,
        world: Surroundings,
        config: ShareConfig,
        topics: tuple[str, ...],
        first_broker: int,
        work: Work,
        repeats: int = 0,
    ) -> None:
        self.world = world
        self.name = config.client_id
        self.ended = False
        self.fault: MemberFault | None = None
        self.died = False
        """It ended by an error of its own."""
        identity = new_member_id(Draws(world.seed, "member id", world.new_process(self.name)).unit)
        options: dict[str, Any] = {
            "chance": Draws(world.seed, "backoff", self.name).unit,
            "now": world.now,
            "member_id": identity,
        }
        self.consumer = (
            RepeatingConsumer(config, every=repeats, told=self._repeated, **options)
            if repeats
            else ShareConsumer(config, **options)
        )
        self.application = ShareApplication(
            self.consumer,
            work,
            chance=Draws(world.seed, "work", self.name).unit,
            given=self._given,
        )
        self._closing = False
        self._driver = Driver(
            world.transport(self.name), self.consumer, self.turn, self.turn, first_broker - 1
        )
        self.log(MemberStarted)
        self.consumer.subscribe(topics, world.now)
        self.turn()

    # -- what is done to it

    def close(self) -> None:
        """Close the application's consumer, which releases its records and leaves."""
        if not self.ended and not self._closing:
            self.log(MemberClosing)
            self._close()
            self.turn()

    def leave(self) -> None:
        """The same as `close`, because there are no static members."""
        self.close()

    def crash(self) -> None:
        """Kill the process; its host closes its connections."""
        self._end(MemberCrashed)

    def stall(self) -> None:
        """Stall the application until `resume`: the locks of its records end."""
        self.application.stalled = True
        self._arm()

    def resume(self) -> None:
        """Resume the application."""
        self.application.stalled = False
        self.turn()

    def reset_connections(self) -> None:
        """Reset the member's connections."""
        self._driver.reset()

    def clock_jumped(self) -> None:
        """Do nothing: nothing that it does is dated."""

    @property
    def ready(self) -> bool:
        """Return True if it has partitions to read from, as a readiness probe asks."""
        return bool(self.consumer.assigned) and not self._closing

    @property
    def polls(self) -> bool:
        """Return True if its application asks for records, and is neither busy nor hanging."""
        return self._closing or not (self.application.stalled or self.application.in_hand)

    # -- its driver

    def turn(self) -> None:
        """Let the application continue after an event, carry out its effects, and set the next
        deadline."""
        if self.ended:
            return
        now = self.world.now
        self.consumer.tick(now)
        if not self._closing:
            try:
                self.application.turn(now)
            except MemberFault as fault:
                self.fault, self.died = fault, True
                self.log(MemberFailed, why=str(fault))
                self._close()
        told = self._driver.perform(self.consumer.take())
        self._acknowledged()
        if any(isinstance(effect, Closed) for effect in told):
            self._end(MemberClosed)
        else:
            self._arm()

    def due(self) -> None:
        """Handle the deadline."""
        self.turn()

    def next_deadline(self) -> int | None:
        """Return the instant at which it has something to do, or None."""
        due = self.consumer.next_deadline()
        return due if self._closing else earlier(due, self.application.next_turn())

    def _arm(self) -> None:
        if not self.ended:
            self.world.arm(self)

    def _close(self) -> None:
        self._closing = True
        self.consumer.close(self.world.now, CLOSE_TIMEOUT_MS)

    def _end(self, kind: type[MemberClosed | MemberCrashed]) -> None:
        if not self.ended:
            self.ended = True
            self.log(kind)
            self._driver.close()
            self.world.gone(self)

    def _repeated(self, api: str, sent_ms: int, error: int) -> None:
        failed = ErrorCode(error).name if error else None
        self.log(RequestRepeated, api=api, sent_ms=sent_ms, failed=failed)

    # -- what its application sees

    def _given(self, records: list[SharedRecord]) -> None:
        by_partition: dict[TopicPartition, dict[int, int]] = {}
        for of in records:
            by_partition.setdefault(of.partition, {})[of.record.offset] = of.delivery_count
        for partition, counts in by_partition.items():
            told = tuple([DeliveredRange(*row) for row in _ranges(counts)])
            self.log(SharedRecordsPolled, partition, records=told)

    def _acknowledged(self) -> None:
        for of in self.consumer.results():
            told = tuple(
                [
                    AcknowledgedOffsets(first, last, ACKNOWLEDGEMENTS[kind])
                    for first, last, kind in _ranges(of.offsets)
                ]
            )
            failed = of.error.name if of.error else None
            self.log(AcknowledgementsEnded, of.partition, records=told, failed=failed)

    def log(
        self, kind: type[MemberEvent], partition: TopicPartition | None = None, **fields: Any
    ) -> None:
        """Write a line of stream `member` for a partition, with these fields and client and
        member epoch."""
        member = self.consumer.member
        epoch = member.member_epoch if member.member_epoch != JOIN_EPOCH else None
        topic, index = (None, None) if partition is None else partition
        self.world.log.append(
            kind(client=self.name, member_epoch=epoch, **fields),
            at_ms=self.world.now,
            group=member.config.group_id,
            member=member.member_id,
            topic=topic,
            partition=index,
        )


def _ranges(values: Mapping[int, int]) -> Iterable[tuple[int, int, int]]:
    """Yield ranges of neighbouring offsets with the same value: first, last, value."""
    first = last = None
    for offset in sorted(values):
        if first is not None and last is not None:
            if offset == last + 1 and values[offset] == values[first]:
                last = offset
                continue
            yield first, last, values[first]
        first = last = offset
    if first is not None and last is not None:
        yield first, last, values[first]
