"""Structured Streaming follows a log, keeps a watch for each group as state, and reports alerts at
once.

Each batch of lines goes to the watches of its groups (`alerts.Watch`). Timers on the wall clock
find what should have happened and has not. A sink writes each batch's alerts to a Parquet file
under the batch's number, so a batch that is repeated after a crash writes the same file again;
the checkpoint has the position in the log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from coordinator.events.line import Line

from ..alerts import Alert, Limits, Watch, live_page
from .kafka import is_topic, lines_of
from .tail import NAME, LogSource, keys_of

OUTPUT = "group_id string, kind string, seq long, at_ms long, text string, state string, generation long, rebalances long, lines long"
_ROW = Row(*(column.split()[0] for column in OUTPUT.split(", ")))
_STATE = "state"
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SHOWN = 50
_TOO_LATE = ("Python worker failed to connect back", "CANNOT_OPEN_SOCKET", "SocketTimeoutException")
"""The errors of a query whose worker, or a socket to it, did not come up in time."""


class WatchProcessor(StatefulProcessor):  # type: ignore[misc]
    """A group's watch as Spark's state. Gives a row for each alert, and one with the group's state
    for each batch."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def init(self, handle: Any) -> None:
        """Prepare the state of a partition, once."""
        self._handle = handle
        self._saved = handle.getValueState("watch", "saved string")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Handle the lines of a group in one batch, in the order of the log."""
        watch, now = self._watch(key), timerValues.getCurrentProcessingTimeInMs()
        alerts: list[Alert] = []
        count = 0
        for row in sorted(rows, key=lambda row: row.seq):
            count += row.lines
            for line in row.line.split("\n") if row.line else ():
                try:
                    alerts.extend(watch.see(Line.of(json.loads(line)), now))
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    alerts.append(
                        Alert(
                            key[0],
                            "unreadable line",
                            keys_of(line)[1],
                            0,
                            f"{type(error).__name__}: {error}",
                        )
                    )
        yield from self._tell(key, watch, alerts, count)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Handle a timer: check what is overdue."""
        watch = self._watch(key)
        yield from self._tell(
            key, watch, list(watch.expired(timerValues.getCurrentProcessingTimeInMs())), 0
        )

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _watch(self, key: Any) -> Watch:
        saved = self._saved.get() if self._saved.exists() else None
        return Watch(key[0], self._limits, None if saved is None else saved[0])

    def _tell(self, key: Any, watch: Watch, alerts: list[Alert], lines: int) -> Iterator[Any]:
        self._saved.update((watch.saved(),))
        due = watch.due()
        if due is not None:
            self._handle.registerTimer(due)
        for alert in alerts:
            yield _ROW(*alert, None, None, None, None)
        told = watch.group.state, watch.group.generation
        yield _ROW(key[0], _STATE, -1, -1, "", *told, len(watch.rebalances), lines)


class Board:
    """The sink: keeps the latest of everything, writes alerts and the page, tells what is new."""

    def __init__(self, out: Path, tell: Callable[[Alert], None], every_s: int = 2) -> None:
        self._out = out
        self._tell = tell
        self._every_s = every_s
        self._lines: dict[int, int] = {}
        self.groups: dict[str, tuple[str, int, int]] = {}
        self.alerts: list[Alert] = []
        (out / "alerts").mkdir(parents=True, exist_ok=True)

    @property
    def lines(self) -> int:
        """Return the number of lines read so far; a repeated batch counts once."""
        return sum(self._lines.values())

    def take(self, batch: Any, number: int) -> None:
        """Take one batch, as `foreachBatch` calls it."""
        rows = batch.collect()
        alerts = [
            Alert(row.group_id, row.kind, row.seq, row.at_ms, row.text)
            for row in rows
            if row.kind != _STATE
        ]
        self._lines[number] = sum(row.lines for row in rows if row.kind == _STATE)
        for row in rows:
            if row.kind == _STATE:
                if row.state:
                    self.groups[row.group_id] = (row.state, row.generation, row.rebalances)
        alerts.sort(key=lambda alert: (alert.at_ms, alert.seq))
        self.alerts = [*self.alerts, *alerts][-_SHOWN:]
        if alerts:
            columns = {name: [getattr(alert, name) for alert in alerts] for name in Alert._fields}
            self._replace(
                self._out / "alerts" / f"batch={number:08d}.parquet",
                lambda path: pq.write_table(pa.table(columns), path),
            )
        page = live_page(self.groups, self.alerts, self.lines, self._every_s)
        self._replace(self._out / "live.html", lambda path: path.write_text(page, encoding="utf-8"))
        for alert in alerts:
            self._tell(alert)

    @staticmethod
    def _replace(path: Path, write: Callable[[Path], object]) -> None:
        hidden = path.with_name(f".{path.name}")
        write(hidden)
        os.replace(hidden, path)


class Follower:
    """Follows a log until `stop`. Call `poll` now and then.

    Spark gives a Python worker of a streaming query ten seconds to start, whatever its settings. On
    a machine that is busier than that the query ends; `poll` begins it again, from its checkpoint,
    so that nothing is lost.
    """

    def __init__(
        self,
        spark: Any,
        log: str,
        board: Board,
        checkpoint: Path,
        limits: Limits = Limits(),
        client: Mapping[str, str] | None = None,
    ) -> None:
        """`client`: settings of Kafka's consumer, where it asks for more than a connection."""
        self._start: Callable[[], Any] = lambda: follow(
            spark, log, board, checkpoint, limits, client
        )
        self._query = self._start()

    def poll(self) -> None:
        """Begin again what ended because no worker came up in time. Raises what the query ended in
        otherwise."""
        if self._query.isActive:
            return
        error = self._query.exception()
        if error is not None and not any(sign in str(error) for sign in _TOO_LATE):
            raise error
        self._query = self._start()

    def stop(self) -> None:
        """End; a batch that is being worked on will be repeated by who follows the log next."""
        self._query.stop()


def follow(
    spark: Any,
    log: str,
    board: Board,
    checkpoint: Path,
    limits: Limits = Limits(),
    client: Mapping[str, str] | None = None,
) -> Any:
    """Begin to follow a log, a file or `kafka://HOST:PORT/TOPIC`; the streaming query."""
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", _ROCKS)
    if is_topic(log):
        lines = lines_of(spark, log, client or {})
    else:
        spark.dataSource.register(LogSource)
        lines = spark.readStream.format(NAME).load(str(Path(log).absolute()))
    watched = lines.groupBy("group_id").transformWithState(
        statefulProcessor=WatchProcessor(limits),
        outputStructType=OUTPUT,
        outputMode="Append",
        timeMode="ProcessingTime",
    )
    writer = watched.writeStream.foreachBatch(board.take).option(
        "checkpointLocation", str(checkpoint)
    )
    return writer.trigger(processingTime="500 milliseconds").start()
