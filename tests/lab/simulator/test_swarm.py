"""Random scenarios: a seed is a scenario, the judges are content with the first ones, one that
fails is kept and made smaller."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.files.toml_text import to_toml
from coordinator.lab.simulator.swarm.coverage import Coverage, expected
from coordinator.lab.simulator.swarm.one_seed import SeedResult, run_seed
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.lab.simulator.swarm.shrinking import candidates, shrink
from tests.lab.simulator.kit import lines_of
from tests.lines import line_from


def test_every_seed_is_a_scenario_of_its_own() -> None:
    texts = [scenario_text(seed) for seed in range(200)]
    assert len(set(texts)) == 200
    assert scenario_text(3) == texts[3]
    scenarios = [read_scenario(text, "s") for text in texts]
    assert {churn["kind"] for each in scenarios for churn in each.churn} == {
        "poisson",
        "rolling",
        "restart",
        "stall",
        "scale",
        "waves",
    }
    assert {len(each.producers) for each in scenarios} == {0, 1, 2, 3}
    assert any(fault.trigger for each in scenarios for fault in each.faults)
    of_rights = [each for each in scenarios if each.rights]
    assert 0 < len(of_rights) < len(scenarios)
    assert {f.acls.grants for each in of_rights for f in each.faults if f.acls} == {False, True}
    read_scenario(scenario_text(11006025, 1), "churn that would bring nobody and take nobody away")


def test_the_first_seeds_keep_every_promise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--minutes", "1", "--for", "600", "--jobs", "1", "--keep", str(tmp_path)]
    assert main(["swarm", "--seeds", "4", "--coverage", *options]) == 0
    told = capsys.readouterr().out
    assert told.startswith("4 seeds from 1 on, 0 failed; ")
    assert "event GenerationStored" in told
    assert "never " in told
    assert list(tmp_path.iterdir()) == []
    assert main(["swarm", "--keep", str(tmp_path / "none")]) == 2
    assert (
        main(
            [
                "swarm",
                "--jobs",
                "1",
                "--seeds",
                "1",
                "--set",
                "members.app.cuont=1",
                "--keep",
                str(tmp_path),
            ]
        )
        == 2
    )


@pytest.mark.unmeasured
def test_a_seed_runs_again_in_another_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [
        "swarm",
        "--first",
        "100",
        "--seeds",
        "1",
        "--minutes",
        "1",
        "--jobs",
        "1",
        "--keep",
        str(tmp_path),
    ]
    assert main([*options, "--set", "links.delay=3ms"]) == 0
    monkeypatch.setattr(
        "coordinator.lab.simulator.swarm.one_seed.run_seed",
        lambda *args: run_seed(*args)._replace(digest="another"),
    )
    assert main(options) == 1
    assert "another process wrote another log" in capsys.readouterr().out


@pytest.mark.unmeasured
def test_a_scenario_that_fails_is_kept_and_made_smaller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            [
                "swarm",
                "--first",
                "4",
                "--seeds",
                "1",
                "--minutes",
                "1",
                "--jobs",
                "1",
                "--set",
                "must.most_rebalances=0",
            ]
        )
        == 1
    )
    assert (
        "seed 4: most_rebalances: coordinator simulate swarm-4.toml --seed 4 --set must.most_rebalances=0"
        in capsys.readouterr().out
    )
    assert (
        main(
            [
                "shrink",
                "swarm-4.toml",
                "--seed",
                "4",
                "--set",
                "must.most_rebalances=0",
                "--for",
                "600",
            ]
        )
        == 0
    )
    assert (
        "to replay it: coordinator simulate swarm-4-small.toml --seed 4" in capsys.readouterr().out
    )
    small, whole = (
        tomllib.loads(Path(name).read_text()) for name in ("swarm-4-small.toml", "swarm-4.toml")
    )
    assert len(small.get("churn", [])) + len(small.get("faults", [])) < len(
        whole.get("churn", [])
    ) + len(whole.get("faults", []))
    assert main(["simulate", "swarm-4-small.toml", "--seed", "4"]) == 1
    assert main(["shrink", "swarm-4.toml", "--seed", "4"]) == 1
    assert main(["shrink", "none.toml"]) == 2


def test_shrinking_keeps_what_matters_alone() -> None:
    raw = tomllib.loads(scenario_text(37, 2))
    small = shrink(
        raw,
        lambda smaller: any(
            each.get("kind") == "rolling" and each.get("surge") for each in smaller.get("churn", [])
        ),
    )
    assert small["churn"] == [{"kind": "rolling", "members": "app", "surge": True}]
    assert "faults" not in small or not small["faults"]
    assert all(each != small for each in candidates(small))
    assert tomllib.loads(to_toml(raw)) == raw


def test_a_run_that_ends_with_an_error_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise AssertionError("time stands still")

    monkeypatch.setattr("coordinator.lab.simulator.swarm.one_seed.run_scenario", fails)
    result = run_seed(1, 1)
    assert isinstance(result, SeedResult)
    assert result.failure == "AssertionError: time stands still"


def test_coverage_counts_sessions_of_share_groups_from_both_sides() -> None:
    """SH-HB-4: one runs out, and who is back before the end of its session keeps it. That client's
    next session, one without a member and one whose link is cut in part do not count."""

    def of_group(kind: str, member: str, **fields: object) -> dict[str, object]:
        return {"stream": "group", "type": kind, "group": "g", "member": member, **fields}

    def fault(kind: str, client: str, **fields: object) -> dict[str, object]:
        return {"stream": "fault", "type": kind, "client": client, **fields}

    def reached(*lines: dict[str, object]) -> dict[str, int]:
        coverage = Coverage()
        for line in (of_group("ShareMemberSubscribed", "m", client_id="app-1"), *lines):
            coverage.see(line_from(line))
        sides = [each for each in expected() if each.startswith("timer session of a share group")]
        assert len(sides) == 2
        return {each.rpartition("group ")[2]: coverage.reached[each] for each in sides}

    paused, resumed = fault("PauseMember", "app-1"), fault("MemberResumed", "app-1")
    cut, healed = fault("CutMember", "app-1", direction="both"), fault("MemberHealed", "app-1")
    expired = of_group("ShareMemberRemoved", "m", reason="session expired")
    again = of_group("ShareMemberSubscribed", "n", client_id="app-1")
    neither = {"ran out": 0, "was over in time": 0}
    assert reached(paused, resumed) == neither | {"was over in time": 1}
    assert reached(cut, healed, resumed) == neither | {"was over in time": 1}
    assert reached(paused, expired, again, resumed) == neither | {"ran out": 1}
    assert reached(of_group("ShareMemberRemoved", "m", reason="left"), paused, resumed) == neither
    assert reached(fault("CutMember", "app-1", direction="from_broker"), healed) == neither
    assert reached(fault("CutMember", "app-1", broker=1, direction="both"), healed) == neither
    assert reached(fault("PauseMember", "app-2"), fault("MemberResumed", "app-2")) == neither


def test_coverage_counts_what_a_log_tells() -> None:
    coverage = Coverage()
    for name in (
        "cut_in_join_phase",
        "coordinator_crash",
        "slow_consumer",
        "rolling_deploy_static",
    ):
        for line in typed(lines_of(name)):
            coverage.see(line)
    for each in (
        "event GroupLoaded",
        "fault CutMember",
        "refusal JoinGroup MEMBER_ID_REQUIRED",
        "sometimes a session ran out",
        "sometimes a coordinator moved while its group was Stable",
        "sometimes a member left because it did not poll",
        "sometimes a static member came back",
    ):
        assert coverage.reached[each], each
        assert each in expected()
    assert not EventLog().heard


def test_coverage_takes_records_that_a_line_tells_without_their_states() -> None:
    """`AcknowledgementWaited` names offsets alone; a swarm's seed ended with an error there."""
    told = {"at_ms": 0, "seq": 1, "stream": "share", "type": "AcknowledgementWaited"}
    coverage = Coverage()
    place = {"group": "workers", "topic": "jobs", "partition": 0, "member": "m"}
    coverage.see(line_from(told | place | {"records": [{"first_offset": 0, "last_offset": 3}]}))
    assert not any(each.startswith("sometimes a record") for each in coverage.reached)
