"""A real standalone master with two workers on loopback: the same commands, the same tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from coordinator.pipeline.plain import tables_of
from coordinator.pipeline.schemas import TABLES
from coordinator.pipeline.spark.folders import manifest_of
from tests.pipeline.kit import SHORT, simulated

from .cluster import DEADLINE_S, Cluster, standalone


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of its own."""
    with standalone(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def test_tables_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """The same rows as those of the plain fold; the package is sent along to the executors."""
    logs, out = tmp_path / "logs", tmp_path / "out"
    logs.mkdir()
    for name in sorted(SHORT):
        (logs / f"{name}.jsonl").write_text(simulated(name, 4))
    command = [sys.executable, "-m", "coordinator", "tables", str(logs), "--out", str(out), "--master", cluster.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    plain, counts = tables_of([str(logs)])
    assert manifest_of(out)["events"] == counts.events
    for name, table in TABLES.items():
        if name != "runs" and plain[name]:
            found = pq.read_table(out / name, partitioning=None).to_pylist()
            assert sorted((tuple(row[column] for column in table.names()) for row in found), key=repr) == sorted(plain[name], key=repr)
