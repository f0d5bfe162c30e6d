"""A small curve, from simulations to the page: two sizes, with two seeds and one."""

from __future__ import annotations

import csv
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from coordinator.lab.pipeline.curve import EVENTS, MEASURED, PROTOCOLS, curve_sweep, plot_name
from coordinator.lab.pipeline.curve_runs import (
    STATISTICS,
    RunFigures,
    points_of,
    read_runs,
    runs_text,
)
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.pipeline.spark.analysis import analyse
from coordinator.lab.pipeline.spark.curve import figures_of, main, read_sizes, write_curve
from coordinator.lab.pipeline.spark.session import PipelineError
from coordinator.lab.pipeline.spark.sweep import run_sweep
from coordinator.lab.pipeline.sweeps import cells, run_cell
from coordinator.lab.statistics import quantile


def test_a_small_curve(spark: Any, project_root: Path, tmp_path: Path) -> None:
    text = (project_root / "docs" / "curve" / "scenario.toml").read_text()
    protocols = ("eager range", "static members, range", "KIP-848, uniform")
    sweeps = [
        curve_sweep(text, [size], seeds, protocols)
        for size, seeds in read_sizes("10,20:1", 2).items()
    ]
    works = [tmp_path / "10", tmp_path / "20"]
    for sweep, work in zip(sweeps, works, strict=True):
        run_sweep(spark, sweep, work)
    runs = figures_of(spark, works)
    found = {point[:4]: point.median for point in points_of(runs)}
    assert len(found) == len(protocols) * 2 * len(EVENTS) * len(MEASURED)
    with pytest.raises(PipelineError, match="has no metrics: it is one of the curve's"):
        analyse(spark, works[0])
    at = {column: number for number, column in enumerate(TABLES["windows"].names())}
    plain: dict[tuple[Any, ...], list[float]] = {}
    for cell in (cell for sweep in sweeps for cell in cells(sweep)):
        protocol, _, size = cell.variant.rpartition(": ")

        def take(table: str, row: Any, protocol: str = protocol, size: str = size) -> None:
            for measure in MEASURED if table == "windows" else ():
                plain.setdefault((protocol, int(size), row[at["name"]], measure.column), []).append(
                    row[at[measure.column]]
                )

        run_cell(cell, sweep.scenario, sweep.text, take, windows=sweep.windows)
    assert found == {key: quantile(values, 0.5) for key, values in plain.items()}
    assert (
        found["static members, range", 10, "deployment", "recovered_ms"].value == 0
    )  # KIP-345: back before the session ends
    assert found["eager range", 20, "crash", "recovered_ms"].value > 30_000
    assert found["KIP-848, uniform", 20, "crash", "recovered_ms"].value > 30_000
    assert 0 < found["KIP-848, uniform", 20, "deployment", "recovered_ms"].value < 180_000
    write_curve(runs, tmp_path, "make curve")
    assert sorted(read_runs((tmp_path / "runs.csv").read_text())) == sorted(runs)
    for event in EVENTS:
        for measure in MEASURED:
            assert (tmp_path / f"{plot_name(event, measure)}.svg").read_text().count("<path") > 5
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) * len(MEASURED) == len(found) * len(STATISTICS)


def test_options_that_cannot_be(capsys: Any) -> None:
    assert (
        main(["--sizes", "5"]) == 2
        and main(["--sizes", "ten"]) == 2
        and main(["--seeds", "0"]) == 2
        and main(["--sizes", "10:0"]) == 2
    )
    assert "whole numbers from 10 on" in capsys.readouterr().err
    assert len(PROTOCOLS) == 5


def test_known_figures_are_not_computed_again(
    spark: Any, project_root: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    """Those of one seed are known, with a value that no simulation gives; another version's are not
    taken."""
    monkeypatch.setattr(
        "coordinator.lab.pipeline.spark.curve.SCENARIO",
        project_root / "docs" / "curve" / "scenario.toml",
    )
    monkeypatch.setattr("coordinator.lab.pipeline.spark.curve.session", lambda *_: spark)
    monkeypatch.setattr(
        "coordinator.lab.pipeline.spark.curve.working", lambda *_: nullcontext()
    )  # the session is everybody's
    for drawing in ("curves", "save"):  # the small curve is drawn
        monkeypatch.setattr(
            f"coordinator.lab.pipeline.spark.curve.plots.{drawing}", lambda *_, **__: None
        )
    text = (project_root / "docs" / "curve" / "scenario.toml").read_text()
    here = cells(curve_sweep(text, [10], 1))
    known = [
        RunFigures(cell.cell_id, cell.variant.rpartition(": ")[0], 10, 1, event, (7, 7, 7, 7))
        for cell in here
        for event in EVENTS
    ]
    foreign = [
        run._replace(cell_id=f"x{run.cell_id[1:]}", seed=2, values=(9, 9, 9, 9)) for run in known
    ]
    (tmp_path / "runs.csv").write_text(runs_text([*known, *foreign]))
    common = [
        "--sizes",
        "10",
        "--known",
        str(tmp_path / "runs.csv"),
        "--work",
        str(tmp_path / "work"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*common, "--seeds", "1"]) == 0
    assert "0 simulations: none; the figures of 5 others were known" in capsys.readouterr().out
    assert main([*common, "--seeds", "2"]) == 0
    assert "5 simulations: 5 ok; the figures of 5 others were known" in capsys.readouterr().out
    found = read_runs((tmp_path / "out" / "runs.csv").read_text())
    assert [run for run in found if run.seed == 1] == known
    assert len(found) == 2 * len(known) and all(
        run.values not in ((7, 7, 7, 7), (9, 9, 9, 9)) for run in found if run.seed == 2
    )
    (tmp_path / "runs.csv").write_text("what,is,this\n")
    assert main([*common, "--seeds", "1"]) == 2
    assert (
        "not a runs.csv of the curve: its columns are cell_id,protocol" in capsys.readouterr().err
    )
