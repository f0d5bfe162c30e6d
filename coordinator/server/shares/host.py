"""Interfaces of share groups towards their broker (`Broker` is one), and towards the brokers that
store the states of share partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from coordinator.base.errors import ErrorCode
    from coordinator.core.share_states.decide import Decision, Written
    from coordinator.core.share_states.model import ShareState, ShareStateKey
    from coordinator.events import EventLog

    from ..cluster import Cluster
    from ..cluster.replication import Replication
    from ..fetching.parked import ParkedFetches
    from ..log_cleaning import LogCleaning
    from ..parked_requests import ParkedRequests
    from ..settings.broker_configs import BrokerConfigs
    from ..storage.partition_log import PartitionLog


class TopicMaker(Protocol):
    """Function that creates a topic with defaults for everything not given."""

    def __call__(
        self, name: str, configs: Mapping[str, str], now: int, cause: int | None
    ) -> str | None:
        """Create the topic. Return the reason if it cannot be created, else None."""


class Stored(Protocol):
    """Interface of a share coordinator's write that is not replicated yet."""

    def progress(self) -> ErrorCode | None:
        """Return NONE if it is replicated, None if not yet, or the error if the share coordinator
        no longer serves the partition.
        """


class ShareCoordinator(Protocol):
    """Interface of a share coordinator. `cause`: the event log's number of the request behind a
    call.
    """

    def initialize(
        self,
        key: ShareStateKey,
        state_epoch: int,
        start_offset: int,
        now: int,
        cause: int | None = None,
    ) -> Decision:
        """Initialize the state of a share partition. Start offset -1: its leader chooses it."""

    def read(
        self, key: ShareStateKey, leader_epoch: int, now: int, cause: int | None = None
    ) -> tuple[Decision, ShareState | None]:
        """Return the state, for a leader of this epoch."""

    def write(
        self, key: ShareStateKey, written: Written, now: int, cause: int | None = None
    ) -> Decision:
        """Store a leader's change."""

    def unreplicated(self, key: ShareStateKey) -> Stored | None:
        """Return the last write to the state's partition if it is not replicated yet, else None."""

    def delete(self, key: ShareStateKey, now: int, cause: int | None = None) -> Decision:
        """Delete the state of a share partition."""

    def summary(self, key: ShareStateKey) -> tuple[Decision, ShareState | None]:
        """Return the state for reading only, without a leader epoch."""


class ShareServices(Protocol):
    """The services of a broker that share groups use."""

    @property
    def share_coordinator(self) -> ShareCoordinator:
        """This broker's share coordinator."""

    @property
    def cleaning(self) -> LogCleaning:
        """The clean-up of the broker's logs."""


class ShareHost(Protocol):
    """The part of a broker that share groups use."""

    @property
    def node_id(self) -> int:
        """The broker's id."""

    @property
    def cluster(self) -> Cluster:
        """Topics, and the leaders of their partitions."""

    @property
    def configs(self) -> BrokerConfigs:
        """The broker's configuration."""

    @property
    def log(self) -> EventLog | None:
        """The event log, or None."""

    @property
    def log_is_blocked(self) -> bool:
        """True if the event log cannot be written now; then nothing may change."""

    @property
    def replication(self) -> Replication | None:
        """The copier of records to followers, or None in a cluster of one broker."""

    @property
    def epoch_ms(self) -> int:
        """The wall clock at the driver's zero, in milliseconds since 1970."""

    @property
    def share_peers(self) -> SharePeers | None:
        """The brokers that store states of share partitions; None: only this one."""

    @property
    def topic_maker(self) -> TopicMaker | None:
        """Function that has the controller create a topic, or None."""

    @property
    def services(self) -> ShareServices:
        """The services of the broker."""

    @property
    def parked_fetches(self) -> ParkedFetches:
        """The fetches that wait for records."""

    @property
    def parked(self) -> ParkedRequests:
        """The requests that wait for an answer."""


class SharePeers:
    """Access of a cluster's brokers to each other.

    `reached`: (own id, other id) -> the other broker, or None if it cannot be reached now.
    `numbered` is called for each record that a share coordinator appended, with its copy of the
    log and the event's number; `moved` when a share coordinator stops serving a partition.
    """

    def __init__(
        self,
        reached: Callable[[int, int], ShareHost | None],
        numbered: Callable[[PartitionLog, int | None], None] = lambda _log, _seq: None,
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self.reached = reached
        self.numbered = numbered
        self.moved = moved


def alone(broker: ShareHost) -> SharePeers:
    """Return the peers of a broker that is alone in its cluster."""
    return SharePeers(lambda _, node: broker if node == broker.node_id else None)
