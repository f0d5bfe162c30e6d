"""The quiet part of a run: the instant since which brokers, members and their topics have not been
disturbed.

Disturbances are lines of the stream `fault`; starts, ends and stalls of members in the stream
`member`; and topics that were created, changed or deleted.
"""

from __future__ import annotations

from typing import Any, Final

from coordinator.events.cluster import PartitionsAdded, TopicCreated, TopicDeleted
from coordinator.events.handlers import Reader, kinds_of, on
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
)

from .base import Line
from .disturbances import NOTHING_DONE

DONE_TO_MEMBERS: Final[tuple[type[Any], ...]] = (
    MemberStarted,
    MemberClosing,
    MemberClosed,
    MemberCrashed,
    MemberFailed,
    ApplicationStalled,
    ApplicationResumed,
)
FAULTS: Final = tuple(kind for kind in kinds_of("fault") if kind not in NOTHING_DONE)
"""Events of stream `fault` that are disturbances."""
_INTERNAL: Final = "__"


class Quiet(Reader):
    """`since`: the instant in ms after which nothing was disturbed. `learns_ms`: longest time in
    which a client learns that a topic was created, changed or deleted (metadata.max.age.ms)."""

    def __init__(self, learns_ms: int = 0) -> None:
        self.since = 0
        self._learns_ms = learns_ms

    @on(*FAULTS, *DONE_TO_MEMBERS)
    def _done(self, line: Line, _: object) -> None:
        self.since = max(self.since, line.at_ms)

    @on(TopicCreated, PartitionsAdded, TopicDeleted)
    def _of_topic(self, line: Line, event: TopicCreated | PartitionsAdded | TopicDeleted) -> None:
        if line.at_ms > 0 and not event.topic.startswith(_INTERNAL):
            self.since = max(self.since, line.at_ms + self._learns_ms)
