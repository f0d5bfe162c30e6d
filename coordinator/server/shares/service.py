"""Share groups at one broker: owns its sessions, share partitions and stored states, all created
when first needed. Handlers and the broker call `Shares`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.model import SharePartition, SharePartitionKey
from coordinator.core.share_partitions.release import CONNECTION_LOST

from ..cluster.model import SHARE_GROUP_STATE
from .acknowledgements import Acknowledgements
from .opening import Opener
from .partitions import MOST, SharePartitions
from .persister import Persister
from .releases import Releases
from .sessions import At, SessionKey, ShareSession, ShareSessions
from .settings import FEATURE, SettingsOfGroups
from .states import ShareStates

if TYPE_CHECKING:
    from coordinator.core.share_partitions.runs import Run

    from ..cluster import Partition
    from .host import ShareHost


def is_enabled(broker: ShareHost) -> bool:
    """Return True if share groups are served: share.version is at least 1."""
    return broker.cluster.features.get(FEATURE, 0) > 0


class Shares:
    """Share group service of one broker."""

    def __init__(self, broker: ShareHost) -> None:
        self.states = ShareStates(broker)
        self.settings = SettingsOfGroups(broker.cluster, broker.configs)
        self.persister = Persister(broker)
        self.partitions = SharePartitions(broker, self.persister, self.settings)
        self.opener = Opener(broker, self.persister, self.partitions)
        self.acknowledgements = Acknowledgements(self.partitions)
        self.releases = Releases(self.partitions)
        self.sessions = ShareSessions()
        self._broker = broker
        self._lost: list[str] = []
        self._without_sessions: set[str] = set()
        """Groups whose share partitions are to be unloaded."""
        self.grown_from_zero = True
        """True if partitions that are added to a topic are read from offset 0, not from the group's
        reset offset."""
        self.knows_no_unknown_topics = False
        """True if a whole fetch fails if one of its partitions is of an unknown topic."""
        self.follow_release()

    def follow_release(self) -> None:
        """Follow the rules of the broker's release from now on."""
        release = self._broker.configs.release
        self.grown_from_zero = release.has("SH-44-1")
        self.knows_no_unknown_topics = not release.has("SH-44-2")
        self.states.as_given = not release.has("SH-44-3")

    # -- partitions

    def find(self, at: At) -> Partition | ErrorCode:
        """Return the partition if this broker leads it, else the error: 100, 3, 6."""
        cluster = self._broker.cluster
        topic = cluster.topics_by_id.get(at[0])
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        found = cluster.partition(topic.name, at[1])
        if found is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if found.leader != self._broker.node_id:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return found

    def opened(self, group_id: str, found: Partition) -> SharePartition | None:
        """Return the share partition of a partition, if it is open."""
        return self.partitions.open_ones.get(SharePartitionKey(group_id, found.topic, found.index))

    def shown(self, group_id: str) -> list[SharePartition]:
        """Return a group's share partitions for display: the open ones, and unloaded ones as they
        would be opened now.
        """
        shown = self.partitions.of_group(group_id)
        for key, start in self.partitions.unloaded_of(group_id).items():
            found = self._broker.cluster.partition(key.topic, key.partition)
            if found is not None and found.leader == self._broker.node_id:
                stored = self.opener.as_stored(key, found, start)
                if stored is not None:
                    shown.append(stored)
        return shown

    def known(self, key: SharePartitionKey, first: int = 0, last: int = MOST) -> Iterator[Run]:
        """Yield the records of a partition that a group has reached, finished ones first."""
        partition = next((one for one in self.shown(key.group_id) if one.key == key), None)
        return self.partitions.known(key, partition, first, last)

    def begin_anew(self, key: SharePartitionKey, now: int) -> None:
        """Close a share partition, so that it is opened with the stored state."""
        self.partitions.close(key, "its state was altered", now, None)
        self.partitions.forget(lambda known: known == key)

    # -- sessions

    def end_session(
        self, key: SessionKey, reason: str, now: int, cause: int | None = None
    ) -> ShareSession | None:
        """End a session and release the records that its member holds in the session's partitions
        (SH-SES-3).
        """
        session = self.sessions.end(key)
        if session is not None:
            self.release(key, session.partitions, reason, now, cause)
        return session

    def release(
        self,
        key: SessionKey,
        partitions: Iterable[At],
        reason: str,
        now: int,
        cause: int | None = None,
    ) -> None:
        """Release the records that a member holds in these partitions."""
        for at in list(partitions):
            topic = self._broker.cluster.topics_by_id.get(at[0])
            if topic is None:
                continue
            held = self.partitions.open_ones.get(SharePartitionKey(key.group_id, topic.name, at[1]))
            if held is not None:
                self.releases.release(held, key.member_id, reason, now, cause)

    def connection_lost(self, peer: str) -> None:
        """At the next `tick`, end the session that belongs to a closed connection; if the group has
        no session left, unload its share partitions (SH-SES-6).
        """
        if self.sessions.has_begun_any(peer):
            self._lost.append(peer)

    # -- time

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        if self._lost:
            return 0
        loads = self.states.loads
        instants = (
            self.partitions.next_deadline(),
            self.partitions.writes.next_deadline(),
            self.opener.next_deadline(),
            None if loads is None else loads.next_deadline(),
        )
        return min((at for at in instants if at is not None), default=None)

    def tick(self, now: int) -> None:
        """End sessions of closed connections and expired locks; retry writes to share coordinators,
        and write dead letters.
        """
        lost, self._lost = self._lost, []
        for peer in lost:
            key = self.sessions.of_peer(peer)
            if key is not None:
                self.end_session(key, CONNECTION_LOST, now)
            group_id = self.sessions.forget_peer(peer)
            if group_id is not None and not self.sessions.count(group_id):
                self._without_sessions.add(group_id)
        if self.states.loads is not None:
            self.states.loads.tick(now)
        self.partitions.writes.tick(now)
        self.opener.tick(now)
        for partition in self.partitions.locks_due(now):
            self.releases.expire(partition, now)
        self.partitions.letters.tick(now)
        if self._without_sessions:
            self._unload(now)

    def _unload(self, now: int) -> None:
        """Unload the share partitions of groups without sessions, except those with a store in
        progress (SH-SES-6), whose result must still be logged.
        """
        busy = self.partitions.being_stored()
        for group_id in list(self._without_sessions):
            if self.sessions.count(group_id) or not self.partitions.unload(group_id, busy, now):
                self._without_sessions.discard(group_id)

    def stopped(self, now: int) -> None:
        """Discard the state in memory, because the broker's process ended."""
        self.partitions.close_where(lambda _: True, "its broker stopped", now, None)
        if self.states.loads is not None:
            self.states.loads.unload_all(now)

    def partition_changed(self, topic: str, index: int, now: int, cause: int | None) -> None:
        """Close the share partitions of a partition that another leader or leader epoch serves now."""
        found = self._broker.cluster.partition(topic, index)
        epoch = None
        if found is not None and found.leader == self._broker.node_id:
            epoch = found.leader_epoch
        self.partitions.close_where(
            lambda one: (
                (one.key.topic, one.key.partition) == (topic, index) and one.leader_epoch != epoch
            ),
            "another leader was elected",
            now,
            cause,
        )

    def topic_deleted(self, topic: str, topic_id: bytes, now: int, cause: int | None) -> None:
        """Close the share partitions of a deleted topic, or drop the states stored in it."""
        if topic == SHARE_GROUP_STATE:
            self.states.empty(now)
        self.partitions.close_where(
            lambda one: one.key.topic == topic, "its topic was deleted", now, cause
        )
        self.partitions.forget(lambda key: key.topic == topic)
        self.states.topic_deleted(topic, topic_id, now, cause)
