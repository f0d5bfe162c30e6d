"""A file that takes no lines for a while: what was accepted is written once and in order, and what
is left out is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.events import EventLog, LogError
from coordinator.events import groups as ev
from coordinator.events.reader import read_lines
from coordinator.events.wire import LogGap, RequestSeen
from tests.events.disk import Disk

SEEN = RequestSeen("join_group", 9, "app", "127.0.0.1")


def a_log(disk: Disk) -> tuple[EventLog, list[str]]:
    log = EventLog(disk, seed=1, name="run.jsonl")
    told: list[str] = []
    log.tell = told.append
    return log, told


def seqs(disk: Disk) -> list[int]:
    return [line.seq for line in read_lines(disk.data.decode().splitlines(keepends=True))]


@pytest.mark.parametrize("room", [0, 1, 50, 149, 150, 151, 299])
def test_lines_wait_in_order_and_are_written_once(room: int) -> None:
    disk = Disk(1 << 20)
    log, told = a_log(disk)
    disk.room = room
    for _ in range(3):
        log.group_event("g", 0, ev.GroupCreated("join"), 1, None)
        log.flush()
    assert not log.writable
    assert len(told) == 1
    assert told[0].startswith(
        "the event log run.jsonl cannot be written (No space left on device): "
    )
    assert seqs(disk) == list(range(1 + room // 150)) or room not in (0, 1), (
        "a last line cut short is left out"
    )
    disk.room = 1 << 20
    log.flush()
    assert log.writable
    assert seqs(disk) == [0, 1, 2, 3]
    assert told[1:] == [
        "the event log run.jsonl can be written again, and nothing that changed is missing"
    ]
    log.group_event("g", 0, ev.GroupCreated("join"), 1, None)
    log.close()
    assert seqs(disk) == [0, 1, 2, 3, 4]


def test_a_gap_says_how_many_wire_lines_are_left_out() -> None:
    disk = Disk(1 << 20)
    log, told = a_log(disk)
    disk.room = 5
    log.append(SEEN, at_ms=1)
    log.flush()
    for at_ms in (10, 20, 30):
        log.leave_out(at_ms)
    disk.room = 1 << 20
    log.flush()
    lines = list(read_lines(disk.data.decode().splitlines(keepends=True)))
    assert [line.name for line in lines] == ["RunStarted", "RequestSeen", "LogGap"]
    gap = lines[-1]
    assert (gap.event, gap.at_ms, gap.cause) == (LogGap(3, 10), 30, None)
    assert told[-1].endswith("; 3 lines about requests meanwhile are left out")


def test_an_end_with_lines_that_were_never_written_says_so() -> None:
    disk = Disk(1 << 20)
    log, told = a_log(disk)
    disk.room = 0
    log.append(SEEN, at_ms=1)
    log.append(SEEN, at_ms=1)
    log.close()
    assert told[-1] == "the event log run.jsonl ends 2 lines too early: they could not be written"


def test_a_file_that_takes_no_header_is_an_error_at_once() -> None:
    with pytest.raises(OSError, match="No space left"):
        EventLog(Disk(10))


def test_the_log_on_disk_is_readable_at_every_instant(tmp_path: Path) -> None:
    for room in range(600):
        disk = Disk(1 << 20)
        log, _ = a_log(disk)
        disk.room = room
        for _ in range(4):
            log.group_event("g", 0, ev.GroupCreated("join"), 1, None)
            log.flush()
            try:
                seqs(disk)
            except LogError as error:
                pytest.fail(f"{room} bytes: {error}")
