"""A small curve, from simulations to the page: two sizes, with two seeds and one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from coordinator.pipeline.curve import EVENTS, MEASURED, PROTOCOLS, curve_sweep, plot_name
from coordinator.pipeline.schemas import TABLES
from coordinator.pipeline.spark.curve import main, points_of, read_sizes, write_curve
from coordinator.pipeline.spark.sweep import run_sweep
from coordinator.pipeline.statistics import quantile
from coordinator.pipeline.sweeps import cells, run_cell


def test_a_small_curve(spark: Any, project_root: Path, tmp_path: Path) -> None:
    text = (project_root / "docs" / "curve" / "scenario.toml").read_text()
    protocols = ("eager range", "static members, range", "KIP-848, uniform")
    sweeps = [curve_sweep(text, [size], seeds, protocols) for size, seeds in read_sizes("10,20:1", 2).items()]
    works = [tmp_path / "10", tmp_path / "20"]
    for sweep, work in zip(sweeps, works, strict=True):
        run_sweep(spark, sweep, work)
    found = {point[:4]: point.estimate for point, _ in points_of(spark, works)}
    assert len(found) == len(protocols) * 2 * len(EVENTS) * len(MEASURED)
    at = {column: number for number, column in enumerate(TABLES["windows"].names())}
    plain: dict[tuple[Any, ...], list[float]] = {}
    for cell in (cell for sweep in sweeps for cell in cells(sweep)):
        protocol, _, size = cell.variant.rpartition(": ")

        def take(table: str, row: Any, protocol: str = protocol, size: str = size) -> None:
            for measure in MEASURED if table == "windows" else ():
                plain.setdefault((protocol, int(size), row[at["name"]], measure.column), []).append(row[at[measure.column]] * measure.scale)

        run_cell(cell, sweep.scenario, sweep.text, take, windows=sweep.windows)
    assert found == {key: quantile(values, 0.5) for key, values in plain.items()}
    assert found["static members, range", 10, "deployment", "recovered_ms"].value == 0  # KIP-345: back before the session ends
    assert found["eager range", 20, "crash", "recovered_ms"].value > 30
    assert found["KIP-848, uniform", 20, "crash", "recovered_ms"].value > 30
    assert 0 < found["KIP-848, uniform", 20, "deployment", "recovered_ms"].value < 180
    write_curve(spark, works, tmp_path, "make curve")
    for event in EVENTS:
        for measure in MEASURED:
            assert (tmp_path / f"{plot_name(event, measure)}.svg").read_text().count("<path") > 5
    with (tmp_path / "curve.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(found)


def test_options_that_cannot_be(capsys: Any) -> None:
    assert main(["--sizes", "5"]) == 2 and main(["--sizes", "ten"]) == 2 and main(["--seeds", "0"]) == 2 and main(["--sizes", "10:0"]) == 2
    assert "whole numbers from 10 on" in capsys.readouterr().err
    assert len(PROTOCOLS) == 5
