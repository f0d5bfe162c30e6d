"""A timeline of which most lines stay in their file, and most entries are packed, says what one
says that keeps everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.events.files import read
from coordinator.events.line import LogError
from coordinator.history.explain.described_timeline import told_timeline
from coordinator.history.explain.output import as_plain, as_text
from coordinator.history.world import refusals
from coordinator.history.world.packed_stories import FiledLines, FiledStory, among
from coordinator.history.world.timeline import Timeline
from coordinator.history.world.views import Rebalance
from coordinator.history.world.world import World
from coordinator.lab.page.long_logs import FileSteps
from tests.shipped import log_text

SOME = (
    "autoscaling_waves-consumer",
    "poisson_churn",
    "flapping_member_static",
    "migration_to_consumer",
)


@pytest.fixture(autouse=True)
def little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As little as there may be: what changes an entry looks back for eight here."""
    monkeypatch.setattr(refusals, "_MOST_AT_ONCE", 8)
    for name, value in (("_KEPT_LINES", 3), ("_KEPT_ENTRIES", 10), ("_TOGETHER", 2)):
        monkeypatch.setattr(f"coordinator.history.world.packed_stories.{name}", value)


def folded(path: Path, file: FileSteps | None = None) -> Timeline:
    timeline, offset = told_timeline(file=file), 0
    world = World(timeline=timeline)
    for text, line in zip(path.read_bytes().splitlines(keepends=True), read(path), strict=True):
        if file is not None:
            file.offset = offset
        world.see(line)
        offset += len(text)
    return timeline


@pytest.fixture(params=SOME)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_text(log_text(request.param))
    return path


def test_a_timeline_says_the_same(log: Path) -> None:
    kept, filed = folded(log), folded(log, FileSteps(str(log)))
    packed = sum(
        len(group.entries._packed)
        for group in filed.groups.values()
        if isinstance(group.entries, FiledStory)
    )
    assert packed >= 2
    assert as_plain(filed, filed.groups.values()) == as_plain(kept, kept.groups.values())
    assert [*as_text(filed, filed.groups.values())] == [*as_text(kept, kept.groups.values())]
    for name, group in filed.groups.items():
        for entry in kept.groups[name].entries:
            assert entry.seq in {each.seq for each in among(group.entries, [entry.seq], ())}
            if isinstance(entry, Rebalance) and entry.generation is not None:
                ways = among(group.entries, (), [entry.generation])
                assert entry.seq in {each.seq for each in ways}


def test_lines_are_found_as_long_as_something_goes_back_to_them(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(log_text("one_crash_one_join"))
    file = FileSteps(str(path))
    lines, offset, all_of_them = FiledLines(file), 0, {}
    for text, line in zip(path.read_bytes().splitlines(keepends=True), read(path), strict=True):
        file.offset = offset
        lines[line.seq] = all_of_them[line.seq] = line
        offset += len(text)
    assert dict(lines) == all_of_them and len(lines) == len(all_of_them) > 100
    for seq in (0, 50, max(all_of_them)):
        del lines[seq]
        assert seq not in lines and lines.get(seq) is None
        with pytest.raises(KeyError):
            del lines[seq]
    assert 1 in lines and "1" not in lines and max(all_of_them) + 1 not in lines
    assert len(lines) == len(all_of_them) - 3 and [*lines][:2] == [1, 2]
    path.write_text("{}\n" * 10)
    with pytest.raises(LogError):
        lines[1]


def test_a_story_changes_at_its_end_only(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(log_text("flapping_member_static"))
    entries = next(iter(folded(path, FileSteps(str(path))).groups.values())).entries
    every = [*entries]
    assert len(entries) == len(every) > 12
    assert [entries[at] for at in range(-len(every), len(every))] == [*every, *every]
    assert entries[-5:] == every[-5:] and entries[3:9:2] == every[3:9:2]
    with pytest.raises(IndexError):
        entries[len(every)]
    last = entries.pop()
    entries.insert(len(entries) - 1, last)
    assert [*entries] == [*every[:-2], every[-1], every[-2]]
    del entries[len(every) - 2 :]
    assert [*entries] == every[:-2]
    with pytest.raises(TypeError):
        entries[-1] = last
