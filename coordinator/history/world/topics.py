"""Topics of a log: how many partitions each has, and which got more."""

from __future__ import annotations

from coordinator.events.cluster import PartitionsAdded, TopicCreated
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line


class Topics(Reader):
    """The topics so far."""

    def __init__(self) -> None:
        self.partitions: dict[str, int] = {}
        """Number of partitions of each topic."""
        self.grown: dict[str, None] = {}
        """The topics that got more partitions, in that order."""

    @on(TopicCreated)
    def _came(self, line: Line, event: TopicCreated) -> None:
        self.partitions[event.topic] = len(event.replicas)

    @on(PartitionsAdded)
    def _grew(self, line: Line, event: PartitionsAdded) -> None:
        self.partitions[event.topic] = event.first + len(event.replicas)
        self.grown[event.topic] = None
