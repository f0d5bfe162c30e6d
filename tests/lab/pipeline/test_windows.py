"""Windows: what an event costs lies between its instant and the next one's, and nothing is counted
twice or left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from coordinator.events import EventLog
from coordinator.lab.pipeline.curve import (
    EVENTS,
    MEASURED,
    PROTOCOLS,
    WINDOWS,
    CurvePoint,
    curve_settings,
    curve_sweep,
)
from coordinator.lab.pipeline.curve_page import curve_page
from coordinator.lab.pipeline.curve_runs import (
    CURVE_COLUMNS,
    RUN_COLUMNS,
    STATISTICS,
    RunFigures,
    curve_text,
    points_of,
    read_runs,
    runs_text,
)
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.pipeline.sweeps import Cell, SweepError, cells, read_sweep, run_cell
from coordinator.lab.pipeline.windows import Traffic, windows_in
from coordinator.lab.pipeline.without_spark import Tables
from coordinator.lab.simulator.churn import begins_at
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.statistics import quantile

from .kit import rows

SWEEP = """
scenario = "one_crash_one_join"
seeds = 1
set = ["duration=3m", "churn.1.at=60s", "churn.1.down=60s"]
[windows]
join = "2m"
start = 0
crash = "60s"
"""


def swept(folder: Path, text: str = SWEEP) -> Tables:
    path = folder / "sweep.toml"
    path.write_text(text)
    sweep = read_sweep(str(path))
    tables: Tables = {name: [] for name in TABLES}
    for cell in cells(sweep):
        run_cell(
            cell,
            sweep.scenario,
            sweep.text,
            lambda table, row: tables[table].append(row),
            windows=sweep.windows,
        )
    return tables


def test_windows_divide_a_run(tmp_path: Path) -> None:
    tables = swept(tmp_path)
    start, crash, join = rows(tables, "windows")
    (metrics,) = rows(tables, "metrics")
    assert [(row["name"], row["from_ms"], row["to_ms"]) for row in (start, crash, join)] == [
        ("start", 0, 60_000),
        ("crash", 60_000, 120_000),
        ("join", 120_000, 180_000),
    ]
    for column in ("rebalances", "rebalancing_ms", "unavailable_partition_ms", "moved"):
        assert start[column] + crash[column] + join[column] == metrics[column], column
    assert start["recovered_ms"] > 3000  # the initial delay
    stable = [
        row["stable_ms"]
        for row in rows(tables, "rebalances")
        if 60_000 <= row["started_ms"] < 120_000
    ]
    assert crash["recovered_ms"] == max(stable) - 60_000 > 10_000  # the session had to expire
    assert crash["unavailable_partition_ms"] > join["unavailable_partition_ms"]
    assert start["extra_bytes"] == start["sent_bytes"]  # nothing was before it
    assert 0 < join["extra_bytes"] < join["sent_bytes"]


def test_looking_at_the_traffic_changes_nothing() -> None:
    scenario = read_scenario(catalogue.text("one_crash_one_join"), "x", ("duration=90s",))
    logs = []
    for windows in ((), (("a", 10_000), ("b", 20_000))):
        log = EventLog(seed=1)
        traffic = Traffic(windows)
        world = run_scenario(scenario, 1, log, traffic.watch)
        logs.append(list(log.events()))
        assert world.sent_bytes() == traffic.sent(0, 90_000) > 10_000
        assert (
            traffic.sent(0, 10_000) + traffic.sent(10_000, 20_000) + traffic.sent(20_000, 90_000)
            == world.sent_bytes()
            or not windows
        )
    assert logs[0] == logs[1]


def test_windows_of_a_consumer_group_count_its_epochs(tmp_path: Path) -> None:
    common = '"churn.1.down=60s", "members.app.protocol=consumer", "members.app.assignor=uniform"'
    tables = swept(tmp_path, SWEEP.replace('"churn.1.down=60s"', common))
    _, crash, join = windows = rows(tables, "windows")
    (metrics,) = rows(tables, "metrics")
    epochs = rows(tables, "epochs")
    assert [window["rebalances"] for window in windows] == [0, 0, 0]
    for column in ("epochs", "settling_ms", "moved", "unavailable_partition_ms"):
        assert sum(window[column] for window in windows) == metrics[column], column
    assert crash["epochs"] >= 1 and crash["settling_ms"] > 0
    settled = [
        row["settled_ms"]
        for row in epochs
        if 60_000 <= row["started_ms"] < 120_000 and row["settled_ms"] is not None
    ]
    assert (
        crash["recovered_ms"] == max(settled) - 60_000 > 40_000
    )  # the coordinator's session timeout had to pass
    assert join["recovered_ms"] < crash["recovered_ms"]


def as_the_tables_tell(tables: Tables, end_ms: int) -> list[dict[str, Any]]:
    """What table `windows` has to say, counted from the others."""
    held: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows(tables, "ownership", view="member"):
        held.setdefault((row["group_id"], row["topic"], row["partition"]), []).append(row)
    gaps: list[tuple[int, int]] = []
    for intervals in held.values():
        intervals.sort(key=lambda row: row["from_seq"])
        begins = [*(row["from_ms"] for row in intervals[1:]), end_ms]
        gaps += [
            (row["to_ms"], begin)
            for row, begin in zip(intervals, begins, strict=True)
            if row["to_ms"] is not None
        ]
    told = []
    for window in rows(tables, "windows"):
        begin, end = window["from_ms"], window["to_ms"]
        begun = [row for row in rows(tables, "rebalances") if begin <= row["started_ms"] < end]
        bumped = [row for row in rows(tables, "epochs") if begin <= row["started_ms"] < end]
        lengths = [row["duration_ms"] for row in begun if row["duration_ms"] is not None]
        calm = [
            row[column]
            for table, column in ((begun, "stable_ms"), (bumped, "settled_ms"))
            for row in table
            if row[column] is not None
        ]
        told.append(
            window
            | {
                "rebalances": len(begun),
                "epochs": len(bumped),
                "recovered_ms": max(calm, default=begin) - begin,
                "rebalancing_ms": sum(lengths),
                "longest_rebalance_ms": max(lengths, default=0),
                "settling_ms": sum(
                    row["settled_ms"] - row["started_ms"]
                    for row in bumped
                    if row["settled_ms"] is not None
                ),
                "unavailable_partition_ms": sum(
                    max(min(to, end) - max(since, begin), 0) for since, to in gaps
                ),
                "moved": sum(row["moved"] for row in (*begun, *bumped)),
            }
        )
    return told


LONG = {
    "broker_crash_acks": "coordinator_crash",
    "exactly_once_pipeline": "commit_crash",
    "right_taken_away": "failing_commits",
    "share_poison_record": "share_lock_expiry",
    "share_workers_crash": "share_lock_expiry",
}
"""Scenarios that take as long as all others together, and one of the same kind that stands for each in
`make test`."""


def test_what_stands_for_a_long_scenario_is_played() -> None:
    assert {*LONG, *LONG.values()} <= {*catalogue.names()}
    assert not LONG.keys() & {*LONG.values()}


@pytest.mark.parametrize(
    ("name", "first_ms"),
    [
        *(
            pytest.param(name, 5_000, marks=pytest.mark.thorough if name in LONG else ())
            for name in catalogue.names()
        ),
        ("crash_loop", 0),
        ("migration_to_consumer", 0),
        *(
            pytest.param(name, 0, marks=pytest.mark.thorough)
            for name in catalogue.names()
            if name not in ("crash_loop", "migration_to_consumer")
        ),
    ],
)
@pytest.mark.unmeasured
def test_windows_say_what_the_tables_say(name: str, first_ms: int) -> None:
    scenario = read_scenario(catalogue.text(name), name, ())
    end_ms = min(scenario.duration_ms, 300_000)
    windows = (("a", first_ms), ("b", end_ms // 4), ("c", end_ms // 2), ("d", end_ms // 2 + 7_001))
    cell, tables = (
        Cell("x", 0, "", (f"duration={end_ms}ms",), 3, 1.0),
        cast(Tables, {table: [] for table in TABLES}),
    )
    run_cell(
        cell,
        name,
        catalogue.text(name),
        lambda table, row: tables[table].append(row),
        windows=windows,
    )
    found = rows(tables, "windows")
    assert found == as_the_tables_tell(tables, end_ms) and len(found) == 4
    if scenario.members:  # of share groups windows tell nothing
        assert sum(row["rebalances"] + row["epochs"] for row in found) > 0 or first_ms


@pytest.mark.parametrize("text", ["windows = 3", '[windows]\na = "soon"'])
def test_windows_that_cannot_be(tmp_path: Path, text: str) -> None:
    with pytest.raises(SweepError, match="windows"):
        swept(tmp_path, f'scenario = "crash_loop"\n{text}\n')


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
@pytest.mark.parametrize("members", [10, 50, 10_000])
def test_the_curves_scenario_has_the_size_that_is_asked_for(
    project_root: Path, protocol: str, members: int
) -> None:
    text = (project_root / "docs" / "curve" / "scenario.toml").read_text()
    scenario = read_scenario(text, "curve", curve_settings(protocol, members))
    assert sum(kind.count for kind in scenario.members) == members
    assert sum(scenario.topics.values()) == 2 * members and len(scenario.topics) == 10
    begins = [begin for _, begin in windows_in(WINDOWS, scenario, 7)]
    assert begins[1:] == [begins_at(scenario, 7, number) for number in range(4)]
    assert all(
        churn["at"] <= begin <= churn["at"] + 15_000
        for begin, churn in zip(begins[1:], scenario.churn, strict=True)
    )
    rolling = scenario.churn[-1]
    steps = -(-scenario.members[1].count // rolling["at_once"])
    assert (
        1 <= steps <= 5
        and rolling["at"] + steps * rolling["every"] + 60_000 <= scenario.duration_ms
    )


def test_the_curves_page() -> None:
    values = [1.0, 2.0, 3.0]
    points = [
        CurvePoint(
            protocol,
            size,
            event,
            measure.column,
            quantile([each / measure.scale for each in (values if size < 500 else [7.0])], 0.5),
            1 / measure.scale,
            3 / measure.scale,
        )
        for protocol in PROTOCOLS
        for size in (10, 20, 500)
        for event in EVENTS
        for measure in MEASURED
    ]
    page = curve_page(points, "make curve SIZES=10,20")
    assert (
        "10, 20 and 500 members" in page
        and "With 10 and 20 members there are 3 seeds" in page
        and "75.0%" in page
    )
    assert "With 500 members it is one simulation of each protocol" in page and page.count(
        "| 500 | 7 | 7 |"
    ) == len(EVENTS) * len(MEASURED)
    assert page.count("| 10 | 2 (1 to 3) |") == len(EVENTS) * len(MEASURED)
    assert "whose coordinator assigns by `uniform`" in page and page.count(
        "| KIP-848, uniform |"
    ) == len(EVENTS) * len(MEASURED)
    assert "`make curve SIZES=10,20`" in page
    sweep = curve_sweep("text", (10, 20), 3, ("eager range",))
    assert [variant.name for variant in sweep.variants] == [
        "eager range: 10",
        "eager range: 20",
    ] and sweep.windows == WINDOWS


def test_curve_csv_has_the_columns_of_runs_csv_in_the_same_units() -> None:
    runs = [
        RunFigures(f"{seed}", "eager range", 10, seed, "join", (seed * 1000, 2000, 3, 4000))
        for seed in range(1, 22)
    ]
    head, *rows = [line.split(",") for line in curve_text(points_of(runs)).splitlines()]
    assert tuple(head) == CURVE_COLUMNS
    measures = [measure.column for measure in MEASURED]
    assert [column for column in RUN_COLUMNS if column in measures] == measures
    assert [column for column in CURVE_COLUMNS if column in measures] == measures
    found = {row[3]: row[4:8] for row in rows}
    assert list(found) == list(STATISTICS)
    assert found["median"] == ["11000", "2000", "3", "4000"]
    assert (found["p5"][0], found["p95"][0]) == ("2000", "20000")
    assert (found["low"][0], found["high"][0]) == ("6000", "16000")
    assert {row[8] for row in rows} == {"21"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,eager rnage,10,1,join,1,2,3,4", "line 3: eager rnage, join: no protocol"),
        ("x,eager range,10,1,joins,1,2,3,4", "line 3: eager range, joins: no protocol"),
        ("a,eager range,10,1,join,1,2,3,4", "told before"),
        (
            "x,eager range,10,1,join,1,2,3,many",
            "line 3: members, seed and figures are whole numbers",
        ),
        ("x,eager range,10,1,join,1,2,3", "not a runs.csv of the curve"),
    ],
)
def test_a_damaged_file_of_single_simulations_says_where(row: str, message: str) -> None:
    run = RunFigures("a", "eager range", 10, 1, "join", (1, 2, 3, 4))
    assert read_runs(runs_text([run])) == [run]
    with pytest.raises(ValueError, match=message):
        read_runs(runs_text([run]) + row + "\n")


def test_a_window_begins_when_a_piece_of_churn_does(tmp_path: Path) -> None:
    text = SWEEP.replace('crash = "60s"', 'crash = "churn 1"').replace(
        '"churn.1.at=60s"', '"churn.1.at=60s", "churn.1.within=20s"'
    )
    tables = swept(tmp_path, text)
    start, crash, _ = rows(tables, "windows")
    text = catalogue.text("one_crash_one_join")
    scenario = read_scenario(text, "x", ("duration=3m", "churn.1.at=60s", "churn.1.within=20s"))
    drawn = begins_at(scenario, 1, 0)
    assert start["to_ms"] == crash["from_ms"] == drawn > 60_000
    assert (start["rebalances"], crash["rebalances"]) == (1, 1)


@pytest.mark.parametrize(
    ("begin", "settings", "said"),
    [
        ("churn 2", "", "the scenario has 1 pieces of churn"),
        ("churn 0", "", 'such as "2m", or a piece of churn, such as "churn 1"'),
        (
            "churn 1",
            '"churn.1.at=0", "churn.1.when=stable", ',
            "it waits for 'stable': give one that has `at`",
        ),
    ],
)
def test_a_piece_of_churn_that_is_no_beginning(
    tmp_path: Path, begin: str, settings: str, said: str
) -> None:
    text = SWEEP.replace('crash = "60s"', f'crash = "{begin}"')
    if settings:
        text = text.replace('"churn.1.at=60s", ', settings)
    with pytest.raises(SweepError, match=said):
        swept(tmp_path, text)
