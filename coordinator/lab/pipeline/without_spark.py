"""The tables without Spark: all rows of some logs in memory. The tables of Spark must equal
these; for a small log they suffice."""

from __future__ import annotations

from collections.abc import Iterable

from .fold.pieces import Counts, fold_piece
from .schemas import TABLES, Row
from .sources import log_files, pieces

Tables = dict[str, list[Row]]


def tables_of(logs: Iterable[str]) -> tuple[Tables, Counts]:
    """Return every table's rows, in the order of the logs, and the counts. Raises SourceError,
    OSError."""
    tables: Tables = {name: [] for name in TABLES}
    counts = Counts()
    for path in log_files(logs):
        for piece in pieces(path):
            counts = counts.plus(fold_piece(piece, lambda table, row: tables[table].append(row)))
    return tables, counts
