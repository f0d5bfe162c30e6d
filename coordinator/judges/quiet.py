"""The quiet time of a run: since when nothing has been done to its brokers, its members or their
topics any more.

What was done stands in the log: lines of stream `fault`, the comings, goings and stalls of members
in stream `member`, and topics that came, grew or went.
"""

from __future__ import annotations

from .base import Line

DONE_TO_MEMBERS = frozenset(
    {
        "MemberStarted",
        "MemberClosing",
        "MemberClosed",
        "MemberCrashed",
        "MemberFailed",
        "ApplicationStalled",
        "ApplicationResumed",
    }
)
_INTERNAL = "__"
_OF_TOPICS = frozenset({"TopicCreated", "PartitionsAdded", "TopicDeleted"})
NOTHING_DONE = frozenset({"RunEnded", "FaultSkipped"})
"""Lines of stream `fault` with which nothing is done."""


class Quiet:
    """`since`: the instant, in milliseconds, after which nothing was done. `learns_ms`: so long may
    a client take to learn that a topic came, grew or went (metadata.max.age.ms)."""

    def __init__(self, learns_ms: int = 0) -> None:
        self.since = 0
        self._learns_ms = learns_ms

    def see(self, line: Line) -> None:
        """Look at the next line."""
        kind, stream = line["type"], line["stream"]
        if (stream == "fault" and kind not in NOTHING_DONE) or (
            stream == "member" and kind in DONE_TO_MEMBERS
        ):
            self.since = max(self.since, line["at_ms"])
        elif (
            stream == "cluster"
            and kind in _OF_TOPICS
            and line["at_ms"] > 0
            and not line["topic"].startswith(_INTERNAL)
        ):
            self.since = max(self.since, line["at_ms"] + self._learns_ms)
