"""Assertions about what happened to a group, on the lines of the event log. They can be chained; a
failure shows the lines that contradict it.

Promises are judged by `coordinator.history.judges`. A promise that cannot be judged fails, too,
and the error says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, Self

from coordinator.base.counting import how_many
from coordinator.base.keyword_errors import nearest_keywords
from coordinator.events.faults import FaultInjected, SnapshotRestored
from coordinator.events.groups import (
    MemberJoined,
    MemberRemoved,
    MemberReplaced,
    OffsetsCommitted,
    Removal,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
)
from coordinator.events.line import Line
from coordinator.events.wire import RequestRefused
from coordinator.history.judges import Judge, Judgement, Panel
from coordinator.history.judges.commits import (
    CommitsStayWithinAssignment,
    CommitsStayWithinGeneration,
)
from coordinator.history.judges.dead_letters import DeadLettersComplete
from coordinator.history.judges.ownership import RevokedBeforeAssigned, SingleOwner
from coordinator.history.judges.share_locks import LocksLast
from coordinator.history.judges.sharing import (
    DeliveriesAreCounted,
    DoneStaysDone,
    NothingBeforeStart,
    OneHolder,
)
from coordinator.history.judges.transactional_offsets import TransactionsStayWithinAssignment
from coordinator.history.world.accepted_lines import accepted
from coordinator.history.world.groups.spans import BEGUN
from coordinator.history.world.refusals import STALE

from .. import arguments
from ..views.group_snapshots import GroupSnapshot, TopicPartition
from ..waits.expectations import ExpectationError, partition_of
from .order import out_of_order
from .unprocessed import processed_twice, unprocessed

Beginning = Mapping[TopicPartition, int] | Literal["first processed"] | None
"""The offset where processing had to begin, by partition; None: where the group had committed."""
_NEIGHBOURS = 3


@nearest_keywords
class Verification:
    """Assertions about one group's lines. Each method returns the object itself, so that calls
    can be chained."""

    def __init__(
        self,
        group_id: str,
        lines: Sequence[Line],
        group: GroupSnapshot,
        since: int = 0,
        records: Callable[[str, int], Iterable[int]] | None = None,
        keys: Callable[[str, int], Mapping[int, bytes]] | None = None,
    ) -> None:
        """`group`: its present state. `records`: returns the offsets in a partition that readers
        of committed records see; without it gaps are not judged. `keys`: returns the keys of a
        partition's records by offset; without it the order of keys is not judged."""
        self._group_id = group_id
        arguments.counted("since", since)
        self._groups = sorted({line.group for line in lines if line.group})
        self._all = list(accepted(lines, group=group_id))
        self._lines = [line for line in self._all if line.seq >= since]
        self._group = group
        self._since = since
        self._records = records
        self._keys = keys
        self._streams = frozenset({"group", "wire", "share"})

    @classmethod
    def of_log(cls, group_id: str, lines: Sequence[Line]) -> Self:
        """Return assertions on a log that was read from a file; topics and committed offsets are
        then unknown."""
        return cls(group_id, lines, GroupSnapshot(group_id, "Dead"))

    # -- promises

    def single_owner(self) -> Self:
        """Assert that each partition had at most one owner within each generation."""
        return self._judged(SingleOwner)

    def revoked_before_assigned(self) -> Self:
        """Assert that no member was assigned a partition before its former owner revoked it.
        Known only for peers of the emulator, whose callbacks are in the log."""
        return self._judged(RevokedBeforeAssigned)

    def no_stale_commit(self) -> Self:
        """Assert that no member committed, or tried to, after it had lost its generation, or for
        partitions that it was not assigned; and that no transaction committed offsets of
        partitions that its member had lost, which Kafka accepts (`no_transaction_after_losing`)."""
        self._judged(CommitsStayWithinGeneration)
        self._judged(CommitsStayWithinAssignment)
        self._judged(TransactionsStayWithinAssignment)
        for line, event in self._refusals("offset_commit", "txn_offset_commit"):
            stale = STALE.intersection(event.errors)
            if stale:
                self._fail(
                    f"a commit was refused with {', '.join(sorted(stale))}: its sender had lost its generation",
                    line,
                )
        return self

    # -- promises of share groups

    def done_stays_done(self) -> Self:
        """Assert that no accepted, rejected or archived record was delivered again."""
        return self._judged(DoneStaysDone)

    def one_holder(self) -> Self:
        """Assert that no two members held a record at the same time, and that no member
        acknowledged a record that another held."""
        return self._judged(OneHolder)

    def deliveries_are_counted(self) -> Self:
        """Assert that each delivery of a record counted one more, and none exceeded the limit."""
        return self._judged(DeliveriesAreCounted)

    def nothing_before_start(self) -> Self:
        """Assert that no record before the start offset was delivered, and that the start offset
        only grew."""
        return self._judged(NothingBeforeStart)

    def locks_last(self) -> Self:
        """Assert that each lock ended when its time was over, or by its member's acknowledgement
        or the end of its session."""
        return self._judged(LocksLast)

    def dead_letters_complete(self) -> Self:
        """Assert that each record that was given up has one dead letter, if the group has a
        topic for them."""
        return self._judged(DeadLettersComplete)

    def _judged(self, kind: type[Judge]) -> Self:
        self._known()
        panel = Panel([kind], streams=self._streams)
        for line in self._all:
            panel.show(line)
        (verdict,) = panel.verdicts(self._since)
        if verdict.judgement is Judgement.NOT_JUDGED:
            raise AssertionError(f"group {self._group_id!r}: {verdict}")
        if verdict.findings:
            first = verdict.findings[0]
            line = next(line for line in self._all if line.seq == first.seq)
            more = f" (and {len(verdict.findings) - 1} more)" if len(verdict.findings) > 1 else ""
            self._fail(f"{verdict.judge}: {first.text}{more}; the promise: {verdict.promise}", line)
        return self

    # -- counts

    def rebalances(
        self,
        exactly: int | None = None,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
        since: int = 0,
    ) -> Self:
        """Assert the number of rebalances that began; in a consumer group (KIP-848) each group
        epoch is one, as in Kafka's metrics. `since`: a `mark`."""
        _check_bounds(exactly, at_least, at_most)
        arguments.counted("since", since)
        begun = [line for line in self._lines if line.kind in BEGUN and line.seq >= since]
        wrong = (
            (exactly is not None and len(begun) != exactly)
            or (at_least is not None and len(begun) < at_least)
            or (at_most is not None and len(begun) > at_most)
        )
        if wrong:
            wanted = (
                f"{exactly}"
                if exactly is not None
                else f"at least {at_least}"
                if at_least is not None
                else f"at most {at_most}"
            )
            reasons = "".join(
                f"\n  line {line.seq}, at {line.at_ms} ms: {line.event.reason}" for line in begun
            )
            raise AssertionError(
                f"group {self._group_id!r} rebalanced {how_many(len(begun), 'time')}, not {wanted}{reasons}"
            )
        return self

    def left_cleanly(self, *names: str) -> Self:
        """Assert that these members (without names: all that left) left by themselves: none
        expired, was fenced or missed a rebalance. A name is a member id, a client id, a group
        instance id, or the beginning of a member id."""
        for name in names:
            arguments.text("name of a member", name)
        self._known()
        gone = [
            (line, event)
            for line in self._lines
            if isinstance(event := line.event, MemberRemoved | ConsumerMemberRemoved)
        ]
        names_of = self._names()
        for name in names:
            if not any(_is(event.member_id, name, names_of) for _, event in gone):
                seen = ", ".join(event.member_id for _, event in gone) or "nobody"
                raise AssertionError(
                    f"{name!r} did not leave group {self._group_id!r}; members that left: {seen}"
                )
        for line, event in gone:
            member = event.member_id
            meant = not names or any(_is(member, name, names_of) for name in names)
            if meant and event.reason != Removal.LEFT:
                detail = f" ({event.detail})" if event.detail else ""
                self._fail(f"{member} did not leave cleanly: {event.reason}{detail}", line)
        return self

    # -- offsets

    def committed(self, offsets: Mapping[TopicPartition, int]) -> Self:
        """Assert that exactly these offsets are committed now."""
        arguments.mapping("offsets", offsets, '{("orders", 0): 10}')
        for key, offset in offsets.items():
            topic, index = partition_of(key)
            arguments.counted(f"offset of {topic}-{index}", offset)
            found = self._group.committed.get((topic, index))
            if found is None or found.offset != offset:
                commits = [
                    (line, at)
                    for line in self._lines
                    if isinstance(event := line.event, OffsetsCommitted)
                    and (at := _commits(event, topic, index)) is not None
                ]
                told = "".join(
                    f"\n  line {line.seq}, at {line.at_ms} ms: {line.member or 'no member'} committed {at}"
                    for line, at in commits[-5:]
                )
                is_at = "nothing is" if found is None else f"{found.offset} is"
                raise AssertionError(
                    f"{topic}-{index}: {is_at} committed for group {self._group_id!r}, not {offset}{told}"
                )
        return self

    def no_gaps(
        self, processed: Iterable[tuple[str, int, int]], *, beginning: Beginning = None
    ) -> Self:
        """Assert that every record below a committed offset was processed. `processed`: (topic,
        partition, offset) of each processed record.

        Offsets without a record that readers of committed records see do not count. Processing
        must begin at the offset that the group had committed when the run began, else at the
        log's start. `beginning`: other offsets, {("orders", 0): 10}, or "first processed" for
        the first processed record of each partition.
        """
        return self._no_gaps(arguments.processed(processed), beginning)

    def exactly_once(
        self, processed: Iterable[tuple[str, int, int]], *, beginning: Beginning = None
    ) -> Self:
        """Assert that no record was processed twice, and none below a committed offset was left
        out; see `no_gaps`."""
        rows = arguments.processed(processed)
        twice = processed_twice(rows)
        if twice:
            told = ", ".join(
                f"{topic}-{index} offset {offset}" for topic, index, offset in twice[:10]
            )
            raise AssertionError(
                f"group {self._group_id!r}: processed more than once: {told}{', ...' if len(twice) > 10 else ''}"
            )
        return self._no_gaps(rows, beginning)

    def in_order_per_key(self, processed: Iterable[tuple[str, int, int]]) -> Self:
        """Assert that no record was processed after a later record of the same key and partition.
        `processed`: (topic, partition, offset) of each record, in the order of processing.

        A record that was processed again counts once, for its first time. Records without a key
        have no order; the keys of deleted or compacted records are unknown.
        """
        rows = arguments.processed(processed)
        if self._keys is None:
            raise ExpectationError(
                "in_order_per_key compares with the keys of records: ask an emulator, a log alone does not have them"
            )
        known = {
            (topic, index, offset): key
            for topic, index in sorted({row[:2] for row in rows})
            for offset, key in self._keys(topic, index).items()
        }
        if found := out_of_order(rows, known):
            told = "".join(f"\n  {each.text}" for each in found[:10])
            more = "\n  ..." if len(found) > 10 else ""
            raise AssertionError(f"group {self._group_id!r}: out of order:{told}{more}")
        return self

    def _no_gaps(self, processed: Sequence[tuple[str, int, int]], beginning: Beginning) -> Self:
        if self._records is None:
            raise ExpectationError(
                "no_gaps and exactly_once compare with the records of topics: ask an emulator, a log alone does not have them"
            )
        begins = self._beginning(processed, beginning)
        committed = {place: found.offset for place, found in self._group.committed.items()}
        records = {place: list(self._records(*place)) for place in committed}
        for (topic, index), missing in unprocessed(processed, committed, records, begins).items():
            listed = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
            first = min((row[2] for row in processed if row[:2] == (topic, index)), default=None)
            hint = ""
            if first is None or missing[0] < first:
                hint = (
                    '; if the application was to begin behind them: beginning="first processed", '
                    f'or beginning={{("{topic}", {index}): {missing[-1] + 1 if first is None else first}}}'
                )
            raise AssertionError(
                f"{topic}-{index} is committed at {committed[topic, index]}, but these records were never processed: {listed}{hint}"
            )
        return self

    def _beginning(
        self, processed: Iterable[tuple[str, int, int]], given: Beginning
    ) -> dict[TopicPartition, int]:
        """Return the offset where processing had to begin, by partition. Raises
        ExpectationError, ControlError."""
        begins: dict[TopicPartition, int] = {}
        if given == "first processed":
            for topic, index, offset in processed:
                place = topic, index
                begins[place] = min(offset, begins.get(place, offset))
            return begins
        if isinstance(given, str):
            raise ExpectationError(
                f'beginning={given!r}: give offsets, {{("orders", 0): 10}}, or "first processed"'
            )
        begins = self._committed_before()
        if given is not None:
            arguments.mapping("beginning", given, '{("orders", 0): 10}')
            for key, offset in given.items():
                topic, index = partition_of(key)
                arguments.counted(f"offset of {topic}-{index}", offset)
                begins[topic, index] = offset
        return begins

    def _committed_before(self) -> dict[TopicPartition, int]:
        """Return the offsets that were committed before the first line to look at, or that a
        snapshot restored."""
        found: dict[TopicPartition, int] = {}
        restored = None
        for line in self._all:
            event = line.event
            if isinstance(event, SnapshotRestored):
                restored = line.seq
                found.clear()
            elif isinstance(event, OffsetsCommitted) and (
                line.seq < self._since or (restored is not None and line.cause == restored)
            ):
                found |= {(row.topic, row.partition): row.offset for row in event.offsets}
        return found

    # -- inside

    def _known(self) -> None:
        """Raise AssertionError if the log has nothing about the group: its name may be misspelt."""
        if self._group_id not in self._groups:
            there = ", ".join(self._groups) or "none"
            raise AssertionError(
                f"not judged: nothing happened to a group {self._group_id!r}; the groups of this run are: {there}"
            )

    def _names(self) -> dict[str, set[str]]:
        """Return each member's other names: its client id and its group instance id."""
        found: dict[str, set[str]] = {}
        for line in self._all:
            match line.event:
                case MemberJoined() as said:
                    told = [said.client_id, said.group_instance_id]
                case MemberReplaced() as said:
                    told = [said.group_instance_id]
                case ConsumerMemberSubscribed() as said:
                    told = [said.client_id, said.group_instance_id]
                case ConsumerMemberReplaced(_, _, said):
                    told = [said.client_id, said.group_instance_id]
                case _:
                    continue
            found.setdefault(line.member or "", set()).update(name for name in told if name)
        return found

    def _refusals(self, *apis: str) -> Iterable[tuple[Line, RequestRefused]]:
        """Return the refused requests of these APIs, without those that only an injected fault
        refused."""
        injected = {
            line.cause
            for line in self._lines
            if isinstance(event := line.event, FaultInjected) and event.action == "fail"
        }
        return (
            (line, event)
            for line in self._lines
            if isinstance(event := line.event, RequestRefused)
            and event.api in apis
            and not (len(event.errors) == 1 and line.cause in injected)
        )

    def _fail(self, what: str, line: Line) -> None:
        at = self._all.index(line)
        near = self._all[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS + 1]
        told = "".join(f"\n {'>' if other is line else ' '} {_shown(other)}" for other in near)
        raise AssertionError(f"group {self._group_id!r}: {what}{told}")


def _check_bounds(exactly: int | None, at_least: int | None, at_most: int | None) -> None:
    """Raise ExpectationError for bounds that no count can meet, or that every count meets."""
    bounds: dict[str, object] = {"exactly": exactly, "at_least": at_least, "at_most": at_most}
    for name, bound in bounds.items():
        if bound is not None and (
            not isinstance(bound, int) or isinstance(bound, bool) or bound < 0
        ):
            raise ExpectationError(f"{name}: {bound!r}; a whole number from 0 on")
    if not any(bound is not None for bound in bounds.values()):
        raise ExpectationError("how many rebalances? Give a number, at_least or at_most")
    if exactly is not None and (at_least is not None or at_most is not None):
        raise ExpectationError(
            f"{exactly} rebalances exactly: give either exactly, or at_least and at_most"
        )
    if at_least is not None and at_most is not None and at_least > at_most:
        raise ExpectationError(
            f"at_least={at_least} and at_most={at_most}: no number satisfies both"
        )


def _is(member: str, name: str, names_of: Mapping[str, Collection[str]]) -> bool:
    return member.startswith(name) or name in names_of.get(member, ())


def _commits(event: OffsetsCommitted, topic: str, index: int) -> int | None:
    """Return the offset that an event commits for a partition, or None."""
    offsets = (row.offset for row in event.offsets if (row.topic, row.partition) == (topic, index))
    return next(offsets, None)


_HIDDEN = frozenset({"seq", "at_ms", "run", "stream", "type", "cause", "group", "durable"})


def _shown(line: Line) -> str:
    fields = ", ".join(
        f"{name} {value}"
        for name, value in line.plain.items()
        if name not in _HIDDEN and not isinstance(value, list | dict)
    )
    return f"line {line.seq}, at {line.at_ms} ms: {line.name}{': ' + fields if fields else ''}"
