"""Lines that are missing accuse nobody: what judges find after a gap may have begun in it."""

from __future__ import annotations

import json
from random import Random

import pytest

from coordinator.judges.base import Judge, Judgement, Line
from coordinator.judges.judging import Panel

from .kit import folded, rows, simulated


@pytest.mark.parametrize("seed", range(6))
def test_a_log_with_missing_lines_accuses_nobody(seed: int) -> None:
    """Filtered by hand, or cut in its middle."""
    lines = simulated("crash_loop").splitlines(keepends=True)
    random = Random(seed)
    first = random.randrange(1, len(lines) - 60)
    kept = lines[:first] + lines[first + 50 :] if seed % 2 else lines[:1]
    if not seed % 2:
        kept += [line for line in lines[1:] if random.random() > 0.05]
    tables, _ = folded("".join(kept))
    assert rows(tables, "verdicts", judgement="broken") == []
    assert rows(tables, "findings") == []
    (run,) = rows(tables, "runs")
    assert run["gaps"] >= 1
    assert run["missing"] == len(lines) - len(kept)
    told = rows(tables, "verdicts", judgement="not judged")
    assert any("the beginning of what it found is not in this log (" in row["why"] for row in told)


def test_a_line_in_quarantine_is_a_gap() -> None:
    lines = simulated("crash_loop").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if '"RequestSeen"' in line and n > 50)
    tables, counts = folded("".join([*lines[:at], "{\n", *lines[at + 1 :]]))
    assert counts.quarantined == 1
    (run,) = rows(tables, "runs")
    assert (run["gaps"], run["missing"]) == (1, 1)
    assert rows(tables, "verdicts", judgement="broken") == []


def test_a_whole_log_has_no_gaps() -> None:
    (run,) = rows(folded(simulated("crash_loop"))[0], "runs")
    assert (run["gaps"], run["missing"]) == (0, 0)


def test_what_was_found_before_the_first_gap_counts() -> None:
    class Blames(Judge):
        name, promise = "blames", "nothing"

        def see(self, line: Line) -> None:
            self.blame(line, "seen")

    panel = Panel([Blames])
    line = json.loads(simulated("crash_loop").splitlines()[1]) | {"stream": "group", "group": "g"}
    panel.see(line | {"seq": 1, "type": "GroupCreated"})
    panel.gap()
    panel.see(line | {"seq": 9, "type": "GroupCreated"})
    (verdict,) = panel.verdicts()
    assert (verdict.judgement, [f.seq for f in verdict.findings]) == (Judgement.BROKEN, [1])
