"""The demo's judges: they find nothing where all is well, and each finds the bug that is planted
for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator.events.line import Line
from coordinator.lab.demo.judges import (
    committed_offsets_never_went_back,
    every_record_was_consumed,
    judge,
    no_partition_had_two_owners,
    shown,
)
from coordinator.lab.demo.report import Report
from coordinator.wire.consumer_protocol import Assignment
from tests.lines import line_from

Lines = list[Line]


def report(at: int, who: str, kind: str, **fields: Any) -> Report:
    return Report(who, at, kind, fields)


def assigned(generation: int, **owned: Sequence[int]) -> Line:
    members = [
        {"member_id": name, "assignment": Assignment.of({"orders": numbers}).encode(1).hex()}
        for name, numbers in owned.items()
    ]
    members.append({"member_id": "idle", "assignment": ""})
    of = {"seq": generation, "type": "GenerationStored", "generation": generation}
    return line_from({**of, "members": members})


def committed(seq: int, **offsets: int) -> Line:
    rows = [
        {"topic": "orders", "partition": int(key[1:]), "offset": offset}
        for key, offset in offsets.items()
    ]
    others = {"topic": "others", "partition": 0, "offset": -seq}
    return line_from({"seq": seq, "type": "OffsetsCommitted", "offsets": [*rows, others]})


def a_good_run() -> tuple[Lines, list[Report]]:
    """Two consumers; b takes partition 1 over, and reads two of its records once more."""
    lines = [
        assigned(1, a=[0, 1]),
        committed(5, p0=10, p1=4),
        assigned(6, a=[0], b=[1]),
        committed(9, p0=10, p1=8),
    ]
    reports = [
        report(0, "producer", "produced", spans={"0": [0, 9], "1": [0, 3]}),
        report(1, "producer", "produced", spans={"1": [4, 7]}),
        report(1, "a", "revoked", partitions=[]),
        report(2, "a", "assigned", partitions=[0, 1]),
        report(3, "a", "consumed", spans={"0": [0, 9], "1": [0, 5]}),
        report(4, "a", "committed", offsets={"0": 10, "1": 4}),
        report(5, "a", "revoked", partitions=[0, 1]),
        report(6, "a", "assigned", partitions=[0]),
        report(6, "b", "assigned", partitions=[1]),
        report(7, "b", "consumed", spans={"1": [4, 7]}),
        report(8, "b", "committed", offsets={"1": 8}),
        report(9, "a", "leaving"),
    ]
    return lines, reports


def test_a_good_run_passes_every_judge() -> None:
    findings = judge("orders", *a_good_run())
    assert [finding.faults for finding in findings] == [[], [], []]
    assert findings[0].evidence == "18 records, 2 of them delivered more than once"
    assert findings[1].evidence == "2 assignments in the log, 3 reported by the consumers"
    assert findings[2].evidence == "4 offsets committed, on 2 partitions"
    assert shown(findings[0])[0].startswith("  ok   every record was consumed")


def test_a_record_that_nobody_consumed() -> None:
    _, reports = a_good_run()
    reports[9] = report(7, "b", "consumed", spans={"1": [7, 7]})
    finding = every_record_was_consumed(reports)
    assert finding.faults == ["partition 1: offsets 6 were produced and never consumed"]
    assert shown(finding)[0].startswith("  FAIL")
    del reports[4]
    assert len(every_record_was_consumed(reports).faults) == 2


def test_a_partition_that_the_coordinator_gave_to_two() -> None:
    lines, reports = a_good_run()
    lines[2] = assigned(6, a=[0, 1], b=[1])
    assert no_partition_had_two_owners("orders", lines, reports).faults == [
        "generation 6: partition 1 belongs to a and b"
    ]


def test_a_partition_that_a_consumer_took_before_another_gave_it_up() -> None:
    lines, reports = a_good_run()
    reports.remove(report(5, "a", "revoked", partitions=[0, 1]))
    assert no_partition_had_two_owners("orders", lines, reports).faults == [
        "partition 1: b took it while a held it"
    ]
    reports.append(report(5, "a", "killed"))
    assert no_partition_had_two_owners("orders", lines, reports).faults == []


def test_a_commit_that_went_back_in_the_log() -> None:
    lines, reports = a_good_run()
    lines.insert(3, committed(8, p1=3))
    assert committed_offsets_never_went_back("orders", lines, reports).faults == [
        "partition 1: back from 4 to 3 (seq 8, by the log)",
    ]


def test_a_commit_that_went_back_by_a_consumers_word() -> None:
    lines, reports = a_good_run()
    reports.append(report(10, "a", "committed", offsets={"0": 9}))
    assert committed_offsets_never_went_back("orders", lines, reports).faults == [
        "partition 0: back from 10 to 9 (a, by a consumer's word)",
    ]


def test_a_commit_that_was_acknowledged_and_lost() -> None:
    lines, reports = a_good_run()
    lines.pop()
    assert committed_offsets_never_went_back("orders", lines, reports).faults == [
        "partition 1: a consumer was told that 8 is committed, the log ends at 4",
    ]


def test_a_run_in_which_nothing_happened_is_no_success() -> None:
    assert [finding.faults for finding in judge("orders", [], [])] == [
        ["nothing was produced"],
        ["nobody was assigned anything"],
        ["nothing was committed"],
    ]
    lines, reports = a_good_run()
    assert judge("payments", lines, reports)[2].faults[-1] == "nothing was committed"


def test_of_many_faults_a_few_are_shown() -> None:
    reports = [report(0, "producer", "produced", spans={str(p): [0, 1] for p in range(9)})]
    lines = shown(every_record_was_consumed(reports))
    assert len(lines) == 7
    assert lines[-1].strip() == "... and 4 more"
