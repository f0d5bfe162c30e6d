"""Judges of the demo: every record was consumed, no partition had two owners, no committed offset
went back.

They read the event log and the clients' reports, and nothing else. Each returns its faults and
the evidence; a judge that saw nothing to judge reports that as a fault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from coordinator.events.groups import GenerationStored, OffsetsCommitted
from coordinator.events.line import Line
from coordinator.history.explain.formatting import listed, ranges
from coordinator.wire.consumer_protocol import Assignment

from .report import Report

_MOST_TOLD = 5


class Finding(NamedTuple):
    """Result of one judge. `faults` is empty if all is well; `evidence` says what was compared."""

    title: str
    faults: list[str]
    evidence: str


def judge(topic: str, lines: Sequence[Line], reports: Sequence[Report]) -> list[Finding]:
    """Return the results of all judges."""
    return [
        every_record_was_consumed(reports),
        no_partition_had_two_owners(topic, lines, reports),
        committed_offsets_never_went_back(topic, lines, reports),
    ]


def every_record_was_consumed(reports: Iterable[Report]) -> Finding:
    """Judge that each record which was acknowledged to the producer was consumed at least once."""
    produced: dict[int, set[int]] = defaultdict(set)
    consumed: dict[int, set[int]] = defaultdict(set)
    deliveries = 0
    for report in reports:
        if report.type in ("produced", "consumed"):
            for text, (first, last) in report.fields["spans"].items():
                (produced if report.type == "produced" else consumed)[int(text)].update(
                    range(first, last + 1)
                )
                deliveries += (last - first + 1) * (report.type == "consumed")
    faults = []
    for partition, offsets in sorted(produced.items()):
        missed = offsets - consumed[partition]
        if missed:
            faults.append(
                f"partition {partition}: offsets {ranges(missed)} were produced and never consumed"
            )
    records = sum(map(len, produced.values()))
    if not records:
        faults.append("nothing was produced")
    again = deliveries - sum(map(len, consumed.values()))
    return Finding(
        "every record was consumed at least once",
        faults,
        f"{records} records, {again} of them delivered more than once",
    )


def no_partition_had_two_owners(
    topic: str, lines: Iterable[Line], reports: Iterable[Report]
) -> Finding:
    """Judge that no generation of the log assigns a partition to two members, and that no two
    consumers held one at the same time."""
    faults, generations = [], 0
    for line in lines:
        if line.kind is GenerationStored:
            stored: GenerationStored = line.event
            generations += 1
            owners: dict[int, list[str]] = defaultdict(list)
            for member in stored.members:
                for partition in _assigned(topic, member.assignment):
                    owners[partition].append(member.member_id)
            for partition, names in sorted(owners.items()):
                if len(names) > 1:
                    faults.append(
                        f"generation {stored.generation}: partition {partition} belongs to {listed(names)}"
                    )
    holdings, takeovers = _held(reports)
    faults += takeovers
    if not generations or not holdings:
        faults.append("nobody was assigned anything")
    evidence = f"{generations} assignments in the log, {holdings} reported by the consumers"
    return Finding("no partition ever had two owners", faults, evidence)


def _assigned(topic: str, blob: bytes) -> Iterable[int]:
    if not blob:
        return ()
    assignment = Assignment.decode(blob)
    return [
        number for name, numbers in assignment.partitions if name == topic for number in numbers
    ]


def _held(reports: Iterable[Report]) -> tuple[int, list[str]]:
    """Return how often consumers were assigned partitions, by their own reports, and a fault for
    each partition that one took while another held it.

    A consumer holds a partition from `assigned` until `revoked`, `leaving`, or `killed`.
    """
    holder: dict[int, str] = {}
    times, faults = 0, []
    for report in sorted(reports, key=lambda report: report.wall_ms):
        if report.type == "assigned":
            times += bool(report.fields["partitions"])
            for partition in report.fields["partitions"]:
                other = holder.setdefault(partition, report.who)
                if other != report.who:
                    faults.append(
                        f"partition {partition}: {report.who} took it while {other} held it"
                    )
                    holder[partition] = report.who
        elif report.type in ("revoked", "leaving", "killed"):
            given_up = report.fields.get("partitions", list(holder))
            holder = {p: who for p, who in holder.items() if who != report.who or p not in given_up}
    return times, faults


def committed_offsets_never_went_back(
    topic: str, lines: Iterable[Line], reports: Iterable[Report]
) -> Finding:
    """Judge that, for each partition, the offsets committed in the log only grow, and so do
    those that consumers report as committed."""
    logged = [
        (offset.partition, offset.offset, f"seq {line.seq}")
        for line in lines
        if line.kind is OffsetsCommitted
        for offset in line.event.offsets
        if offset.topic == topic
    ]
    told = [
        (int(partition), offset, report.who)
        for report in sorted(reports, key=lambda report: report.wall_ms)
        if report.type == "committed"
        for partition, offset in report.fields["offsets"].items()
    ]
    faults = [*_backwards(logged, "the log"), *_backwards(told, "a consumer's word")]
    last = _last(logged)
    for partition, offset in sorted(_last(told).items()):
        if last.get(partition, -1) < offset:
            faults.append(
                f"partition {partition}: a consumer was told that {offset} is committed, the log ends at {last.get(partition)}"
            )
    if not logged or not told:
        faults.append("nothing was committed")
    return Finding(
        "committed offsets never went back",
        faults,
        f"{len(logged)} offsets committed, on {len(last)} partitions",
    )


def _backwards(commits: Iterable[tuple[int, int, str]], source: str) -> list[str]:
    highest: dict[int, int] = {}
    faults = []
    for partition, offset, where in commits:
        if offset < highest.get(partition, -1):
            faults.append(
                f"partition {partition}: back from {highest[partition]} to {offset} ({where}, by {source})"
            )
        highest[partition] = max(offset, highest.get(partition, -1))
    return faults


def _last(commits: Iterable[tuple[int, int, str]]) -> dict[int, int]:
    return {partition: offset for partition, offset, _ in commits}


def shown(finding: Finding) -> list[str]:
    """Return a result as lines to print."""
    mark = "ok  " if not finding.faults else "FAIL"
    rest = len(finding.faults) - _MOST_TOLD
    more = [f"       ... and {rest} more"] if rest > 0 else []
    return [
        f"  {mark} {finding.title} ({finding.evidence})",
        *(f"       {fault}" for fault in finding.faults[:_MOST_TOLD]),
        *more,
    ]
