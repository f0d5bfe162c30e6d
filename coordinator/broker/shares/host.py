"""What share groups need of the broker that they belong to (`Broker` is one)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...cluster import Cluster
    from ...cluster.replication import Replication
    from ...configs.broker_configs import BrokerConfigs
    from ...event_log import EventLog
    from ...wire.schema import Message
    from ..parked_fetches import ParkedFetches


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
        """Whether the event log takes no lines now: then nothing may change."""

    @property
    def replication(self) -> Replication | None:
        """What copies records to followers; None: there are none."""

    @property
    def epoch_ms(self) -> int:
        """The wall clock of the driver's zero, in milliseconds since 1970."""

    @property
    def parked_fetches(self) -> ParkedFetches:
        """Fetches that wait for records."""

    def answer(self, token: int, response: Message, now: int) -> None:
        """Answer a parked request."""
