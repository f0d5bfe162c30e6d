"""Share groups in a test that is made from a run (`as_pytest`): their members, their records, and
assertions about these.

The test asserts the outcome in the run's log: the progress of each share partition, the records
in flight, and the number of records delivered again. Reads scenario files and the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coordinator.events.data import RecordsAppended
from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    AcknowledgedRange,
    RecordRange,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionOpened,
)
from coordinator.history.world.accepted_lines import accepted
from coordinator.history.world.shares.record_states import HELD, ShareStays

from ...simulator.files.model import Scenario
from ...simulator.files.share_kinds import ShareKind

MOST_WRITTEN: Final = 500
"""Highest number of records that a test writes."""


class OnlyHereError(ValueError):
    """A step that no test can have, whatever the group."""


def is_one(scenario: Scenario, group: str) -> bool:
    return any(kind.group == group for kind in scenario.share_members)


def steps(scenario: Scenario, log: Sequence[Line]) -> Iterator[tuple[int, list[str]]]:
    """Yield a test's steps for its share groups: their configuration, and the records that they
    read, written at their instants in the run. Raises OnlyHereError."""
    if not scenario.share_members:
        return
    for group, settings in scenario.groups.items():
        yield 0, [f"kafka.share_group({group!r}).configure({settings!r})"]
    written: list[tuple[Line, RecordsAppended]] = [
        (line, line.event)
        for line in log
        if line.kind is RecordsAppended and line.topic in scenario.topics
    ]
    records = sum(batch.last_offset - batch.offset + 1 for _, batch in written)
    if records > MOST_WRITTEN:
        raise OnlyHereError(f"{records} records of a share group, more than {MOST_WRITTEN}")
    for line, batch in written:
        values = [str(each) for each in range(batch.offset, batch.last_offset + 1)]
        call = f"kafka.produce({line.topic!r}, {values!r}, partition={line.partition})"
        yield line.at_ms, [call]


def peer(kind: ShareKind, name: str, settings: str) -> str:
    """Return the call that starts a member."""
    given = [f"{kind.group!r}", f"{list(kind.topics)!r}"]
    words = {
        "processing_ms": kind.work.processing_ms,
        "release": kind.work.release,
        "reject": kind.work.reject,
        "renew_ms": kind.work.renew_ms,
    }
    given += [f"{key}={value!r}" for key, value in words.items() if value]
    own = {"client.id": name}
    return f"kafka.share_peer({', '.join(given)}, config={settings} | {own!r})"


def asserted(group: str, log: Sequence[Line]) -> Iterator[str]:
    """Yield the lines that assert the outcome of a share group."""
    stays = ShareStays(lambda key, stay: None)
    again = archived = 0
    for line in log:  # the test counts all lines, too
        if line.kind is RecordsAcquired and line.group == group:
            again += _many(of for of in line.event.records if of.delivery_count > 1)
    for line in accepted(log, group=group):
        if line.stream == "share" and stays.see(line) is not None:
            event = line.event
            if isinstance(event, _WITH_STATES):
                archived += _many(of for of in event.records if of.state == "Archived")
    starts: dict[str, int] = {}
    states: Counter[str] = Counter()
    for (_, topic, number), there in sorted(stays.partitions.items()):
        if there.start is not None:
            starts[f"{topic}-{number}"] = there.start
        for each in there.pieces:
            states[each.state] += each.last - each.first + 1
    yield f"seen = kafka.share_group({group!r}).snapshot()"
    yield f"assert seen.starts == {starts!r}"
    counts = (states["Available"], states[HELD], archived)
    yield f"assert (seen.available, seen.acquired, seen.archived) == {counts!r}"
    yield f"acquired = kafka.events('RecordsAcquired', group={group!r}, since=0)"
    yield "rows = [row for line in acquired for row in line['records'] if row['delivery_count'] > 1]"
    yield f"assert sum(row['last_offset'] - row['first_offset'] + 1 for row in rows) == {again}"


_WITH_STATES: Final = (
    SharePartitionOpened,
    RecordsAcquired,
    RecordsAcknowledged,
    RecordsReleased,
    RecordsArchived,
)


def _many(records: Iterable[RecordRange | AcknowledgedRange]) -> int:
    return sum(of.last_offset - of.first_offset + 1 for of in records)
