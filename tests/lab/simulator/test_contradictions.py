"""A run or a log that contradicts itself: what a user is told says what failed, where, and at which
line."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.base.contradictions import ContradictionError, what_failed
from coordinator.cli import main
from coordinator.core.shards.shard import Shard
from coordinator.core.shards.timers import Timers
from coordinator.events import EventLog
from coordinator.events.groups.classic import GenerationStored
from coordinator.events.handlers import on
from coordinator.events.line import Line, LogError
from coordinator.history.judges import Judge, judge
from coordinator.history.judges.generations import OneLeader
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.swarm.one_seed import run_text

pytestmark = pytest.mark.unjudged
SCENARIO = """
duration = "60s"
[topics]
orders = 2
[[members]]
name = "app"
count = 2
topics = "orders"
static = true
"""


def _forgets(self: Shard, *_: object) -> None:
    raise AssertionError


def test_a_run_says_when_it_contradicted_itself_and_what_failed() -> None:
    scenario, log = read_scenario(SCENARIO, "small.toml", ()), EventLog(seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shard, "_fold", _forgets)
        with pytest.raises(ContradictionError) as caught:
            run_scenario(scenario, 1, log)
        result = run_text(SCENARIO, 1)
    said = str(caught.value)
    assert f"ms, after line {log.seq} of the log: AssertionError in _forgets (" in said
    assert said.endswith("): raise AssertionError")
    assert result.failure == f"ContradictionError: {said}"


def test_a_planted_session_that_nobody_keeps_is_named() -> None:
    """Of a member that sends nothing but heartbeats nobody works out when its session ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Timers, "get", lambda self, key: None)
        result = run_text(SCENARIO, 1)
    assert "has no session at its coordinator" in result.failure
    assert "after line" in result.failure


def test_the_command_line_says_so_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, log = tmp_path / "small.toml", tmp_path / "run.jsonl"
    file.write_text(SCENARIO)
    monkeypatch.setattr(Shard, "_fold", _forgets)
    assert main(["simulate", str(file), "--log", str(log)]) == 2
    said = capsys.readouterr().err
    last = len(log.read_text().splitlines()) - 1
    assert f"{log}: at " in said and f"after line {last} of the log" in said
    assert "raise AssertionError" in said


class _Trips(Judge):
    name = "trips"
    promise = "none"

    @on(GenerationStored)
    def _stored(self, line: Line, _: GenerationStored) -> None:
        raise AssertionError


def test_a_judge_that_cannot_go_on_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, log = read_scenario(SCENARIO, "small.toml", ()), EventLog(seed=1)
    run_scenario(scenario, 1, log)
    lines = list(log.read())
    stored = next(line for line in lines if line.kind is GenerationStored)
    with pytest.raises(LogError) as caught:
        judge(lines, [OneLeader, _Trips])
    said = str(caught.value)
    assert f"seq {stored.seq}: GenerationStored contradicts what trips knows" in said
    assert "AssertionError in _stored (" in said

    file, written = tmp_path / "small.toml", tmp_path / "run.jsonl"
    file.write_text(SCENARIO)
    monkeypatch.setattr(
        OneLeader, "handlers", {GenerationStored: _Trips.handlers[GenerationStored]}
    )
    assert main(["simulate", str(file), "--log", str(written)]) == 2
    said = capsys.readouterr().err
    assert f"{written}, line {stored.seq + 1}: seq {stored.seq}: GenerationStored" in said


def test_an_error_with_a_text_needs_no_place() -> None:
    assert what_failed(ValueError("three is too many")) == "ValueError: three is too many"
    with pytest.raises(KeyError) as caught:
        {}["orders"]
    assert what_failed(caught.value).startswith("KeyError: 'orders' in test_an_error_with_a_text_")
