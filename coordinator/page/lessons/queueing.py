"""The facts of the lesson in which a share group works on a queue (KIP-932), and of what is to be
tried in it.

As in `answers` and `trying`, whose tables have these functions by lesson.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...configs.group_configs import group_defs
from ...explain.words import duration
from .runs import s

if TYPE_CHECKING:
    from ...event_log.reader import Line
    from .runs import Run

Facts = dict[str, Any]


def _span(line: Line) -> tuple[int, int]:
    """The first and the last of the records that a line is about."""
    return line["records"][0]["first_offset"], line["records"][-1]["last_offset"]


def _words(line: Line) -> str:
    first, last = _span(line)
    return f"{first} to {last}"


def _count(lines: list[Line]) -> int:
    return sum(
        of["last_offset"] - of["first_offset"] + 1 for line in lines for of in line["records"]
    )


def _passed(run: Run, end: int) -> Line:
    """The line with which the start offset reached the end."""
    return next(line for line in run.all("RecordsAcknowledged") if line["start_offset"] >= end)


def _end(run: Run) -> int:
    """The offset behind the last record that there is."""
    return 1 + max(int(line["last_offset"]) for line in run.all("RecordsAppended", topic="jobs"))


def queue_on_a_log(run: Run) -> Facts:
    frozen = run.first("PauseMember")["at_ms"]
    held = next(line for line in run.all("RecordsAcquired") if _span(line)[0] == 0)
    ended = run.first("RecordsReleased")
    again = run.first("RecordsAcquired", after_ms=ended["at_ms"] - 1)
    done = [line for line in run.all("RecordsAcknowledged") if line["at_ms"] < ended["at_ms"]]
    moved = _passed(run, _end(run))
    taken_back = ended["member"] == held["member"] != again["member"]
    waited = all(line["start_offset"] == 0 for line in done) and held["at_ms"] < frozen
    return {
        "answer": "again" if taken_back and waited and _span(again) == _span(held) else "order",
        "truth_ms": again["at_ms"],
        "truth_seq": again["seq"],
        "truth": "B is given them",
        "in_hand": _words(held),
        "done_first": _span(done[0])[0],
        "done_last": _span(done[-1])[1],
        "start": done[-1]["start_offset"],
        "lock": duration(held["deadline_ms"] - held["at_ms"]),
        "ended": s(ended["at_ms"]),
        "count_before": ended["records"][0]["delivery_count"],
        "again": s(again["at_ms"]),
        "count": again["records"][0]["delivery_count"],
        "moved": s(moved["at_ms"]),
        "end": moved["start_offset"],
        "limit": group_defs()["share.delivery.count.limit"].default,
    }


def dies_with_records(run: Run, base: Run) -> Facts:
    died = run.first("MemberCrashed")["at_ms"]
    released = run.first("RecordsReleased")
    moved = next(
        line for line in run.all("RecordsAcknowledged") if line["start_offset"] > _span(released)[1]
    )
    return {
        "released": s(released["at_ms"]),
        "after": duration(released["at_ms"] - died),
        "moved": s(moved["at_ms"]),
    }


def longer_lock(run: Run, base: Run) -> Facts:
    held = run.first("RecordsAcquired")
    again, before = (_given_again(each) for each in (run, base))
    return {
        "lock_longer": duration(held["deadline_ms"] - held["at_ms"]),
        "again": s(again),
        "later": duration(again - before),
    }


def _given_again(run: Run) -> int:
    """When records were given for the second time."""
    return next(
        int(line["at_ms"])
        for line in run.all("RecordsAcquired")
        if line["records"][0]["delivery_count"] > 1
    )


def nobody_accepts(run: Run, base: Run) -> Facts:
    acquired, end = run.all("RecordsAcquired"), _end(run)
    most = max(of["delivery_count"] for line in acquired for of in line["records"])
    return {
        "most": most,
        "deliveries": _count(acquired),
        "records": end,
        "moved": s(_passed(run, end)["at_ms"]),
    }
