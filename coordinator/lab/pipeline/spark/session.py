"""A Spark session with defaults for one machine, and the checks before it: Java, and a master that
answers.

Local defaults are set for `local[...]` only; on a cluster its own configuration counts. Sessions
have no web page and listen on 127.0.0.1 unless the master is elsewhere.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OLDEST_JAVA = 17
_ANSWERS_WITHIN_S = 10


class PipelineError(Exception):
    """The pipeline cannot do what was asked for: what is wrong, and what to do. Commands end with
    status 2."""


def java() -> str:
    """Return the path of a Java that Spark runs on. Raises PipelineError."""
    home = os.environ.get("JAVA_HOME")
    path = f"{home}/bin/java" if home else shutil.which("java")
    what_to_do = "install Java 17 or newer (on Debian: apt install default-jre-headless), or set JAVA_HOME to one"
    if path is None or not os.access(path, os.X_OK):
        where = (
            f"JAVA_HOME is {home}, but there is no bin/java in it"
            if home
            else "there is no java on PATH"
        )
        raise PipelineError(f"Spark needs Java, and {where}: {what_to_do}")
    try:
        told = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PipelineError(
            f"Spark needs Java, and {path} does not run ({error}): {what_to_do}"
        ) from None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if found is None:
        raise PipelineError(
            f"Spark needs Java, and {path} -version does not tell a version: {what_to_do}"
        )
    if int(found[1]) < OLDEST_JAVA:
        raise PipelineError(
            f"Spark needs Java {OLDEST_JAVA} or newer, and {path} is Java {found[1]}: {what_to_do}"
        )
    return path


def session(
    name: str,
    master: str | None = None,
    *,
    quick: bool = False,
    settings: dict[str, str] | None = None,
) -> Any:
    """A session. `master`: `local[2]`, `spark://host:port`, ...; default: what spark-submit says,
    else all cores of this machine.

    `quick`: for tests and short work, a JVM that compiles less. Raises PipelineError for a missing
    Java, a malformed master, a standalone master that does not answer, and whatever else keeps
    Spark from starting.
    """
    master = (os.environ.get("MASTER") or "local[*]") if master is None else master
    if not re.fullmatch(
        r"local(\[([1-9]\d*|\*)(,\s*\d+)?\])?|local-cluster\[.+\]|spark://[^/:]+:\d+(,[^/:]+:\d+)*|yarn|k8s://.+",
        master,
    ):
        raise PipelineError(
            f"--master {master}: give local[N], spark://HOST:PORT, yarn or k8s://URL"
        )
    java()
    if master.startswith("spark://"):
        _check_answers(master)
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise PipelineError(missing(error)) from None
    logging.getLogger().addFilter(_not_py4j)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(name).master(_retrying(master))
    for key, value in {**_defaults(master, quick=quick), **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # Spark and Py4J have no common class for what a start ends in
        raise PipelineError(_not_started(master, error)) from None
    spark.sparkContext.setLogLevel("ERROR")
    if not master.startswith("local"):
        spark.sparkContext.addPyFile(str(_package()))
    return spark


@contextmanager
def working(spark: Any, what_to_do: str) -> Iterator[None]:
    """Stop the session at the end of the block.

    Errors of Spark, its link to Java, Arrow or the disk become PipelineErrors, whose messages
    end with `what_to_do`. Exceptions of this project's code on the driver stay as they are, and
    so does KeyboardInterrupt.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, PipelineError) or not _from_outside(error):
            raise
        raise PipelineError(f"ended midway ({reason(error)}): {what_to_do}") from None
    finally:
        stop(spark)


def stop(spark: Any) -> None:
    """Stop a session. Where its Java has gone before, there is nothing left to stop."""
    try:
        spark.stop()
    except Exception as error:
        if not _from_outside(error):
            raise


def _from_outside(error: Exception) -> bool:
    if isinstance(error, OSError):
        return True
    return any(
        each.__module__.partition(".")[0] in ("pyspark", "py4j", "pyarrow")
        for each in type(error).__mro__
    )


def reason(error: Exception) -> str:
    """Return an error of Spark or Py4J in one line.

    An exception in a task's Python code is returned itself. The first line of a Py4J error names
    only the call that failed, so the innermost cause in Java is returned instead.
    """
    raised = re.search(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)", str(error))
    if raised is not None:
        return raised[1].strip()
    lines = [line.strip() for line in str(error).split("\n") if line.strip()] or [
        type(error).__name__
    ]
    if not lines[0].startswith("An error occurred while calling"):
        return lines[0]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (
        causes[-1]
        if causes
        else next((line[2:] for line in lines if line.startswith(": ")), lines[0])
    )


def _not_py4j(record: logging.LogRecord) -> bool:
    """Drop log records of Py4J: it logs whatever ends a call, Ctrl-C too, with a traceback, and
    then raises it as well."""
    return Path(record.pathname).parent.name != "py4j"


def _not_started(master: str, error: Exception) -> str:
    why = reason(error)
    if master.startswith("spark://"):
        what_to_do = "is a Spark master, of the version of this PySpark, at this address, and does it accept applications?"
    else:
        what_to_do = "what Java wrote above says more"
    return f"--master {master}: Spark does not start with it ({why}): {what_to_do}"


def missing(error: ImportError) -> str:
    """Return the advice for an installation without Spark."""
    from coordinator.base.installing import pip_install

    return (
        f"the pipeline needs PySpark and PyArrow ({error}): `make pipeline` of a checkout makes an environment with them "
        f"(.venv-spark); elsewhere `{pip_install('spark')}`"
    )


def _defaults(master: str, *, quick: bool) -> dict[str, str]:
    temporary = tempfile.gettempdir()
    options = f"-Djava.io.tmpdir={temporary} -Dderby.system.home={temporary}"
    if quick:
        options += " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    found = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.worker.reuse": "true",
        "spark.sql.warehouse.dir": f"{temporary}/spark-warehouse",
        "spark.driver.extraJavaOptions": options,
        "spark.sql.streaming.stopTimeout": "60s",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if master.startswith("local") or "127.0.0.1" in master or "localhost" in master:
        found |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if master.startswith("local"):
        found |= {
            "spark.sql.shuffle.partitions": "4",
            "spark.driver.memory": "1g",
            "spark.default.parallelism": "2",
        }
    return found


def _retrying(master: str) -> str:
    """Return a local master that retries a task whose worker was killed; plain `local[n]` never
    does."""
    found = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{found[1] or 1},4]" if found is not None else master


def _check_answers(master: str) -> None:
    """Raise PipelineError if no master answers; Spark itself would wait for minutes."""
    why = ""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), _ANSWERS_WITHIN_S).close()
        except (OSError, OverflowError) as error:
            why = str(error)
        else:
            return
    raise PipelineError(
        f"--master {master}: nobody answers there ({why}): is the master running, and is this its address (spark://HOST:PORT)?"
    )


def _package() -> Path:
    """Return this package as a zip that executors import, because other machines lack it."""
    import assignors
    import coordinator

    folder = Path(tempfile.mkdtemp(prefix="coordinator-"))
    tree = folder / "tree"
    for package in (assignors, coordinator):
        origin = Path(str(package.__file__)).parent
        shutil.copytree(origin, tree / origin.name, ignore=shutil.ignore_patterns("__pycache__"))
    return Path(shutil.make_archive(str(folder / "kafka_group_coordinator"), "zip", tree))
