"""Validation of the topic and partition of a log clean-up that a test requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .options import ClusterError

if TYPE_CHECKING:
    from ..cluster import Cluster


def check_logs(cluster: Cluster, topic: str | None, partition: int | None) -> None:
    """Raise ClusterError if the topic or partition does not exist in a broker's metadata, or is
    internal. None: all of them.
    """
    if topic is None:
        if partition is not None:
            raise ClusterError(f"partition={partition}: of which topic? Give topic, too")
        return
    found = cluster.topics.get(topic)
    if found is None:
        known = ", ".join(name for name, each in cluster.topics.items() if not each.internal)
        raise ClusterError(f"there is no topic {topic!r}; there are: {known or 'none'}")
    if found.internal:
        raise ClusterError(
            f"{topic} is not cleaned: the records of Kafka's own topics are kept here"
        )
    if partition is not None and not 0 <= partition < len(found.partitions):
        raise ClusterError(
            f"there is no partition {partition} of {topic}: it has {len(found.partitions)}"
        )
