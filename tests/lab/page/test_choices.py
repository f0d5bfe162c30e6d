"""The settings that a run can be compared under: each can be played, and does what its name
says."""

from __future__ import annotations

import pytest

from coordinator.lab.page.choices import choices
from coordinator.lab.page.engine import picture_of, play
from coordinator.lab.page.lessons import SEED, load
from coordinator.lab.simulator.files.scenario import read_scenario

MEMBERS = ("04_slowest_decides", "10_static_restart", "13_no_barrier")


@pytest.mark.parametrize("slug", MEMBERS)
def test_every_choice_runs_the_members_that_it_names(slug: str) -> None:
    text = load(slug).scenario
    made = {each["name"]: each["settings"] for each in choices(text, slug)}
    assert made["as it stands"] == []
    for name, settings in made.items():
        (group,) = picture_of(play(text, slug, SEED, settings)).plain()["groups"]
        if settings:
            assert group["protocol"] == ("consumer" if name.startswith("KIP-848") else "classic"), (
                name
            )
        assert len(group["lanes"]) >= 2


def test_the_consumer_protocol_keeps_sessions_and_other_settings() -> None:
    text = """
[topics]
orders = 2
[[members]]
name = "app"
topics = "orders"
config = { "session.timeout.ms" = 12000, "heartbeat.interval.ms" = 4000, "auto.commit.interval.ms" = 700 }
"""
    settings = choices(text, "own")[-1]["settings"]
    scenario = read_scenario(text, "own", tuple(settings))
    assert scenario.broker_config["group.consumer.session.timeout.ms"] == "12000"
    assert scenario.broker_config["group.consumer.heartbeat.interval.ms"] == "4000"
    (kind,) = scenario.members
    assert kind.properties == {
        "group.protocol": "consumer",
        "group.remote.assignor": "uniform",
        "auto.commit.interval.ms": "700",
    }


def test_protocols_differ_under_the_same_churn() -> None:
    lesson = load("04_slowest_decides")
    lost = {}
    for each in choices(lesson.scenario, "x"):
        lines = play(lesson.scenario, "x", SEED, each["settings"], script=lesson.script)
        lost[each["name"]] = picture_of(lines).plain()["groups"][0]["unowned_partition_ms"]
    assert lost["cooperative sticky"] < lost["KIP-848 (uniform)"] < lost["sticky (eager)"]
