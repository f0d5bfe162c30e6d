"""What the judges say of a run: every judge sees every line, in the order of the log, in the same pass as the tables."""

from __future__ import annotations

from collections.abc import Sequence

from ...judges import Judge, Judgement
from .observer import Emit, Line, Observer


class Verdicts(Observer):
    """Tables `verdicts` and `findings`. Follows `coordinator.judges.judge`, line by line."""

    def __init__(self, emit: Emit, judges: Sequence[type[Judge]]) -> None:
        super().__init__(emit)
        self._judges = [kind() for kind in judges]
        self._seen: set[str] = set()
        self._served_by: dict[str, int | None] = {}

    def see(self, line: Line) -> None:
        """One line."""
        self._seen.add(line["stream"])
        if line["type"] == "GroupLoaded":
            self._served_by[line["group"]] = line.get("broker")
        elif line["type"] == "GroupUnloaded" and self._served_by.get(line["group"], line.get("broker")) != line.get("broker"):
            return  # its former coordinator learns later than the new one that it coordinates the group no longer
        for one in self._judges:
            one.see(line)

    def finish(self) -> None:
        """The verdicts."""
        for one in self._judges:
            one.finish()
            missing = sorted(one.needs - self._seen)
            judgement = Judgement.NOT_JUDGED if missing else Judgement.BROKEN if one.findings else Judgement.KEPT
            findings = [] if missing else one.findings
            why = f"the log has no stream {' and no stream '.join(missing)}" if missing else None
            self.emit("verdicts", (one.name, one.promise, str(judgement), why, len(findings)))
            for finding in findings:
                self.emit("findings", (one.name, finding.seq, finding.at_ms, finding.text))
