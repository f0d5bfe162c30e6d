"""Share groups at one broker: sessions, share partitions, and the stored states, made when the first
of them is needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...cluster.model import SHARE_GROUP_STATE
from ...errors import ErrorCode
from ...share_partitions.model import SharePartition, SharePartitionKey
from ...share_partitions.release import CONNECTION_LOST
from .acknowledgements import Acknowledgements
from .opening import Opener
from .partitions import SharePartitions
from .persister import Persister
from .releases import Releases
from .sessions import At, SessionKey, ShareSession, ShareSessions
from .settings import FEATURE, SettingsOfGroups
from .states import ShareStates

if TYPE_CHECKING:
    from ...cluster import Partition
    from .host import ShareHost


def is_enabled(broker: ShareHost) -> bool:
    """True if share groups are served: share.version is 1 or more."""
    return broker.cluster.features.get(FEATURE, 0) > 0


class Shares:
    """All of it, of one broker."""

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
        self.grown_from_zero = True
        """True if partitions that a topic gains are read from 0, not from where the group resets
        to."""
        self.knows_no_unknown_topics = False
        """True if a fetch fails as a whole that would answer a partition of an unknown topic."""
        self.follow_release()

    def follow_release(self) -> None:
        """Do as the broker's release does from now on."""
        release = self._broker.configs.release
        self.grown_from_zero = release.has("SH-44-1")
        self.knows_no_unknown_topics = not release.has("SH-44-2")
        self.states.as_given = not release.has("SH-44-3")

    # -- partitions

    def find(self, at: At) -> Partition | ErrorCode:
        """The partition that a request names, if this broker leads it: 100, 3, 6."""
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
        """A share partition, if it is open."""
        return self.partitions.open_ones.get(SharePartitionKey(group_id, found.topic, found.index))

    def begin_anew(self, key: SharePartitionKey, now: int) -> None:
        """Begin a share partition with what is stored of it by now."""
        self.partitions.close(key, "its state was altered", now, None)
        self.partitions.forget(lambda known: known == key)

    # -- sessions

    def end_session(
        self, key: SessionKey, reason: str, now: int, cause: int | None = None
    ) -> ShareSession | None:
        """End a session; what its member holds of the session's partitions is given back
        (SH-SES-3)."""
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
        """Give back what a member holds of partitions."""
        for at in list(partitions):
            topic = self._broker.cluster.topics_by_id.get(at[0])
            if topic is None:
                continue
            held = self.partitions.open_ones.get(SharePartitionKey(key.group_id, topic.name, at[1]))
            if held is not None:
                self.releases.release(held, key.member_id, reason, now, cause)

    def connection_lost(self, peer: str) -> None:
        """A connection has ended, and the session that is its own is to end with it, at the next
        `tick`."""
        if self.sessions.of_peer(peer) is not None:
            self._lost.append(peer)

    # -- time

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""
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
        """End sessions whose connection is gone, and locks whose time is over; ask share coordinators
        again, and write dead letters."""
        lost, self._lost = self._lost, []
        for peer in lost:
            key = self.sessions.of_peer(peer)
            if key is not None:
                self.end_session(key, CONNECTION_LOST, now)
        if self.states.loads is not None:
            self.states.loads.tick(now)
        self.partitions.writes.tick(now)
        self.opener.tick(now)
        for partition in self.partitions.locks_due(now):
            self.releases.expire(partition, now)
        self.partitions.letters.tick(now)

    def stopped(self, now: int) -> None:
        """The broker's process has ended: what it had in flight is forgotten, and it is nobody's
        share coordinator."""
        self.partitions.close_where(lambda _: True, "its broker stopped", now, None)
        if self.states.loads is not None:
            self.states.loads.unload_all(now)

    def partition_changed(self, topic: str, index: int, now: int, cause: int | None) -> None:
        """Somebody else may lead a partition now: what groups had in flight of it is forgotten
        here."""
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
        """A topic is gone, and what groups had in flight of it, or what was stored in it."""
        if topic == SHARE_GROUP_STATE:
            self.states.empty(now)
        self.partitions.close_where(
            lambda one: one.key.topic == topic, "its topic was deleted", now, cause
        )
        self.partitions.forget(lambda key: key.topic == topic)
        self.states.topic_deleted(topic, topic_id, now, cause)
