"""What explain says of faults that a test or an operator injected: that it was they, and not the
group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.event_log import read

_FAST = {"heartbeat.interval.ms": "50"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two refusals that were injected, one that was not, a delay of three heartbeats, and one that
    was only looked at."""
    path = tmp_path / "events.jsonl"
    with Emulator({"orders": 2}, log=path, seed=5) as kafka:
        group = kafka.group("g")
        with group.peer(["orders"], config=_FAST) as peer:
            generation = group.wait(state="Stable", members=1, assigned="all").generation
            kafka.fail("Heartbeat", "REBALANCE_IN_PROGRESS", group="g", times=1).wait_hit()
            generation = group.wait(state="Stable", generation_above=generation).generation
            kafka.fail("Heartbeat", "ILLEGAL_GENERATION", group="g", times=1).wait_hit()
            group.wait(state="Stable", generation_above=generation)
            kafka.delay("Heartbeat", seconds=0.001, group="g", times=3).wait_hit(3)
            kafka.observe("Heartbeat", group="g", times=1).wait_hit()
            mark = kafka.mark()
            group.remove(peer.client_id)
            kafka.wait_for("RequestRefused", group="g", since=mark)
    return path


def test_an_injected_fault_is_told_as_one_and_nothing_else_is(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(log)]) == 0
    told = capsys.readouterr().out
    routine = "REBALANCE_IN_PROGRESS, because of an injected fault (Heartbeat of group g: fail with REBALANCE_IN_PROGRESS, 1 time)."
    assert routine in told
    assert (
        "ILLEGAL_GENERATION, because of an injected fault (Heartbeat of group g: fail with ILLEGAL_GENERATION, 1 time)."
        in told
    )
    assert "A Heartbeat of client consumer-g-1 met an injected fault 3 times until" in told
    assert told.count("injected fault") == 3
    assert "UNKNOWN_MEMBER_ID (VAL-1: the group has no member with this id)." in told


def test_every_step_says_it_too(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--detail", str(log)]) == 0
    told = capsys.readouterr().out
    assert (
        "heartbeat is answered REBALANCE_IN_PROGRESS: a fault was injected (Heartbeat of group g"
        in told
    )
    assert "this is how a member learns" not in told


def test_the_plain_form_has_it_as_a_note(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--format", "json", str(log)]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    told = [note["type"] for note in group["notes"] if "injected fault" in note["text"]]
    assert told == ["RequestRefused", "RequestRefused", "FaultInjected"]
    assert sum(line["type"] == "FaultInjected" for line in read(log)) == 6
