"""The work of a task: fold the pieces of one chunk and write its files. Runs on executors; it must
not depend on the driver.

An error of the file system does not fail the task, because another attempt would fail, too: it
is returned as `problem`, and the driver reports it. A chunk that was not finished leaves no
files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from coordinator.base.collector import collecting_seldom

from ..fold.pieces import Counts, fold_piece
from ..schemas import TABLES
from ..sources import Piece
from .parquet import TableWriter

RESULT = pa.schema(
    [
        ("chunk", pa.int64()),
        ("counts", pa.string()),
        ("rows", pa.string()),
        ("problem", pa.string()),
    ]
)
RESULT_DDL = "chunk long, counts string, rows string, problem string"


_ALLOCATIONS = 20_000
"""Rows wait by the ten thousand for their file, and none of them is garbage: to look through them
often is a fifth of the work."""


def fold_chunks(batches: Iterable[Any], out: str) -> Iterator[Any]:
    """Fold chunks, as a function for `mapInArrow`: for each row of `chunk` and `pieces` (JSON)
    yield one row of RESULT."""
    for batch in batches:
        for row in batch.to_pylist():
            pieces = [Piece(*piece) for piece in json.loads(row["pieces"])]
            yield pa.RecordBatch.from_pylist([fold_chunk(row["chunk"], pieces, out)], RESULT)


def fold_chunk(chunk: int, pieces: list[Piece], out: str) -> dict[str, Any]:
    """Fold one chunk into files: its counts, or the problem that was in the way."""
    counts = Counts()
    try:
        with (
            collecting_seldom(_ALLOCATIONS, 10, 10),
            TableWriter(out, chunk, keep=TABLES if chunk == 0 else ()) as writer,
        ):
            for piece in pieces:
                counts = counts.plus(fold_piece(piece, writer.emit))
    except OSError as error:
        where = error.filename or out
        return {
            "chunk": chunk,
            "counts": "",
            "rows": "",
            "problem": f"{where}: {error.strerror or error}",
        }
    return {
        "chunk": chunk,
        "counts": json.dumps(counts),
        "rows": json.dumps(writer.counts),
        "problem": "",
    }
