"""A group of a log copied into the simulator: the scenario can be played, has what the log tells,
and says what was guessed."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from coordinator.lab.page.engine import picture_of, play, request
from coordinator.lab.page.exports.copying import CopyError
from coordinator.lab.page.exports.toml import table, text
from coordinator.lab.page.lessons import load
from coordinator.lab.simulator.files.scenario import read_scenario

HOSTILE = 'a"]\n[[faults]]\nverb = "\u202e\x00\x7f\\'


def copied(lines: list[str], group: str = "app") -> tuple[dict[str, Any], list[str], str]:
    made = picture_of(lines).fold.copier.copy(group)
    return tomllib.loads(made.scenario), made.guessed, made.scenario


@pytest.mark.parametrize(
    "slug",
    [
        "02_which_number",
        "04_slowest_decides",
        "09_cooperative_one_more",
        "10_static_restart",
        "13_no_barrier",
    ],
)
@pytest.mark.parametrize("told", [True, False], ids=["told", "requests alone"])
def test_a_copy_has_the_same_members_and_as_many_generations(slug: str, told: bool) -> None:
    lines = [line for line in load(slug).lines if told or '"stream":"member"' not in line]
    _, _, text_ = copied(lines)
    (here,) = picture_of(lines).plain()["groups"]
    (there,) = picture_of(play(text_, "copy", 1)).plain()["groups"]
    assert there["protocol"] == here["protocol"]
    assert there["numbers"][-1][2] == here["numbers"][-1][2]
    assert {row["partition"] for row in there["raster"]} == {
        row["partition"] for row in here["raster"]
    }


def test_a_copy_has_sessions_assignors_and_topics_as_the_log_tells_and_says_what_it_guessed() -> (
    None
):
    made, guessed, text_ = copied(
        [line for line in load("04_slowest_decides").lines if '"stream":"member"' not in line]
    )
    assert made["topics"] == {"orders": 9}
    first = made["members"][0]
    assert first["assignor"] == ["range"] and first["topics"] == ["orders"]
    assert (
        first["config"]["session.timeout.ms"] == 10_000
        and first["config"]["heartbeat.interval.ms"] == 3_000
    )
    assert [row["name"] for row in made["members"]] == ["app-1", "app-2", "app-3", "d-1"] or len(
        made["members"]
    ) == 4
    assert guessed and all(each.startswith("sessions: ") for each in guessed)
    assert all(f"# Guessed: {each}." in text_ for each in guessed)


def test_what_processes_tell_is_not_guessed() -> None:
    made, guessed, _ = copied(list(load("05_three_clocks").lines))
    ended = {(row["members"], row["how"]) for row in made["churn"] if row["kind"] == "restart"}
    assert ("app-2-1", "close") in ended and ("app-3-1", "crash") in ended
    assert [row["lasts"] for row in made["churn"] if row["kind"] == "stall"] == [] or guessed
    assert not any("start with their first" in each for each in guessed)


def test_settings_of_the_brokers_are_those_of_the_log() -> None:
    first, *rest = load("03_when_does_a_know").lines
    header = json.loads(first) | {
        "config": {
            "group.initial.rebalance.delay.ms": "700",
            "log.dirs": "/tmp/x",
            "group.max.size": "9",
        }
    }
    made, _, text_ = copied([json.dumps(header), *rest])
    assert made["brokers"]["config"] == {
        "group.initial.rebalance.delay.ms": "700",
        "group.max.size": "9",
    }
    assert read_scenario(text_, "copy").broker_config["group.max.size"] == "9"


def test_texts_of_clients_stay_texts() -> None:
    quoted = json.dumps(HOSTILE)[1:-1]
    lines = [
        line.replace("app-1", quoted).replace('"group":"app"', f'"group":"{quoted}"')
        for line in load("01_leader_dies").lines
    ]
    made, _, _ = copied(lines, HOSTILE)
    assert "faults" not in made and {row["group"] for row in made["members"]} == {HOSTILE}


@pytest.mark.parametrize("given", [HOSTILE, "\u00e9\u4e2d\U0001f980", "plain", "", "#", "\x1b[2J"])
def test_every_text_is_read_back(given: str) -> None:
    config = {given: [given, 1, True, {}]}
    assert tomllib.loads(table("[brokers]", {"config": config}))["brokers"]["config"] == config


def test_a_lone_surrogate_is_replaced() -> None:
    assert tomllib.loads(f"a = {text(chr(0xD800))}")["a"] == "\ufffd"


def test_a_group_without_members_cannot_be_copied() -> None:
    with pytest.raises(CopyError, match="group nobody has no member in this log"):
        copied(list(load("01_leader_dies").lines), "nobody")


def test_the_worker_copies_what_it_opened() -> None:
    log = "\n".join(load("09_cooperative_one_more").lines) + "\n"
    assert "ok" in json.loads(request(json.dumps({"op": "open", "text": log, "as": "own"})))
    answer = json.loads(request(json.dumps({"op": "copy", "as": "own", "group": "app"})))["ok"]
    assert "[[members]]" in answer["scenario"] and answer["guessed"]
    assert (
        "no member"
        in json.loads(request(json.dumps({"op": "copy", "as": "own", "group": "x"})))["error"]
    )
