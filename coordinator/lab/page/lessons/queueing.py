"""The facts of the lesson in which a share group works on a queue (KIP-932), and of what is to be
tried in it.

As in `answers` and `trying`, whose tables have these functions by lesson.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coordinator.events.data import RecordsAppended
from coordinator.events.members import MemberCrashed
from coordinator.events.share_partitions import (
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsReleased,
)
from coordinator.history.explain.formatting import duration
from coordinator.server.settings.group_configs import group_defs
from coordinator.verbs.members import PauseMember

from .runs import s, seen

if TYPE_CHECKING:
    from .runs import Happened, Run

Facts = dict[str, Any]


def _span(
    line: Happened[RecordsAcquired] | Happened[RecordsAcknowledged] | Happened[RecordsReleased],
) -> tuple[int, int]:
    """The first and the last of the records that a line is about."""
    records = line.event.records
    return records[0].first_offset, records[-1].last_offset


def _words(line: Happened[RecordsAcquired]) -> str:
    first, last = _span(line)
    return f"{first} to {last}"


def _count(lines: list[Happened[RecordsAcquired]]) -> int:
    return sum(of.last_offset - of.first_offset + 1 for line in lines for of in line.event.records)


def _passed(run: Run, end: int) -> Happened[RecordsAcknowledged]:
    """The line with which the start offset reached the end."""
    return next(one for one in run.all(RecordsAcknowledged) if one.event.start_offset >= end)


def _end(run: Run) -> int:
    """The offset behind the last record that there is."""
    appended = run.all(RecordsAppended)
    return 1 + max(one.event.last_offset for one in appended if one.line.topic == "jobs")


def queue_on_a_log(run: Run) -> Facts:
    frozen = run.first(PauseMember).at_ms
    held = next(line for line in run.all(RecordsAcquired) if _span(line)[0] == 0)
    ended = run.first(RecordsReleased)
    again = run.first(RecordsAcquired, after_ms=ended.at_ms - 1)
    done = [line for line in run.all(RecordsAcknowledged) if line.at_ms < ended.at_ms]
    moved = _passed(run, _end(run))
    taken_back = ended.line.member == held.line.member != again.line.member
    waited = all(line.event.start_offset == 0 for line in done) and held.at_ms < frozen
    return {
        "answer": "again" if taken_back and waited and _span(again) == _span(held) else "order",
        **seen(again, "B is given them", run.who(again)),
        "in_hand": _words(held),
        "done_first": _span(done[0])[0],
        "done_last": _span(done[-1])[1],
        "start": done[-1].event.start_offset,
        "lock": duration(held.event.deadline_ms - held.at_ms),
        "ended": s(ended.at_ms),
        "count_before": ended.event.records[0].delivery_count,
        "again": s(again.at_ms),
        "count": again.event.records[0].delivery_count,
        "moved": s(moved.at_ms),
        "end": moved.event.start_offset,
        "limit": group_defs()["share.delivery.count.limit"].default,
    }


def dies_with_records(run: Run, base: Run) -> Facts:
    died = run.first(MemberCrashed).at_ms
    released = run.first(RecordsReleased)
    moved = next(
        line
        for line in run.all(RecordsAcknowledged)
        if line.event.start_offset > _span(released)[1]
    )
    return {
        **seen(released, "its records are available", "worker-1"),
        "released": s(released.at_ms),
        "after": duration(released.at_ms - died),
        "moved": s(moved.at_ms),
    }


def longer_lock(run: Run, base: Run) -> Facts:
    held = run.first(RecordsAcquired)
    again, before = (_given_again(each) for each in (run, base))
    return {
        **seen(again, "B is given them", run.who(again)),
        "lock_longer": duration(held.event.deadline_ms - held.at_ms),
        "again": s(again.at_ms),
        "later": duration(again.at_ms - before.at_ms),
    }


def _given_again(run: Run) -> Happened[RecordsAcquired]:
    """The line with which records were given for the second time."""
    return next(
        line for line in run.all(RecordsAcquired) if line.event.records[0].delivery_count > 1
    )


def nobody_accepts(run: Run, base: Run) -> Facts:
    acquired, end = run.all(RecordsAcquired), _end(run)
    most = max(of.delivery_count for line in acquired for of in line.event.records)
    moved = _passed(run, end)
    return {
        **seen(moved, f"SPSO {moved.event.start_offset}"),
        "most": most,
        "deliveries": _count(acquired),
        "records": end,
        "moved": s(moved.at_ms),
    }
