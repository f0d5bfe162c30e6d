"""Zones, links of one kind of clients, brokers that handle so many requests a second, assignors that
take their time, and identities that two processes have."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import grace_of, run_scenario
from coordinator.lab.simulator.wires import KindWires, Wires
from coordinator.lab.simulator.world import World

BASE = """
duration = "2m"
[topics]
orders = 6
"""
APP = """
[[members]]
name = "app"
count = 3
topics = "orders"
"""
ZONES = """
[brokers]
count = 3
zones = ["a", "b"]
[[members]]
name = "in-a"
count = 2
topics = "orders"
zone = "a"
[[members]]
name = "in-b"
count = 1
topics = "orders"
zone = "b"
delay = "3ms"
"""


def run(text: str) -> tuple[World, list[dict[str, Any]]]:
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    world = run_scenario(read_scenario(BASE + text, "mine.toml"), 1, log)
    return world, list(log.events())


def of(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def test_which_link_is_like_what() -> None:
    wires = Wires(
        (1, 5),
        0,
        ("a", "b"),
        (20, 30),
        {"in-a": KindWires("a"), "in-b": KindWires("b", (3, 3), 1000), "free": KindWires()},
    )
    assert wires.of("in-a-1", 1) == ((1, 5), 0)
    assert wires.of("in-a-1", 2) == ((20, 30), 0)
    assert wires.of("in-a-7", 3) == ((1, 5), 0), "zones in turn: broker 3 is in a"
    assert wires.of("in-b-1", 2) == ((3, 3), 1000)
    assert wires.of("in-b-1", 1) == ((20, 30), 1000)
    assert wires.of("free-1", 1) == ((1, 5), 0)
    assert (wires.longest_ms, wires.least_bandwidth) == (30, 1000)


def test_a_zone_that_is_cut_off_is_so_for_brokers_and_members_of_both_sides() -> None:
    _, lines = run(f'{ZONES}[[faults]]\nverb = "CutZone"\nzone = "a"\nat = "30s"\nlasts = "5s"\n')
    assert [(line["one"], line["other"]) for line in of(lines, "CutLink")] == [(1, 2), (3, 2)]
    cut = {(line["client"], line["broker"]) for line in of(lines, "CutMember")}
    assert cut == {("in-a-1", 2), ("in-a-2", 2), ("in-b-1", 1), ("in-b-1", 3)}
    assert {line["at_ms"] for line in of(lines, "CutMember")} == {30_000}
    healed = {(line["client"], line["broker"]) for line in of(lines, "MemberHealed")}
    assert healed == cut
    assert len(of(lines, "HealLink")) == 2


def test_racks_are_those_of_the_zones() -> None:
    world, _ = run(ZONES)
    racks = {node: broker.rack for node, broker in world.brokers.controller.cluster.brokers.items()}
    assert racks == {1: "a", 2: "b", 3: "a"}
    kind = read_scenario(BASE + ZONES, "mine.toml").members[0]
    assert kind.config("in-a-1").rack == "a"


def test_judges_know_the_longest_link() -> None:
    plain = grace_of(read_scenario(BASE + APP, "mine.toml"))
    far = grace_of(read_scenario(BASE + APP + 'delay = ["5ms", "400ms"]\n', "mine.toml"))
    assert (plain.link_ms, far.link_ms) == (5, 400)


def answered_after(lines: list[dict[str, Any]]) -> list[int]:
    """How long clients' joins waited at most for the answer that names their member id."""
    seen = {line["seq"]: line["at_ms"] for line in of(lines, "RequestSeen")}
    return [
        line["at_ms"] - seen[line["cause"]]
        for line in of(lines, "RequestRefused")
        if line["api"] == "join_group" and line["cause"] in seen
    ]


def test_requests_wait_in_line_at_a_broker_that_is_busy() -> None:
    many = APP.replace("count = 3", 'count = 12\nstart = "1s"')
    _, free = run(many)
    _, busy = run(f"[brokers]\nrequests_per_second = 20\n{many}")
    assert set(answered_after(free)) == {0}
    waited = answered_after(busy)
    assert len(waited) == 12
    assert min(waited) >= 50, "what one request takes"
    assert max(waited) >= 11 * 50, "who comes last waits for the others"


def test_a_leader_whose_assignor_takes_its_time_lets_the_group_wait() -> None:
    _, lines = run(APP + 'assigning = "7s"\n')
    began, stored = (
        of(lines, kind)[0]["at_ms"] for kind in ("GenerationStarted", "GenerationStored")
    )
    assert 7_000 <= stored - began <= 7_020
    assert not of(lines, "MemberRemoved"), "heartbeats go on meanwhile"


def test_one_that_comes_while_the_plan_is_made_lets_the_group_begin_again() -> None:
    _, lines = run(
        f"{APP}assigning = '7s'\n[[members]]\nname = 'late'\ntopics = 'orders'\nassigning = '7s'\nstart = '10s'\n"
    )
    assert len(of(lines, "GenerationStarted")) == 2
    (stored,) = of(lines, "GenerationStored")
    assert len(stored["members"]) == 4


def test_two_producers_with_one_transactional_id_fence_each_other() -> None:
    _, lines = run(
        APP
        + """
[[producers]]
name = "bill"
count = 2
topics = "orders"
transactional = true
transactional_id = "billing"
start = ["5s", "60s"]
"""
    )
    (failed,) = of(lines, "ProducerFailed")
    assert "PRODUCER_FENCED" in failed["why"] or "INVALID_PRODUCER_EPOCH" in failed["why"]
    ids = {line.get("transactional_id") for line in lines} - {None}
    assert ids == {"billing"}


def test_the_new_process_of_a_static_member_comes_before_the_old_one_goes() -> None:
    _, lines = run(
        APP
        + 'static = true\n[[churn]]\nkind = "restart"\nmembers = "app-2"\nat = "40s"\noverlap = "20s"\n[must]\nmay_fail = "app"\n'
    )
    (came,) = [line for line in of(lines, "MemberStarted") if line["at_ms"] > 1000]
    assert (came["client"], came["at_ms"]) == ("app-4", 40_000)
    (replaced,) = of(lines, "MemberReplaced")
    assert replaced["group_instance_id"] == "app-2"
    (failed,) = of(lines, "MemberFailed")
    assert failed["client"] == "app-2"
    assert "FENCED_INSTANCE_ID" in failed["why"]
    assert len(of(lines, "GenerationStarted")) == 1, "no rebalance"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (APP + 'zone = "a"', "no broker is there: give brokers.zones"),
        ('[brokers]\nzones = ["a", "b"]\n' + APP, "2 zones for 1 brokers"),
        (ZONES.replace('zone = "b"', 'zone = "c"'), "give one of a, b"),
        ('[links]\nbetween_zones = "1s"\n' + APP, "no client has a zone"),
        (ZONES + '[[faults]]\nverb = "CutZone"\nzone = "x"\n', "give one of a, b"),
        (ZONES + '[[faults]]\nverb = "CutZone"\nbroker = 1\n', "has the key zone, not broker"),
        (APP + 'protocol = "consumer"\nassigning = "1s"', "assigning needs protocol"),
        (APP + 'transactional_id = "x"', "transactional_id needs commit"),
        (
            APP + '[[producers]]\nname = "p"\ntopics = "orders"\ntransactional_id = "x"',
            "transactional_id needs transactional = true",
        ),
        (
            APP + '[[churn]]\nkind = "stall"\nmembers = "app"\noverlap = "1s"',
            "churn stall has no overlap: that is of restart",
        ),
    ],
)
def test_what_a_file_may_not_say(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read_scenario(BASE + text, "mine.toml")
