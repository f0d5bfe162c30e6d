"""What live groups go through costs what it costs by the words of their members: gaps, moves and
recoveries fall into their windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.curve_ledger import Cost, Ledger
from benchmarks.curve_live import WAYS, main, write_rows
from coordinator.lab.pipeline.curve import EVENTS, MEASURED, PROTOCOLS, CurvePoint
from coordinator.lab.pipeline.curve_live import LIVE_COLUMNS, LiveRun, live_text, read_live
from coordinator.lab.pipeline.curve_page import curve_page
from coordinator.lab.statistics import quantile

A, B = ("t", 0), ("t", 1)


def test_a_killed_members_partitions_are_free_until_another_has_them() -> None:
    ledger = Ledger()
    ledger.assigned("m1", [A], 100)
    ledger.assigned("m2", [B], 110)
    ledger.looked(settled=True, generation=1, at_ms=110)
    ledger.ended("m2", 1000)
    ledger.looked(settled=False, generation=1, at_ms=1000)
    ledger.looked(settled=True, generation=2, at_ms=46_000)
    ledger.assigned("m1", [B], 46_000)
    assert ledger.cost(0, 1000) == Cost(110, 0, 0)
    assert ledger.cost(1000, 60_000) == Cost(45_000, 45_000, 1)
    assert ledger.cost(60_000, 90_000) == Cost(0, 0, 0)
    assert ledger.cost(500, 2000) == Cost(None, 1000, 0)


def test_the_same_owner_again_is_no_move_and_the_same_generation_no_recovery() -> None:
    ledger = Ledger()
    ledger.assigned("m1", [A, B], 0)
    ledger.looked(settled=True, generation=3, at_ms=1)
    ledger.gone("m1", [A, B], 500)
    ledger.looked(settled=False, generation=3, at_ms=500)
    ledger.assigned("m1", [A, B], 700)
    ledger.looked(settled=True, generation=3, at_ms=700)
    assert ledger.cost(400, 900) == Cost(0, 400, 0)
    ledger.assigned("m2", [A], 1000)  # its new owner is told first
    ledger.gone("m1", [A], 1010)
    assert ledger.owned == 2 and ledger.cost(900, 2000) == Cost(0, 0, 1)
    ledger.gone("m2", [A], 2500)
    assert ledger.cost(2000, 3000).unavailable_partition_ms == 500 and ledger.owned == 1


def test_rows_of_sizes_and_runs_that_are_not_measured_stay(tmp_path: Path) -> None:
    out = tmp_path / "live.csv"

    def rows(members: int, run: int, broker: str) -> list[LiveRun]:
        return [
            LiveRun(protocol, members, run, event, (1, None, 2), broker)
            for protocol in WAYS
            for event in EVENTS
        ]

    for members, run, broker in ((50, 1, "one"), (10, 1, "one"), (50, 2, "one"), (50, 1, "two")):
        write_rows(out, rows(members, run, broker))
    found = read_live(out.read_text())
    assert [(row.members, row.run, row.broker) for row in found[:: len(WAYS) * len(EVENTS)]] == [
        (10, 1, "one"),
        (50, 1, "two"),
        (50, 2, "one"),
    ]
    assert set(WAYS) == set(PROTOCOLS) and {row.values for row in found} == {(1, None, 2)}
    assert live_text(reversed(found)) != "" and read_live(live_text(found)) == found


def test_the_page_has_what_was_measured_beside_the_simulation() -> None:
    points = [
        CurvePoint(
            protocol,
            10,
            event,
            measure.column,
            quantile([each / measure.scale for each in (1.0, 2.0, 3.0)], 0.5),
            1 / measure.scale,
            3 / measure.scale,
        )
        for protocol in PROTOCOLS
        for event in EVENTS
        for measure in MEASURED
    ]
    rows = [
        LiveRun("eager range", 10, 1, "crash", (47_500, 2000, 0), "Apache Kafka 4.4.0"),
        LiveRun("eager range", 10, 2, "crash", (2500, 2000, 2), "Apache Kafka 4.4.0"),
        LiveRun("eager range", 10, 1, "leave", (None, 2000, 2), "Apache Kafka 4.4.0"),
    ]
    page = curve_page(points, "make curve", rows)
    assert "| crash, 10 | 2 (1 to 3) / 47.5, 2.5 | 2 (1 to 3) / – |" in page
    assert "| leave, 10 | 2 (1 to 3) / not settled |" in page
    assert "this project's members on Apache Kafka 4.4.0" in page
    assert [line for line in page.splitlines() if line.startswith("Of ")] == [
        f"Of 3 live figures {told} lie between the simulations' 5 % and 95 %, {others}."
        for told, others in (
            (1, "0 below and 2 above"),
            (3, "0 below and 0 above"),
            (2, "1 below and 0 above"),
        )
    ]
    assert "## Beside a real broker" not in curve_page(points, "make curve")


@pytest.mark.parametrize("text", ["", "a,b\n", f"{','.join(LIVE_COLUMNS)}\n1,2\n"])
def test_what_is_no_live_file(text: str) -> None:
    with pytest.raises(ValueError, match=r"live\.csv"):
        read_live(text)


def test_sizes_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sizes", "5"]) == 2 and main(["--sizes", "x"]) == 2
    assert "whole numbers from 10 on" in capsys.readouterr().err
