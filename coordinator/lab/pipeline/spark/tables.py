"""Event logs to tables on Spark: the driver cuts the logs into chunks; a task folds each chunk and
writes its Parquet files.

Partial output is never taken for complete: `DIR/_STARTED` exists from the first file on;
`DIR/manifest.json` and `DIR/_SUCCESS` are written when everything is there and the counts add
up. After an interrupted run the directory is begun again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from coordinator.base.version import __version__

from ..fold.pieces import Counts
from ..placement import bins, chunk_count
from ..schemas import SCHEMA_VERSION, TABLES
from ..sources import Piece, log_files, pieces
from .chunks import RESULT_DDL, fold_chunks
from .folders import LANDED, MANIFEST, STARTED, SUCCESS, prepare
from .kafka import is_topic, land
from .session import PipelineError


class Made(NamedTuple):
    """The result of `make_tables`."""

    files: int
    chunks: int
    counts: Counts
    rows: dict[str, int]


def plan(logs: Sequence[str], slots: int) -> list[list[Piece]]:
    """Return the chunks of some logs, the largest first. Raises SourceError."""
    every = [piece for path in log_files(logs) for piece in pieces(path)]
    weights = [piece.weight for piece in every]
    return [
        [every[number] for number in chunk] for chunk in bins(weights, chunk_count(weights, slots))
    ]


def make_tables(
    spark: Any,
    logs: Sequence[str],
    out: str | os.PathLike[str],
    *,
    replace: bool = False,
    client: Mapping[str, str] | None = None,
) -> Made:
    """Fold logs (files, directories, `kafka://HOST:PORT/TOPIC`) into tables.

    `client`: settings of Kafka's consumer, where it asks for more than a connection.
    Raises SourceError, and PipelineError if a task met a problem; then there is no `_SUCCESS`.
    """
    from pyspark.sql.functions import col

    folder = Path(out).absolute()
    files = [str(Path(log).absolute()) for log in logs if not is_topic(log)]
    if len(files) == len(logs):
        chunks = plan(files, spark.sparkContext.defaultParallelism)
        prepare(folder, replace=replace)
    else:
        prepare(folder, replace=replace)
        landed = [
            path
            for log in logs
            if is_topic(log)
            for path in land(spark, log, folder / LANDED, client or {})
        ]
        chunks = plan([*files, *landed], spark.sparkContext.defaultParallelism)
    work = spark.createDataFrame(
        [(number, json.dumps(chunk)) for number, chunk in enumerate(chunks)],
        "chunk int, pieces string",
    )
    placed = work.repartitionById(len(chunks), col("chunk"))
    done = placed.mapInArrow(partial(fold_chunks, out=str(folder)), RESULT_DDL).collect()
    problems = [row["problem"] for row in done if row["problem"]]
    if problems:
        raise PipelineError(
            f"{problems[0]}: the tables are not whole; mend that and run the command again"
        )
    counts, rows = Counts(), dict.fromkeys(TABLES, 0)
    for row in done:
        counts = counts.plus(Counts(*json.loads(row["counts"])))
        for name, number in json.loads(row["rows"]).items():
            rows[name] += number
    made = Made(len({piece.path for chunk in chunks for piece in chunk}), len(chunks), counts, rows)
    _finish(folder, made)
    return made


def _finish(folder: Path, made: Made) -> None:
    """Check that nothing was lost, and mark the tables as complete."""
    counts, rows = made.counts, made.rows
    if (
        not counts.add_up()
        or rows["events"] != counts.events
        or rows["quarantine"] != counts.quarantined
        or rows["runs"] != counts.runs
    ):
        raise PipelineError(
            f"{folder}: the counts do not add up ({counts}, {rows}): the logs changed while they were read; run it again"
        )
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "product": __version__,
        "files": made.files,
        "chunks": made.chunks,
        **counts._asdict(),
        "rows": rows,
    }
    try:
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
        (folder / SUCCESS).touch()
        (folder / STARTED).unlink()
    except OSError as error:
        raise PipelineError(f"{folder}: cannot be written: {error.strerror or error}") from None
