"""Before partitions are revoked, who commits automatically commits what it has processed of them."""

from __future__ import annotations

from typing import Final

from .base import Judge, Line
from .disturbances import LINES, Disturbances

_BEGINS_OR_ENDS: Final = frozenset(
    {"MemberStarted", "MemberClosing", "MemberClosed", "MemberCrashed", "MemberFailed"}
)
_CALM_FOR_MS: Final = 60_000
"""Longer than a client tries to commit before it gives up."""

_Key = tuple[str, str]
"""Group and client."""
_Place = tuple[str, int]


class CommittedBeforeRevoked(Judge):
    """No commit is forgotten before a clean revocation."""

    name = "committed_before_revoked"
    promise = (
        "who commits automatically has committed, or tried to, what its application has finished before its listener is told that the "
        "partitions are revoked (CLI-23, K8-CL-4); not while it closes, or something is done to it or to brokers"
    )
    needs = frozenset({"group", "member", "wire"})
    looks_at = (
        _BEGINS_OR_ENDS
        | LINES
        | {
            "RequestSeen",
            "CommitEnded",
            "RecordsProcessed",
            "PartitionsAssigned",
            "PartitionsRevoked",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self._disturbances = Disturbances()
        self._done: dict[_Key, dict[_Place, int]] = {}
        """The offset behind what each application has finished, and has not tried to commit."""
        self._commits: set[_Key] = set()
        """Who has committed."""
        self._tried: set[_Key] = set()
        """Who has tried to commit since it was assigned something last."""
        self._joined: set[_Key] = set()
        """Who has joined again after that."""
        self._by_hand: set[_Key] = set()
        """Whose application commits."""

    def see(self, line: Line) -> None:
        stream, kind = line["stream"], line["type"]
        if stream == "fault":
            self._disturbances.see(line)
        elif stream == "wire":
            if kind == "RequestSeen" and line.get("api") in ("offset_commit", "join_group"):
                self._asked(line, (line.get("group", ""), line.get("client", "")))
        elif stream == "member" and "group" in line:
            self._of_member(line, kind, (line["group"], line.get("client", "")))

    def _asked(self, line: Line, whose: _Key) -> None:
        if line["api"] == "offset_commit":
            self._commits.add(whose)
            self._tried.add(whose)
            self._done.pop(whose, None)
        elif whose in self._tried:  # a cooperative member reads on until it is told what goes
            self._joined.add(whose)

    def _of_member(self, line: Line, kind: str, whose: _Key) -> None:
        if kind in _BEGINS_OR_ENDS:
            self._done.pop(whose, None)
        elif kind == "PartitionsAssigned":
            self._tried.discard(whose)
            self._joined.discard(whose)
        elif kind == "CommitEnded":
            self._by_hand.add(whose)
        elif kind == "RecordsProcessed":
            done = self._done.setdefault(whose, {})
            done[line["topic"], line["partition"]] = line["ranges"][-1][1] + 1
        elif kind == "PartitionsRevoked":
            self._revoked(line, whose)

    def _revoked(self, line: Line, whose: _Key) -> None:
        done = self._done.get(whose, {})
        left = [
            (topic, number, done[topic, number])
            for topic, number in ((row["topic"], row["partition"]) for row in line["partitions"])
            if (topic, number) in done
        ]
        calm_ms = self._disturbances.calm_since(whose[1])
        if (
            not left
            or whose in self._joined
            or whose not in self._commits
            or whose in self._by_hand
            or calm_ms is None
            or (calm_ms and line["at_ms"] - calm_ms < _CALM_FOR_MS)
        ):
            return
        topic, number, offset = left[0]
        self.blame(
            line,
            f"{whose[1]} of group {whose[0]} gives up {topic}-{number}, finished up to {offset}, and did not try to commit that",
        )
