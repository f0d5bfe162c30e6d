"""What Spark ends in midway is one line and status 2, an interrupt is status 130; no Spark is
needed here: its errors are stood in for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from coordinator.cli import main
from coordinator.lab.pipeline.spark import folders
from coordinator.lab.pipeline.spark import session as sessions

Py4JJavaError = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
PythonException = type(
    "PythonException", (Exception,), {"__module__": "pyspark.errors.exceptions.captured"}
)
ArrowInvalid = type("ArrowInvalid", (ValueError,), {"__module__": "pyarrow.lib"})

FULL = """An error occurred while calling o91.parquet.
: org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.Here.there(Here.scala:1)
Caused by: java.io.IOException: No space left on device
"""
WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/somewhere/worker.py", line 1, in main
    process()
MemoryError: 800 MiB more

\tat org.apache.spark.Here.there(Here.scala:1)
"""
ENDS = [
    (Py4JJavaError(FULL), "java.io.IOException: No space left on device"),
    (PythonException(WORKER), "MemoryError: 800 MiB more"),
    (
        PythonException("Job aborted due to stage failure: ExecutorLostFailure\n\tat x"),
        "stage failure: ExecutorLostFailure",
    ),
    (
        PythonException(
            "Job aborted: PythonException: Traceback (most recent call last):\n  File x\nEOFError\n"
        ),
        "(EOFError)",
    ),
    (
        ArrowInvalid("Parquet magic bytes not found in footer"),
        "Parquet magic bytes not found in footer",
    ),
    (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
]
COMMANDS = {
    "tables": (["tables", "{log}", "--out", "{out}"], "tables", "make_tables"),
    "analyse": (["analyse", "{out}"], "analysis", "analyse"),
    "report": (["report", "{out}"], "report", "make_report"),
    "sweep": (["sweep", "{sweep}", "--out", "{out}"], "sweep", "run_sweep"),
}


class _Session:
    """A session that has one thing to do: to be stopped."""

    stopped = 0

    def stop(self) -> None:
        self.stopped += 1
        raise ConnectionRefusedError(111, "Connection refused")  # Java went away before


Begin = Callable[[str, BaseException], tuple[int, _Session]]


@pytest.fixture
def begin(tmp_path, monkeypatch) -> Begin:
    """Run a command whose work ends in an error; its status, and its session."""
    (tmp_path / "run.jsonl").write_text("{}\n")
    (tmp_path / "sweep.toml").write_text('scenario = "rolling_deploy_static"\nseeds = 1\n')
    names = {
        "{log}": str(tmp_path / "run.jsonl"),
        "{out}": str(tmp_path / "out"),
        "{sweep}": str(tmp_path / "sweep.toml"),
    }

    def begin(command: str, error: BaseException) -> tuple[int, _Session]:
        arguments, module, function = COMMANDS[command]

        def end(*_: object, **__: object) -> None:
            raise error

        stand_in, spark = ModuleType(module), _Session()
        vars(stand_in).update({"write": end, function: end})
        monkeypatch.setitem(sys.modules, f"coordinator.lab.pipeline.spark.{module}", stand_in)
        monkeypatch.setattr(sessions, "session", lambda *_, **__: spark)
        monkeypatch.setattr(folders, "tables_in", lambda folder: folder)
        return main([names.get(argument, argument) for argument in arguments]), spark

    return begin


@pytest.mark.parametrize(
    ("error", "told"),
    ENDS,
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_spark_ends_in_is_one_line_that_says_what_to_do(command, error, told, begin, capsys):
    status, spark = begin(command, error)
    assert (status, spark.stopped) == (2, 1)
    text = capsys.readouterr().err
    assert (
        text.startswith(f"coordinator {command}: error: ended midway (") and text.count("\n") == 1
    )
    assert told in text
    assert "mend that" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_is_status_130_and_says_how_to_go_on(command, begin, capsys):
    status, spark = begin(command, KeyboardInterrupt())
    assert (status, spark.stopped) == (130, 1)
    assert capsys.readouterr().err.startswith("\nstopped before its end")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_of_our_own_is_not_hidden(command, begin):
    with pytest.raises(ZeroDivisionError):
        begin(command, ZeroDivisionError())
