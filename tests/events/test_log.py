"""Writing and reading the log: the envelope, the bytes, and what is no log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coordinator.event_log import EventLog, LogError, read
from coordinator.events import groups as ev
from coordinator.events.reader import Parser
from coordinator.events.wire import RequestAnswered, RequestSeen
from coordinator.verbs.brokers import MoveLeader

SEEN = RequestSeen("join_group", 9, "app", "127.0.0.1")


def test_a_log_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    log = EventLog.open(path, run="r1", seed=7, epoch_ms=99, config={"b": "2", "a": "1"})
    seen = log.append(SEEN, at_ms=4, group="g")
    done = log.group_event("g", 0, ev.GroupCreated("join"), 5, seen)
    log.append(MoveLeader("t", 0, 2), at_ms=6, broker=1)
    log.close()
    log.close()
    header, *lines = read(path)
    assert header["seq"] == 0
    assert (
        header["stream"],
        header["type"],
        header["format"],
        header["seed"],
        header["epoch_ms"],
    ) == ("run", "RunStarted", 1, 7, 99)
    assert list(header["config"]) == ["a", "b"]
    assert (seen, done) == (1, 2)
    assert lines == [
        {
            "seq": 1,
            "at_ms": 4,
            "run": "r1",
            "stream": "wire",
            "type": "RequestSeen",
            "cause": None,
            "group": "g",
            "api": "join_group",
            "version": 9,
            "client": "app",
            "peer": "127.0.0.1",
        },
        {
            "seq": 2,
            "at_ms": 5,
            "run": "r1",
            "stream": "group",
            "type": "GroupCreated",
            "cause": 1,
            "group": "g",
            "generation": 0,
            "durable": True,
            "by": "join",
        },
        {
            "seq": 3,
            "at_ms": 6,
            "run": "r1",
            "stream": "fault",
            "type": "MoveLeader",
            "cause": None,
            "broker": 1,
            "topic": "t",
            "partition": 0,
            "target": 2,
        },
    ]
    assert path.read_bytes().isascii()


def test_places_come_first_in_one_order_however_they_are_given() -> None:
    one, two = EventLog(), EventLog()
    one.append(SEEN, at_ms=0, topic="t", generation=3, group="g", member="m")
    two.append(SEEN, at_ms=0, group="g", member="m", generation=3, topic="t")
    assert one.lines == two.lines
    assert list(json.loads(one.lines[1]))[6:11] == ["group", "generation", "member", "topic", "api"]


def test_a_line_is_in_the_file_when_flush_returns(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    log = EventLog.open(path)
    assert len(list(read(path))) == 1, "the header is there at once"
    log.append(SEEN, at_ms=0)
    log.flush()
    assert len(list(read(path))) == 2
    for _ in range(3000):  # nobody flushes: lines do not pile up for ever
        log.append(SEEN, at_ms=0)
    assert len(log.lines) < 2000
    log.close()
    assert len(list(read(path))) == 3002


def test_what_cannot_stand_in_a_log_is_our_own_fault() -> None:
    log = EventLog()
    with pytest.raises(AssertionError, match="has not happened yet"):
        log.append(SEEN, at_ms=0, cause=1)
    with pytest.raises(KeyError):
        log.append("MemberJoined", at_ms=0)
    with pytest.raises(TypeError, match="not set"):
        log.append(RequestAnswered({1}, 0), at_ms=0)  # type: ignore[arg-type]


def test_reading_needs_nothing_of_the_heart() -> None:
    code = "import sys, coordinator.event_log as log; log.read; print([m for m in sys.modules if m.startswith('coordinator')])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    for room in ("wire", "core", "history", "server", "kit", "lab", "events.writer"):
        assert f"coordinator.{room}'" not in loaded


HEADER = (
    '{"seq":0,"at_ms":0,"run":"r","stream":"run","type":"RunStarted","cause":null,"format":1}\n'
)
LINE = '{"seq":%d,"at_ms":0,"run":"r","stream":"wire","type":"X","cause":null}\n'


def text_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    return path


def test_a_last_line_cut_short_is_left_out(tmp_path: Path) -> None:
    whole = HEADER + LINE % 1
    for cut in range(len(HEADER), len(whole) - 2):
        assert len(list(read(text_file(tmp_path, whole[:cut])))) == 1
    assert len(list(read(text_file(tmp_path, whole[:-1])))) == 2, "only its newline is missing"


def test_what_a_later_version_adds_is_kept(tmp_path: Path) -> None:
    line = (
        '{"seq":9,"at_ms":0,"run":"r","stream":"dreams","type":"Dreamt","cause":0,"of":["sheep"]}\n'
    )
    assert list(read(text_file(tmp_path, HEADER + "\n" + line)))[1]["of"] == ["sheep"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: empty"),
        ("hello\n", "line 1: not JSON"),
        ("[1]\n", "line 1: '[1]' is JSON, but no object"),
        (LINE % 1, "line 1: 'X' comes first"),
        (HEADER.replace(":1}", ":2}"), 'line 1: "format": 2: this version reads formats 1 to 1'),
        (HEADER + "{}\n", 'line 2: "seq": no such field; it is an integer'),
        (HEADER + (LINE % 1).replace('"r"', "5"), 'line 2: "run": 5 where a string should be'),
        (HEADER + (LINE % 1).replace("null", "1"), 'line 2: "cause": 1: an earlier line'),
        (HEADER + LINE % 2 + LINE % 2, "line 3: seq 2 after 2"),
        (HEADER + "{\n" + LINE % 1, "line 2: not JSON"),
        (HEADER + "\x00\xff{}\n", "line 2: not JSON"),
    ],
)
def test_what_is_no_log_is_refused_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = text_file(tmp_path, text)
    with pytest.raises(LogError) as refused:
        list(read(path))
    assert f"run.jsonl, {complaint}" in str(refused.value)


def test_a_growing_log_is_read_line_by_line() -> None:
    parser = Parser()
    assert parser.parse(HEADER) is not None
    assert parser.parse(LINE % 1) is not None
    assert parser.parse('{"seq":2,') is None
