"""Requests: each is answered at most once."""

from __future__ import annotations

from .base import Judge, Line


class AnsweredOnce(Judge):
    """No request is answered twice."""

    name = "answered_once"
    promise = "a request is answered at most once, and only after it came"
    needs = frozenset({"wire"})
    looks_at = frozenset({"RequestSeen", "RequestAnswered", "RequestRefused"})
    goes_on = True

    def __init__(self) -> None:
        super().__init__()
        self._open: set[int] = set()
        self._answered: set[int] = set()

    def see(self, line: Line) -> None:
        kind, cause = line["type"], line.get("cause")
        if kind == "RequestSeen":
            self._open.add(line["seq"])
        elif kind in ("RequestAnswered", "RequestRefused") and cause is not None:
            if cause in self._answered:
                self.blame(line, f"the {line['api']} of line {cause} was answered before")
            elif cause not in self._open:
                self.blame(line, f"line {cause} is no request that could be answered")
            self._open.discard(cause)
            self._answered.add(cause)
