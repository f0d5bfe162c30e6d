"""A real standalone master with two one-core workers on loopback, for tests and measurements."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from coordinator.lab.pipeline.spark.session import java

DEADLINE_S = 600


def _free_port() -> int:
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
        assert process.poll() is None and time.monotonic() < end, log.read_text(errors="replace")[
            -3000:
        ]
        time.sleep(0.05)


class Cluster(NamedTuple):
    """The URL of a master that two workers of one core have joined, and one of the workers."""

    url: str
    doomed: subprocess.Popen[bytes]


@contextmanager
def standalone(scratch: Path) -> Iterator[Cluster]:
    """Start the cluster; kill it at the end. Logs and the executors' files go to `scratch`."""
    import pyspark

    java()
    home = str(Path(pyspark.__file__).parent)
    environment = {
        **os.environ,
        "SPARK_HOME": home,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "384m",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYTHONPATH": "",
    }
    launcher = f"{home}/bin/spark-class"
    with ExitStack() as stack:

        def start(name: str, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
            log = scratch / f"{name}.log"
            process = started([launcher, *options], log, environment)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process, log

        port = _free_port()
        kind = "org.apache.spark.deploy"
        process, log = start(
            "master",
            f"{kind}.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--webui-port",
            str(_free_port()),
        )
        url = f"spark://127.0.0.1:{awaited(log, r'Starting Spark master at spark://127.0.0.1:[0-9]+', process).rpartition(':')[2]}"
        workers = []
        for name in ("other", "doomed"):
            worker, own = start(
                f"worker-{name}",
                f"{kind}.worker.Worker",
                "--host",
                "127.0.0.1",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--webui-port",
                str(_free_port()),
                "--work-dir",
                str(scratch / name),
                url,
            )
            awaited(own, "Successfully registered with master", worker)
            workers.append(worker)
        yield Cluster(url, workers[-1])
