"""Following a log: what Spark tells of it is what plain watches tell, however the log grows and
across restarts; timers tell absence."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coordinator.events.line import Line
from coordinator.lab.pipeline.alerts import Alert, Limits, Watch
from coordinator.lab.pipeline.spark.live import Board, Follower
from coordinator.lab.pipeline.spark.tail import LogStreamReader, keys_of
from tests.lab.pipeline.kit import simulated
from tests.lines import whole

DEADLINE_S = 600
LIMITS = Limits(storm=1, flapping=1, window_ms=10_000, stuck_join_ms=3_600_000)


def plain(text: str) -> list[Alert]:
    """What plain watches tell of a log."""
    watches: dict[str, Watch] = {}
    found: list[Alert] = []
    for raw in text.splitlines():
        line = Line.of(json.loads(raw))
        group = line.group or ""
        found.extend(watches.setdefault(group, Watch(group, LIMITS)).see(line, 0))
    return found


def awaited(follower: Follower, happened: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not happened():
        follower.poll()
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def in_files(out: Path) -> list[Alert]:
    return [
        Alert(**row)
        for path in sorted((out / "alerts").iterdir())
        for row in pq.read_table(path, partitioning=None).to_pylist()
    ]


def test_a_log_is_followed_across_a_restart_and_what_is_stuck_is_told(
    spark: Any, tmp_path: Path
) -> None:
    text = simulated("crash_loop", 2)
    expected = plain(text)
    assert len(expected) > 3
    half = len(text) // 2  # in the midst of a line
    log, out = tmp_path / "run.jsonl", tmp_path / "out"
    told: list[Alert] = []
    board = Board(out, told.append)
    follower = Follower(spark, str(log), board, tmp_path / "checkpoint", LIMITS)
    try:
        log.write_text(text[:half])
        awaited(follower, lambda: board.lines == text[:half].count("\n"))
    finally:
        follower.stop()
    before = plain(text[: text.rindex("\n", 0, half) + 1])
    assert sorted(in_files(out)) == sorted(before) and set(told) == set(before)
    stuck = whole(
        {"seq": 10**6, "at_ms": 10**7, "run": "2", "type": "RebalanceStarted", "group": "other"}
    )
    with log.open("a") as file:
        file.write(text[half:])
        file.write(json.dumps(stuck) + "\nno line\n")
    board = Board(out, told.append)
    follower = Follower(
        spark, str(log), board, tmp_path / "checkpoint", LIMITS._replace(stuck_join_ms=500)
    )
    try:
        awaited(
            follower,
            lambda: (
                {"stuck join phase", "unreadable line"}
                <= {alert.kind for alert in told if alert.group in ("other", "")}
            ),
        )
    finally:
        follower.stop()
    later = ("stuck join phase", "unreadable line")
    found = sorted(
        alert for alert in in_files(out) if alert.kind not in later and alert.group != "other"
    )
    assert found == sorted(expected)
    stuck_joins = [alert for alert in in_files(out) if alert.kind == "stuck join phase"]
    assert [(alert.group, alert.seq) for alert in stuck_joins if alert.group == "other"] == [
        ("other", 10**6)
    ]
    assert [alert.group for alert in in_files(out) if alert.kind == "unreadable line"] == [""]
    page = (out / "live.html").read_text()
    assert "stuck join phase" in page and "PreparingRebalance" in page and "Stable" in page


def test_offsets_end_after_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    reader = LogStreamReader(str(log))
    start = reader.initialOffset()
    assert reader.latestOffset(start, None) == start and reader.partitions(start, start) == []
    first, second, third = (
        json.dumps(whole(each)) + "\n"
        for each in (
            {"stream": "run", "type": "RunStarted"},
            {"seq": 1, "group": "g", "type": "MemberJoined"},
            {"seq": 2, "stream": "run", "type": "RunStarted"},
        )
    )
    log.write_text(first + second + third[:30])
    end = reader.latestOffset(start, None)
    assert end == {"bytes": len(first + second)}
    (part,) = reader.partitions(start, end)
    assert list(reader.read(part)) == [("", 0, "", 1), ("g", 1, second.strip(), 1)]
    assert reader.latestOffset(end, None) == end
    with log.open("a") as file:
        file.write(f"{third[30:]}no line\n{second}{second}")
    (part,) = reader.partitions(end, reader.latestOffset(end, None))
    assert list(reader.read(part)) == [("", 2, "no line", 2), ("g", 1, second + second.strip(), 2)]
    log.write_text("")
    with pytest.raises(ValueError, match="this is another log"):
        reader.latestOffset(end, None)
    assert keys_of("[]") == ("", -1, True) == keys_of("x")
