"""Tables as Parquet files: the declared columns as Arrow types, and a writer that holds one batch
of rows of each table in memory.

A file appears under its name only when it is complete: it is written under a hidden name, which
Spark, DuckDB and Polars ignore, and renamed. A task that runs twice writes the same file twice.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..schemas import SCHEMA_VERSION, TABLES, Row, Table

BATCH_ROWS = 40_000
LAST = "cells"
"""The table whose file comes last: where it is, all others of its chunk are."""
_TYPES = {
    "string": pa.string(),
    "int": pa.int64(),
    "bool": pa.bool_(),
    "texts": pa.list_(pa.string()),
    "ints": pa.list_(pa.int64()),
}
_REPEATED = frozenset(
    {
        "run_id",
        "log",
        "run",
        "stream",
        "type",
        "group_id",
        "topic",
        "api",
        "client",
        "peer",
        "member_id",
        "outcome",
        "view",
        "ended_by",
        "judge",
        "promise",
        "judgement",
        "trigger",
        "assignor",
        "reason",
    }
)
"""Columns whose values repeat: written with a dictionary."""


def arrow_schema(table: Table) -> Any:
    """Return a table's columns as an Arrow schema; its metadata has the schema version."""
    fields = [
        pa.field(column.name, _TYPES[column.type], nullable=column.nullable)
        for column in table.columns
    ]
    return pa.schema(fields, metadata={b"coordinator.schema_version": str(SCHEMA_VERSION).encode()})


def arrow_table(table: Table, rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table."""
    schema = arrow_schema(table)
    columns: Iterable[tuple[Any, ...]] = (
        zip(*rows, strict=True) if rows else [()] * len(table.columns)
    )
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


class TableWriter:
    """Writes the rows of one chunk, each table to `DIR/TABLE/chunk=N/TABLE.parquet`. A context:
    what ends in an error leaves nothing.

    `only`: the tables that are written. Tables without rows get no file, but for those that `keep`
    names: whoever reads all chunks of a table wants one file at least.
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        chunk: int,
        *,
        keep: Iterable[str] = (),
        only: Iterable[str] = TABLES,
    ) -> None:
        self._out = Path(out)
        self._chunk = f"chunk={chunk:05d}"
        self._keep = frozenset(keep)
        self._only = frozenset(only)
        self._hidden = f".{uuid.uuid4().hex}"
        self._rows: dict[str, list[Row]] = {name: [] for name in TABLES}
        self._files: dict[str, Any] = {}
        self.counts: dict[str, int] = dict.fromkeys(TABLES, 0)

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            for name, file in self._files.items():
                self._discard(name, file)

    def emit(self, table: str, row: Row) -> None:
        """Take a row. Raises OSError if it cannot be written."""
        if table not in self._only:
            return
        rows = self._rows[table]
        rows.append(row)
        if len(rows) >= BATCH_ROWS:
            self._write(table)

    def _write(self, name: str) -> None:
        rows = self._rows[name]
        if name not in self._files:
            path = self._path(name, self._hidden)
            path.parent.mkdir(parents=True, exist_ok=True)
            table = TABLES[name]
            repeated = [column.name for column in table.columns if column.name in _REPEATED]
            self._files[name] = pq.ParquetWriter(
                path, arrow_schema(table), compression="zstd", use_dictionary=repeated
            )
        self._files[name].write_table(arrow_table(TABLES[name], rows), row_group_size=BATCH_ROWS)
        self.counts[name] += len(rows)
        rows.clear()

    def _finish(self) -> None:
        for name, rows in self._rows.items():
            if rows or (name in self._keep and name not in self._files):
                self._write(name)
        for file in self._files.values():
            file.close()
        for name in sorted(self._files, key=lambda name: name == LAST):
            os.replace(self._path(name, self._hidden), self._path(name, ""))
            del self._files[name]

    def _discard(self, name: str, file: Any) -> None:
        try:
            file.close()
        except OSError:  # there was no room for its end either
            pass
        self._path(name, self._hidden).unlink(missing_ok=True)

    def _path(self, name: str, hidden: str) -> Path:
        return self._out / name / self._chunk / f"{hidden}{name}.parquet"
