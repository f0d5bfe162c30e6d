"""A file that exists: refused, continued as a new run, or started anew; and which run of several is
read."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.event_log import EventLog, LogError, read
from coordinator.events import files
from coordinator.events import groups as ev
from coordinator.events.files import LogExistsError, runs
from coordinator.events.reader import numbered, read_lines
from coordinator.server.replay.one_broker import read_group_events


def write_run(path: Path, mode: str, events: int, **options: object) -> None:
    log = EventLog.open(path, mode=mode, **options)  # type: ignore[arg-type]
    for _ in range(events):
        log.group_event("g", 0, ev.GroupCreated("join"), 1, None)
    log.close()


def test_a_file_that_exists_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("precious\n")
    with pytest.raises(LogExistsError) as refused:
        EventLog.open(path)
    assert path.read_text() == "precious\n"
    for mode in ("new", "append", "replace"):
        assert f'"{mode}"' in str(refused.value)


def test_append_adds_a_run_and_replace_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_run(path, "append", 3, seed=5)
    write_run(path, "append", 2, seed=5)
    write_run(path, "append", 1, seed=6)
    assert [(run.name, run.number) for run in runs(path)] == [("5", 1), ("5-2", 5), ("6", 8)]
    assert [line["seq"] for line in read(path)] == [0, 1]
    assert [line["run"] for line in read(path, "5")] == ["5"] * 4
    assert [line["run"] for line in read(path, "5-2")] == ["5-2"] * 3
    assert len(list(read_group_events(path, "5"))) == 3
    assert len(list(read_group_events(path))) == 1
    write_run(path, "replace", 1, seed=7)
    assert [run.name for run in runs(path)] == ["7"]


@pytest.mark.parametrize("at_once", [1, 7, 100, 300, 1 << 20])
def test_runs_are_found_wherever_a_piece_of_the_file_ends(
    tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    for seed in (1, 2, 3):
        write_run(path, "append", seed, seed=seed)
    with path.open("ab") as file:
        file.write(b'"RunStarted"' * 50)  # a line that is none, without an end
    offsets, numbers, offset = [], [], 0
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        if line.startswith(b'{"seq":0,'):
            offsets.append(offset)
            numbers.append(number)
        offset += len(line)
    monkeypatch.setattr("coordinator.events.files._AT_ONCE", at_once)
    found = runs(path)
    assert [run.name for run in found] == ["1", "2", "3"]
    assert ([run.number for run in found], [run.offset for run in found]) == (numbers, offsets)
    monkeypatch.setattr("coordinator.events.files._NO_LINE", 250)
    assert [run.name for run in runs(path)] == ["1", "2", "3"], "the line that is none is passed"


def test_lines_of_text_give_the_same_runs_as_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for seed, events in ((1, 3), (2, 2), (3, 1)):
        write_run(path, "append", events, seed=seed)
    texts = path.read_text().splitlines(keepends=True)
    for run in (None, "1", "2", "3"):
        assert list(read_lines(texts, run=run)) == list(files.read(path, run))
        assert [number for number, _ in numbered(read_lines(texts, run=run))] == [
            number for number, _ in numbered(files.read(path, run))
        ]
    with pytest.raises(LogError, match="no run '9' in this log; its runs are '1', '2', '3'"):
        read(path, "9")
    with pytest.raises(LogError, match="no run '9' in this log"):
        read_lines(texts, run="9")


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_last_line_cut_short_is_cut_off_before_the_next_run(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "run.jsonl"
    write_run(path, "new", 2, seed=1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    write_run(path, "append", 1, seed=2)
    first = (
        whole if cut == 1 else whole[: whole.rfind(b"\n", 0, -1) + 1]
    )  # a line that lacks its newline only is whole
    assert path.read_bytes().startswith(first + b'{"seq":0,')
    assert [line["seq"] for line in read(path, "1")] == ([0, 1, 2] if cut == 1 else [0, 1])
    assert [line["seq"] for line in read(path)] == [0, 1]


def test_a_header_cut_short_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"seq":0,"at_ms":0,"ru')
    write_run(path, "append", 1, seed=2)
    assert [run.name for run in runs(path)] == ["2"]


@pytest.mark.parametrize("text", ["precious", "precious\n", '{"a":1}\n', "\0" * 100_000])
def test_nothing_is_appended_to_what_is_no_log(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(LogError, match="no event log, so nothing is appended to it"):
        EventLog.open(path, mode="append")
    assert path.read_text() == text


def test_a_device_takes_a_log_in_every_mode() -> None:
    for mode in ("new", "append", "replace"):
        EventLog.open("/dev/null", mode=mode).close()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one of new, append, replace"):
        EventLog.open("/dev/null", mode="force")  # type: ignore[arg-type]


def test_a_header_that_cannot_be_written_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    write_run(path, "new", 1, seed=1)
    before = path.read_bytes()

    class Full(io.FileIO):
        def write(self, data: object) -> int:
            if self.seek(0, io.SEEK_END) < len(before) + 10:
                return super().write(data[:10])  # type: ignore[index]
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("coordinator.events.files.FileIO", Full)
    with pytest.raises(OSError, match="No space left"):
        EventLog.open(path, mode="append")
    assert path.read_bytes() == before


def test_explain_takes_the_last_run_or_the_one_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    write_run(path, "new", 1, seed=1)
    EventLog.open(path, mode="append", seed=2).close()
    assert main(["explain", str(path)]) == 0
    assert "no group in this log" in capsys.readouterr().out
    assert main(["explain", str(path), "--run", "1"]) == 0
    assert "group g: Empty" in capsys.readouterr().out
    assert main(["explain", str(path), "--run", "x"]) == 2
    assert "there is no run 'x' in this log; its runs are '1', '2'" in capsys.readouterr().err
