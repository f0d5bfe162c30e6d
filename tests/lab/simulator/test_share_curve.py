"""The page of share groups: a cell of it, computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.share_curve import Cell, main, measured, text_of


def test_a_page_of_one_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.md"
    one = ["--seeds", "1", "--members", "4", "--locks", "15", "--crashes", "6", "--out", str(out)]
    assert main(one) == 0
    assert "1 cells, 1 seeds each" in capsys.readouterr().out
    (row,) = [line for line in out.read_text().splitlines() if line.startswith("| 4 |")]
    assert row.startswith("| 4 | 15 s | 6 | ")
    with pytest.raises(SystemExit):
        main(["--members", "few"])


def test_what_a_cell_varies() -> None:
    """Members that crash give records back at once; one that stands still when its locks end."""
    calm, stormy = measured(Cell(4, 15, 0), 1), measured(Cell(4, 15, 6), 1)
    assert calm.accepted == stormy.accepted
    assert calm.per_s > stormy.per_s
    assert calm.redelivered < stormy.redelivered
    assert calm.locks_ended > 0
    assert 'how = "crash"' in text_of(Cell(4, 15, 6))
    assert 'how = "crash"' not in text_of(Cell(4, 15, 0))


def test_the_page_is_that_of_the_command(project_root: Path) -> None:
    """It shows the scenario that the command computes."""
    page = (project_root / "docs" / "share_curve.md").read_text()
    assert text_of(Cell(4, 30, 0)) in page
