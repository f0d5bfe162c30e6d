"""A real standalone master with two workers on loopback: the same commands, the same tables."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from coordinator.pipeline.plain import tables_of
from coordinator.pipeline.schemas import TABLES
from coordinator.pipeline.spark.folders import manifest_of
from coordinator.pipeline.spark.session import java
from tests.pipeline.kit import SHORT, simulated

DEADLINE_S = 600


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def started(command: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)


def awaited(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + DEADLINE_S
    while True:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found is not None:
            return found[0]
        assert process.poll() is None and time.monotonic() < end, log.read_text(errors="replace")[-3000:]
        time.sleep(0.05)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a master that two workers of one core have joined."""
    import pyspark

    java()
    home, scratch = str(Path(pyspark.__file__).parent), tmp_path_factory.mktemp("cluster")
    environment = {
        **os.environ, "SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "384m", "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "PYTHONPATH": "",
    }  # fmt: skip
    launcher = f"{home}/bin/spark-class"
    with ExitStack() as stack:

        def start(name: str, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
            log = scratch / f"{name}.log"
            process = started([launcher, *options], log, environment)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process, log

        port = free_port()
        kind = "org.apache.spark.deploy"
        process, log = start(
            "master", f"{kind}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
        url = f"spark://127.0.0.1:{awaited(log, r'Starting Spark master at spark://127.0.0.1:[0-9]+', process).rpartition(':')[2]}"
        for number in (1, 2):
            worker, own = start(
                f"worker-{number}", f"{kind}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                "--webui-port", str(free_port()), "--work-dir", str(scratch / f"work-{number}"), url)  # fmt: skip
            awaited(own, "Successfully registered with master", worker)
        yield url


def test_tables_on_a_cluster(master: str, tmp_path: Path) -> None:
    """The same rows as those of the plain fold; the package is sent along to the executors."""
    logs, out = tmp_path / "logs", tmp_path / "out"
    logs.mkdir()
    for name in sorted(SHORT):
        (logs / f"{name}.jsonl").write_text(simulated(name, 4))
    command = [sys.executable, "-m", "coordinator", "tables", str(logs), "--out", str(out), "--master", master]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    plain, counts = tables_of([str(logs)])
    assert manifest_of(out)["events"] == counts.events
    for name, table in TABLES.items():
        if name != "runs" and plain[name]:
            found = pq.read_table(out / name, partitioning=None).to_pylist()
            assert sorted((tuple(row[column] for column in table.names()) for row in found), key=repr) == sorted(plain[name], key=repr)
