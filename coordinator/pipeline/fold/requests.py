"""Requests with their answers, and the offsets that were committed."""

from __future__ import annotations

from ...history.reader import History
from .observer import Emit, Line, Subject


class Requests(Subject):
    """Table `requests`: each request with its answer. Requests that are answered at once take no
    memory beyond that."""

    streams = frozenset({"wire"})
    tables = ("requests",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._open: dict[int, Line] = {}

    def see(self, line: Line) -> None:
        """A line of stream `wire`."""
        kind = line["type"]
        if kind == "RequestSeen":
            self._open[line["seq"]] = line
        elif kind in ("RequestAnswered", "RequestRefused"):
            cause = line.get("cause")
            seen = None if cause is None else self._open.pop(cause, None)
            self._emit(seen or line, line)

    def finish(self) -> None:
        """Requests that nobody answered."""
        for seen in self._open.values():
            self._emit(seen, None)

    def _emit(self, seen: Line, answer: Line | None) -> None:
        outcome, errors = "open", []
        if answer is not None:
            outcome = "refused" if answer["type"] == "RequestRefused" else "answered"
            errors = list(answer.get("errors", ()))
        self.emit(
            "requests",
            (
                seen["seq"],
                seen["at_ms"],
                seen["api"],
                seen.get("version"),
                seen.get("client"),
                seen.get("peer"),
                seen.get("group"),
                seen.get("member"),
                seen.get("generation"),
                outcome,
                None if answer is None else answer["seq"],
                None if answer is None else answer["at_ms"],
                None if answer is None else answer.get("waited_ms"),
                errors,
            ),
        )


class Commits(Subject):
    """Table `commits`."""

    streams = frozenset({"group"})
    tables = ("commits",)

    def see(self, line: Line) -> None:
        """A commit, pending in a transaction or not."""
        if line["type"] in ("OffsetsCommitted", "OffsetsPending"):
            for row in line["offsets"]:
                self.emit(
                    "commits",
                    (
                        line["seq"],
                        line["at_ms"],
                        line["group"],
                        line.get("member"),
                        line.get("generation"),
                        row["topic"],
                        row["partition"],
                        row["offset"],
                        line.get("producer_id"),
                    ),
                )
