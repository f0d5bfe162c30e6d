"""The incidents that come with the package: each keeps every promise, and what its header says is to
be seen is in its log."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from tools.incident_pictures import FOLDER, WIDTH
from tools.incident_views import VIEWS
from tools.incidents import row, section

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
        for verdict in verdicts(scenario, typed(lines))
        if verdict.judgement not in (Judgement.KEPT, Judgement.NOT_JUDGED)
    ]
    assert broken == []
    return lines


def counts(name: str) -> Counter[str]:
    return Counter(line["type"] for line in lines_of(name))


def of(name: str, *kinds: str) -> list[dict[str, Any]]:
    return [line for line in lines_of(name) if line["type"] in kinds]


@pytest.mark.parametrize("name", catalogue.incidents())
def test_every_promise_is_kept_and_its_cost_can_be_told(name: str) -> None:
    assert row(name, typed(lines_of(name))).startswith(f"| [`{name}`](#{name}) | ")
    assert catalogue.text(name).startswith("# ")


@pytest.mark.parametrize("name", catalogue.incidents())
def test_each_has_a_picture_that_stands_alone(name: str, project_root: Path) -> None:
    """For light screens and dark ones, without scripts, and told to who does not see it."""
    page = (project_root / "docs" / "simulator_incidents.md").read_text()
    svg = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    picture = ET.fromstring(svg)
    assert picture.attrib["width"] == str(WIDTH)
    assert f"![{picture.attrib['aria-label']}](incidents/{name}.svg)" in page
    assert section(name) in page
    assert "prefers-color-scheme: dark" in svg
    assert "<script" not in svg
    assert set(re.findall(r"url\(#([\w-]+)\)", svg)) <= set(re.findall(r' id="([\w-]+)"', svg))


def test_no_picture_is_of_what_is_no_incident() -> None:
    assert sorted(each.stem for each in FOLDER.iterdir()) == catalogue.incidents() == sorted(VIEWS)


def test_no_incident_has_the_name_of_another_scenario() -> None:
    assert not set(catalogue.incidents()) & set(catalogue.names())


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


def test_a_lost_zone_costs_a_session() -> None:
    cut = of("zone_lost", "CutMember")[0]["at_ms"]
    expired = [
        line["at_ms"]
        for line in of("zone_lost", "MemberRemoved")
        if line["reason"] == "session expired"
    ]
    assert expired
    assert all(at >= cut + 40_000 for at in expired)


def test_a_poison_record_walks_through_the_group_and_is_never_done() -> None:
    name = "poison_record_crash_loop"
    crashed = of(name, "MemberCrashed")
    assert {line["client"] for line in crashed} == {"app-1", "app-2", "app-3"}
    assert {line["why"].rpartition(" ")[2] for line in crashed} == {"1499"}
    assert not any(
        first <= 1499 <= last
        for line in of(name, "RecordsProcessed")
        for first, last in line["ranges"]
    )


def test_who_hangs_hands_the_record_on_after_a_poll_interval() -> None:
    left = [
        line
        for line in of("poison_record_and_max_poll", "MemberRemoved")
        if line["at_ms"] > 100_000
    ]
    assert len({line["member"] for line in left}) == 3
    assert all(b["at_ms"] - a["at_ms"] >= 60_000 for a, b in pairwise(left))


def test_a_hot_key_leaves_a_lag_that_members_do_not_cure() -> None:
    assert len(of("hot_key", "MemberStarted")) == 8
    ends: Counter[int] = Counter()
    for line in of("hot_key", "RecordsSent"):
        ends[line["partition"]] += line["count"]
    hot = ends.most_common(1)[0][0]
    done: Counter[int] = Counter()
    for line in of("hot_key", "RecordsProcessed"):
        done[line["partition"]] = max(done[line["partition"]], line["ranges"][-1][1] + 1)
    lag = {number: ends[number] - done[number] for number in ends}
    assert lag[hot] > 200
    assert all(behind < 50 for number, behind in lag.items() if number != hot)


def test_the_slowest_poll_is_how_long_a_rebalance_takes() -> None:
    phases = [
        line["waited_ms"]
        for line in of("one_slow_partition", "RequestAnswered")
        if line["api"] == "join_group"
    ]
    assert max(phases) > 10_000


def test_a_slow_assignor_is_waited_for_by_all() -> None:
    assert (
        counts("slow_assignor")["GenerationStarted"] > counts("slow_assignor")["GenerationStored"]
    )


def test_overlapping_static_restarts_fence_each_other_without_a_rebalance() -> None:
    name = "static_restarts_overlap"
    assert counts(name)["MemberReplaced"] == 3
    assert counts(name)["GenerationStarted"] == 1
    assert all("FENCED_INSTANCE_ID" in line["why"] for line in of(name, "MemberFailed"))


def test_one_transactional_id_ends_two_producers_in_turn() -> None:
    failed = of("one_transactional_id_twice", "ProducerFailed")
    assert {line["client"] for line in failed} == {"billing-1", "billing-2"}


def test_an_overloaded_broker_makes_heartbeats_late() -> None:
    seen = {line["seq"]: line["at_ms"] for line in of("brokers_overloaded", "RequestSeen")}
    late = [
        line["at_ms"] - seen[line["cause"]]
        for line in of("brokers_overloaded", "RequestAnswered")
        if line["api"] == "offset_commit"
    ]
    assert max(late) > 50


def test_a_probe_lets_the_same_records_be_done_again() -> None:
    seen = counts("liveness_probe_kills_the_busy")
    assert seen["MemberCrashed"] > 5


def test_who_stood_still_is_refused_its_commits() -> None:
    refused = {
        line["member"][:5]
        for line in of("many_stop_at_once", "RequestRefused")
        if line["api"] == "offset_commit" and line["errors"] == ["UNKNOWN_MEMBER_ID"]
    }
    assert refused == {"app-1", "app-2"}


def test_restarted_brokers_cost_no_rebalance() -> None:
    assert counts("brokers_restart_one_by_one")["GenerationStarted"] == 1
    assert counts("brokers_restart_one_by_one")["GroupLoaded"] >= 1
    assert counts("coordinator_paused")["GenerationStarted"] == 1
    assert counts("network_blip")["GenerationStarted"] == 1


def test_new_partitions_are_noticed_with_the_next_metadata() -> None:
    made = of("partitions_added_under_load", "CreatePartitions")[0]["at_ms"]
    again = [
        line["at_ms"]
        for line in of("partitions_added_under_load", "GenerationStarted")
        if line["at_ms"] > made
    ]
    assert 0 < again[0] - made <= 65_000


def test_a_deployment_of_all_at_once_is_one_join_phase() -> None:
    assert counts("everything_restarts_at_once")["GenerationStored"] <= 3
    assert counts("scaled_from_two_to_twelve")["GenerationStarted"] > 3
