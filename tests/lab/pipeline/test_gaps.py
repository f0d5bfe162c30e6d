"""Lines that are missing accuse nobody: what judges find after a gap may have begun in it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from coordinator.events.files import read
from coordinator.events.groups import GroupCreated
from coordinator.events.handlers import on
from coordinator.events.line import LogError, line_of
from coordinator.history.judges.base import Judge, Judgement, Line
from coordinator.history.judges.judging import Panel
from coordinator.lab.pipeline.without_spark import tables_of

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
    assert any(
        "its findings depend on lines that are missing in this log (" in row["why"] for row in told
    )


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

        @on(GroupCreated)
        def _created(self, line: Line, _: GroupCreated) -> None:
            self.blame(line, "seen")

    panel = Panel([Blames])
    panel.see(line_of(GroupCreated(by="join"), seq=1, group="g"))
    panel.gap()
    panel.see(line_of(GroupCreated(by="join"), seq=9, group="g"))
    (verdict,) = panel.verdicts()
    assert (verdict.judgement, [f.seq for f in verdict.findings]) == (Judgement.BROKEN, [1])


def test_bytes_that_are_no_utf8_are_in_quarantine(tmp_path: Path) -> None:
    lines = simulated("crash_loop").encode().splitlines(keepends=True)
    path = tmp_path / "run.jsonl"
    path.write_bytes(
        b"".join([*lines[:30], lines[30][:40] + b"\xff\xfe" + lines[30][40:], *lines[31:]])
    )
    tables, counts = tables_of([str(path)])
    assert counts.quarantined == 1
    (row,) = rows(tables, "quarantine")
    assert (row["line"], "no UTF-8" in row["reason"]) == (31, True)
    with pytest.raises(LogError, match="line 31: bytes that are no UTF-8"):
        list(read(path))


def test_a_byte_order_mark_is_no_part_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(simulated("crash_loop"), encoding="utf-8-sig")
    tables, counts = tables_of([str(path)])
    assert (counts.quarantined, counts.runs) == (0, 1)
    assert len(list(read(path))) == len(rows(tables, "events"))
