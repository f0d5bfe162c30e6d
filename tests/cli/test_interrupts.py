"""Ctrl-C in commands that compute for long: what is known so far is printed, at once, and nothing
is left behind.

Each command runs in a process group of its own, which is told as a whole, as a terminal tells it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.event_log import EventLog, read
from coordinator.lab.simulator.files.model import Scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.world import World

_ENDLESS = """
duration = "7200h"
[topics]
orders = 3
[[members]]
name = "app"
count = 2
topics = "orders"
consumes = true
[[producers]]
name = "shop"
topics = "orders"
rate = 2
[must]
stable_within = "60s"
"""
_BACKGROUND = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
"""As a shell starts what is followed by `&`."""


def start(
    folder: Path, arguments: list[str], before: list[str] | None = None
) -> subprocess.Popen[str]:
    command = [*(before or []), sys.executable, "-m", "coordinator", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The rest of what it prints. Both pipes end when no process of the group has them any more."""
    os.killpg(process.pid, signal.SIGINT)
    return process.communicate()


@pytest.mark.parametrize("before", [[], _BACKGROUND], ids=["terminal", "background"])
def test_a_swarm_ends_with_all_its_processes(tmp_path: Path, before: list[str]) -> None:
    options = [
        "--seeds",
        "100000",
        "--for",
        "3600",
        "--minutes",
        "1",
        "--jobs",
        "2",
        "--set",
        "must.most_rebalances=0",
    ]
    swarm = start(tmp_path, ["swarm", *options], before)
    assert swarm.stdout is not None
    assert "most_rebalances" in swarm.stdout.readline()
    told, errors = interrupt(swarm)
    assert "interrupted: what is known so far\n" in told
    assert " seeds from 1 on, " in told.splitlines()[-1]
    assert errors == ""
    assert swarm.returncode == 1, "seeds had failed"


@pytest.mark.parametrize("before", [[], _BACKGROUND], ids=["terminal", "background"])
def test_a_simulation_ends_between_two_steps_and_is_judged(
    tmp_path: Path, before: list[str]
) -> None:
    (tmp_path / "endless.toml").write_text(_ENDLESS)
    run = start(tmp_path, ["simulate", "endless.toml", "--log", "run.jsonl"], before)
    assert run.stdout is not None
    assert run.stdout.readline().endswith("s of virtual time\n")
    told, errors = interrupt(run)
    assert (errors, run.returncode) == ("", 130)
    assert told.startswith("stopped after ")
    assert (
        "virtual time; what is known so far:\nstable_within: not judged: the run was interrupted\n"
        in told
    )
    assert "\nkept: " in told
    assert next(iter(read(tmp_path / "run.jsonl")))["type"] == "RunStarted"


def test_what_an_interrupted_simulation_wrote_is_how_the_whole_one_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text(_ENDLESS.replace("7200h", "90s"))

    def runs(
        scenario: Scenario, seed: int, log: EventLog, begin: Callable[[World], None], *, skips: bool
    ) -> World:
        def begins(world: World) -> None:
            begin(world)
            world.at(30_000, lambda: signal.raise_signal(signal.SIGINT))

        return run_scenario(scenario, seed, log, begins, skips=skips)

    with monkeypatch.context() as patch:
        patch.setattr("coordinator.lab.simulator.run.run_scenario", runs)
        assert main(["simulate", "short.toml", "--log", "part.jsonl"]) == 130
    told = capsys.readouterr().out
    assert (
        "stopped after 30 s of virtual time; what is known so far:\nstable_within: not judged: the run was interrupted\n"
        in told
    )
    assert "acknowledged_records_stay" in told.split("kept: ")[1]
    assert main(["simulate", "short.toml", "--log", "whole.jsonl"]) == 0
    part, whole = (
        (tmp_path / name).read_text().splitlines() for name in ("part.jsonl", "whole.jsonl")
    )
    assert part == whole[: len(part)]
    assert len(part) > 100


def interrupted_at(run: int, patch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes while the simulation of this number runs."""
    runs = 0

    def runs_until(scenario: Scenario, seed: int, log: EventLog) -> World:
        nonlocal runs
        runs += 1
        if runs == run:
            signal.raise_signal(signal.SIGINT)
        return run_scenario(scenario, seed, log)

    patch.setattr("coordinator.lab.simulator.run.run_scenario", runs_until)


def test_a_comparison_prints_the_seeds_that_every_variant_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text(_ENDLESS.replace("7200h", "90s"))
    command = ["ab", "short.toml", "--vary", "members.app.static=true,false"]
    with monkeypatch.context() as patch:
        interrupted_at(6, patch)
        assert main([*command, "--seeds", "50"]) == 130
    told = capsys.readouterr().out
    assert told.startswith("interrupted: what is known so far\n")
    assert main([*command, "--seeds", "2"]) == 0
    assert told.splitlines()[1:] == capsys.readouterr().out.splitlines()
    interrupted_at(2, monkeypatch)
    assert main(command) == 130
    assert (
        capsys.readouterr().out
        == "interrupted: what is known so far\nshort.toml: no seed is done\n"
    )


def test_what_was_made_smaller_so_far_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fails = _ENDLESS.replace("7200h", "90s").replace("[must]", "[must]\nmost_rebalances = 0")
    (tmp_path / "fails.toml").write_text(fails)
    with monkeypatch.context() as patch:
        interrupted_at(4, patch)
        assert main(["shrink", "fails.toml"]) == 130
    told = capsys.readouterr().out
    assert told.startswith("interrupted: the smallest one found so far\n")
    assert "most_rebalances: " in told
    assert "[[producers]]" not in (tmp_path / "fails-small.toml").read_text()
    assert main(["simulate", "fails-small.toml"]) == 1


def test_before_it_is_known_whether_a_scenario_fails_there_is_nothing_smaller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fails.toml").write_text(_ENDLESS.replace("7200h", "90s"))
    interrupted_at(1, monkeypatch)
    assert main(["shrink", "fails.toml", "--seed", "7"]) == 130
    assert (
        capsys.readouterr().out
        == "interrupted: whether fails.toml fails with seed 7 is not known yet\n"
    )
    assert not (tmp_path / "fails-small.toml").exists()


def test_where_the_smaller_one_goes_is_looked_at_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.lab.simulator.run.run_scenario", None)
    assert main(["shrink", "crash_loop", "--out", str(tmp_path)]) == 2
    assert main(["shrink", "crash_loop", "--out", str(tmp_path / "none" / "small.toml")]) == 2
    told = capsys.readouterr().err
    assert f"--out {tmp_path}: cannot be written: Is a directory" in told
    assert "small.toml: cannot be written: No such file or directory" in told


def test_while_a_command_line_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("coordinator.cli._parser", interrupted)
    assert main(["explain", "some.jsonl"]) == 130
    assert main(["no such command"]) == 130
    assert capsys.readouterr().err == "coordinator explain: interrupted\ncoordinator: interrupted\n"


def test_a_command_without_an_answer_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("coordinator.cli.simulating.scenarios.run", interrupted)
    assert main(["scenarios", "list"]) == 130
    assert capsys.readouterr().err == "coordinator scenarios: interrupted\n"
