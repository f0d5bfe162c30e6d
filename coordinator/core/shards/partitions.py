"""The partitions of __consumer_offsets that one coordinator serves: their shards, and loading,
unloading and deletion.

Each change of what is served is an event (`availability`). A shard is created when first needed.
Requests are served by the group coordinator, a subclass. Time is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from coordinator.base.java_hash import coordinator_partition
from coordinator.events import groups as ev
from coordinator.events.availability import (
    AvailabilityEvent,
    CoordinatorStopped,
    PartitionsEmptied,
    PartitionsLoaded,
    PartitionsLoading,
    PartitionsUnloaded,
)

from ..groups.config import GroupConfig
from ..groups.group import Group
from . import unload
from .agenda import Agenda
from .availability import Availability, Leadership
from .durable import DurableEvents
from .journal import Effects, EventSink, Outcome
from .load import Load
from .shard import Shard

#: How much one `tick` does at most: each unit is about an event, an offset or a group looked at,
#: some 10 microseconds.
SLICE = 1_000


class Partitions:
    """All partitions of a coordinator, whether it leads them or not."""

    def __init__(self, config: GroupConfig, log: EventSink | None = None, now: int = 0) -> None:
        self.config = config
        self.availability = Availability()
        self._log = log
        self._started_ms = now
        self._durable: Callable[[int], DurableEvents] | None = None
        self._shards: dict[int, Shard] = {}
        self._index: dict[str, Shard] = {}
        """The shard of each group that is served."""
        self._loads: dict[int, Load] = {}
        self._unloading: list[Shard] = []
        """Shards with groups that are still to be unloaded."""
        self._emptied: dict[Shard, int] = {}
        """Those of them whose partition was deleted; they go when the last group is unloaded."""
        self._unloading_since = now
        self._agenda = Agenda(self._shards)  # type: ignore[arg-type]

    def share(self, durable: Callable[[int], DurableEvents]) -> None:
        """Make this one of several coordinators, before any other call: it serves no partition
        until it loads one, and `durable` returns a partition's durable events, whichever broker
        led it before.
        """
        assert not self._shards, "a coordinator is shared from the start or never"
        self.availability = Availability(leads_all=False)
        self._durable = durable

    @property
    def shards(self) -> dict[int, Shard]:
        """The shards created so far, by partition. The caller must not change them."""
        return self._shards

    @property
    def is_loading(self) -> bool:
        """True if partitions are being loaded."""
        return bool(self._loads)

    @property
    def is_unloading(self) -> bool:
        """True if groups are still to be unloaded."""
        return bool(self._unloading)

    def partition_for(self, group_id: str) -> int:
        """Return the partition of __consumer_offsets that holds a group (CFG-2). The number of
        partitions is that at start: Kafka's coordinator does not follow the topic when it grows.
        """
        return coordinator_partition(group_id, self.config.offsets_topic_partitions)

    # -- what is served

    def unload(self, now: int, partition: int | tuple[int, ...] | None = None) -> Outcome:
        """Stop serving one partition of __consumer_offsets, several, or all: parked and later
        requests get NOT_COORDINATOR (ERR-5, ERR-6). Groups are unloaded and parked requests
        answered in slices, the first at once, the others with every `tick`.
        """
        effects = Effects(now)
        self._unload(
            tuple(
                p
                for p in self._partitions(partition)
                if self.availability.of(p) is not Leadership.NOT_LED
            ),
            effects,
        )
        return effects.outcome()

    def empty(self, now: int, partition: int | None = None) -> Outcome:
        """Drop the groups of one partition of __consumer_offsets, or all, which was deleted. Parked
        requests are answered in slices, as by `unload`.
        """
        effects = Effects(now)
        partitions = tuple(self._partitions(partition))
        self._change(PartitionsEmptied(partitions), effects)
        self._unload_shards(partitions, effects)
        for index in partitions:
            if index in self._shards:
                self._shards[index].durable.clear()
                self._emptied[self._shards[index]] = index
                if not self._shards[index].leaving:
                    self._unloaded(self._shards[index])
        self._go_on_unloading(effects, SLICE)
        return effects.outcome()

    def take_out(self, now: int, cause: int | None = None) -> tuple[tuple[int, ...], Outcome]:
        """Unload every served partition and delete its groups; return the partitions. `put_back`
        must follow.
        """
        effects = Effects(now, cause)
        self._finish_unloading(effects)
        served = tuple(
            p for p in self._partitions(None) if self.availability.of(p) is not Leadership.NOT_LED
        )
        self._unload(served, effects)
        self._finish_unloading(effects)
        effects.cause = cause
        for partition in served:
            shard = self.partition_shard(partition)
            for group_id in shard.durable.groups():
                shard.store(
                    shard.durable.fold(group_id), ev.GroupDeleted("a snapshot is restored"), effects
                )
        return served, effects.outcome()

    def put_back(
        self,
        now: int,
        partitions: tuple[int, ...],
        groups: Mapping[str, Sequence[ev.Event]],
        cause: int | None = None,
    ) -> Outcome:
        """Write durable events of groups into the partitions that `take_out` returned, and load
        them (ERR-7).
        """
        effects = Effects(now, cause)
        for group_id, events in groups.items():
            index = self.partition_for(group_id)
            if index in partitions:
                stored = Group(group_id, now, loading=True)
                for event in events:
                    self.partition_shard(index).store(stored, event, effects)
        loaded = self.finish_load(now, partitions)
        return Outcome((*effects.events, *loaded.events), (*effects.replies, *loaded.replies))

    def begin_load(
        self, now: int, partition: int | None = None, *, by_itself: bool = False, after_ms: int = 0
    ) -> Outcome:
        """Start to load one partition, or all: requests get COORDINATOR_LOAD_IN_PROGRESS until it
        is finished (ERR-4). A led partition is unloaded first. `by_itself`: every `tick`
        continues the load, from `after_ms` on; otherwise `finish_load` ends it.
        """
        effects = Effects(now)
        self._unload(self.availability.only(self._partitions(partition), Leadership.LED), effects)
        self._begin_loads(partition, effects, by_itself=by_itself, after_ms=after_ms)
        return effects.outcome()

    def _begin_loads(
        self,
        partition: int | tuple[int, ...] | None,
        effects: Effects,
        *,
        by_itself: bool,
        after_ms: int = 0,
    ) -> None:
        waiting = self.availability.only(self._partitions(partition), Leadership.NOT_LED)
        self._finish_emptied(effects)
        if waiting:
            self._change(PartitionsLoading(waiting), effects)
        for index in self.availability.only(self._partitions(partition), Leadership.LOADING):
            if index not in self._loads:
                begins_ms = effects.now + after_ms
                shard = self.partition_shard(index)
                if self._durable is not None:
                    shard.durable = self._durable(
                        index
                        # the broker's copy may be another one than last time: it was taken away and
                        # added
                    )
                self._loads[index] = Load(
                    shard, by_itself=by_itself, since_ms=begins_ms, cause=effects.cause
                )

    def finish_load(self, now: int, partition: int | tuple[int, ...] | None = None) -> Outcome:
        """Load the groups of one partition, of several, or of all from their durable events
        (ERR-7), at once.
        """
        effects = Effects(now)
        self._begin_loads(partition, effects, by_itself=False)
        loads = {
            index: self._loads[index]
            for index in self._partitions(partition)
            if index in self._loads
        }
        for load in loads.values():
            while not load.done:
                load.step(effects, SLICE)
        self._loaded(tuple(loads), effects)
        return effects.outcome()

    def shutdown(self, now: int, *, in_slices: bool = False) -> Outcome:
        """Stop: parked requests get NOT_COORDINATOR as at any unload, later ones
        COORDINATOR_NOT_AVAILABLE (ENT-3, ENT-5, ERR-6). `in_slices`: groups without parked
        requests are unloaded with every `tick`.
        """
        effects = Effects(now)
        self._change(CoordinatorStopped(), effects)
        self._unload_shards(tuple(self._shards), effects)
        if not in_slices:
            self._finish_unloading(effects)
        for shard in self._unloading:
            unload.answer(shard, effects)
        return effects.outcome()

    def finish_unload(self, now: int) -> Outcome:
        """Finish unloads at once."""
        effects = Effects(now)
        self._finish_unloading(effects)
        return effects.outcome()

    def _unload(self, partitions: tuple[int, ...], effects: Effects) -> None:
        if partitions:
            waits = bool(self._unloading)
            self._change(PartitionsUnloaded(partitions), effects)
            self._unload_shards(partitions, effects)
            if not waits:  # many partitions may be lost one after the other at one instant
                self._go_on_unloading(effects, SLICE)

    def _unload_shards(self, partitions: tuple[int, ...], effects: Effects) -> None:
        for partition in partitions:
            self._loads.pop(partition, None)
            shard = self._shards.get(partition)
            if shard is not None and not shard.leaving:
                unload.begin(shard, effects)
                self._unloading.append(shard)
        self._unloading_since = effects.now

    def _go_on_unloading(self, effects: Effects, budget: int) -> int:
        while self._unloading and budget > 0:
            budget = unload.go_on(self._unloading[0], effects, budget)
            if not self._unloading[0].leaving:
                self._unloaded(self._unloading[0])
        return budget

    def _unloaded(self, shard: Shard) -> None:
        if shard in self._unloading:
            self._unloading.remove(shard)
        emptied = self._emptied.pop(shard, None)
        if emptied is not None:
            del self._shards[emptied]

    def _finish_unloading(self, effects: Effects) -> None:
        for shard in list(self._unloading):
            unload.finish(shard, effects)
            self._unloaded(shard)

    def _finish_emptied(self, effects: Effects) -> None:
        """Finish the unload of deleted partitions at once, because new groups may use the same ids."""
        for shard in list(self._emptied):
            unload.finish(shard, effects)
            self._unloaded(shard)

    def _go_on_loading(self, partition: int, load: Load, effects: Effects, budget: int) -> int:
        budget = load.step(effects, budget)
        if load.done:
            self._loaded((partition,), effects)
        return budget

    def _loaded(self, partitions: tuple[int, ...], effects: Effects) -> None:
        if partitions:
            self._change(PartitionsLoaded(partitions), effects)
        for partition in partitions:
            del self._loads[partition]
            self._shards[partition].serve(effects.now)

    def _change(self, event: AvailabilityEvent, effects: Effects) -> None:
        """Fold and log an event of availability, which causes the events that follow."""
        self.availability.evolve(event)
        effects.events.append((None, event))
        if self._log is not None:
            effects.cause = self._log.coordinator_event(event, effects.now, effects.cause)

    # -- shards

    def partition_shard(self, partition: int) -> Shard:
        """Return the shard of a partition, created if it was not needed before."""
        shard = self._shards.get(partition)
        if shard is None:
            durable = DurableEvents() if self._durable is None else self._durable(partition)
            shard = self._shards[partition] = Shard(
                self.config,
                durable,
                self._index,
                self._log,
                lambda at: self._agenda.tell(partition, at),
                self._started_ms,
            )
        return shard

    def _partitions(self, partition: int | tuple[int, ...] | None) -> Iterable[int]:
        if isinstance(partition, tuple):
            return partition
        return range(self.config.offsets_topic_partitions) if partition is None else (partition,)
