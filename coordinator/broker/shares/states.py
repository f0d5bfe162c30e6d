"""The share coordinator as one broker reaches it: the stored states of share partitions, and their
records in `__share_group_state`.

Owns which partition of that topic holds a share partition's state, and the order of a write at the
broker that leads it: the event is logged, its record appended, and then it counts. Does not depend
on requests; handlers translate.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...cluster.internal_topics import partition_for
from ...cluster.model import SHARE_GROUP_STATE
from ...errors import ErrorCode
from ...share_states import decide
from ...share_states import events as ev
from ...share_states.evolve import evolve
from ...share_states.model import ShareState, ShareStateKey
from ...share_states.records import record
from ...storage.append_checks import LogConfig
from ...storage.record_codec import build_batch
from ...storage.records import parse_header
from .host import alone

if TYPE_CHECKING:
    from ...share_states.decide import Decision, Written
    from .host import ShareHost

_UPDATES = "share.coordinator.snapshot.update.records.per.snapshot"


def coordinator_key(key: ShareStateKey) -> str:
    """What FindCoordinator is asked for: group, topic id and partition."""
    topic_id = urlsafe_b64encode(key.topic_id).decode().rstrip("=")
    return f"{key.group_id}:{topic_id}:{key.partition}"


class ShareStates:
    """The states, as a broker asks for them, be it that another one leads their partition. `states`
    holds those that are initialized."""

    def __init__(self, broker: ShareHost) -> None:
        self._peers = broker.share_peers or alone(broker)
        self.states = self._peers.states
        self.begun_anew: Callable[[ShareStateKey, int, int | None], None] = lambda *_: None
        """Told of each state that does not go on from what it was."""
        self._broker = broker
        self.as_given = not broker.configs.release.has("SH-44-3")
        """Whether states are stored as they are written, be they such as no leader writes."""

    # -- what groups and leaders ask; `cause`: the log's number of the request behind it

    def initialize(
        self,
        key: ShareStateKey,
        state_epoch: int,
        start_offset: int,
        now: int,
        cause: int | None = None,
    ) -> Decision:
        """Begin the state of a share partition anew; start offset -1: its leader finds out."""
        decision = self._carry_out(
            key,
            decide.decide_initialize(
                self.states.get(key),
                key.topic_id,
                key.partition,
                state_epoch,
                start_offset,
                self._wall_ms(now),
                known=self._known(key),
                as_given=self.as_given,
            ),
            now,
            cause,
        )
        return self._begun_anew(key, decision, now, cause)

    def read(
        self, key: ShareStateKey, leader_epoch: int, now: int, cause: int | None = None
    ) -> tuple[Decision, ShareState | None]:
        """The state, for a leader of this epoch."""
        decision = self._carry_out(
            key,
            decide.decide_read(
                self.states.get(key),
                key.topic_id,
                key.partition,
                leader_epoch,
                known=self._known(key),
                as_given=self.as_given,
            ),
            now,
            cause,
        )
        return decision, None if decision.error else self.states.get(key)

    def write(
        self, key: ShareStateKey, written: Written, now: int, cause: int | None = None
    ) -> Decision:
        """Keep what a leader changed."""
        return self._carry_out(
            key,
            decide.decide_write(
                self.states.get(key),
                key.topic_id,
                key.partition,
                written,
                self._wall_ms(now),
                self._broker.configs.get_int(_UPDATES),
                known=self._known(key),
                as_given=self.as_given,
            ),
            now,
            cause,
        )

    def delete(self, key: ShareStateKey, now: int, cause: int | None = None) -> Decision:
        """Forget the state of a share partition."""
        decision = self._carry_out(
            key,
            decide.decide_delete(
                self.states.get(key), key.topic_id, key.partition, known=self._known(key)
            ),
            now,
            cause,
        )
        return self._begun_anew(key, decision, now, cause)

    def summary(self, key: ShareStateKey) -> tuple[Decision, ShareState | None]:
        """The state, for who only looks at it."""
        decision = (
            decide.refused(ErrorCode.NOT_COORDINATOR)
            if self._leader(key) is None
            else decide.decide_summary(self.states.get(key), key.partition, known=self._known(key))
        )
        return decision, None if decision.error else self.states.get(key)

    # -- writing

    def _begun_anew(
        self, key: ShareStateKey, decision: Decision, now: int, cause: int | None
    ) -> Decision:
        if decision.event is not None and not decision.error:
            self.begun_anew(key, now, cause)
        return decision

    def _carry_out(
        self, key: ShareStateKey, decision: Decision, now: int, cause: int | None
    ) -> Decision:
        leader = self._leader(key)
        if leader is None:
            return decide.refused(ErrorCode.NOT_COORDINATOR)
        if decision.event is not None:
            if self._broker.log_is_blocked:
                return decide.refused(ErrorCode.NOT_COORDINATOR)
            self._write(leader, key, decision.event, now, cause)
        return decision

    def _write(
        self, broker: ShareHost, key: ShareStateKey, event: ev.Event, now: int, cause: int | None
    ) -> None:
        """At the broker that leads the state's partition."""
        if broker.log is not None:
            topic = broker.cluster.topics_by_id.get(key.topic_id)
            name = "" if topic is None else topic.name
            of = None if broker.replication is None else broker.node_id
            broker.log.share_event(key.group_id, name, key.partition, event, now, cause, of)
        self._append(broker, key, event, now)
        if isinstance(event, ev.ShareStateDeleted):
            self.states.pop(key, None)
        else:
            evolve(self.states.setdefault(key, ShareState()), event)

    def _append(self, broker: ShareHost, key: ShareStateKey, event: ev.Event, now: int) -> None:
        """The record of an event, in the partition that holds the state."""
        index = self._index(key)
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
        if broker.replication is not None:
            broker.replication.mark(SHARE_GROUP_STATE, index)
            broker.replication.run(now)
        broker.parked_fetches.wake(SHARE_GROUP_STATE, index, now)

    def serves(self, key: ShareStateKey) -> bool:
        """Whether this broker is the coordinator of a share partition's state."""
        return self._leader(key) is self._broker

    def _leader(self, key: ShareStateKey) -> ShareHost | None:
        """The broker that leads the state's partition, if it knows that it does and can be asked."""
        broker, index = self._broker, self._index(key)
        known = broker.cluster.partition(SHARE_GROUP_STATE, index)
        if known is None:
            return None
        leader = self._peers.reached(broker.node_id, known.leader)
        own = None if leader is None else leader.cluster.partition(SHARE_GROUP_STATE, index)
        return leader if own is not None and own.leader == known.leader else None

    def _index(self, key: ShareStateKey) -> int:
        return partition_for(self._broker.configs, SHARE_GROUP_STATE, coordinator_key(key))

    def _known(self, key: ShareStateKey) -> bool:
        topic = self._broker.cluster.topics_by_id.get(key.topic_id)
        return topic is not None and 0 <= key.partition < len(topic.partitions)

    def _wall_ms(self, now: int) -> int:
        return self._broker.epoch_ms + now
