"""Logs as they come: several runs in a file, packed, damaged. Nothing is lost, nothing aborts, and
the counts add up."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.lab.pipeline.fold.pieces import fold_piece
from coordinator.lab.pipeline.placement import bins, chunk_count
from coordinator.lab.pipeline.sources import Piece, SourceError, Text, log_files, pieces, texts
from coordinator.lab.pipeline.without_spark import tables_of

from .kit import folded, rows, simulated

HEADER = (
    json.dumps(
        {
            "seq": 0,
            "at_ms": 0,
            "run": "r",
            "stream": "run",
            "type": "RunStarted",
            "cause": None,
            "format": 1,
        }
    )
    + "\n"
)


def test_runs_of_one_file_are_pieces(tmp_path: Path) -> None:
    one, other = simulated("one_crash_one_join", 1), simulated("one_crash_one_join", 2)
    path = tmp_path / "both.jsonl"
    path.write_text(one + other + one)
    first, second, third = pieces(str(path))
    assert (first.begin, first.end, second.begin, second.end) == (
        0,
        len(one),
        len(one),
        len(one + other),
    )
    assert (first.line, second.line, third.earlier) == (1, one.count("\n") + 1, 1)
    tables, counts = tables_of([str(path)])
    assert counts.runs == 3 and counts.add_up() and not counts.quarantined
    assert [row["run_id"] for row in rows(tables, "runs")] == [
        f"{path}#1",
        f"{path}#2",
        f"{path}#1~2",
    ]
    alone, _ = folded(other, str(path))
    assert rows(tables, "events", run_id=f"{path}#2") == rows(alone, "events")
    assert rows(tables, "ownership", run_id=f"{path}#2") == rows(alone, "ownership")


def test_a_packed_log_is_the_log(tmp_path: Path) -> None:
    text = simulated("one_crash_one_join")
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    tables, counts = tables_of([str(tmp_path)])
    plain, _ = folded(text, str(tmp_path / "run.jsonl.gz"))
    assert tables == plain
    assert counts.events == text.count("\n")


def test_a_packed_log_that_is_cut_short(tmp_path: Path) -> None:
    packed = gzip.compress(simulated("one_crash_one_join").encode())
    (tmp_path / "run.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    tables, counts = tables_of([str(tmp_path)])
    assert counts.add_up() and counts.events > 100
    assert "cannot be read any further" in rows(tables, "quarantine")[-1]["reason"]


@pytest.mark.parametrize(
    "error",
    [OSError("ZSTD decompress failed: Dictionary mismatch"), gzip.BadGzipFile("CRC check failed")],
)
def test_a_packed_log_that_is_garbage_from_its_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """It is a row in quarantine; the logs beside it are read."""
    (tmp_path / "good.jsonl").write_text(HEADER)
    (tmp_path / "bad.jsonl.gz").write_bytes(gzip.compress(b"x" * 9))

    def garbage(piece: Piece) -> Iterator[Text]:
        if piece.path.endswith(".gz"):
            raise error
        yield from texts(piece)

    monkeypatch.setattr("coordinator.lab.pipeline.fold.pieces.texts", garbage)
    tables, counts = tables_of([str(tmp_path)])
    assert (counts.events, counts.quarantined) == (1, 1) and counts.add_up()
    (row,) = rows(tables, "quarantine")
    assert row["log"].endswith("bad.jsonl.gz") and str(error) in row["reason"]


@settings(max_examples=40)
@given(
    damage=st.lists(
        st.tuples(
            st.integers(1, 200),
            st.sampled_from(
                [
                    "",
                    "   \n",
                    "{}\n",
                    "no JSON\n",
                    "[1]\n",
                    '{"seq": 3}\n',
                    "\x00\xff\n",
                    '{"seq":1,"at_ms":0,"run":"other","stream":"x","type":"Y"}\n',
                    '{"seq":900000,"at_ms":1,"run":"1","stream":"group","type":"GenerationStored","group":"app","generation":9,"members":[]}\n',
                ]
            ),
        ),
        max_size=8,
    ),
    cut=st.integers(0, 40),
)
def test_damaged_logs(damage: list[tuple[int, str]], cut: int) -> None:
    """Bad lines anywhere, and a last line cut short: the good lines before and after are events all
    the same."""
    good = simulated("one_crash_one_join").splitlines(keepends=True)[:300]
    lines = list(good)
    for place, text in sorted(damage, reverse=True):
        lines.insert(place, text)
    whole = "".join(lines)
    whole = whole[: len(whole) - cut] if cut < len(good[-1]) else whole
    tables, counts = folded(whole)
    assert counts.add_up(), counts
    assert counts.events == len(tables["events"]) and counts.quarantined == len(
        tables["quarantine"]
    )
    assert counts.lines == len(whole.splitlines(keepends=True)) or "\x00" in whole
    seqs = {row["seq"] for row in rows(tables, "events")}
    assert set(range(len(good) - 1)) <= seqs
    (run,) = rows(tables, "runs")
    assert run["quarantined"] == counts.quarantined
    assert run["cut_short"] == bool(counts.cut_short)


def test_quarantine_says_where_and_why(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        HEADER
        + "oops\n"
        + HEADER.replace('"r"', '"s"').replace('"format": 1', '"format": 9')
        + HEADER.replace('"r"', '"t"')
    )
    tables, counts = tables_of([str(path)])
    first, second = rows(tables, "quarantine")
    assert (first["log"], first["line"], first["offset"]) == (str(path), 2, len(HEADER))
    assert (first["run_id"], first["text"]) == (f"{path}#r", "oops")
    assert "not JSON" in first["reason"] and second["line"] == 3
    assert "this version reads formats 1 to 1" in second["reason"]
    assert [row["run"] for row in rows(tables, "runs")] == ["r", "t"] and counts.add_up()


def test_a_file_that_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("hello\nworld\n")
    tables, counts = tables_of([str(path)])
    assert (counts.lines, counts.quarantined, counts.runs) == (2, 2, 0)
    assert rows(tables, "quarantine")[0]["run_id"] is None
    path.write_text("")
    assert tables_of([str(path)])[1].lines == 0


def test_two_runs_of_one_name_are_two_runs() -> None:
    tables, counts = folded(HEADER + HEADER)
    assert counts.runs == 2
    assert [row["run_id"] for row in rows(tables, "runs")] == ["log#r", "log#r~2"]


def test_sources_that_are_not_there(tmp_path: Path) -> None:
    for given_, message in (
        ([str(tmp_path / "no")], "no such file"),
        ([str(tmp_path)], "no event logs in this directory"),
        ([], "no logs are named"),
    ):
        with pytest.raises(SourceError, match=message):
            log_files(given_)
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER)
    with pytest.raises(SourceError, match="named twice"):
        log_files([str(path), str(tmp_path)])
    (tmp_path / "link.jsonl").symlink_to(path)
    with pytest.raises(SourceError, match=r"link\.jsonl is named twice, here as .*/a\.jsonl"):
        log_files([str(tmp_path)])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="neither a file nor a directory"):
        log_files([str(tmp_path / "pipe")])


def test_a_file_that_goes_away_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER)
    (piece,) = pieces(str(path))
    path.unlink()
    with pytest.raises(OSError, match=r"a\.jsonl"):
        list(texts(piece))
    sink: list[Any] = []
    with pytest.raises(OSError, match=r"a\.jsonl"):
        fold_piece(piece, lambda *row: sink.append(row))
    with pytest.raises(SourceError, match="cannot be read"):
        pieces(str(path))


@given(weights=st.lists(st.integers(0, 1000), max_size=60), count=st.integers(0, 12))
def test_bins_hold_everything_once_and_the_heaviest_comes_first(
    weights: list[int], count: int
) -> None:
    found = bins(weights, count)
    if count:
        assert sorted(number for each in found for number in each) == list(range(len(weights)))
        loads = [sum(weights[number] for number in each) for each in found]
        assert loads == sorted(loads, reverse=True)
        if weights and sum(weights):  # the bound of the longest-processing-time rule
            least = max(*weights, sum(weights) / count)
            assert max(loads) <= 4 / 3 * least + max(weights)
    else:
        assert found == []


def test_small_logs_are_one_chunk_and_large_ones_many() -> None:
    assert chunk_count([], 2) == 0
    assert chunk_count([10], 2) == 1
    assert chunk_count([100] * 50, 2) == 1
    assert chunk_count([100 << 20] * 8, 2) == 4
    assert chunk_count([3 << 30] * 2, 2) == 2


def test_what_cannot_be_told_at_the_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the fold that fails at the end spoils nothing but itself."""
    from coordinator.lab.pipeline.fold.ownership import Members

    def broken(self: Members) -> None:
        raise KeyError("joined")

    monkeypatch.setattr(Members, "finish", broken)
    tables, counts = folded(simulated("one_crash_one_join"))
    (run,) = rows(tables, "runs")
    assert run["damage"].startswith("Members: KeyError: 'joined' in broken (")
    assert counts.add_up() and rows(tables, "rebalances") and rows(tables, "requests")
