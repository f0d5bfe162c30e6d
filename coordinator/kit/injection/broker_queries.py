"""Read-only queries about groups and topics of a running broker, for faults and snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from coordinator.base.slices import whole
from coordinator.server.fetched import fetched, share_fetched

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.requests.refusals import Place
    from coordinator.wire.messages.fetch import FetchRequest
    from coordinator.wire.messages.share_fetch import ShareFetchRequest


class BrokerSurroundings:
    """`matching.Surroundings` for one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def state_of(self, group: str) -> str | None:
        """Return the group's state as Kafka spells it; None if this broker does not coordinate
        the group."""
        shard = self._broker.coordinator.shard_of(group)
        return None if shard is None else str(shard.groups[group].state)

    def has_client(self, group: str, client_id: str) -> bool:
        """Return True if a member of the group has this client id."""
        shard = self._broker.coordinator.shard_of(group)
        members: Iterable[Any] = () if shard is None else shard.groups[group].members.values()
        return any(member.client_id == client_id for member in members)

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic, or None if no topic has this id."""
        topic = self._broker.cluster.topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    def fetched(self, message: FetchRequest) -> list[Place]:
        """Return the partitions that a Fetch reads."""
        return whole(fetched(self._broker, message), 0)

    def share_fetched(self, message: ShareFetchRequest) -> list[Place]:
        """Return the partitions that a ShareFetch reads."""
        return share_fetched(self._broker, message)
