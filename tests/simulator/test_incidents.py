"""The incidents that come with the package: each keeps every promise, and what its header says is to
be seen is in its log."""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest

from coordinator.event_log import EventLog
from coordinator.judges import Judgement
from coordinator.simulator.environment import EPOCH_MS
from coordinator.simulator.files import catalogue
from coordinator.simulator.files.scenario import read_scenario
from coordinator.simulator.run import run_scenario, verdicts

SEED = 1


@lru_cache
def lines_of(name: str) -> list[dict[str, Any]]:
    log = EventLog(seed=SEED, epoch_ms=EPOCH_MS)
    scenario = read_scenario(catalogue.text(name), name)
    world = run_scenario(scenario, SEED, log)
    assert list(world.triggers.unseen()) == []
    lines = [json.loads(line) for line in log.lines]
    broken = [
        verdict
        for verdict in verdicts(scenario, lines)
        if verdict.judgement not in (Judgement.KEPT, Judgement.NOT_JUDGED)
    ]
    assert broken == []
    return lines


def counts(name: str) -> Counter[str]:
    return Counter(line["type"] for line in lines_of(name))


@pytest.mark.parametrize("name", catalogue.incidents())
def test_every_promise_is_kept(name: str) -> None:
    assert lines_of(name)
    assert read_scenario(catalogue.text(name), name).lesson
    assert catalogue.text(name).startswith("# ")


def test_a_probe_that_is_too_short_kills_who_only_waits_for_the_group() -> None:
    assert counts("bad_readiness_probe")["MemberCrashed"] > 3


def test_an_autoscaler_that_flaps() -> None:
    seen = counts("lag_autoscaler_flaps")
    assert seen["MemberStarted"] - 2 >= 4
    assert seen["MemberClosing"] >= 4


def test_a_leader_that_stands_still_stops_the_group_for_its_session() -> None:
    stored = [
        line["at_ms"] for line in lines_of("stopped_leader") if line["type"] == "GenerationStored"
    ]
    assert max(b - a for a, b in pairwise(stored)) >= 45_000


def test_the_new_coordinator_waits_for_members_that_were_away() -> None:
    lines = lines_of("coordinator_crashes_in_deploy")
    loaded = next(line["at_ms"] for line in lines if line["type"] == "GroupLoaded")
    expired = [
        line["at_ms"]
        for line in lines
        if line["type"] == "MemberRemoved" and line["reason"] == "session expired"
    ]
    assert any(at >= loaded + 45_000 for at in expired)
