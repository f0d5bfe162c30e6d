"""The partitions that a Fetch or ShareFetch reads: those it names, and for an incremental one the
rest of its session (KIP-227, KIP-932).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.slices import ITEMS_A_STEP

from .requests.refusals import Place
from .shares.sessions import SessionKey

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.wire.messages.fetch import FetchRequest
    from coordinator.wire.messages.share_fetch import ShareFetchRequest

    from .broker import Broker


def fetched(broker: Broker, message: FetchRequest) -> Slices[list[Place]]:
    """Return the partitions that a Fetch reads, each once."""

    def place(topic: str | bytes, partition: int) -> Place:
        if isinstance(topic, str):
            return Place(topic, None, partition)
        known = broker.cluster.topics_by_id.get(topic)
        return Place(None if known is None else known.name, topic, partition)

    keys = [
        (topic.topic or topic.topic_id, row.partition)
        for topic in message.topics
        for row in topic.partitions
    ]
    session = (
        broker.services.fetch_sessions.get(message.session_id)
        if message.session_epoch > 0
        else None
    )
    if session is not None:
        gone = {
            (topic.topic or topic.topic_id, index)
            for topic in message.forgotten_topics_data
            for index in topic.partitions
        }
        keys += [key for key in session.partitions if key not in gone]
    places: dict[Place, None] = {}
    for seen, key in enumerate(keys, 1):
        places[place(*key)] = None
        if not seen % ITEMS_A_STEP:
            yield
    return list(places)


def share_fetched(broker: Broker, message: ShareFetchRequest) -> list[Place]:
    """Return the partitions that a ShareFetch reads, each once; none if it closes its session
    (epoch -1).
    """
    if message.share_session_epoch < 0:
        return []
    wanted = [
        (topic.topic_id, row.partition_index)
        for topic in message.topics
        for row in topic.partitions
    ]
    session = broker.services.shares.sessions.get(
        SessionKey(message.group_id or "", message.member_id or "")
    )
    if session is not None and message.share_session_epoch > 0:
        wanted += session.partitions
    gone = {
        (topic.topic_id, index)
        for topic in message.forgotten_topics_data
        for index in topic.partitions
    }
    known = broker.cluster.topics_by_id
    return [
        Place(known[topic_id].name if topic_id in known else None, topic_id, index)
        for topic_id, index in dict.fromkeys(wanted)
        if (topic_id, index) not in gone
    ]
