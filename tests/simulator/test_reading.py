"""A scenario that cannot be is refused with its file, line, key, and what would be right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.simulator import catalogue
from coordinator.simulator.reading import ScenarioError
from coordinator.simulator.scenario import read_scenario

GOOD = '''duration = "1m"

[topics]
orders = 4

[[members]]
name = "app"
topics = "orders"

[[members]]
name = "other"
topics = ["orders"]
count = 2
'''


def refused(text: str, *settings: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read_scenario(text, "s.toml", settings)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("duration", "duratoin", "s.toml, line 1: duratoin is no key of a scenario: did you mean duration?"),
        ('"1m"', '"1 minute"', "s.toml, line 1: duration = '1 minute': give a duration"),
        ("orders = 4", "orders = 0", "s.toml, line 4: orders = 0: give a whole number from 1 on"),
        ("count", "cuont", "s.toml, line 13: cuont is no key of members: did you mean count?"),
        ("count = 2", "count = -2", "s.toml, line 13: count = -2: give a whole number"),
        ("count = 2", 'assignor = "stiky"', "s.toml: partition.assignment.strategy: stiky"),
        ("count = 2", 'protocol = "consumer"\nassignor = ["uniform", "range"]', "takes one assignor of the coordinator"),
        ("count = 2", 'protocol = "consumer"\nassignor = "sticky"', "coordinators have no assignor sticky, but uniform, range"),
        ("count = 2", 'protocol = "klassic"', "line 13: protocol = 'klassic': one of classic, consumer"),
        ("count = 2", 'config = { "sesion.timeout.ms" = 1 }', "session.timeout.ms"),
        ('name = "other"', "", "s.toml, line 10: name is missing in [[members]]"),
        ('name = "other"', 'name = "app"', "two kinds of members or producers have the same name"),
        ('topics = ["orders"]', 'topics = ["order"]', "subscribe to order, which [topics] does not name"),
        ("[topics]", "[topics", "s.toml: "),
    ],
)
def test_the_error_says_where_and_what_would_be_right(old: str, new: str, told: str) -> None:
    assert told in refused(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ('[[churn]]\nkind = "roling"\nmembers = "app"', "kind = 'roling': one of poisson, rolling"),
        ('[[churn]]\nkind = "rolling"\nmembers = "ap"', "give one of app, other"),
        ('[[churn]]\nkind = "restart"\nmembers = "app-7"', "or a single one such as app-1"),
        ('[[faults]]\nverb = "StopBrokr"\nbroker = 1', "StopBroker"),
        ('[[faults]]\nverb = "CutMember"\nmember = "app-9"', "there are app-1, other-1, other-2"),
        ('[[faults]]\nat = "1s"', "either a verb or an action"),
        ('[[faults]]\naction = "fail"\napi = "OfsetCommit"\nerror = "NOT_COORDINATOR"', "OffsetCommit"),
        ('[must]\njudges = ["single_ownr"]', "there is no judge single_ownr; they are single_owner"),
        ("[brokers]\ncount = 0", "at least 1"),
        ('[brokers]\nconfig = { "no.such.setting" = 1 }', "no.such.setting"),
    ],
)
def test_churn_faults_and_what_must_hold_are_checked(part: str, told: str) -> None:
    assert told in refused(f"{GOOD}\n{part}\n")


def test_settings_reach_every_table() -> None:
    settings = (
        "duration=2m", "members.other.count=5", 'members.1.assignor=["range"]', "links.delay=[10, 20]", "topics.orders=9",
        "members.app.config.session.timeout.ms=6000", "brokers.count=3")
    scenario = read_scenario(GOOD, "s.toml", settings)
    assert scenario.duration_ms == 120_000
    assert scenario.members[1].count == 5
    assert scenario.members[0].config("x").session_timeout_ms == 6000
    assert scenario.members[0].properties["partition.assignment.strategy"] == "range"
    assert (scenario.delay_ms, scenario.topics, scenario.brokers) == ((10, 20), {"orders": 9}, 3)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("duration", "give a path and a value"),
        ("membrs.app.count=1", "did you mean members?"),
        ("members.ap.count=1", "members has no ap; there are app, other"),
        ("members.app=1", "which key"),
        ("members.app.cuont=1", "did you mean count?"),
    ],
)
def test_a_wrong_setting_is_refused(setting: str, told: str) -> None:
    assert told in refused(GOOD, setting)


def test_the_command_line_simulates_judges_and_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.toml"
    file.write_text(GOOD + "\n[must]\nmost_rebalances = 0\n")
    log = tmp_path / "run.jsonl"
    assert main(["simulate", str(file), "--seed", "7", "--log", str(log), "--set", "members.app.count=2"]) == 1
    told = capsys.readouterr().out
    assert "most_rebalances: broken" in told
    assert f"coordinator simulate {file} --seed 7 --set members.app.count=2" in told
    assert main(["explain", str(log)]) == 0
    assert main(["simulate", str(file), "--log", str(log)]) == 2
    assert "--log-replace" in capsys.readouterr().err
    assert main(["simulate", str(file), "--log", str(log), "--log-replace", "--set", "must.most_rebalances=9"]) == 0
    assert main(["simulate", "no_such"]) == 2
    assert main(["simulate", str(tmp_path / "none.toml")]) == 2
    assert main(["simulate", "crash_lop"]) == 2
    assert "did you mean crash_loop?" in capsys.readouterr().err


def test_shipped_scenarios_are_listed_shown_and_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scenarios", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in catalogue.names())
    assert main(["scenarios", "show", "crash_loop"]) == 0
    assert capsys.readouterr().out == catalogue.text("crash_loop")
    assert main(["scenarios", "copy", "crash_loop"]) == 0
    assert (tmp_path / "crash_loop.toml").read_text() == catalogue.text("crash_loop")
    assert main(["scenarios", "copy", "crash_loop"]) == 2
    assert main(["scenarios", "copy"]) == 2
    assert main(["scenarios", "list", "crash_loop"]) == 2


def test_the_json_schema_knows_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"topics", "members", "churn", "faults", "must", "duration"} <= set(schema["properties"])
    assert schema["properties"]["members"]["items"]["required"] == ["name", "topics"]
    assert schema["additionalProperties"] is False
