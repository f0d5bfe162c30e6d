"""Table of the judges' verdicts on a run, made in the same pass as the other tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from coordinator.events.line import Line
from coordinator.history.judges import Judge, Panel, Verdict

from .observer import Emit, Observer

JudgeMaker = Callable[[], Judge]


class Verdicts(Observer):
    """Tables `verdicts` and `findings`: the verdicts of `coordinator.history.judges.judge`, line
    by line. `beside`: judges whose verdicts are in no table."""

    tables = ("verdicts", "findings")

    def __init__(
        self, emit: Emit, judges: Sequence[JudgeMaker], beside: Sequence[JudgeMaker] = ()
    ) -> None:
        self.emit = emit
        self._of_tables = len(judges)
        self._panel = Panel([*judges, *beside])

    def looks_at(self, line: Line) -> bool:
        """Return True for every line: the panel selects the judges."""
        return True

    def see(self, line: Line) -> None:
        """Show a line that counts to the judges."""
        self._panel.show(line)

    def gap(self) -> None:
        """Note that lines before the next one are missing."""
        self._panel.gap()

    def finish(self) -> None:
        """Emit the verdicts."""
        for verdict in islice(self._panel.verdicts(), self._of_tables):
            self.emit(
                "verdicts",
                (
                    verdict.judge,
                    verdict.promise,
                    str(verdict.judgement),
                    verdict.why or None,
                    len(verdict.findings),
                ),
            )
            for finding in verdict.findings:
                self.emit("findings", (verdict.judge, finding.seq, finding.at_ms, finding.text))

    def verdicts(self, streams: frozenset[str]) -> list[Verdict]:
        """Return all judges' verdicts, those that are in no table last. `streams`: the streams
        that the log is known to have."""
        return list(self._panel.verdicts(streams=streams))
