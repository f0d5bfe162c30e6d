"""What a Fetch reads: the partitions that it names, and for an incremental one the rest of its
session (KIP-227)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .error_responses import Place

if TYPE_CHECKING:
    from ..wire.messages.fetch import FetchRequest
    from .core import Broker


def fetched(broker: Broker, message: FetchRequest) -> list[Place]:
    """The partitions, each once."""

    def place(topic: str | bytes, partition: int) -> Place:
        if isinstance(topic, str):
            return Place(topic, None, partition)
        known = broker.cluster.topics_by_id.get(topic)
        return Place(None if known is None else known.name, topic, partition)

    places = [
        place(topic.topic or topic.topic_id, row.partition)
        for topic in message.topics
        for row in topic.partitions
    ]
    session = broker.fetch_sessions.get(message.session_id) if message.session_epoch > 0 else None
    if session is not None:
        gone = {
            (topic.topic or topic.topic_id, index)
            for topic in message.forgotten_topics_data
            for index in topic.partitions
        }
        places += [place(*key) for key in session.partitions if key not in gone]
    return list(dict.fromkeys(places))
