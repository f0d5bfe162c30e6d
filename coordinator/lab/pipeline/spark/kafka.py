"""Event logs in Kafka topics, read by Spark's Kafka connector: `kafka://HOST:PORT/TOPIC` may stand
in place of a log. `coordinator serve --log-topic` publishes them.

For tables the topic is first written to files, one for each run, in the order of the log: a run
is folded line by line, and several emulators may have published to one topic at the same time. A
line that was published twice is written once. Owns the connector's jars, the reading and those
files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pyarrow as pa

from .session import PipelineError

SCHEME: Final = "kafka://"
_ANYBODY: Final[Mapping[str, str]] = MappingProxyType({})
_JARS = "SPARK_KAFKA_JARS"
_RESULT = "path string, lines long, repeated long, problem string"
_RESULT_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("lines", pa.int64()),
        ("repeated", pa.int64()),
        ("problem", pa.string()),
    ]
)
_COLUMNS = (
    "partition",
    "offset",
    "CAST(value AS STRING) AS line",
    "get_json_object(CAST(value AS STRING), '$.run') AS run",
    "try_cast(get_json_object(CAST(value AS STRING), '$.seq') AS LONG) AS seq",
)
_LIVE = (
    "coalesce(get_json_object(line, '$.group'), '') AS group_id",
    "coalesce(try_cast(get_json_object(line, '$.seq') AS LONG), -1) AS seq",
    "line",
    "CAST(1 AS LONG) AS lines",
)


class Topic(NamedTuple):
    """Address of a published log."""

    bootstrap: str
    topic: str


def is_topic(log: str) -> bool:
    """Return True if a log is named as a topic."""
    return log.startswith(SCHEME)


def parse_topic(log: str) -> Topic:
    """Read `kafka://HOST:PORT[,HOST:PORT...]/TOPIC`. Raises PipelineError."""
    found = re.fullmatch(r"kafka://([^/:,]+:\d+(?:,[^/:,]+:\d+)*)/([A-Za-z0-9._-]{1,249})", log)
    if found is None:
        raise PipelineError(
            f"{log}: a log in Kafka is named kafka://HOST:PORT/TOPIC, such as kafka://127.0.0.1:9092/events"
        )
    return Topic(found[1], found[2])


def kafka_settings(logs: Iterable[str]) -> dict[str, str]:
    """Return the session's settings for the connector's jars, or none if no log is a topic.
    Raises PipelineError."""
    topics = [parse_topic(log) for log in logs if is_topic(log)]
    if not topics:
        return {}
    folder = Path(os.environ.get(_JARS) or Path(sys.prefix) / "kafka-jars")
    jars = sorted(str(path) for path in folder.glob("*.jar"))
    if not any("spark-sql-kafka" in jar for jar in jars):
        raise PipelineError(
            f"{folder}: Spark's Kafka connector is not there: `make spark-kafka` of a checkout fetches it with Maven "
            f"(requirements/spark-kafka/pom.xml); elsewhere {_JARS} names a folder with its jars"
        )
    return {"spark.jars": ",".join(jars)}


def _read(spark: Any, topic: Topic, client: Mapping[str, str], *, stream: bool) -> Any:
    reader = spark.readStream if stream else spark.read.option("endingOffsets", "latest")
    options = {f"kafka.{name}": value for name, value in client.items()} | {
        "kafka.bootstrap.servers": topic.bootstrap,
        "subscribe": topic.topic,
        "startingOffsets": "earliest",
    }
    return reader.format("kafka").options(**options).load()


def lines_of(spark: Any, log: str, client: Mapping[str, str] = _ANYBODY) -> Any:
    """A stream of the lines of a topic, from its beginning: the columns of `tail.SCHEMA`. `client`:
    settings of Kafka's consumer, where it asks for more than a connection. Raises PipelineError."""
    return (
        _read(spark, parse_topic(log), client, stream=True)
        .selectExpr("CAST(value AS STRING) AS line")
        .selectExpr(*_LIVE)
    )


def land(spark: Any, log: str, folder: Path, client: Mapping[str, str] = _ANYBODY) -> list[str]:
    """Write what a topic has into a file for each run; their paths. `client`: as `lines_of` has it.
    Raises PipelineError."""
    topic = parse_topic(log)
    records = _read(spark, topic, client, stream=False).selectExpr(*_COLUMNS)
    placed = records.repartition(spark.sparkContext.defaultParallelism, "run").sortWithinPartitions(
        "run", "partition", "offset"
    )
    body = partial(_write_runs, folder=str(folder), origin=f"{topic.bootstrap}/{topic.topic}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = placed.mapInArrow(body, _RESULT).collect()
    except OSError as error:
        raise PipelineError(f"{folder}: cannot be written: {error.strerror or error}") from None
    except Exception as error:
        raise PipelineError(f"{log}: cannot be read: {_why(str(error))}") from None
    problems = [row["problem"] for row in done if row["problem"]]
    if problems:
        raise PipelineError(problems[0])
    if not done:
        raise PipelineError(
            f"{log}: there are no records in this topic; `coordinator serve --log-topic {topic.topic}` publishes a log"
        )
    return sorted(row["path"] for row in done)


def _why(text: str) -> str:
    """Return the most telling line of a failure: the root cause, if it names one."""
    causes = [
        line.removeprefix("Caused by: ")
        for line in text.split("\n")
        if line.startswith("Caused by: ")
    ]
    return (causes[-1] if causes else text.split("\n")[0]).strip()


def _write_runs(batches: Iterator[Any], *, folder: str, origin: str) -> Iterator[Any]:
    """Write runs in a task, one after the other, each into a hidden file that is renamed when it
    is complete."""
    written: list[tuple[str, int, int, str]] = []
    try:
        with _Writer(Path(folder), origin) as writer:
            for batch in batches:
                for row in batch.to_pylist():
                    writer.take(row)
        written = writer.done
    except OSError as error:
        written = [("", 0, 0, f"{error.filename or folder}: {error.strerror or error}")]
    columns = [list(column) for column in zip(*written, strict=True)] or [[], [], [], []]
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns, _RESULT_SCHEMA, strict=True)
    ]
    yield pa.record_batch(arrays, schema=_RESULT_SCHEMA)


class _Writer:
    """Writes the lines of runs that come one after the other. Lines without a run go to a file
    of their own."""

    def __init__(self, folder: Path, origin: str) -> None:
        self.done: list[tuple[str, int, int, str]] = []
        self._folder = folder
        self._origin = origin
        self._run: tuple[str | None] | None = None
        self._file: Any = None
        self._path = self._hidden = Path()
        self._lines = self._repeated = 0
        self._seq = -1

    def take(self, row: dict[str, Any]) -> None:
        """Handle a record: run, seq and line."""
        if self._run != (row["run"],):
            self._finish()
            self._begin(row["run"])
        seq = row["seq"]
        if row["run"] is not None and seq is not None and seq <= self._seq:
            self._repeated += 1
            return
        self._seq = seq if seq is not None else self._seq
        self._file.write((row["line"] or "") + "\n")
        self._lines += 1

    def _begin(self, run: str | None) -> None:
        name = (
            "no-run"
            if run is None
            else f"run-{hashlib.sha256(json.dumps(run).encode()).hexdigest()[:12]}"
        )
        place = hashlib.sha256(self._origin.encode()).hexdigest()[:6]
        self._path = self._folder / f"{name}-{place}.jsonl"
        self._hidden = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        self._file = self._hidden.open("w", encoding="utf-8")
        self._run, self._lines, self._repeated, self._seq = (run,), 0, 0, -1

    def _finish(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            os.replace(self._hidden, self._path)
            self.done.append((str(self._path), self._lines, self._repeated, ""))

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self._finish()
        elif self._file is not None:
            self._file.close()
            self._hidden.unlink(missing_ok=True)
