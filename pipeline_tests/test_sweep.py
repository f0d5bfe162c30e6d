"""Sweeps, their statistics and their report: equal to what plain Python makes of the same
simulations; a sweep goes on where it stopped."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from coordinator.lab.pipeline.measures import DETECTION, compare, frontier_of, summarise
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.pipeline.spark import sweep as sweeping
from coordinator.lab.pipeline.spark.analysis import LOGS, analyse, write
from coordinator.lab.pipeline.spark.folders import manifest_of
from coordinator.lab.pipeline.spark.progress import duration, progress
from coordinator.lab.pipeline.spark.report import make_report
from coordinator.lab.pipeline.spark.session import PipelineError
from coordinator.lab.pipeline.spark.sweep import plan_bins, run_sweep
from coordinator.lab.pipeline.spark.tables import make_tables
from coordinator.lab.pipeline.sweeps import Sweep, cells, read_sweep, run_cell
from coordinator.lab.pipeline.without_spark import Tables, tables_of
from tests.lab.pipeline.kit import rows
from tools.chromium import chromium

SWEEP = """
scenario = "one_crash_one_join"
seeds = 3
keep = "tables"
set = ["duration=100s", "churn.1.at=20s", "churn.1.down=40s"]
[vary]
assignor = ["range", "cooperative-sticky"]
"members.app.config.session.timeout.ms" = [6000, 15000]
"""


def a_sweep(folder: Path, text: str = SWEEP) -> Sweep:
    path = folder / "sweep.toml"
    path.write_text(text)
    return read_sweep(str(path))


@pytest.fixture(scope="module")
def swept(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Path]:
    """A sweep that kept its tables."""
    folder = tmp_path_factory.mktemp("sweep")
    sweep = a_sweep(folder)
    told: list[str] = []
    done = run_sweep(spark, sweep, folder / "out", told.append)
    assert (done.cells, done.before, done.by_status) == (12, 0, {"ok": 12})
    return sweep, folder / "out"


@pytest.fixture(scope="module")
def plain(swept: tuple[Sweep, Path]) -> Tables:
    """The same simulations without Spark."""
    sweep, _ = swept
    tables: Tables = {name: [] for name in TABLES}
    for cell in cells(sweep):
        run_cell(cell, sweep.scenario, sweep.text, lambda table, row: tables[table].append(row))
    return tables


def runs_of(plain: Tables) -> dict[str, list[dict[str, Any]]]:
    by_run = {row["run_id"]: row for row in rows(plain, "metrics")}
    found: dict[str, list[dict[str, Any]]] = {}
    for cell in rows(plain, "cells"):
        found.setdefault(cell["variant"], []).append(
            {**by_run[cell["run_id"]], "seed": cell["seed"], "number": cell["number"]}
        )
    return found


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"cells"}))
def test_a_sweep_is_the_same_simulations(
    swept: tuple[Sweep, Path], plain: Tables, name: str
) -> None:
    found = pq.read_table(swept[1] / "tables" / name, partitioning=None).to_pylist()
    names = TABLES[name].names()
    assert sorted((tuple(row[column] for column in names) for row in found), key=repr) == sorted(
        plain[name], key=repr
    )


def test_the_statistics_are_those_of_plain_python(
    spark: Any, swept: tuple[Sweep, Path], plain: Tables, tmp_path: Path
) -> None:
    by_variant = runs_of(plain)
    analysis = analyse(spark, swept[1])
    assert (
        analysis.variants == [variant.name for variant in swept[0].variants] and analysis.runs == 12
    )
    first = analysis.variants[0]
    assert analysis.summaries == [
        each for variant in analysis.variants for each in summarise(variant, by_variant[variant])
    ]
    assert analysis.differences == [
        each
        for variant in analysis.variants[1:]
        for each in compare(variant, by_variant[variant], first, by_variant[first])
    ]
    assert analysis.weighed == DETECTION, "the variants differ in session.timeout.ms"
    assert analysis.frontier == frontier_of(analysis.summaries, DETECTION) and any(
        point.best for point in analysis.frontier
    )
    write(analysis, tmp_path)
    assert (tmp_path / "_SUCCESS").exists()
    with (tmp_path / "summary.csv").open() as file:
        assert len(list(csv.reader(file))) == 1 + len(analysis.summaries)


def test_duckdb_finds_the_same_unavailable_time(swept: tuple[Sweep, Path], plain: Tables) -> None:
    """From the members' intervals, in SQL; the fold counts it as rows go by."""
    tables = swept[1] / "tables"
    found = (
        duckdb.connect()
        .execute(f"""
        with told as (
            select o.run_id, to_ms, coalesce(lead(from_ms) over (
                partition by o.run_id, group_id, topic, partition order by from_seq), end_ms) as next_ms
            from read_parquet('{tables}/ownership/*/*.parquet') o join read_parquet('{tables}/runs/*/*.parquet') r using (run_id)
            where view = 'member')
        select run_id, coalesce(sum(next_ms - to_ms), 0)::bigint from told group by all order by all""")
        .fetchall()
    )
    assert found == sorted(
        (row["run_id"], row["unavailable_partition_ms"]) for row in rows(plain, "metrics")
    )


def test_a_sweep_goes_on_where_it_stopped(
    spark: Any, swept: tuple[Sweep, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk that lacks its last file is done again; the others are not. Nothing is there
    twice."""
    out = tmp_path / "out"
    shutil.copytree(swept[1], out)
    victim = min((out / "tables" / "cells").glob("chunk=*/cells.parquet"))
    lost = pq.read_metadata(victim).num_rows
    victim.unlink()
    (out / "tables" / "_SUCCESS").unlink()
    with pytest.raises(PipelineError, match="this sweep is not finished"):
        analyse(spark, out)
    told: list[str] = []
    done = run_sweep(spark, swept[0], out, told.append)
    assert (done.cells, done.before) == (12, 12 - lost)
    assert (
        pq.read_table(out / "tables" / "events", partitioning=None).num_rows
        == manifest_of(swept[1] / "tables")["rows"]["events"]
    )
    monkeypatch.setattr(sweeping, "watched", None)  # nothing is left to run
    assert run_sweep(spark, swept[0], out).before == 12


def test_a_worker_that_is_killed_loses_only_its_bin(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL, once before a bin's files are written and once after that, before the driver knows:
    every cell is there once."""
    sweep = a_sweep(tmp_path, SWEEP.replace('keep = "tables"', 'keep = "metrics"'))
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    simulate = sweeping._simulate_bins

    def deadly(batches: Iterable[Any], **about: Any) -> Iterator[Any]:
        def die(when: str) -> None:
            if not (deaths / when).exists():
                (deaths / when).touch()
                os.kill(os.getpid(), signal.SIGKILL)

        for batch in batches:
            die("before")
            found = list(simulate([batch], **about))
            die("after")
            yield from found

    monkeypatch.setattr(sweeping, "_simulate_bins", deadly)
    monkeypatch.setattr(sweeping, "_SHORTEST_BIN_MS", 100.0)
    done = run_sweep(spark, sweep, tmp_path / "out")
    assert done.by_status == {"ok": 12}
    assert {path.name for path in deaths.iterdir()} == {"before", "after"}
    found = pq.read_table(tmp_path / "out" / "tables" / "cells", partitioning=None).to_pylist()
    assert sorted(row["number"] for row in found) == list(range(12))
    assert pq.read_table(tmp_path / "out" / "tables" / "metrics", partitioning=None).num_rows == 12


@pytest.mark.parametrize("when", ["a file is begun", "a file is whole", "one is renamed"])
def test_a_worker_that_is_killed_while_it_writes(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """The half files of the dead are nobody's, and the sweep is whole; it can be asked for again."""
    sweep = a_sweep(tmp_path, SWEEP.replace('keep = "tables"', 'keep = "metrics"'))
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    simulate = sweeping._simulate_bins

    def deadly(batches: Iterable[Any], **about: Any) -> Iterator[Any]:
        from coordinator.lab.pipeline.spark import parquet

        def die(where: str) -> None:
            if where == when and not (deaths / "one").exists():
                (deaths / "one").touch()
                os.kill(os.getpid(), signal.SIGKILL)

        write, replace = parquet.TableWriter._write, os.replace

        def dying_write(self: Any, name: str) -> None:
            write(self, name)
            die("a file is begun")

        def dying_replace(old: Any, new: Any) -> None:
            die("a file is whole")
            replace(old, new)
            die("one is renamed")

        parquet.TableWriter._write = dying_write  # type: ignore[method-assign]
        parquet.os.replace = dying_replace  # type: ignore[attr-defined]
        try:
            yield from simulate(batches, **about)
        finally:
            parquet.TableWriter._write = write  # type: ignore[method-assign]
            parquet.os.replace = replace  # type: ignore[attr-defined]

    monkeypatch.setattr(sweeping, "_simulate_bins", deadly)
    done = run_sweep(spark, sweep, tmp_path / "out")
    assert (deaths / "one").exists()
    assert done.by_status == {"ok": 12}
    assert not list((tmp_path / "out" / "tables").glob("*/chunk=*/.*"))
    monkeypatch.undo()
    assert run_sweep(spark, sweep, tmp_path / "out").before == 12


def test_logs_that_a_sweep_keeps_are_logs(
    spark: Any, swept: tuple[Sweep, Path], tmp_path: Path
) -> None:
    sweep = a_sweep(
        tmp_path,
        SWEEP.replace('keep = "tables"', 'keep = "logs"').replace("seeds = 3", "seeds = 1"),
    )
    run_sweep(spark, sweep, tmp_path / "out")
    logs = sorted((tmp_path / "out" / "logs").iterdir())
    assert len(logs) == 4
    tables, counts = tables_of([str(tmp_path / "out" / "logs")])
    assert counts.quarantined == 0 and counts.runs == 4
    kept = {row["run_id"].split("#")[0] for row in rows(tables, "runs")}
    assert {Path(log).name.split(".")[0] for log in kept} == {cell.cell_id for cell in cells(sweep)}
    made = make_tables(spark, [str(tmp_path / "out" / "logs")], tmp_path / "tables")
    analysis = analyse(spark, tmp_path / "tables")
    assert made.counts.runs == 4 and analysis.variants == [LOGS]
    assert {row[1:] for row in tables["metrics"]} <= {
        tuple(row[name] for name in TABLES["metrics"].names()[1:])
        for row in pq.read_table(swept[1] / "tables" / "metrics", partitioning=None).to_pylist()
    }


def test_directories_that_are_in_the_way(
    spark: Any, swept: tuple[Sweep, Path], tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").touch()
    with pytest.raises(PipelineError, match="something else than a sweep"):
        run_sweep(spark, swept[0], tmp_path / "mine")
    with pytest.raises(PipelineError, match="a sweep of other settings"):
        run_sweep(spark, swept[0]._replace(keep="logs"), swept[1])


def test_more_seeds_are_added_to_a_sweep(
    spark: Any, swept: tuple[Sweep, Path], tmp_path: Path
) -> None:
    shutil.copytree(swept[1], tmp_path / "out")
    done = run_sweep(spark, swept[0]._replace(seeds=(1, 2, 3, 4)), tmp_path / "out")
    assert (done.cells, done.before) == (16, 12)


def test_a_report_that_ends_midway_is_not_taken_for_whole(
    spark: Any, swept: tuple[Sweep, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the one that was there before: its files may have been written over."""
    out = tmp_path / "report"
    make_report(spark, swept[1], out)
    assert (out / "_SUCCESS").exists()
    monkeypatch.setattr("coordinator.lab.pipeline.spark.report.page", lambda facts: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        make_report(spark, swept[1], out)
    assert not (out / "_SUCCESS").exists()
    for there in (swept[1], swept[1] / "tables"):
        with pytest.raises(PipelineError, match="a report has a directory of its own"):
            make_report(spark, swept[1], there)


def test_the_report(spark: Any, swept: tuple[Sweep, Path], tmp_path: Path) -> None:
    """In a real browser: the page has its headings, plots and the worst rebalances, and asks the
    network for nothing."""
    path = make_report(spark, swept[1], tmp_path / "report")
    text = path.read_text()
    assert (
        "http://" not in text.replace("http://www.w3.org/", "")
        and "https://" not in text
        and "<script" not in text
    )
    for name in ("summary", "differences", "frontier", "runs", "worst"):
        assert (tmp_path / "report" / f"{name}.csv").read_text().count("\n") > 1
    for svg in (tmp_path / "report").glob("*.svg"):
        assert svg.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert (
        "coordinator simulate one_crash_one_join --seed" in text
        and "members.app.assignor=cooperative-sticky" in text
    )
    again = make_report(spark, swept[1], tmp_path / "again")
    assert again.read_text() == text
    dom = browsed(path, tmp_path, "--dump-dom")
    assert (
        dom.count("<details") == 10
        and dom.count("</svg>") == text.count("</svg>") >= 5
        and "The frontier" in dom
        and "the same in 3 runs, of which this is the worst" in dom
        and "no variant is better than" in dom
        and "timeline.svg" in dom
    )
    browsed(path, tmp_path, f"--screenshot={tmp_path}/page.png", "--window-size=1200,3000")
    seen = colours_in(tmp_path / "page.png")
    assert seen > 50, "the page is empty to the eye"


def colours_in(path: Path) -> int:
    """How many different colours a picture has."""
    from PIL import Image

    with Image.open(path) as picture:
        colours = picture.convert("RGB").getcolors(1 << 24)
    return len(colours or [])


def browsed(page: Path, scratch: Path, *options: str) -> str:
    """What headless Chromium makes of a page."""
    program = chromium()
    if program is None:
        assert os.environ.get("REQUIRE_CHROMIUM") != "1", (
            "REQUIRE_CHROMIUM=1, and there is no chromium (on Debian: apt install chromium)"
        )
        pytest.skip("no chromium on this machine, and REQUIRE_CHROMIUM is not set")
    command = [
        program,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--no-first-run",
        f"--user-data-dir={scratch}/profile",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        *options,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_report_of_metrics_only(spark: Any, tmp_path: Path) -> None:
    sweep = a_sweep(
        tmp_path, SWEEP.replace('keep = "tables"', "").replace("seeds = 3", "seeds = 1")
    )
    run_sweep(spark, sweep, tmp_path / "out")
    text = make_report(spark, tmp_path / "out").read_text()
    assert "There were none." in text and "time in rebalances" in text
    assert not (tmp_path / "out" / "tables" / "events").exists()


def test_bins_take_seconds() -> None:
    assert len(plan_bins([100.0] * 2000, 2)) == 34  # of six seconds
    assert (
        len(plan_bins([100.0] * 12, 2)) == 2
    )  # not shorter than a second and a half, but all slots
    assert len(plan_bins([1000.0] * 30, 2)) == 12  # six for each slot
    assert plan_bins([5.0], 8) == [[0]]


def test_progress_is_told() -> None:
    assert (
        progress(0, 10, 1.0, "20 simulations")
        == f"[{'.' * 30}]   0% of 20 simulations, 1 s, the first tasks are running"
    )
    assert (
        progress(5, 10, 60.0, "20 simulations")
        == f"[{'#' * 15}{'.' * 15}]  50% of 20 simulations, 1 min 0 s, about 1 min 0 s left"
    )
    assert duration(7815) == "2 h 10 min"


def test_a_promise_that_is_broken_is_told(spark: Any, tmp_path: Path) -> None:
    text = SWEEP.replace("seeds = 3", "seeds = 1").replace(
        '"duration=100s"', '"duration=100s", "must.most_rebalances=1"'
    )
    sweep = a_sweep(tmp_path, text)
    done = run_sweep(spark, sweep._replace(variants=sweep.variants[:1]), tmp_path / "out")
    assert done.by_status == {"broken": 1} and done.first_problem == "broken: most_rebalances"
    assert json.loads((tmp_path / "out" / "tables" / "manifest.json").read_text())["cells"] == 1
