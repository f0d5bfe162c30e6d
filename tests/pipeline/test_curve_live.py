"""What live groups go through costs what it costs by the words of their members: gaps, moves and
recoveries fall into their windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.curve_ledger import Cost, Ledger
from benchmarks.curve_live import WAYS, main, rows_of, write_rows
from coordinator.common.statistics import quantile
from coordinator.pipeline.curve import (
    EVENTS,
    LIVE_COLUMNS,
    LIVE_MEASURES,
    MEASURED,
    PROTOCOLS,
    CurvePoint,
    curve_page,
    read_live,
)

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


def test_rows_of_sizes_that_are_not_measured_stay(tmp_path: Path) -> None:
    out = tmp_path / "live.csv"
    ledgers = {protocol: Ledger() for protocol in WAYS}
    write_rows(out, rows_of(ledgers, 50, "one"))
    write_rows(out, rows_of(ledgers, 10, "one"))
    write_rows(out, rows_of(ledgers, 50, "two"))
    points = read_live(out.read_text())
    each = len(WAYS) * len(EVENTS) * len(LIVE_MEASURES)
    assert [(point.members, point.broker) for point in points[::each]] == [(10, "one"), (50, "two")]
    assert set(WAYS) == set(PROTOCOLS) and {
        point.value for point in points if point.measure == "recovered_ms"
    } == {None}


def test_the_page_has_what_was_measured_beside_the_simulation() -> None:
    points = [
        CurvePoint(protocol, 10, event, measure.column, quantile([1.0, 2.0, 3.0], 0.5))
        for protocol in PROTOCOLS
        for event in EVENTS
        for measure in MEASURED
    ]
    rows = [
        "eager range,10,crash,recovered_ms,47500,Apache Kafka 4.3.1",
        "eager range,10,leave,recovered_ms,,Apache Kafka 4.3.1",
    ]
    page = curve_page(points, "make curve", read_live("\n".join([",".join(LIVE_COLUMNS), *rows])))
    assert (
        "| crash, 10 | 2 / 47.5 | 2 / – |" in page
        and "| leave, 10 | 2 / not settled |" in page
        and "Apache Kafka 4.3.1" in page
    )
    assert "## Beside a real broker" not in curve_page(points, "make curve")


@pytest.mark.parametrize("text", ["", "a,b\n", f"{','.join(LIVE_COLUMNS)}\n1,2\n"])
def test_what_is_no_live_file(text: str) -> None:
    with pytest.raises(ValueError, match=r"live\.csv"):
        read_live(text)


def test_sizes_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sizes", "5"]) == 2 and main(["--sizes", "x"]) == 2
    assert "whole numbers from 10 on" in capsys.readouterr().err
