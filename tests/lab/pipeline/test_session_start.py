"""What keeps Spark from starting is one line that says what to look at, whatever Spark raises; no
Spark is needed here."""

from __future__ import annotations

import logging
import sys
from types import ModuleType
from typing import Any

import pytest

from coordinator.lab.pipeline.spark import session as sessions

STOPPED = """An error occurred while calling None.org.apache.spark.sql.classic.SparkSession.
: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.
This stopped SparkContext was created at:
"""


class _Builder:
    """A builder of sessions that cannot start one."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self

    def getOrCreate(self) -> None:  # noqa: N802 - Spark's name
        raise self._error


@pytest.mark.parametrize(
    ("master", "error", "said"),
    [
        (
            "spark://127.0.0.1:7077",
            RuntimeError(STOPPED),
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
        ),
        (
            "yarn",
            RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited"),
            "[JAVA_GATEWAY_EXITED] Java gateway process exited",
        ),
        ("yarn", RuntimeError(), "RuntimeError"),
    ],
)
def test_what_keeps_spark_from_starting_is_said(
    monkeypatch: pytest.MonkeyPatch, master: str, error: Exception, said: str
) -> None:
    sql = ModuleType("pyspark.sql")
    sql.SparkSession = type(
        "SparkSession",
        (),
        {"builder": type("", (), {"appName": lambda _, name: _Builder(error)})()},
    )  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    monkeypatch.setattr(sessions, "java", lambda: "java")
    monkeypatch.setattr(sessions, "_check_answers", lambda master: None)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    with pytest.raises(sessions.PipelineError) as refused:
        sessions.session("test", master)
    text = str(refused.value)
    assert text.startswith(f"--master {master}: Spark does not start with it ({said}): ")
    assert ("is a Spark master" in text) == master.startswith("spark://") and "\n" not in text


def test_the_reason_is_the_innermost_cause() -> None:
    """A query that cannot start because the disk is full says that, not which call of Py4J
    failed."""
    told = """An error occurred while calling o89.start.
: org.apache.spark.SparkException: cannot write
\tat org.apache.spark.Somewhere
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes
\t... 40 more
"""
    assert sessions.reason(RuntimeError(told)) == "java.io.IOException: No space left on device"
    ended = "[STREAM_FAILED] Query terminated with exception: No space left on device\n=== Streaming Query ===\n:  +- relation"
    assert sessions.reason(RuntimeError(ended)) == ended.partition("\n")[0]
    assert (
        sessions.reason(ValueError("the log became shorter\nsecond line"))
        == "the log became shorter"
    )


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/x/py4j/java_gateway.py", False), ("/x/pyspark/context.py", True), ("/x/app.py", True)],
)
def test_what_py4j_logs_before_it_raises_it_is_not_shown(path: str, shown: bool) -> None:
    record = logging.LogRecord(
        "root", logging.ERROR, path, 1038, "Exception while sending command.", None, None
    )
    assert sessions._not_py4j(record) is shown
