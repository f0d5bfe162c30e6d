"""Errors in how a consumer application processed and committed: named findings, from plain
data.

Owns the judgement, and nothing else: what was processed comes in the application's own order,
commits with the number of records that were processed when each was sent, everything else from
lines of the event log. Names of findings:

| name | meaning |
|---|---|
| gap | a record below a committed offset was never processed |
| commit ahead of processing | when the commit was sent, a record below its offset was not processed yet |
| commit beyond the end | an offset is committed behind the end of its partition: what is written next is never read |
| commit behind processing | everything is processed, and what is committed stays below it: it will be processed again |
| stops without committing | it was stopped in good order and had not committed all that it had processed |
| takes a refused commit for done | a commit was refused, nothing new came, and it was not made again, nor when it was stopped |
| works on after its stop | it processed more when it had been stopped: a worker of it lives on |
| ignores what is committed | it began below the offset that another member had committed before it got the partition |
| processed again after its commit | a record was processed once more although an offset beyond it was committed |
| too many duplicates | more records were processed again than the disturbances of the test explain |
| processed after losing the partition | a record was processed while its partition was another member's |
| commit after losing | a commit for a partition that is another's, or commits with an identity that is gone |
| commit goes back | an offset was committed below the one that was committed before, and no later commit made up for it |
| blocks the rebalance | the application has not rejoined, did so later than its max.poll.interval.ms, or was removed for that |
| rebalances without cause | the group rebalances again and again although no member joined or left; or its own members leave and expire |
| stops reading | records of a partition that it owns are never processed, those of its others are |
| keeps records back | it has processed all but the last records of its partitions, and those only when more come |
| reads nothing | it is a member of its group and has processed none of the records that were there |
| misses a new topic | a topic that it is to read was made while it ran, and its members have no partitions of it |
| does not leave | it was stopped in good order, and its member is still in the group or had to be expired |
| no member of its group | it commits or reads for the group and is no member, as consumers that assign partitions to themselves |
| joins another group | its consumer joined a group of another name, such as one that is drawn at each start |
| shares its instance id | two of its consumers have one group.instance.id, and fence each other |
| uses another instance id | its group.instance.id is another one at each start: the member of the start before keeps its partitions |
| leaves on an error that passes | its consumer left the group because a commit was refused that a rebalance had overtaken |
| breaks the order of a key | an application that keeps it processed a record after a later one of its key |
| repeats an effect | what it did for a record, by its method `effects()`, happened more than once |
| uses another transactional id | its producer has another one than it says, such as a new one at each start: it fences no former producer |
| not exactly once | an application with a transactional id has answered a record twice, as readers of committed records see it |
| commits outside its transactions | an application with a transactional id commits offsets by OffsetCommit: answers and offsets can part |
| leaves a transaction open | it neither committed nor aborted the transaction that it began, and does not go on |
| reads what was aborted | an application with a transactional id has processed records of a transaction that was aborted |
| swallowed error | its commits, or its heartbeats in a consumer group, are refused for good, and it neither ends nor closes its consumer |
| ended by an error | the application says, by its attribute `error`, that it ended so where it should have gone on |
| does not recover | the application does not come back to work after the disturbance |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from coordinator.base.counting import how_many
from coordinator.events.line import Line as Line
from coordinator.events.transactions import (
    PartitionsEnlisted,
    ProducerInitialized,
    TransactionCompleted,
    TransactionPrepared,
)
from coordinator.events.wire import RequestSeen
from coordinator.history.world.groups.spans import BEGUN

from ..verifying.order import out_of_order
from ..verifying.unprocessed import unprocessed

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
FORGETS = "takes a refused commit for done"
WORKS_ON = "works on after its stop"
IGNORES_COMMITTED = "ignores what is committed"
RESTLESS = "rebalances without cause"
STOPS_READING = "stops reading"
READS_NOTHING = "reads nothing"
MISSES = "misses a new topic"
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
GOES_BACK = "commit goes back"
KEEPS_BACK = "keeps records back"
OTHER_INSTANCE = "uses another instance id"
ORDER = "breaks the order of a key"
REPEATED = "repeats an effect"

OUTPUT_HEADERS = ("topic", "partition", "offset")
"""Default names of the headers by which a record of an output topic says which record it
answers."""
_TRANSACTIONS = (
    ProducerInitialized,
    PartitionsEnlisted,
    TransactionPrepared,
    TransactionCompleted,
)


class Finding(NamedTuple):
    """One mistake of the application: its name, and the evidence."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class ApplicationError(AssertionError):
    """The application's mistakes: all findings, each with its name. `findings`: the same as
    values."""

    def __init__(self, found: list[Finding], told: str = "") -> None:
        self.findings = found
        super().__init__(
            "".join(f"\n- {finding}" for finding in found) + (f"\n{told}" if told else "")
        )


class CommitSeen(NamedTuple):
    """A commit. `done`: number of records that were processed when it arrived. `seq`: the
    request's line in the event log. `at_ms`: its instant. `by_member`: it names a member id;
    otherwise `member` is the client id."""

    offsets: Mapping[TopicPartition, int]
    done: int
    member: str
    seq: int | None
    by_member: bool = True
    at_ms: int | None = None

    @property
    def when(self) -> str:
        """The commit's place in the event log, as a phrase behind a sentence."""
        return when(self.seq, self.at_ms)


def gaps(
    processed: Iterable[Processed],
    committed: Mapping[TopicPartition, int],
    records: Mapping[TopicPartition, Sequence[int]],
    where: str = "committed at",
) -> list[Finding]:
    """Return findings about records below a committed offset that were never processed.
    `records`: offsets by partition, from the beginning of the test."""
    return [
        Finding(
            GAP,
            f"{topic}-{index} is {where} {committed[topic, index]}, but {listed(missing)} were never processed",
        )
        for (topic, index), missing in unprocessed(processed, committed, records).items()
    ]


def ahead(
    processed: Sequence[Processed],
    commits: Iterable[CommitSeen],
    records: Mapping[TopicPartition, Sequence[int]],
) -> list[Finding]:
    """Return findings about commits that were sent before all records below their offsets were
    processed; one for each partition."""
    found: dict[TopicPartition, Finding] = {}
    ever = set(processed)
    for commit in commits:
        done = set(processed[: commit.done])
        for place, offset in commit.offsets.items():
            missing = [
                at for at in records.get(place, ()) if at < offset and (*place, at) not in done
            ]
            if not missing or place in found:
                continue
            still = (
                f"{listed(missing)} {'was' if len(missing) == 1 else 'were'} still to be processed"
            )
            text = f"{commit.member} committed {offset} for {place[0]}-{place[1]} while {still}"
            first = min((row[2] for row in done if row[:2] == place), default=0)
            if missing == [at for at in records[place] if at < first] and not any(
                (*place, at) in ever for at in missing
            ):
                why = f"; of these it never processed any, it began at {first}: at the end, as auto.offset.reset says, or by a seek"
            else:
                why = _why_ahead(place, offset, missing, processed[: commit.done])
            found[place] = Finding(AHEAD, text + why + commit.when)
    return list(found.values())


def _why_ahead(
    place: TopicPartition, offset: int, missing: Sequence[int], before: Sequence[Processed]
) -> str:
    """Return the likely cause of a commit that came too early, as a phrase behind the sentence,
    or ""."""
    if list(missing) == [offset - 1] and (*place, offset - 2) in before:
        return f"; {offset - 1} is the offset to commit after {offset - 2}"
    if (
        before
        and before[-1][:2] != place
        and before[-1][2] == offset - 1
        and (*place, offset - 1) not in before
    ):
        topic, index, at = before[-1]
        return f"; what it had just processed is offset {at} of {topic}-{index}, another partition"
    if any(row[:2] == place and row[2] > missing[-1] for row in before):
        return "; it had processed later records of the partition"
    return ""


def duplicates(processed: Iterable[Processed], at_most: int) -> list[Finding]:
    """Return a finding if more records were processed again than `at_most`."""
    again = {row: count - 1 for row, count in Counter(processed).items() if count > 1}
    total = sum(again.values())
    if total <= at_most:
        return []
    worst = max(again, key=lambda row: again[row])
    often = f"{worst[0]}-{worst[1]} offset {worst[2]} {how_many(again[worst] + 1, 'time')}"
    return [
        Finding(
            DUPLICATES,
            f"{how_many(total, 'record', 'were')} processed again, at most {at_most} can be explained; {often}",
        )
    ]


def beyond(commits: Iterable[CommitSeen], ends: Mapping[TopicPartition, int]) -> list[Finding]:
    """Return findings about commits beyond the present end of their partition; one for each
    partition."""
    found: dict[TopicPartition, Finding] = {}
    for commit in commits:
        for place, offset in commit.offsets.items():
            if offset > ends.get(place, offset) and place not in found:
                text = f"{commit.member} committed {offset} for {place[0]}-{place[1]}, which ends at {ends[place]}"
                found[place] = Finding(BEYOND, text + commit.when)
    return list(found.values())


def unfinished(
    processed: Iterable[Processed],
    committed: Mapping[TopicPartition, int],
    records: Mapping[TopicPartition, Sequence[int]],
    owned: Collection[TopicPartition] | None = None,
) -> list[Finding]:
    """Return why not everything is committed: all is processed and not committed, or one partition
    is not read while others are, or nothing is read.

    `owned`: the partitions that the application owns now, so that others are not expected of it;
    None: all.
    """
    records = {
        place: offsets for place, offsets in records.items() if owned is None or place in owned
    }
    done: dict[TopicPartition, set[int]] = {}
    for topic, index, offset in processed:
        done.setdefault((topic, index), set()).add(offset)
    left = {
        place: [at for at in offsets if at not in done.get(place, ())]
        for place, offsets in records.items()
    }
    others_done = any(not missing and records[place] for place, missing in left.items())
    found = []
    for place, missing in sorted(left.items()):
        where, at = f"{place[0]}-{place[1]}", committed.get(place, 0)
        if not records[place] or at > records[place][-1]:
            continue
        if not missing:
            last = records[place][-1]
            why = (
                f": that is the offset of the last record; commit the next offset, {last + 1}"
                if at == last
                else ""
            )
            told = f"committed at {at}{why}" if place in committed else "nothing of it is committed"
            found.append(Finding(BEHIND, f"{where} is processed up to offset {last}, and {told}"))
        elif others_done:
            text = f"of {where} the application has not processed {listed(missing)}, but everything of other partitions"
            why = "; it has paused it, or keeps them until a batch is full or the next record comes"
            if place not in done:
                why = "; it has processed nothing of it, so it does not read it, or began at its end (auto.offset.reset)"
            elif missing != list(records[place])[-len(missing) :]:
                why = ""
            found.append(Finding(STOPS_READING, text + why))
    if not done and any(records.values()):
        text = f"it has processed none of {how_many(sum(map(len, records.values())), 'record')}"
        why = "without a committed offset a consumer begins at the end, unless its auto.offset.reset is earliest"
        found.append(Finding(READS_NOTHING, f"{text}; {why}"))
    return found


def kept_back(
    processed: Iterable[Processed], records: Mapping[TopicPartition, Sequence[int]]
) -> list[Finding]:
    """Return a finding if some records of every partition were processed, and the last ones of
    each were not. For an application that processes nothing more."""
    done = set(processed)
    left = {
        place: [at for at in offsets if (*place, at) not in done]
        for place, offsets in records.items()
        if offsets
    }
    last = all(
        missing
        and missing == list(records[place])[-len(missing) :]
        and len(missing) < len(records[place])
        for place, missing in left.items()
    )
    if not left or not last:
        return []
    told = ", ".join(
        f"{listed(missing)} of {place[0]}-{place[1]}" for place, missing in sorted(left.items())[:3]
    )
    more = ", ..." if len(left) > 3 else ""
    return [
        Finding(
            KEEPS_BACK,
            f"it has processed everything but {told}{more}, and processes nothing more: it waits for more records, or has paused them",
        )
    ]


def order(processed: Iterable[Processed], keys: Mapping[Processed, bytes]) -> list[Finding]:
    """Return findings about records that were processed after a later one of their key; one for
    each partition."""
    found: dict[TopicPartition, Finding] = {}
    for each in out_of_order(processed, keys):
        found.setdefault(each.record[:2], Finding(ORDER, each.text))
    return list(found.values())


def repeated_effects(effects: Iterable[Hashable]) -> list[Finding]:
    """Return one finding about effects that happened more than once."""
    again = {effect: times for effect, times in Counter(effects).items() if times > 1}
    if not again:
        return []
    worst = max(again, key=lambda effect: again[effect])
    text = f"{how_many(len(again), 'effect')} happened more than once: {worst!r} {how_many(again[worst], 'time')}"
    return [Finding(REPEATED, text)]


def reached(processed: Iterable[Processed]) -> dict[TopicPartition, int]:
    """Return the offset behind the last processed record of each partition."""
    ends: dict[TopicPartition, int] = {}
    for topic, index, offset in processed:
        ends[topic, index] = max(ends.get((topic, index), 0), offset + 1)
    return ends


def not_committed(
    processed: Iterable[Processed],
    committed: Mapping[TopicPartition, int],
    now: Mapping[TopicPartition, int],
) -> list[Finding]:
    """Return findings about processed records that are not below the `committed` offset after a
    stop in good order. `now`: the first offsets of partitions."""
    found = []
    ends: dict[TopicPartition, list[int]] = {}
    for topic, index, offset in processed:
        ends.setdefault((topic, index), []).append(offset)
    for place, offsets in sorted(ends.items()):
        at = committed.get(place, now.get(place, 0))
        lost = sorted({offset for offset in offsets if offset >= at})
        if lost:
            text = f"{place[0]}-{place[1]} was committed at {at} when it had stopped; it had processed {listed(lost)}"
            found.append(Finding(NOT_COMMITTED, text))
    return found


def restless(lines: Iterable[Line], group: str, since: int, at_most: int) -> list[Finding]:
    """Return a finding if there were more rebalances than `at_most` from a line of the event log
    on."""
    begun = [
        line for line in lines if line.kind in BEGUN and line.group == group and line.seq >= since
    ]
    if len(begun) <= at_most:
        return []
    return [
        Finding(
            RESTLESS,
            f"{how_many(len(begun), 'rebalance')} began although no member joined or left; the last reason: {begun[-1].event.reason}",
        )
    ]


def exactly_once(
    processed: Iterable[Processed],
    committed: Mapping[TopicPartition, Sequence[int]],
    commits: Iterable[CommitSeen],
    lines: Sequence[Line],
) -> list[Finding]:
    """Return findings about records that committed transactions answered twice, or that belong
    to aborted ones, and about commits outside transactions. `committed`: the offsets that were
    to be answered."""
    found = []
    plain = {
        line.seq
        for line in lines
        if isinstance(event := line.event, RequestSeen) and event.api == "offset_commit"
    }
    outside = next((commit for commit in commits if commit.seq in plain), None)
    if outside is not None:
        text = f"{outside.member} committed {dict(outside.offsets)} by OffsetCommit, outside of a transaction"
        found.append(Finding(OUTSIDE, text + outside.when))
    why = _why_twice(lines)
    for (topic, index, offset), times in sorted(Counter(processed).items()):
        where = f"{topic}-{index} offset {offset}"
        if times > 1:
            text = f"{where} was answered {times} times in committed transactions"
            found.append(Finding(TWICE, text + why))
            why = ""
        if offset not in committed.get((topic, index), ()):
            found.append(
                Finding(ABORTED, f"{where} was answered in a transaction that was aborted")
            )
    return found


def _why_twice(lines: Iterable[Line]) -> str:
    """Return a phrase behind the sentence about a second answer: the cause, if offset commits of
    transactions name no member. Else ""."""
    asked = (line for line in lines if line.kind is RequestSeen)
    if all(line.member for line in asked if line.event.api == "txn_offset_commit"):
        return ""
    taken = "name no member, and a broker accepts such offsets also for partitions that the member has lost"
    ends = "a transaction has to end before its partitions are revoked"
    return f"; the offsets of its transactions {taken} (KIP-447): {ends}, in aiokafka while on_partitions_revoked waits for it"


def left_open(lines: Iterable[Line], transactional_id: str) -> list[Finding]:
    """Return a finding about a transaction of this id that was begun and never ended."""
    last: object = None
    for line in lines:
        event = line.event if line.kind in _TRANSACTIONS else None
        if event is not None and event.transactional_id == transactional_id:
            last = line.kind
    if last is not PartitionsEnlisted:
        return []
    return [
        Finding(
            LEFT_OPEN,
            f"the transaction of {transactional_id} was begun, but neither committed nor aborted",
        )
    ]


def of_output(
    headers: Iterable[tuple[str, bytes | None]], topic: str, names: Sequence[str] = OUTPUT_HEADERS
) -> Processed:
    """Return the processed record that an output record names by its headers. Raises TypeError
    if it names none."""
    found = dict(headers)
    try:
        name, partition, offset = ((found[key] or b"").decode() for key in names)
        return name, int(partition), int(offset)
    except (KeyError, ValueError):
        raise TypeError(
            f"records of {topic} are to have the headers {names[0]}, {names[1]} and {names[2]}; this one has {found}; "
            "the application's attribute output_headers says other names"
        ) from None


def when(seq: int | None, at_ms: int | None) -> str:
    """Return the place of a line in the event log as a phrase behind a sentence, or "" if it is
    not known."""
    return "" if seq is None or at_ms is None else f" (line {seq}, at {at_ms} ms)"


def listed(offsets: Sequence[int]) -> str:
    """Return some offsets as text."""
    if len(offsets) == 1:
        return f"offset {offsets[0]}"
    return f"offsets {', '.join(map(str, offsets[:8]))}{', ...' if len(offsets) > 8 else ''}"
