"""Measurements on a real broker, read from `docs/curve/live.csv`: a row for each event of each
run of a group, with the columns and units of `runs.csv`. `benchmarks.curve_live` measures and
writes."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Final, NamedTuple

LIVE_MEASURES: Final = ("recovered_ms", "unavailable_partition_ms", "moved")
"""The measures taken on a real broker, too."""
LIVE_COLUMNS: Final = ("protocol", "members", "run", "event", *LIVE_MEASURES, "broker")


class LiveRun(NamedTuple):
    """The cost of one event to one group, measured live. `values`: one for each of
    LIVE_MEASURES, as in table `windows`; None: the group did not settle in time."""

    protocol: str
    members: int
    run: int
    event: str
    values: tuple[int | None, ...]
    broker: str


def read_live(text: str) -> list[LiveRun]:
    """Read the rows of a live.csv. Raises ValueError for another file."""
    lines = list(csv.reader(text.splitlines()))
    if (
        not lines
        or tuple(lines[0]) != LIVE_COLUMNS
        or any(len(line) != len(LIVE_COLUMNS) for line in lines)
    ):
        raise ValueError(f"not a live.csv: its columns are {','.join(LIVE_COLUMNS)}")
    return [
        LiveRun(
            protocol,
            int(members),
            int(run),
            event,
            tuple(int(value) if value else None for value in values),
            broker,
        )
        for protocol, members, run, event, *values, broker in lines[1:]
    ]


def live_text(rows: Iterable[LiveRun]) -> str:
    """Return a live.csv, ordered by members and run."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(LIVE_COLUMNS)
    for row in sorted(rows, key=lambda row: (row.members, row.run)):
        values = ["" if value is None else value for value in row.values]
        writer.writerow((*row[:4], *values, row.broker))
    return out.getvalue()
