"""Tables `deliveries` and `delivery_counts`, beside plain counts over raw lines and beside stories of a
few lines (SH-ACK-1, SH-ACK-2, SH-ACK-4)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from coordinator.events.line import Line
from coordinator.history.world.shares.deliveries import Deliveries, Delivery
from coordinator.lab.simulator.comparing.share_measures import measure_shares
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from tests.lab.pipeline.kit import EPOCH_MS, EventLog, folded, rows
from tests.lines import line_from

AT = {"stream": "share", "group": "g", "topic": "t", "partition": 0, "broker": 1}


def given(seq: int, first: int, last: int, member: str = "a", count: int = 1) -> Line:
    """RecordsAcquired of one range."""
    of = {"first_offset": first, "last_offset": last, "state": "Acquired", "delivery_count": count}
    return share_line("RecordsAcquired", seq, member=member, records=[of])


def share_line(kind: str, seq: int, **fields: Any) -> Line:
    return line_from({**AT, "type": kind, "seq": seq, "at_ms": seq, **fields})


def said(seq: int, *words: tuple[int, int, str, str]) -> Line:
    """RecordsAcknowledged: ranges with acknowledgement and state."""
    records = [
        {"first_offset": a, "last_offset": b, "acknowledgement": word, "state": state}
        for a, b, word, state in words
    ]
    return share_line("RecordsAcknowledged", seq, records=records)


def told(*lines: Line) -> list[tuple[int, int, str, int | None]]:
    """First, last, outcome and time held of each delivery."""
    found: list[Delivery] = []
    deliveries = Deliveries(found.append)
    for line in lines:
        deliveries.see(line)
    deliveries.finish()
    return [(one.first, one.last, one.outcome, one.held_ms) for one in found]


def test_a_delivery_ends_in_pieces() -> None:
    """SH-ACK-1: each by its own line; what nobody speaks of stays open."""
    assert told(
        given(1, 0, 9),
        said(5, (2, 3, "accept", "Acknowledged"), (8, 9, "release", "Available")),
        given(6, 8, 9, "b", 2),
        said(8, (0, 1, "reject", "Archived"), (4, 4, "gap", "Archived"), (8, 8, "accept", "")),
    ) == [
        (2, 3, "accepted", 4),
        (8, 9, "released", 4),
        (0, 1, "rejected", 7),
        (4, 4, "gap", 7),
        (8, 8, "accepted", 2),
        (5, 7, "open", None),
        (9, 9, "open", None),
    ]


def test_renewed_locks_and_locks_that_end() -> None:
    """SH-ACK-2, SH-ACK-4: a renewal ends nothing, and is counted of what was renewed only."""
    found: list[Delivery] = []
    deliveries = Deliveries(found.append)
    whole = {"first_offset": 0, "last_offset": 3, "state": "Available"}
    for line in (
        given(1, 0, 3),
        said(2, (1, 2, "renew", "Acquired")),
        said(3, (2, 2, "renew", "Acquired")),
        share_line("RecordsReleased", 9, reason="the lock ended", records=[whole]),
    ):
        deliveries.see(line)
    assert [(one.first, one.last, one.renewals) for one in found] == [
        (0, 0, 0),
        (1, 1, 1),
        (2, 2, 2),
        (3, 3, 0),
    ]
    assert {one.outcome for one in found} == {"lock ended"}


def test_records_that_leave_the_log_and_leaders_that_go() -> None:
    """SH-LOG-1, SH-LD-1: what starts behind them takes them from their member, and so does a new
    leader."""
    archived = share_line("RecordsArchived", 3, start_offset=2)
    opened = share_line("SharePartitionOpened", 4)
    assert told(given(1, 0, 3), archived, opened) == [
        (0, 1, "archived", 2),
        (2, 3, "closed", 3),
    ]


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    """A run in which workers crash and are slower than their locks."""
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    text = catalogue.text("share_workers_crash")
    run_scenario(read_scenario(text, "share_workers_crash"), 1, log)
    return list(log.read())


def test_the_tables_of_a_run_add_up(lines: list[Line]) -> None:
    """SH-FT-8: every record that was given is in one row for each time, and the counts are those of
    the lines."""
    tables, _ = folded("".join(f"{line.text}\n" for line in lines))
    found, counts = rows(tables, "deliveries"), rows(tables, "delivery_counts")
    times: Counter[int] = Counter()
    for line in lines:
        if line.name == "RecordsAcquired":
            for of in line.plain["records"]:
                times[of["delivery_count"]] += of["last_offset"] - of["first_offset"] + 1
    assert {row["delivery_count"]: row["records"] for row in counts} == times
    assert len(times) > 1
    measured = measure_shares(lines)
    total = {
        name: sum(row[name] for row in counts)
        for name in counts[0]
        if name != "run_id" and name not in ("group_id", "topic")
    }
    assert total["accepted"] == measured.accepted > 0
    assert total["locks_ended"] == measured.locks_ended
    assert total["given_up"] + total["rejected"] == measured.given_up
    outcomes = ("accepted", "released", "rejected", "gaps", "locks_ended", "taken_back")
    assert (
        sum(total[name] for name in (*outcomes, "archived", "closed", "open")) == total["records"]
    )
    assert total["records"] == sum(row["records"] for row in found)
    assert total["held_ms"] == sum(row["records"] * (row["held_ms"] or 0) for row in found)
    longest = max(row["longest_held_ms"] for row in counts)
    assert longest == max(row["held_ms"] or 0 for row in found)
    for row in found:
        assert row["records"] == row["last_offset"] - row["first_offset"] + 1
        assert (row["ended_ms"] is None) == (row["outcome"] == "open")
