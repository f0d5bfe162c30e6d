"""Share coordinator of one broker: the stored states of share partitions, and their records in
`__share_group_state`.

Owns the mapping of share partitions to partitions of that topic, and the order of a write: the
event is logged, its record appended, then it is applied. A single broker serves all partitions;
one of several serves those that it leads, after loading them (`state_loads`). Does not know
requests; `Persister` is its client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.core.share_states import decide
from coordinator.core.share_states.decide import Asked
from coordinator.core.share_states.model import ShareState, ShareStateKey
from coordinator.core.share_states.records import record
from coordinator.events import share_states as ev
from coordinator.events.availability import ShareStatesEmptied

from ..cluster.internal_topics import partition_for
from ..cluster.model import SHARE_GROUP_STATE
from ..storage.append_checks import LogConfig
from ..storage.record_codec import build_batch
from ..storage.records import parse_header
from .state_loads import UPDATES, StateLoads, States, fold

if TYPE_CHECKING:
    from coordinator.core.share_states.decide import Decision, Written

    from .host import ShareHost


class ShareStates:
    """States that a broker stores, by partition of `__share_group_state`."""

    def __init__(self, broker: ShareHost) -> None:
        self.by_partition: dict[int, States] = {}
        self.loads = None if broker.share_peers is None else StateLoads(broker, self.by_partition)
        """The partitions that this broker serves, if there are several brokers; None: it serves
        all."""
        self._broker = broker
        self.as_given = not broker.configs.release.has("SH-44-3")
        """True if states are stored as they are written, even those that no leader writes."""

    @property
    def states(self) -> States:
        """All initialized states."""
        return {key: state for of in self.by_partition.values() for key, state in of.items()}

    def find(self, key: ShareStateKey) -> ShareState | None:
        """Return the stored state of a share partition, or None."""
        return self.by_partition.get(self._index(key), {}).get(key)

    def error(self, key: ShareStateKey) -> ErrorCode:
        """Return NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS if this broker does not serve a
        share partition's state, else NONE.
        """
        return self.error_of(self._index(key))

    def error_of(self, index: int) -> ErrorCode:
        """Like `error`, for a partition of `__share_group_state`."""
        if self._broker.cluster.partition(SHARE_GROUP_STATE, index) is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.NONE if self.loads is None else self.loads.error(index)

    def empty(self, now: int) -> None:
        """Discard all states, because the topic was deleted."""
        if self.loads is not None:
            self.loads.empty(now)
        elif self.by_partition:
            gone = ShareStatesEmptied(tuple(sorted(self.by_partition)))
            if self._broker.log is not None:
                self._broker.log.coordinator_event(gone, now, None)
            self.by_partition.clear()

    def topic_deleted(self, topic: str, topic_id: bytes, now: int, cause: int | None) -> None:
        """Delete the states of a deleted topic's share partitions (SH-ST-4)."""
        for index, states in self.by_partition.items():
            if not self.error_of(index):
                for key in [key for key in states if key.topic_id == topic_id]:
                    self._write(index, key, ev.ShareStateDeleted(topic_id), now, cause, topic)

    # -- what may be asked; `cause`: the log's number of the request behind it

    def initialize(
        self,
        key: ShareStateKey,
        state_epoch: int,
        start_offset: int,
        now: int,
        cause: int | None = None,
    ) -> Decision:
        """Initialize the state of a share partition. Start offset -1: its leader chooses it."""
        return self._carry_out(
            key,
            lambda state, asked: decide.decide_initialize(state, asked, state_epoch, start_offset),
            now,
            cause,
        )

    def read(
        self, key: ShareStateKey, leader_epoch: int, now: int, cause: int | None = None
    ) -> tuple[Decision, ShareState | None]:
        """Return the decision about a read by a leader of this epoch, and the state, or None if the
        decision is an error."""
        decision = self._carry_out(
            key,
            lambda state, asked: decide.decide_read(state, asked, leader_epoch),
            now,
            cause,
        )
        return decision, None if decision.error else self.find(key)

    def write(
        self, key: ShareStateKey, written: Written, now: int, cause: int | None = None
    ) -> Decision:
        """Store a leader's change."""
        return self._carry_out(
            key,
            lambda state, asked: decide.decide_write(state, asked, written),
            now,
            cause,
        )

    def unreplicated(self, key: ShareStateKey) -> Unreplicated | None:
        """Return the last write to the state's partition if it is not replicated yet, else None."""
        if self.loads is None:
            return None
        index = self._index(key)
        partition = self._broker.cluster.partition(SHARE_GROUP_STATE, index)
        if partition is None or partition.log.high_watermark >= partition.log.log_end_offset:
            return None
        return Unreplicated(self, index, partition.log.log_end_offset, partition.leader_epoch)

    def replicated(self, index: int, end_offset: int, leader_epoch: int) -> ErrorCode | None:
        """Return NONE if this leader's writes before an offset are replicated, None if not yet,
        NOT_COORDINATOR if another broker leads.
        """
        partition = self._broker.cluster.partition(SHARE_GROUP_STATE, index)
        if self.error_of(index) or partition is None or partition.leader_epoch != leader_epoch:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.NONE if partition.log.high_watermark >= end_offset else None

    def delete(self, key: ShareStateKey, now: int, cause: int | None = None) -> Decision:
        """Delete the state of a share partition."""
        return self._carry_out(key, decide.decide_delete, now, cause)

    def summary(self, key: ShareStateKey) -> tuple[Decision, ShareState | None]:
        """Return the state for reading only, without a leader epoch."""
        error, state = self.error(key), self.find(key)
        if error:
            return decide.refused(error), None
        decision = decide.decide_summary(key.partition, known=self._known(key))
        return decision, None if decision.error else state

    # -- writing

    def _carry_out(
        self,
        key: ShareStateKey,
        meaning: Callable[[ShareState | None, Asked], Decision],
        now: int,
        cause: int | None,
    ) -> Decision:
        index = self._index(key)
        error = self.error_of(index)
        if error:
            return decide.refused(error)
        decision = meaning(self.by_partition.get(index, {}).get(key), self._asked(key, now))
        if decision.event is not None:
            if self._broker.log_is_blocked:
                return decide.refused(ErrorCode.NOT_COORDINATOR)
            if self.loads is not None and self.loads.lacks_replicas(index):
                return decide.refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self._write(index, key, decision.event, now, cause)
        return decision

    def _write(
        self,
        index: int,
        key: ShareStateKey,
        event: ev.Event,
        now: int,
        cause: int | None,
        name: str = "",
    ) -> None:
        broker, seq = self._broker, None
        if broker.log is not None:
            topic = broker.cluster.topics_by_id.get(key.topic_id)
            name = name if topic is None else topic.name
            of = None if broker.replication is None else broker.node_id
            seq = broker.log.append(
                event,
                at_ms=now,
                cause=cause,
                group=key.group_id,
                broker=of,
                topic=name,
                partition=key.partition,
            )
        self._append(index, key, event, now, seq)
        fold(self.by_partition.setdefault(index, {}), key, event)

    def _append(
        self, index: int, key: ShareStateKey, event: ev.Event, now: int, seq: int | None
    ) -> None:
        """Append the record of an event to the state's partition. `seq`: the event's number in the
        event log.
        """
        broker = self._broker
        partition = broker.cluster.partition(SHARE_GROUP_STATE, index)
        assert partition is not None
        wall_ms = self._wall_ms(now)
        batch = build_batch([record(key, event)], timestamp=wall_ms, base_sequence=0)
        partition.log.append(
            batch,
            parse_header(batch),
            LogConfig(),
            leader_epoch=partition.leader_epoch,
            now_ms=wall_ms,
        )
        if broker.share_peers is not None:
            broker.share_peers.numbered(partition.log, seq)
        if broker.replication is not None:
            broker.replication.mark(SHARE_GROUP_STATE, index)
            broker.replication.run(now)
        broker.parked_fetches.wake(SHARE_GROUP_STATE, index, now)

    def _index(self, key: ShareStateKey) -> int:
        return partition_for(self._broker.configs, SHARE_GROUP_STATE, key.for_coordinator)

    def _known(self, key: ShareStateKey) -> bool:
        topic = self._broker.cluster.topics_by_id.get(key.topic_id)
        return topic is not None and 0 <= key.partition < len(topic.partitions)

    def _asked(self, key: ShareStateKey, now: int) -> Asked:
        return Asked(
            key.topic_id,
            key.partition,
            self._known(key),
            self._wall_ms(now),
            self._broker.configs.get_int(UPDATES),
            self.as_given,
        )

    def _wall_ms(self, now: int) -> int:
        return self._broker.epoch_ms + now


class Unreplicated(NamedTuple):
    """Writes of a share coordinator up to an offset, in a leader epoch."""

    states: ShareStates
    partition: int
    end_offset: int
    leader_epoch: int

    def progress(self) -> ErrorCode | None:
        """Return NONE if they are replicated, None if not yet, NOT_COORDINATOR if another broker
        leads.
        """
        return self.states.replicated(self.partition, self.end_offset, self.leader_epoch)
