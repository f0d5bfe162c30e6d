"""A real standalone master with two workers on loopback: the same commands, the same tables, also
when a worker dies."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from coordinator.lab.pipeline.schemas import TABLES, Row
from coordinator.lab.pipeline.spark.folders import manifest_of
from coordinator.lab.pipeline.sweeps import cells, read_sweep, run_cell
from coordinator.lab.pipeline.without_spark import tables_of
from tests.lab.pipeline.kit import SHORT, simulated

from .cluster import DEADLINE_S, Cluster, standalone, started


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of its own for each test, since one of them takes a worker away."""
    with standalone(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def test_tables_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """The same rows as those of the plain fold; the package is sent along to the executors."""
    logs, out = tmp_path / "logs", tmp_path / "out"
    logs.mkdir()
    for name in sorted(SHORT):
        (logs / f"{name}.jsonl").write_text(simulated(name, 4))
    command = [
        sys.executable,
        "-m",
        "coordinator",
        "tables",
        str(logs),
        "--out",
        str(out),
        "--master",
        cluster.url,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=3 * DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    plain, counts = tables_of([str(logs)])
    assert manifest_of(out)["events"] == counts.events
    for name, table in TABLES.items():
        if name != "runs" and plain[name]:
            found = pq.read_table(out / name, partitioning=None).to_pylist()
            assert sorted(
                (tuple(row[column] for column in table.names()) for row in found), key=repr
            ) == sorted(plain[name], key=repr)


SWEEP = """
scenario = "one_crash_one_join"
seeds = 60
set = ["duration=100s", "churn.1.at=20s", "churn.1.down=40s"]
"""
DRIVER = """
import os, sys, time
from pathlib import Path

from coordinator.lab.pipeline.spark import sweep as sweeping
from coordinator.lab.pipeline.spark.session import session
from coordinator.lab.pipeline.sweeps import read_sweep

folder, simulate = Path(sys.argv[1]), sweeping._simulate_bins


def held(batches, **about):
    # The first bin is done at once; the others wait, on the doomed worker for ever, on the other one until `go` is there.
    parent = os.getppid()
    doomed = "doomed" in os.getcwd()
    for batch in batches:
        (chunk,) = batch.column("chunk").to_pylist()
        (folder / f"begun-{chunk}-{'doomed' if doomed else 'other'}").touch()
        while chunk > 0 and (doomed or not (folder / "go").exists()) and os.getppid() == parent:
            time.sleep(0.05)
        yield from simulate([batch], **about)


sweeping._simulate_bins = held
sweeping._SHORTEST_BIN_MS = 300.0
done = sweeping.run_sweep(session("test", sys.argv[2]), read_sweep(str(folder / "sweep.toml")), folder / "out")
print(done.by_status)
"""


@pytest.mark.thorough  # a minute, which `make test` does not have
def test_a_sweep_loses_nothing_by_the_death_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    """SIGKILL to a worker when a bin is whole and others are not: its executor ends with it, and
    the other worker does its bins.

    Each simulation is there once, with the same measures as without Spark.
    """
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "driver.py").write_text(DRIVER)
    out, said = tmp_path / "out", tmp_path / "said"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    process = started(
        [sys.executable, str(tmp_path / "driver.py"), str(tmp_path), cluster.url], said, environment
    )

    def held_by_the_doomed() -> list[Path]:
        return [path for path in tmp_path.glob("begun-*-doomed") if path.name != "begun-0-doomed"]

    try:
        end = time.monotonic() + DEADLINE_S
        while not (list(out.glob("tables/cells/chunk=*/cells.parquet")) and held_by_the_doomed()):
            assert process.poll() is None and time.monotonic() < end, said.read_text(
                errors="replace"
            )[-3000:]
            time.sleep(0.05)
        cluster.doomed.kill()
        (tmp_path / "go").touch()
        assert process.wait(3 * DEADLINE_S) == 0, said.read_text(errors="replace")[-3000:]
    finally:
        process.kill()
        process.wait()
    assert "{'ok': 60}" in said.read_text()
    for path in held_by_the_doomed():
        assert path.with_name(path.name.replace("doomed", "other")).exists()
    sweep = read_sweep(str(tmp_path / "sweep.toml"))
    assert manifest_of(out / "tables")["cells"] == 60
    found = pq.read_table(out / "tables" / "cells", partitioning=None).to_pylist()
    assert sorted(row["cell_id"] for row in found) == sorted(cell.cell_id for cell in cells(sweep))
    metrics = pq.read_table(out / "tables" / "metrics", partitioning=None).to_pylist()
    plain: list[Row] = []
    for cell in cells(sweep):
        run_cell(
            cell,
            sweep.scenario,
            sweep.text,
            lambda table, row: plain.append(row) if table == "metrics" else None,
        )
    names = TABLES["metrics"].names()
    assert sorted((tuple(row[name] for name in names) for row in metrics), key=repr) == sorted(
        plain, key=repr
    )
