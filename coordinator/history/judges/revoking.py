"""Judges that a client with automatic commits commits its processed offsets before its
partitions are revoked."""

from __future__ import annotations

from typing import Final

from coordinator.events.handlers import on
from coordinator.events.members import (
    CommitEnded,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsRevoked,
    RecordsProcessed,
)
from coordinator.events.wire import RequestSeen

from .base import Judge, Line
from .disturbances import Disturbances

_CALM_FOR_MS: Final = 60_000
"""Longer than a client tries to commit before it gives up."""

_Key = tuple[str, str]
"""Group and client."""
_Place = tuple[str, int]


class CommittedBeforeRevoked(Judge):
    """Judges that processed offsets are committed before partitions are revoked."""

    name = "committed_before_revoked"
    promise = (
        "a member that commits automatically has committed, or tried to commit, what its application has finished before its "
        "listener is called with revoked partitions (CLI-23, K8-CL-4). This is not judged while the member closes, or while it or "
        "brokers are disturbed"
    )
    needs = frozenset({"group", "member", "wire"})

    def __init__(self) -> None:
        super().__init__()
        self._disturbances = Disturbances()
        self._done: dict[_Key, dict[_Place, int]] = {}
        """The offset behind the records that each application has processed and not tried to
        commit."""
        self._commits: set[_Key] = set()
        """Members that have committed."""
        self._tried: set[_Key] = set()
        """Members that have tried to commit since their last assignment."""
        self._joined: set[_Key] = set()
        """Members that have joined again after that."""
        self._by_hand: set[_Key] = set()
        """Members whose application commits by itself."""

    @on(*Disturbances.handlers)
    def _disturbed(self, line: Line, _: object) -> None:
        self._disturbances.see(line)

    @on(RequestSeen)
    def _asked(self, line: Line, event: RequestSeen) -> None:
        whose = line.group or "", event.client
        if event.api == "offset_commit":
            self._commits.add(whose)
            self._tried.add(whose)
            self._done.pop(whose, None)
        elif event.api == "join_group" and whose in self._tried:
            # a cooperative member reads on until it is told what goes
            self._joined.add(whose)

    @on(MemberStarted, MemberClosing, MemberClosed, MemberCrashed)
    def _begins_or_ends(
        self, line: Line, event: MemberStarted | MemberClosing | MemberClosed | MemberCrashed
    ) -> None:
        self._done.pop((line.group or "", event.client), None)

    @on(MemberFailed)
    def _failed(self, line: Line, event: MemberFailed) -> None:
        self._done.pop((line.group or "", event.client), None)

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        whose = line.group or "", event.client
        self._tried.discard(whose)
        self._joined.discard(whose)

    @on(CommitEnded)
    def _committed(self, line: Line, event: CommitEnded) -> None:
        self._by_hand.add((line.group or "", event.client))

    @on(RecordsProcessed)
    def _processed(self, line: Line, event: RecordsProcessed) -> None:
        done = self._done.setdefault((line.group or "", event.client), {})
        done[line.topic or "", line.partition or 0] = event.ranges[-1][1] + 1

    @on(PartitionsRevoked)
    def _revoked(self, line: Line, event: PartitionsRevoked) -> None:
        whose = line.group or "", event.client
        done = self._done.get(whose, {})
        left = [(*place, done[place]) for place in event.partitions if place in done]
        calm_ms = self._disturbances.calm_since(whose[1])
        if (
            not left
            or whose in self._joined
            or whose not in self._commits
            or whose in self._by_hand
            or calm_ms is None
            or (calm_ms and line.at_ms - calm_ms < _CALM_FOR_MS)
        ):
            return
        topic, number, offset = left[0]
        self.blame(
            line,
            f"{whose[1]} of group {whose[0]} revokes {topic}-{number}, finished up to {offset}, but did not try to commit that",
        )
