"""Share groups' needs from the broker that they belong to (`Broker` is one), and how brokers reach
each other that keep the states of share partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from coordinator.base.errors import ErrorCode
    from coordinator.core.share_states.decide import Decision, Written
    from coordinator.core.share_states.model import ShareState, ShareStateKey
    from coordinator.events import EventLog
    from coordinator.wire.schema import Message

    from ..cluster import Cluster
    from ..cluster.replication import Replication
    from ..fetching.parked import ParkedFetches
    from ..log_cleaning import LogCleaning
    from ..settings.broker_configs import BrokerConfigs
    from ..storage.partition_log import PartitionLog


class TopicMaker(Protocol):
    """Has a topic made with the defaults for all that is not given."""

    def __call__(
        self, name: str, configs: Mapping[str, str], now: int, cause: int | None
    ) -> str | None:
        """Why it cannot be made; None: it is made, or will be."""


class Stored(Protocol):
    """A share coordinator's write, until it is replicated."""

    def progress(self) -> ErrorCode | None:
        """NONE: it is replicated. None: not yet. Else the share coordinator serves it no longer."""


class ShareCoordinator(Protocol):
    """The requests to a share coordinator; `cause`: the log's number of the request behind it."""

    def initialize(
        self,
        key: ShareStateKey,
        state_epoch: int,
        start_offset: int,
        now: int,
        cause: int | None = None,
    ) -> Decision:
        """Begin the state of a share partition anew; start offset -1: its leader finds out."""

    def read(
        self, key: ShareStateKey, leader_epoch: int, now: int, cause: int | None = None
    ) -> tuple[Decision, ShareState | None]:
        """The state, for a leader of this epoch."""

    def write(
        self, key: ShareStateKey, written: Written, now: int, cause: int | None = None
    ) -> Decision:
        """Keep what a leader changed."""

    def unreplicated(self, key: ShareStateKey) -> Stored | None:
        """The last write where a state is kept, if it is not replicated yet."""

    def delete(self, key: ShareStateKey, now: int, cause: int | None = None) -> Decision:
        """Forget the state of a share partition."""

    def summary(self, key: ShareStateKey) -> tuple[Decision, ShareState | None]:
        """The state, for who only looks at it."""


class ShareHost(Protocol):
    """A broker, as far as share groups look at it."""

    @property
    def node_id(self) -> int:
        """The broker's id."""

    @property
    def cluster(self) -> Cluster:
        """Topics, and who leads their partitions."""

    @property
    def configs(self) -> BrokerConfigs:
        """The broker's configuration."""

    @property
    def log(self) -> EventLog | None:
        """The event log, if one is written."""

    @property
    def log_is_blocked(self) -> bool:
        """True if the event log takes no lines now: then nothing may change."""

    @property
    def replication(self) -> Replication | None:
        """The copier of records to followers; None: there are none."""

    @property
    def epoch_ms(self) -> int:
        """The wall clock of the driver's zero, in milliseconds since 1970."""

    @property
    def share_peers(self) -> SharePeers | None:
        """The brokers that keep states of share partitions; None: there is no other."""

    @property
    def topic_maker(self) -> TopicMaker | None:
        """Has the controller make a topic; None: nobody does."""

    @property
    def cleaning(self) -> LogCleaning:
        """The clean-up of the broker's logs."""

    @property
    def parked_fetches(self) -> ParkedFetches:
        """Fetches that wait for records."""

    @property
    def share_coordinator(self) -> ShareCoordinator:
        """The states that the broker keeps."""

    def answer(self, token: int, response: Message, now: int) -> None:
        """Answer a parked request."""


class SharePeers:
    """All brokers of a cluster, as they reach each other.

    `reached`: (who asks, whom) -> a broker; None: it cannot be asked now. `numbered` hears of each
    record that a share coordinator appended: its copy of the log, and the number of its event.
    `moved`: a share coordinator serves something no longer.
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
    """A broker that is the only one."""
    return SharePeers(lambda _, node: broker if node == broker.node_id else None)
