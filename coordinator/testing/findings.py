"""What is wrong with how a consumer application processed and committed: named findings, from plain data.

Owns the judgement, and nothing else: what was processed comes in the application's own order, commits with the number of records that
were processed when each was sent, everything else from lines of the event log. Names of findings:

| name | meaning |
|---|---|
| gap | a record below a committed offset was never processed |
| commit ahead of processing | when the commit was sent, a record below its offset was not processed yet |
| commit beyond the end | an offset is committed behind the end of its partition: what is written next is never read |
| commit behind processing | everything is processed, and what is committed stays below it: it will be processed again |
| stops without committing | it was stopped in good order and had not committed all that it had processed |
| ignores what is committed | it began below the offset that another member had committed before it got the partition |
| processed again after its commit | a record was processed once more although an offset beyond it was committed |
| too many duplicates | more records were processed again than the disturbances of the test explain |
| processed after losing the partition | a record was processed while its partition was another member's |
| commit after losing | a commit for a partition that is another's, commits with an identity that is gone, or an offset that goes back |
| blocks the rebalance | the application has not rejoined, or was removed for that |
| rebalances without cause | the group rebalances again and again although nobody came, went or failed |
| stops reading | records of a partition that it owns are never processed, those of its others are |
| reads nothing | it is a member of its group and has processed none of the records that were there |
| does not leave | it was stopped in good order, and its member is still in the group or had to be expired |
| no member of its group | it commits or reads for the group and is no member, as consumers that assign partitions to themselves |
| joins another group | its consumer joined a group of another name, such as one that is drawn at each start |
| shares its instance id | two of its consumers have one group.instance.id, and fence each other |
| leaves on an error that passes | its consumer left the group because a commit was refused that a rebalance had overtaken |
| uses another transactional id | its producer has another one than it says, such as one that is drawn at each start: it fences nobody |
| not exactly once | an application with a transactional id has answered a record twice, as readers of committed records see it |
| commits outside its transactions | an application with a transactional id commits offsets by OffsetCommit: answers and offsets can part |
| leaves a transaction open | it neither committed nor aborted the transaction that it began, and does not go on |
| reads what was aborted | an application with a transactional id has processed records of a transaction that was aborted |
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
BEYOND = "commit beyond the end"
BEHIND = "commit behind processing"
NOT_COMMITTED = "stops without committing"
IGNORES_COMMITTED = "ignores what is committed"
RESTLESS = "rebalances without cause"
STOPS_READING = "stops reading"
READS_NOTHING = "reads nothing"
DOES_NOT_LEAVE = "does not leave"
NO_MEMBER = "no member of its group"
ELSEWHERE = "joins another group"
SHARED = "shares its instance id"
LEAVES = "leaves on an error that passes"
OTHER_ID = "uses another transactional id"
TWICE = "not exactly once"
ABORTED = "reads what was aborted"
LEFT_OPEN = "leaves a transaction open"
OUTSIDE = "commits outside its transactions"
ENDED = "ended by an error"

_GONE = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "FENCED_MEMBER_EPOCH"})
_TOLD_AT_MOST = 100
"""Commits of a lost identity that may be on their way before an application has heard of its loss: one for each record, if it does not
wait for their answers."""
_TRANSACTIONS = ("ProducerInitialized", "PartitionsEnlisted", "TransactionPrepared", "TransactionCompleted")
_COMMITS = ("offset_commit", "txn_offset_commit")


class Finding(NamedTuple):
    """One thing that is wrong: its name, and what exactly was seen."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class ApplicationError(AssertionError):
    """What is wrong with the application: all findings, each with its name. `findings`: the same as values."""

    def __init__(self, found: list[Finding], told: str = "") -> None:
        self.findings = found
        super().__init__("".join(f"\n- {finding}" for finding in found) + (f"\n{told}" if told else ""))


class CommitSeen(NamedTuple):
    """A commit as it came: `done` is how many records were processed by then, `seq` the request's line in the event log.

    `by_member`: it names a member id; otherwise `member` is the client id.
    """

    offsets: Mapping[TopicPartition, int]
    done: int
    member: str
    seq: int | None
    by_member: bool = True


class Handover(NamedTuple):
    """Partitions that others owned for sure while the records with these places in the application's order were processed."""

    partitions: frozenset[TopicPartition]
    first: int
    end: int


class OthersCommit(NamedTuple):
    """What another member committed before the application got the partition, at this place in the application's order."""

    partition: TopicPartition
    offset: int
    first: int


def gaps(
    processed: Iterable[Processed], committed: Mapping[TopicPartition, int], records: Mapping[TopicPartition, Sequence[int]],
    where: str = "committed at",
) -> list[Finding]:
    """Records that exist below a committed offset and were never processed. `records`: offsets by partition, from where the test began."""
    done = set(processed)
    found = []
    for (topic, index), offset in sorted(committed.items()):
        missing = [at for at in records.get((topic, index), ()) if at < offset and (topic, index, at) not in done]
        if missing:
            found.append(Finding(GAP, f"{topic}-{index} is {where} {offset}, but never processed were {_listed(missing)}"))
    return found


def ahead(processed: Sequence[Processed], commits: Iterable[CommitSeen], records: Mapping[TopicPartition, Sequence[int]]) -> list[Finding]:
    """Commits that were sent before all records below their offsets were processed; one finding for each partition."""
    found: dict[TopicPartition, Finding] = {}
    for commit in commits:
        done = set(processed[: commit.done])
        for place, offset in commit.offsets.items():
            missing = [at for at in records.get(place, ()) if at < offset and (*place, at) not in done]
            if missing and place not in found:
                still = f"{_listed(missing)} {'was' if len(missing) == 1 else 'were'} still to be processed"
                text = f"{commit.member} committed {offset} for {place[0]}-{place[1]} while {still}"
                if len(missing) == 1 and (*place, offset - 2) in done:
                    text += f"; {offset - 1} is the offset to commit after {offset - 2}"
                found[place] = Finding(AHEAD, text)
    return list(found.values())


def processed_again(processed: Sequence[Processed], commits: Sequence[CommitSeen], lines: Iterable[Line]) -> list[Finding]:
    """Records that were processed once more after an offset beyond them had been committed. `lines`: of the event log.

    Commits before a refused OffsetFetch of version 2 to 7 do not count: aiokafka 0.14 (version 3) does not look at the error, which stands
    above the topics there, takes it for "no offset is committed", and begins by auto.offset.reset. No application can help that.
    """
    lines = list(lines)
    accepted = {line["cause"] for line in lines if line["type"] == "OffsetsCommitted"}
    misread = _misread(lines)
    found: dict[TopicPartition, Finding] = {}
    for commit in commits:
        if commit.seq is None or commit.seq not in accepted or commit.seq < misread:
            continue
        before = set(processed[: commit.done])
        for place, offset in commit.offsets.items():
            again = sorted({row[2] for row in processed[commit.done :] if row[:2] == place and row[2] < offset and row in before})
            if again and place not in found:
                text = f"{place[0]}-{place[1]} was committed at {offset}, and then {_listed(again)} were processed again"
                found[place] = Finding(AGAIN, text)
    return list(found.values())


def _misread(lines: Sequence[Line]) -> int:
    """The last OffsetFetch of these versions that was refused, by its line in the event log; -1: none."""
    old = {line["seq"] for line in lines if line["type"] == "RequestSeen" and line["api"] == "offset_fetch" and 2 <= line["version"] <= 7}
    return max((line["cause"] for line in lines if line["type"] == "RequestRefused" and line["cause"] in old), default=-1)


def duplicates(processed: Iterable[Processed], at_most: int) -> list[Finding]:
    """More records processed again than `at_most`."""
    again = {row: count - 1 for row, count in Counter(processed).items() if count > 1}
    total = sum(again.values())
    if total <= at_most:
        return []
    worst = max(again, key=lambda row: again[row])
    often = f"{worst[0]}-{worst[1]} offset {worst[2]} {again[worst] + 1} times"
    return [Finding(DUPLICATES, f"{total} records were processed again, at most {at_most} can be explained; {often}")]


def beyond(commits: Iterable[CommitSeen], ends: Mapping[TopicPartition, int]) -> list[Finding]:
    """Commits behind the end of their partition as it is now; one finding for each partition."""
    found: dict[TopicPartition, Finding] = {}
    for commit in commits:
        for place, offset in commit.offsets.items():
            if offset > ends.get(place, offset) and place not in found:
                text = f"{commit.member} committed {offset} for {place[0]}-{place[1]}, which ends at {ends[place]}"
                found[place] = Finding(BEYOND, text)
    return list(found.values())


def unfinished(
    processed: Iterable[Processed], committed: Mapping[TopicPartition, int], records: Mapping[TopicPartition, Sequence[int]],
) -> list[Finding]:
    """Why not everything is committed: it is processed, or one partition is not read while others are, or none is."""
    done: dict[TopicPartition, set[int]] = {}
    for topic, index, offset in processed:
        done.setdefault((topic, index), set()).add(offset)
    left = {place: [at for at in offsets if at not in done.get(place, ())] for place, offsets in records.items()}
    others_done = any(not missing and records[place] for place, missing in left.items())
    found = []
    for place, missing in sorted(left.items()):
        where, at = f"{place[0]}-{place[1]}", committed.get(place, 0)
        if not records[place] or at > records[place][-1]:
            continue
        if not missing:
            last = records[place][-1]
            why = f": the offset of the last record; to be committed is the one behind it, {last + 1}" if at == last else ""
            found.append(Finding(BEHIND, f"{where} is processed up to offset {last}, and committed at {at}{why}"))
        elif others_done:
            text = f"of {where} the application has not processed {_listed(missing)}, but everything of other partitions"
            found.append(Finding(STOPS_READING, text))
    if not done and any(records.values()):
        text = f"it has processed none of {sum(map(len, records.values()))} records"
        why = "without a committed offset a consumer begins at the end, unless its auto.offset.reset is earliest"
        found.append(Finding(READS_NOTHING, f"{text}; {why}"))
    return found


def reached(processed: Iterable[Processed]) -> dict[TopicPartition, int]:
    """The offset behind the last record that was processed of each partition."""
    ends: dict[TopicPartition, int] = {}
    for topic, index, offset in processed:
        ends[topic, index] = max(ends.get((topic, index), 0), offset + 1)
    return ends


def not_committed(
    processed: Iterable[Processed], committed: Mapping[TopicPartition, int], now: Mapping[TopicPartition, int],
) -> list[Finding]:
    """After a stop in good order: records that were processed, and are not below what is `committed`; `now` is where partitions begin."""
    found = []
    ends: dict[TopicPartition, list[int]] = {}
    for topic, index, offset in processed:
        ends.setdefault((topic, index), []).append(offset)
    for place, offsets in sorted(ends.items()):
        at = committed.get(place, now.get(place, 0))
        lost = sorted({offset for offset in offsets if offset >= at})
        if lost:
            text = f"{place[0]}-{place[1]} was committed at {at} when it had stopped; it had processed {_listed(lost)}"
            found.append(Finding(NOT_COMMITTED, text))
    return found


def began_below(processed: Sequence[Processed], others: Iterable[OthersCommit]) -> list[Finding]:
    """Records that another member had committed before the application got their partition, and that it processed all the same."""
    found = []
    for other in others:
        again = sorted({row[2] for row in processed[other.first :] if row[:2] == other.partition and row[2] < other.offset})
        if again:
            where = f"{other.partition[0]}-{other.partition[1]}"
            text = f"{where} was committed at {other.offset} by another member, and then the application processed {_listed(again)}"
            found.append(Finding(IGNORES_COMMITTED, text))
    return found


def restless(lines: Iterable[Line], group: str, since: int, at_most: int) -> list[Finding]:
    """More rebalances from a line of the event log on than `at_most`."""
    begun = [line for line in lines if line["type"] == "RebalanceStarted" and line["group"] == group and line["seq"] >= since]
    if len(begun) <= at_most:
        return []
    return [Finding(RESTLESS, f"{len(begun)} rebalances began while nobody came or went; the last reason: {begun[-1]['reason']}")]


def exactly_once(
    processed: Iterable[Processed], committed: Mapping[TopicPartition, Sequence[int]], commits: Iterable[CommitSeen], lines: Iterable[Line],
) -> list[Finding]:
    """What committed transactions answered twice, or answered of aborted ones; commits that belong to no transaction.

    `committed`: the offsets that were to be answered.
    """
    found = []
    plain = {line["seq"] for line in lines if line["type"] == "RequestSeen" and line["api"] == "offset_commit"}
    outside = next((commit for commit in commits if commit.seq in plain), None)
    if outside is not None:
        found.append(Finding(OUTSIDE, f"{outside.member} committed {dict(outside.offsets)} by OffsetCommit, in no transaction"))
    for (topic, index, offset), times in sorted(Counter(processed).items()):
        where = f"{topic}-{index} offset {offset}"
        if times > 1:
            found.append(Finding(TWICE, f"{where} was answered {times} times in committed transactions"))
        if offset not in committed.get((topic, index), ()):
            found.append(Finding(ABORTED, f"{where} was answered, and stands in a transaction that was aborted"))
    return found


def left_open(lines: Iterable[Line], transactional_id: str) -> list[Finding]:
    """The transaction of this id that was begun, and has not been ended by anybody."""
    last = ""
    for line in lines:
        if line.get("transactional_id") == transactional_id and line["type"] in _TRANSACTIONS:
            last = line["type"]
    if last != "PartitionsEnlisted":
        return []
    return [Finding(LEFT_OPEN, f"the transaction of {transactional_id} was begun, and neither committed nor aborted")]


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


def after_losing(lines: Sequence[Line], group: str, own: Iterable[str] = (), killed: Iterable[str] = ()) -> list[Finding]:
    """Commits for partitions that were not the member's, again and again with an identity that is gone, or that go back.

    A member's own commit that a later one of it makes up for is none: clients send commits that were not answered again, in any order.
    `lines`: of the event log, with streams group and wire. `own`: member ids of peers, which are not judged. `killed`: of
    processes that were killed, whose last commits are refused by the kit itself.
    """
    peers, dead = set(own), set(killed)
    mine = [line for line in lines if line.get("group", group) == group]
    (verdict,) = judge(mine, [CommitsStayWithinAssignment], streams=frozenset({"group", "wire"}))
    found = [Finding(AFTER_LOSING, finding.text) for finding in verdict.findings]
    refused: dict[str, int] = {}
    last: dict[TopicPartition, tuple[int, str]] = {}
    back: dict[tuple[TopicPartition, str], tuple[int, Finding]] = {}
    for line in mine:
        member = line.get("member") or ""
        identity = f"{member} of generation {line.get('generation')}"
        refusal = line["type"] == "RequestRefused" and line.get("api") in _COMMITS and _GONE.intersection(line["errors"])
        if refusal and member and member not in dead:
            refused[identity] = refused.get(identity, 0) + 1
            if refused[identity] == _TOLD_AT_MOST + 1:
                text = f"{identity} goes on committing at {line['at_ms']} ms although it is told {line['errors'][0]}"
                found.append(Finding(AFTER_LOSING, text))
        elif line["type"] == "OffsetsCommitted" and member and member not in peers:
            for row in line["offsets"]:
                place = (row["topic"], row["partition"])
                before, by = last.get(place, (0, ""))
                if row["offset"] < before:
                    text = f"{member} committed {place[0]}-{place[1]} back from {before} to {row['offset']}"
                    if by == member:
                        back.setdefault((place, member), (before, Finding(AFTER_LOSING, text)))
                    else:
                        found.append(Finding(AFTER_LOSING, text))
                elif (place, member) in back and row["offset"] >= back[place, member][0]:
                    del back[place, member]
        if line["type"] == "OffsetsCommitted":
            last |= {(row["topic"], row["partition"]): (row["offset"], member) for row in line["offsets"]}
    return found + [finding for _, finding in back.values()]


def of_output(headers: Iterable[tuple[str, bytes | None]], topic: str) -> Processed:
    """What a record of an output topic says was processed. Raises TypeError if it does not say so."""
    found = dict(headers)
    try:
        name, partition, offset = ((found[key] or b"").decode() for key in ("topic", "partition", "offset"))
        return name, int(partition), int(offset)
    except (KeyError, ValueError):
        raise TypeError(f"records of {topic} are to have the headers topic, partition and offset; this one has {found}") from None


def _listed(offsets: Sequence[int]) -> str:
    if len(offsets) == 1:
        return f"offset {offsets[0]}"
    return f"offsets {', '.join(map(str, offsets[:8]))}{', ...' if len(offsets) > 8 else ''}"
