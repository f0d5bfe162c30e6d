"""Comparing runs: where two logs part, and what variants of a scenario cost."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from coordinator.cli import main
from coordinator.events.line import Line
from coordinator.events.line import lines_of as typed
from coordinator.history.world.groups.needless_moves import needless
from coordinator.lab.simulator.comparing.drawing import svg
from coordinator.lab.simulator.comparing.measures import measure
from coordinator.lab.statistics import quantile
from tests import shipped
from tests.lab.simulator.kit import kinds, lines_of
from tests.lines import line_from

SMALL = ["--set", "duration=90s", "--set", "churn.1.at=30s", "--set", "churn.1.down=20s"]


def simulate(path: Path, *options: str) -> None:
    assert main(["simulate", "one_crash_one_join", *SMALL, "--log", str(path), *options]) == 0


def test_logs_are_compared_up_to_the_first_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, same, other = (tmp_path / name for name in ("one.jsonl", "same.jsonl", "other.jsonl"))
    simulate(one)
    simulate(same)
    simulate(other, "--set", "churn.1.how=close")
    assert one.read_bytes() == same.read_bytes()
    capsys.readouterr()
    assert main(["diff", str(one), str(same)]) == 0
    assert main(["diff", str(one), str(other)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if line.startswith("- ") and "MemberCrashed" in line]
    assert [line for line in told if line.startswith("+ ") and "MemberClosing" in line]
    assert main(["diff", str(one), str(tmp_path / "none")]) == 2


def test_a_summary_counts_what_groups_of_both_protocols_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "both.toml"
    kind = '[[members]]\ntopics = ["orders"]\n'
    file.write_text(
        f'duration = "30s"\n[topics]\norders = 2\n{kind}name = "old"\ngroup = "old"\n'
        f'{kind}name = "new"\ngroup = "new"\nprotocol = "consumer"\n'
    )
    assert main(["simulate", str(file)]) == 0
    assert "\n1 generation and 1 assignment, " in capsys.readouterr().out
    assert main(["simulate", str(file), "--set", "members.old.protocol=consumer"]) == 0
    told = capsys.readouterr().out
    assert "\n2 assignments, " in told
    assert ", 2 members at the end; " in told


def test_a_log_that_ends_early_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, short = tmp_path / "one.jsonl", tmp_path / "short.jsonl"
    simulate(one)
    short.write_text("".join(one.read_text().splitlines(keepends=True)[:-1]))
    capsys.readouterr()
    assert main(["diff", str(one), str(short)]) == 1
    assert f"+ {short} has ended" in capsys.readouterr().out


def test_variants_see_the_same_churn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "ab",
                "one_crash_one_join",
                "--vary",
                "assignor=range,cooperative-sticky",
                "--seeds",
                "2",
                *SMALL,
            ]
        )
        == 0
    )
    told = capsys.readouterr().out
    assert "assignor=range\n" in told and "assignor=cooperative-sticky\n" in told
    assert told.count("difference") == 7
    assert main(["ab", "one_crash_one_join", "--vary", "assignor=range"]) == 2
    assert (
        main(
            [
                "ab",
                "one_crash_one_join",
                "--vary",
                "assignor=range,sticky",
                "--seeds",
                "1",
                *SMALL,
                "--svg",
                "/no/such/x.svg",
            ]
        )
        == 2
    )
    assert main(["ab", "one_crash_one_join", "--vary", "assinor=range,sticky"]) == 2
    assert main(["ab", "one_crash_one_join", "--vary", "assignor=range,sticky,range"]) == 2
    twice = ["ab", "one_crash_one_join", "--vary", "assignor=range,sticky"]
    assert main([*twice, "--vary", "assignor=sticky,roundrobin"]) == 2
    assert main([*twice, "--set", "members.app.assignor=sticky"]) == 2
    assert main([*twice, "--svg", str(tmp_path)]) == 2
    assert main(["ab", "one_crash_one_join", "--vary", "static=true,maybe"]) == 2
    assert main(["ab", "one_crash_one_join", "--vary", "zzz=1,2"]) == 2
    errors = capsys.readouterr().err
    assert "--vary assinor=range,sticky: assinor is no key of members or of a scenario" in errors
    assert "did you mean assignor?" in errors and "such as links.delay" in errors
    assert "ab: error: --vary members.app.static=maybe: static = 'maybe': give true" in errors
    assert "assignor is varied twice" in errors
    assert "--set gives assignor one value" in errors
    assert f"--svg {tmp_path}: cannot be written: Is a directory" in errors
    assert (
        main(
            [
                "ab",
                "one_crash_one_join",
                "--vary",
                'links.delay=["1ms", "2ms"],["3ms", "4ms"]',
                "--seeds",
                "1",
                *SMALL,
            ]
        )
        == 0
    )
    assert 'links.delay=["3ms", "4ms"]' in capsys.readouterr().out


def test_a_comparison_is_drawn() -> None:
    picture = svg(
        "a < b",
        ("rebalances", "moved"),
        {
            "x=1": [quantile([2], 0.5), quantile([0], 0.5)],
            "x=2": [quantile([4], 0.5), quantile([0], 0.5)],
        },
    )
    root = ET.fromstring(picture)
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [
        "a < b",
        "rebalances",
        "x=1",
        "2 [2, 2] 0.0%",
        "x=2",
        "4 [4, 4] 0.0%",
        "moved",
        "x=1",
        "0 [0, 0] 0.0%",
        "x=2",
        "0 [0, 0] 0.0%",
    ]
    middles = [float(each.attrib["cx"]) for each in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert middles == [440.0, 620.0, 260.0, 260.0]  # half of the way, all of it, none


def test_what_a_run_costs_is_read_from_its_log() -> None:
    def line(at_ms: int, stream: str, kind: str, **fields: object) -> Line:
        of = {"seq": at_ms, "at_ms": at_ms, "stream": stream, "type": kind, "group": "g"}
        return line_from({**of, **fields})

    rows = [{"topic": "t", "partition": number} for number in (0, 1)]
    lines = [
        line(100, "group", "RebalanceStarted"),
        line(200, "group", "GenerationStarted"),
        line(300, "group", "GenerationStored", members=[], protocol_type="consumer"),
        line(1_000, "member", "PartitionsAssigned", client="a", partitions=rows),
        line(5_000, "member", "MemberCrashed", client="a"),
        line(8_000, "member", "PartitionsAssigned", client="b", partitions=rows[:1]),
        line(9_000, "fault", "RunEnded"),
    ]
    assert measure(lines) == (1, 2 * 3 + 1, 0, 0, 0, 0.2, 0)


def test_a_move_is_needless_if_shares_of_the_same_sizes_could_do_without_it() -> None:
    before = {("t", number): "ab"[number % 2] for number in range(6)}
    assert needless(before, before, "ab") == 0
    assert (
        needless(before, {key: "b" if who == "a" else "a" for key, who in before.items()}, "ab")
        == 6
    )
    assert (
        needless(before, dict.fromkeys(before, "b"), "b") == 0
    )  # a has gone: its partitions had to move
    fewer = {**before, ("t", 0): "c", ("t", 1): "c"}
    assert needless(before, fewer, "abc") == 0  # each gives up one to c
    assert (
        needless(before, {**fewer, ("t", 2): "b", ("t", 3): "a"}, "abc") == 2
    )  # and two change places


def test_eager_range_moves_what_a_sticky_assignor_leaves_in_place() -> None:
    """The restarted member comes back under another id, so that the order of members is another
    one."""
    named = {name: f"members.app.assignor={name}" for name in ("range", "cooperative-sticky")}
    costs = {
        name: measure(typed(lines_of("rolling_deploy_dynamic", 1, setting)))
        for name, setting in named.items()
    }
    assert costs["range"].moved_needlessly > 5 * max(
        costs["cooperative-sticky"].moved_needlessly, 1
    )
    sticky = costs["cooperative-sticky"]
    assert sticky.moved_needlessly <= sticky.moved_between_processes <= sticky.moved


def test_each_group_epoch_is_a_rebalance() -> None:
    """Some epochs bump while the target of the one before is still to be made."""
    lines = shipped.lines_of(shipped.log_text("flapping_member-consumer"))
    count = Counter(line.name for line in lines)
    assert count["TargetAssigned"] < count["GroupEpochBumped"] == measure(lines).rebalances == 34


def test_records_that_are_processed_again_are_counted() -> None:
    """Records that take too long are taken over before they are committed."""
    lines = lines_of("slow_records")
    seen: set[tuple[str, int, int]] = set()
    again = 0
    for line in kinds(lines, "RecordsProcessed"):
        for first, last in line["ranges"]:
            for offset in range(first, last + 1):
                again += (line["topic"], line["partition"], offset) in seen
                seen.add((line["topic"], line["partition"], offset))
    assert again > 0
    assert measure(typed(lines)).duplicates == again


def test_a_png_needs_matplotlib_and_says_so_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "coordinator.lab.pipeline.spark.variants", raising=False)
    assert (
        main(["ab", "one_crash_one_join", "--vary", "assignor=range,sticky", "--png", "x.png"]) == 2
    )
    assert "--png needs Matplotlib" in capsys.readouterr().err


def test_what_is_varied_settles_what_is_set(capsys: pytest.CaptureFixture[str]) -> None:
    """The scenario has an assignor of the classic protocol, which coordinators do not have."""
    settings = ["--set", "members.app.protocol=consumer"]
    command = ["ab", "rolling_surge", *settings, "--seeds", "1", "--vary"]
    for path in ("members.app.assignor", "assignor"):
        assert main([*command, f"{path}=uniform,range"]) == 0
        told = capsys.readouterr().out
        assert ": 1 seed, medians" in told
        assert f"\n{path}=uniform\n" in told
        assert f"\n{path}=range\n" in told
    assert main([*command, "assignor=uniform,sticky"]) == 2
    assert "coordinators have no assignor sticky" in capsys.readouterr().err
    assert main([*command, "members.app.count=2,3"]) == 2
    assert 'protocol = "consumer": coordinators have no assignor' in capsys.readouterr().err
