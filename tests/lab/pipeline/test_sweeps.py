"""Sweep files and their cells: what varies, what is sampled, what a simulation costs, and what is
wrong with a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator.events import Line
from coordinator.lab.pipeline.fold.run import RunFold
from coordinator.lab.pipeline.schemas import TABLES, Row
from coordinator.lab.pipeline.sweeps import (
    KEEPS,
    Cell,
    SweepError,
    cells,
    read_sweep,
    replay_command,
    run_cell,
)
from coordinator.lab.pipeline.without_spark import Tables
from coordinator.lab.simulator.files import catalogue

from .kit import rows

SWEEP = """
scenario = "one_crash_one_join"
seeds = 3
set = ["duration=2m"]
[vary]
assignor = ["range", "cooperative-sticky"]
"members.app.config.session.timeout.ms" = [10000, 20000]
"""


def a_file(folder: Path, text: str) -> str:
    path = folder / "sweep.toml"
    path.write_text(text)
    return str(path)


def simulated(cell: Cell, text: str, **more: Any) -> Tables:
    tables: Tables = {name: [] for name in TABLES}
    run_cell(cell, "one_crash_one_join", text, lambda table, row: tables[table].append(row), **more)
    return tables


def test_a_grid(tmp_path: Path) -> None:
    sweep = read_sweep(a_file(tmp_path, SWEEP))
    assert [variant.name for variant in sweep.variants] == [
        f"assignor={assignor} members.app.config.session.timeout.ms={timeout}"
        for assignor in ("range", "cooperative-sticky")
        for timeout in (10000, 20000)
    ]
    assert sweep.variants[0].settings == (
        "duration=2m",
        "members.app.assignor=range",
        "members.app.config.session.timeout.ms=10000",
    )
    every = cells(sweep)
    assert [cell.number for cell in every] == list(range(12))
    assert len({cell.cell_id for cell in every}) == 12
    assert cells(read_sweep(a_file(tmp_path, SWEEP))) == every
    other = cells(read_sweep(a_file(tmp_path, SWEEP.replace("seeds = 3", "seeds = [3, 4]"))))
    assert {cell.cell_id for cell in every} & {cell.cell_id for cell in other} == {
        cell.cell_id for cell in every if cell.seed == 3
    }


def test_what_is_varied_settles_what_is_set(tmp_path: Path) -> None:
    text = """
scenario = "rolling_surge"
set = ["members.app.protocol=consumer"]
[vary]
assignor = ["uniform", "range"]
"""
    sweep = read_sweep(a_file(tmp_path, text))
    assert [variant.name for variant in sweep.variants] == ["assignor=uniform", "assignor=range"]
    with pytest.raises(SweepError, match="coordinators have no assignor cooperative-sticky"):
        read_sweep(a_file(tmp_path, text.partition("[vary]")[0]))


def test_a_sample_of_a_grid(tmp_path: Path) -> None:
    grid = read_sweep(a_file(tmp_path, SWEEP)).variants
    sampled = read_sweep(a_file(tmp_path, f"{SWEEP}[sample]\nsize = 2\nseed = 5\n")).variants
    assert len(sampled) == 2 and sampled[0] == grid[0] and set(sampled) < set(grid)
    larger = read_sweep(a_file(tmp_path, f"{SWEEP}[sample]\nsize = 9\n"))
    assert larger.variants == grid
    assert f"sample: size = 9, but there are only {len(grid)} combinations" in larger.note
    assert read_sweep(a_file(tmp_path, f"{SWEEP}[sample]\nsize = {len(grid)}\n")).note == ""


def test_a_sample_of_a_grid_that_nobody_could_make(tmp_path: Path) -> None:
    """Ten keys of forty values: 10^16 combinations."""
    keys = "".join(f'"topics.t{number}" = {list(range(1, 41))}\n' for number in range(10))
    text = f'scenario = "crash_loop"\nseeds = 2\n[vary]\n{keys}'
    sweep = read_sweep(a_file(tmp_path, f"{text}[sample]\nsize = 3\n"))
    assert len(set(sweep.variants)) == 3
    assert sweep.variants[0].settings == tuple(f"topics.t{number}=1" for number in range(10))
    for variant in sweep.variants:
        assert [setting.partition("=")[0] for setting in variant.settings] == [
            f"topics.t{number}" for number in range(10)
        ]
    with pytest.raises(SweepError, match=r"simulations; 1000000 are the most: take a \[sample\]"):
        read_sweep(a_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "scenario is missing"),
        ('scenario = "crash_lop"', "did you mean crash_loop"),
        ('scenario = "no/such.toml"', "No such file"),
        ("scenario = ", "a sweep is a TOML file"),
        ('scenario = "crash_loop"\nvari = 1', "vari is no key of a sweep"),
        ('scenario = "crash_loop"\nkeep = "all"', "one of metrics, tables, logs"),
        ('scenario = "crash_loop"\nkeep = []', "one of metrics, tables, logs"),
        ('scenario = "crash_loop"\nseeds = 0', "give how many"),
        ('scenario = "crash_loop"\nseeds = [5, 1]', "give how many"),
        ('scenario = "crash_loop"\nset = "duration=1m"', "give an array of texts"),
        ('scenario = "crash_loop"\nset = ["durration=1m"]', "durration"),
        ('scenario = "crash_loop"\n[vary]\nassignor = "range"', "give an array of values"),
        ('scenario = "crash_loop"\n[vary]\nassignor = ["rnage"]', "rnage"),
        (
            'scenario = "crash_loop"\n[vary]\nassignor = ["range", "range"]',
            "vary: assignor: range is named twice",
        ),
        (
            'scenario = "crash_loop"\nset = ["duration=3m"]\n[windows]\nlate = "3m"',
            "late = '3m': a simulation is over by then: it lasts 180",
        ),
        ('scenario = "crash_loop"\n[sample]\nsise = 3', "give .sample. with size"),
        ('scenario = "crash_loop"\nseeds = 2000000', "1000000 simulations are the most"),
        (
            'scenario = "crash_loop"\nseeds = [0, 9000000000000000000]',
            "9000000000000000001 seeds; 1000000 simulations are the most",
        ),
        (
            'scenario = "crash_loop"\nseeds = 600000\n[vary]\nassignor = ["range", "sticky"]',
            "1200000 simulations; 1000000 are the most",
        ),
        (
            'scenario = "crash_loop"\nvary = ["assignor"]',
            "give .vary. with keys and an array of values",
        ),
        (
            'scenario = "crash_loop"\n[vary]\n'
            + "".join(f'"topics.t{number}" = {list(range(1, 41))}\n' for number in range(12)),
            "vary less",
        ),
    ],
)
def test_files_that_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SweepError, match=message):
        read_sweep(a_file(tmp_path, text))
    with pytest.raises(SweepError, match="cannot be read"):
        read_sweep(str(tmp_path / "nothing.toml"))


def test_a_cell(tmp_path: Path) -> None:
    text = catalogue.text("one_crash_one_join")
    cell = Cell("c0ffee", 4, "v", ("duration=3m", "churn.1.at=60s"), 10, 1.0)
    path = tmp_path / "run.jsonl.gz"
    tables = simulated(cell, text, log_path=str(path))
    (own,), (run,), (metrics,) = (
        rows(tables, "cells"),
        rows(tables, "runs"),
        rows(tables, "metrics"),
    )
    assert (own["status"], own["run_id"], own["seed"], own["settings"]) == (
        "ok",
        "c0ffee#a",
        10,
        ["duration=3m", "churn.1.at=60s"],
    )
    assert (run["run_id"], run["scenario"], run["settings"]) == (
        "c0ffee#a",
        "one_crash_one_join",
        '["duration=3m", "churn.1.at=60s"]',
    )
    assert metrics["rebalances"] == len(tables["rebalances"]) and metrics["events"] == len(
        tables["events"]
    )
    assert (
        metrics["unavailable_partition_ms"] > 0
        and metrics["detected"] == 1
        and metrics["false_expiries"] == 0
    )
    again = simulated(cell, text)
    assert {name: found for name, found in again.items() if name != "cells"} == {
        n: f for n, f in tables.items() if n != "cells"
    }
    from coordinator.lab.pipeline.without_spark import tables_of

    from_log, counts = tables_of([str(path)])
    assert counts.quarantined == 0
    assert [row[1:] for row in from_log["rebalances"]] == [row[1:] for row in tables["rebalances"]]


def test_a_false_expiry_is_one(tmp_path: Path) -> None:
    """A process that is paused for longer than its session expires, and nobody killed it."""
    text = catalogue.text("long_gc_pause")
    tables: Tables = {name: [] for name in TABLES}
    run_cell(
        Cell("x", 0, "", ("duration=4m",), 1, 1.0),
        "long_gc_pause",
        text,
        lambda table, row: tables[table].append(row),
    )
    (metrics,) = rows(tables, "metrics")
    assert metrics["false_expiries"] >= 1 and metrics["detected"] == 0


def test_a_simulation_that_fails_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise AssertionError("time stands still")

    monkeypatch.setattr("coordinator.lab.pipeline.sweeps.run_scenario", broken)
    tables = simulated(Cell("x", 0, "", (), 1, 1.0), catalogue.text("one_crash_one_join"))
    (own,) = rows(tables, "cells")
    assert (own["status"], own["run_id"], own["problem"]) == (
        "failed",
        None,
        "AssertionError: time stands still",
    )
    assert not any(found for name, found in tables.items() if name != "cells")


def test_what_must_hold_and_does_not(tmp_path: Path) -> None:
    text = catalogue.text("one_crash_one_join") + "\n"
    cell = Cell("x", 0, "", ("duration=2m", "churn.1.at=30s", "must.most_rebalances=1"), 1, 1.0)
    (own,) = rows(simulated(cell, text), "cells")
    assert (own["status"], own["problem"]) == ("broken", "most_rebalances")


def test_the_command_that_replays() -> None:
    words = list(replay_command("crash_loop", ("duration=5m",), 7))
    assert words == [
        "coordinator",
        "simulate",
        "crash_loop",
        "--seed",
        "7",
        "--set",
        "duration=5m",
        "--log",
        "run.jsonl",
    ]


def test_only_the_tables_that_are_wanted_are_emitted_and_with_the_same_rows() -> None:
    text, cell = catalogue.text("crash_loop"), Cell("x", 0, "", ("duration=2m",), 3, 1.0)
    some = ("runs", "metrics", "verdicts", "windows", "rebalances")
    windows = (("first", 0), ("second", 60_000))
    found: list[dict[str, list[Row]]] = []
    for tables in (TABLES, some):
        found.append({name: [] for name in TABLES})
        run_cell(
            cell,
            "crash_loop",
            text,
            lambda table, row: found[-1][table].append(row),
            windows=windows,
            tables=tables,
        )
    every, wanted = found
    assert all(wanted[name] == every[name] and every[name] for name in some)
    assert not any(wanted[name] for name in TABLES if name not in (*some, "cells"))
    assert [row[:-1] for row in wanted["cells"]] == [row[:-1] for row in every["cells"]]


@pytest.mark.parametrize(
    ("more", "status", "seen"),
    [
        ("", "ok", False),
        ("must.most_rebalances=1", "broken", False),
        ("must.judges=answered_once", "ok", True),
    ],
)
def test_windows_alone_are_the_same_and_need_no_lines_of_requests(
    more: str, status: str, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scenario's own bounds and judges are asked; lines about requests are not made unless a
    judge wants them."""
    text, settings = (
        catalogue.text("one_crash_one_join"),
        ("duration=4m", "churn.1.at=30s", *([more] if more else [])),
    )
    cell, windows = Cell("x", 0, "", settings, 3, 1.0), (("first", 0), ("second", 60_000))
    streams: list[set[str]] = []
    feed = RunFold.feed

    def told(self: RunFold, line: Line) -> None:
        streams[-1].add(line.stream)
        feed(self, line)

    monkeypatch.setattr(RunFold, "feed", told)
    found: list[dict[str, list[Row]]] = []
    for keep in ("tables", "windows"):
        found.append({name: [] for name in TABLES})
        streams.append(set())
        run_cell(
            cell,
            "it",
            text,
            lambda table, row: found[-1][table].append(row),
            windows=windows,
            tables=KEEPS[keep],
        )
    every, wanted = found
    assert wanted["windows"] == every["windows"] and len(wanted["windows"]) == 2
    assert {name for name in TABLES if wanted[name]} == {"runs", "windows", "cells"}
    assert (wanted["cells"][0][7], every["cells"][0][7]) == (status, status)
    assert "wire" in streams[0] and ("wire" in streams[1]) == seen


def test_what_goes_wrong_in_the_fold_fails_the_cell_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def feed(self: RunFold, line: Line) -> None:
        raise ValueError(f"no line {line.seq}")

    monkeypatch.setattr(RunFold, "feed", feed)
    rows: list[tuple[str, Row]] = []
    text = catalogue.text("crash_loop")
    run_cell(
        Cell("x", 0, "", ("duration=1m",), 3, 1.0),
        "crash_loop",
        text,
        lambda table, row: rows.append((table, row)),
    )
    ((table, row),) = rows
    assert table == "cells"
    assert row[7:9] == ("failed", "ValueError: no line 0")
