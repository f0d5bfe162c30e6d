"""What the judges say of a run, in the same pass as the tables."""

from __future__ import annotations

from collections.abc import Sequence

from ...judges import Judge, Panel
from .observer import Emit, Line, Observer


class Verdicts(Observer):
    """Tables `verdicts` and `findings`: what `coordinator.judges.judge` says, line by line."""

    def __init__(self, emit: Emit, judges: Sequence[type[Judge]]) -> None:
        super().__init__(emit)
        self._panel = Panel(judges)

    def see(self, line: Line) -> None:
        """One line."""
        self._panel.see(line)

    def finish(self) -> None:
        """The verdicts."""
        for verdict in self._panel.verdicts():
            self.emit("verdicts", (verdict.judge, verdict.promise, str(verdict.judgement), verdict.why or None, len(verdict.findings)))
            for finding in verdict.findings:
                self.emit("findings", (verdict.judge, finding.seq, finding.at_ms, finding.text))
