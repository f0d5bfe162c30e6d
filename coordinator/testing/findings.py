"""What is wrong with how a consumer application processed and committed: named findings, from plain data.

Owns the judgement, and nothing else: what was processed comes in the application's own order, commits with the number of records that
were processed when each was sent, everything else from lines of the event log. Names of findings:

| name | meaning |
|---|---|
| gap | a record below a committed offset was never processed |
| commit ahead of processing | when the commit was sent, a record below its offset was not processed yet |
| processed again after its commit | a record was processed once more although an offset beyond it was committed |
| too many duplicates | more records were processed again than the disturbances of the test explain |
| processed after losing the partition | a record was processed while its partition was another member's |
| commit after losing | a commit for a partition that is another's, commits with an identity that is gone, or an offset that goes back |
| blocks the rebalance | the application has not rejoined, or was removed for that |
| swallowed error | its commits are refused for good, and it neither ends nor stops processing |
| ended by an error | the application says, by its attribute `error`, that it ended so where it should have gone on |
| does not recover | the application does not come back to work after the disturbance |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..judges import judge
from ..judges.commits import CommitsStayWithinAssignment

Line = dict[str, Any]
TopicPartition = tuple[str, int]
Processed = tuple[str, int, int]

GAP = "gap"
AHEAD = "commit ahead of processing"
AGAIN = "processed again after its commit"
DUPLICATES = "too many duplicates"
FOREIGN = "processed after losing the partition"
AFTER_LOSING = "commit after losing"
BLOCKS = "blocks the rebalance"
SWALLOWED = "swallowed error"
NO_RECOVERY = "does not recover"
ENDED = "ended by an error"

_GONE = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "FENCED_MEMBER_EPOCH"})
_TOLD_AT_MOST = 3
"""Commits of a lost identity that may be on their way before an application has heard of its loss."""
_COMMITS = ("offset_commit", "txn_offset_commit")


class Finding(NamedTuple):
    """One thing that is wrong: its name, and what exactly was seen."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class CommitSeen(NamedTuple):
    """A commit as it came: `done` is how many records were processed by then, `seq` the request's line in the event log."""

    offsets: Mapping[TopicPartition, int]
    done: int
    member: str
    seq: int | None


class Handover(NamedTuple):
    """Partitions that others owned for sure while the records with these places in the application's order were processed."""

    partitions: frozenset[TopicPartition]
    first: int
    end: int


def gaps(
    processed: Iterable[Processed], committed: Mapping[TopicPartition, int], records: Mapping[TopicPartition, Sequence[int]],
) -> list[Finding]:
    """Records that exist below a committed offset and were never processed. `records`: offsets by partition, from where the test began."""
    done = set(processed)
    found = []
    for (topic, index), offset in sorted(committed.items()):
        missing = [at for at in records.get((topic, index), ()) if at < offset and (topic, index, at) not in done]
        if missing:
            found.append(Finding(GAP, f"{topic}-{index} is committed at {offset}, but never processed were {_listed(missing)}"))
    return found


def ahead(processed: Sequence[Processed], commits: Iterable[CommitSeen], records: Mapping[TopicPartition, Sequence[int]]) -> list[Finding]:
    """Commits that were sent before all records below their offsets were processed; one finding for each partition."""
    found: dict[TopicPartition, Finding] = {}
    for commit in commits:
        done = set(processed[: commit.done])
        for place, offset in commit.offsets.items():
            missing = [at for at in records.get(place, ()) if at < offset and (*place, at) not in done]
            if missing and place not in found:
                text = f"{commit.member} committed {offset} for {place[0]}-{place[1]} while {_listed(missing)} were still to be processed"
                found[place] = Finding(AHEAD, text)
    return list(found.values())


def processed_again(processed: Sequence[Processed], commits: Sequence[CommitSeen], lines: Iterable[Line]) -> list[Finding]:
    """Records that were processed once more after an offset beyond them had been committed. `lines`: of the event log."""
    accepted = {line["cause"] for line in lines if line["type"] == "OffsetsCommitted"}
    found: dict[TopicPartition, Finding] = {}
    for commit in commits:
        if commit.seq not in accepted:
            continue
        before = set(processed[: commit.done])
        for place, offset in commit.offsets.items():
            again = sorted({row[2] for row in processed[commit.done :] if row[:2] == place and row[2] < offset and row in before})
            if again and place not in found:
                text = f"{place[0]}-{place[1]} was committed at {offset}, and then {_listed(again)} were processed again"
                found[place] = Finding(AGAIN, text)
    return list(found.values())


def duplicates(processed: Iterable[Processed], at_most: int) -> list[Finding]:
    """More records processed again than `at_most`."""
    again = {row: count - 1 for row, count in Counter(processed).items() if count > 1}
    total = sum(again.values())
    if total <= at_most:
        return []
    worst = max(again, key=lambda row: again[row])
    often = f"{worst[0]}-{worst[1]} offset {worst[2]} {again[worst] + 1} times"
    return [Finding(DUPLICATES, f"{total} records were processed again, at most {at_most} can be explained; {often}")]


def foreign(processed: Sequence[Processed], handovers: Iterable[Handover]) -> list[Finding]:
    """Records that were processed while their partitions were others'."""
    found = []
    for handover in handovers:
        rows = [row for row in processed[handover.first : handover.end] if row[:2] in handover.partitions]
        if rows:
            told = ", ".join(f"{topic}-{index} offset {offset}" for topic, index, offset in rows[:5])
            more = ", ..." if len(rows) > 5 else ""
            found.append(Finding(FOREIGN, f"{told}{more} were processed while another member owned the partition"))
    return found


def after_losing(lines: Sequence[Line], group: str, own: Iterable[str] = ()) -> list[Finding]:
    """Commits for partitions that were not the member's, again and again with an identity that is gone, or that go back.

    `lines`: of the event log, with streams group and wire. `own`: member ids of peers, which are not judged.
    """
    peers = set(own)
    mine = [line for line in lines if line.get("group", group) == group]
    (verdict,) = judge(mine, [CommitsStayWithinAssignment], streams=frozenset({"group", "wire"}))
    found = [Finding(AFTER_LOSING, finding.text) for finding in verdict.findings]
    refused: dict[str, int] = {}
    last: dict[TopicPartition, int] = {}
    for line in mine:
        member = line.get("member") or ""
        identity = f"{member} of generation {line.get('generation')}"
        if line["type"] == "RequestRefused" and member and line.get("api") in _COMMITS and _GONE.intersection(line["errors"]):
            refused[identity] = refused.get(identity, 0) + 1
            if refused[identity] == _TOLD_AT_MOST + 1:
                text = f"{identity} goes on committing at {line['at_ms']} ms although it is told {line['errors'][0]}"
                found.append(Finding(AFTER_LOSING, text))
        elif line["type"] == "OffsetsCommitted" and member and member not in peers:
            for row in line["offsets"]:
                place = (row["topic"], row["partition"])
                if row["offset"] < last.get(place, 0):
                    text = f"{member} committed {place[0]}-{place[1]} back from {last[place]} to {row['offset']}"
                    found.append(Finding(AFTER_LOSING, text))
        if line["type"] == "OffsetsCommitted":
            last |= {(row["topic"], row["partition"]): row["offset"] for row in line["offsets"]}
    return found


def _listed(offsets: Sequence[int]) -> str:
    if len(offsets) == 1:
        return f"offset {offsets[0]}"
    return f"offsets {', '.join(map(str, offsets[:8]))}{', ...' if len(offsets) > 8 else ''}"
