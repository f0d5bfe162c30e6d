"""Churn and faults that wait for a state, and those whose victims are known only when they
happen."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.lab.simulator.conditions import Condition, Kind, condition
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.world import World

BASE = """
duration = "3m"
[topics]
orders = 6
[[producers]]
name = "shop"
topics = "orders"
rate = 40
batch = 10
stop = "2m"
[[members]]
name = "app"
count = 3
topics = "orders"
consumes = true
"""


def run(text: str, *, skips: bool = True) -> tuple[World, list[dict[str, Any]]]:
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    world = run_scenario(read_scenario(BASE + text, "mine.toml"), 1, log, skips=skips)
    return world, list(log.events())


def of(lines: list[dict[str, Any]], *kinds: str) -> list[tuple[int, str]]:
    """When this happened, and to whom."""
    return [(line["at_ms"], line.get("client", "")) for line in lines if line["type"] in kinds]


def test_the_words_for_states() -> None:
    assert condition("lag above 1000") == Condition(Kind.LAG_ABOVE, 1000)
    assert condition("members below 3") == Condition(Kind.MEMBERS_BELOW, 3)
    assert condition("not ready for 2m") == Condition(Kind.NOT_READY, 120_000)
    assert condition("not polling for 500ms") == Condition(Kind.NOT_POLLING, 500)
    assert condition("join phase") is None
    assert condition("lag above many") is None


def test_one_member_more_whenever_the_lag_is_high_and_one_fewer_when_it_is_low() -> None:
    world, lines = run(
        """
[[churn]]
kind = "stall"
members = "app"
at = "30s"
lasts = "30s"
[[churn]]
kind = "scale"
members = "app"
more = 1
to = 5
when = "lag above 800"
of = "app"
again = 9
pause = "10s"
[[churn]]
kind = "scale"
members = "app"
fewer = 1
low = 2
when = "lag below 1"
of = "app"
again = 9
pause = "10s"
"""
    )
    started = [at for at, _ in of(lines, "MemberStarted") if at > 1000]
    assert started, "nobody came"
    assert all(at > 31_000 for at in started), "the lag is high only once nobody reads"
    assert len(started) == 2, "no more than there are to be"
    assert [later - at >= 10_000 for at, later in pairwise(started)] == [True]
    assert len([name for name in world.members if name.startswith("app")]) == 2


def test_a_probe_kills_the_member_that_does_not_poll_and_no_other() -> None:
    _, lines = run(
        """
[[churn]]
kind = "stall"
members = "app-2"
at = "40s"
lasts = "2m"
[[churn]]
kind = "restart"
members = "it"
how = "crash"
when = "not polling for 20s"
of = "app"
"""
    )
    assert of(lines, "MemberCrashed") == [(60_000, "app-2")]


def test_a_paused_process_is_not_ready() -> None:
    _, lines = run(
        """
[[faults]]
verb = "PauseMember"
member = "app-1"
at = "30s"
lasts = "60s"
[[churn]]
kind = "restart"
members = "it"
how = "crash"
when = "not ready for 15s"
of = "app"
"""
    )
    ((at, who),) = of(lines, "MemberCrashed")
    assert who == "app-1"
    assert 45_000 <= at <= 46_000


def test_the_leader_of_a_group_is_found_when_it_happens() -> None:
    _, lines = run(
        """
[[churn]]
kind = "restart"
members = "leader of app"
how = "crash"
at = "40s"
times = 2
every = "70s"
"""
    )
    leaders = [
        (line["at_ms"], line["leader"]) for line in lines if line["type"] == "GenerationStarted"
    ]
    killed = of(lines, "MemberCrashed")
    assert len(killed) == 2
    for at, client in killed:
        leader = [name for when, name in leaders if when < at][-1]
        assert leader.startswith(f"{client}-")


def test_several_and_kinds_and_brokers_in_words() -> None:
    _, lines = run(
        """
[brokers]
count = 3
[[faults]]
verb = "CutMember"
member = ["app-1", "app-3"]
at = "30s"
lasts = "1s"
[[faults]]
verb = "ResetMember"
member = "app"
at = "40s"
[[faults]]
verb = "SlowBroker"
broker = "coordinator of app"
by_ms = 20
at = "50s"
lasts = "1s"
[[faults]]
verb = "FenceBroker"
broker = ["leader of orders-0", "leader of orders-1"]
at = "60s"
lasts = "1s"
"""
    )
    assert of(lines, "CutMember") == [(30_000, "app-1"), (30_000, "app-3")]
    assert of(lines, "MemberHealed") == [(31_000, "app-3"), (31_000, "app-1")]
    assert sorted(of(lines, "ResetMember")) == [(40_000, f"app-{number}") for number in (1, 2, 3)]
    slowed = [line["broker"] for line in lines if line["type"] == "SlowBroker" and line["by_ms"]]
    coordinators = {line["broker"] for line in lines if line["type"] == "GenerationStarted"}
    assert set(slowed) <= coordinators
    fenced = [line["broker"] for line in lines if line["type"] == "FenceBroker"]
    assert len(set(fenced)) == 2


def test_what_nobody_is_when_it_happens_is_told_as_skipped() -> None:
    _, lines = run(
        """
[[members]]
name = "late"
group = "later"
topics = "orders"
start = "2m"
[[faults]]
verb = "PauseMember"
member = "leader of later"
at = "30s"
lasts = "1s"
[[churn]]
kind = "restart"
members = "leader of later"
at = "31s"
"""
    )
    skipped = [line["why"] for line in lines if line["type"] == "FaultSkipped"]
    assert len(skipped) == 2
    assert all("leader of later: the group has none" in why for why in skipped)


def test_a_state_that_never_was_is_told() -> None:
    world, _ = run(
        '[[churn]]\nkind = "scale"\nmembers = "app"\nmore = 1\nto = 9\nwhen = "lag above 999999"\nof = "app"\n'
    )
    assert list(world.triggers.unseen()) == [
        "mine.toml, line 16: churn scale did not happen: it waits for 'lag above 999999' of app, which was not seen"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'kind = "restart"\nmembers = "it"\nat = "1m"',
            "'it' is the member that when was seen of: give when",
        ),
        ('kind = "restart"\nmembers = "leader of nobody"', "group 'nobody' is nobody's"),
        ('kind = "rolling"\nmembers = ["app", "app-1"]', "churn rolling: members = app, app-1"),
        ('kind = "restart"\nmembers = ["app-1", "app-1"]', "app-1 is named twice"),
        (
            'kind = "restart"\nmembers = "app"\nwhen = "not ready for 1s"\nof = "nobody"',
            "of = 'nobody': give a kind of members",
        ),
        ('kind = "restart"\nmembers = "app"\nwhen = "lag over 3"', "or such as 'lag above 1000'"),
        (
            'kind = "restart"\nmembers = "app"\nwhen = "lag above 3"\nof = "app-1"',
            "of = 'app-1': give a group",
        ),
        (
            'kind = "restart"\nmembers = "app"\nwhen = "lag above 3"\nof = "app"\nseen = 2',
            "a state is or is not",
        ),
        (
            'kind = "restart"\nmembers = "app"\nwhen = "lag above 3"\nof = "app"\npause = "1ms"',
            "looked at every 1000 ms",
        ),
        (
            'kind = "restart"\nmembers = "app"\nwhen = "join"\nagain = 3',
            "again is of states only",
        ),
        ('kind = "scale"\nmembers = "app"\nmore = 1\nfewer = 1', "either more or fewer"),
        ('kind = "scale"\nmembers = "app"\nto = 4\nlow = 2', "give fewer, or leave it out"),
    ],
)
def test_churn_that_cannot_be(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read_scenario(f"{BASE}[[churn]]\n{text}\n", "mine.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('verb = "PauseMember"\nmember = []', "give a text, or several"),
        ('verb = "PauseMember"\nmember = ["app-1", "app-9"]', "member 'app-9' is not there"),
        ('verb = "PauseMember"\nmember = "coordinator of app"', "is no member"),
        ('verb = "StopBroker"\nbroker = "coordinator of x"', "group 'x' is nobody's"),
        ('verb = "StopBroker"\nbroker = "leader of orders-6"', "there is no such partition"),
        ('verb = "StopBroker"\nbroker = "the worst"', "or 'coordinator of GROUP'"),
        ('verb = "StopBroker"\nbroker = [1, 4]', "broker = 4"),
        ('verb = "MoveLeader"\ntopic = "orders"\npartition = 0\nto = [1, 2]', "give one broker"),
    ],
)
def test_faults_that_cannot_be(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read_scenario(f"{BASE}[brokers]\ncount = 3\n[[faults]]\n{text}\n", "mine.toml")


def test_a_group_that_only_pretends_to_read_has_no_lag() -> None:
    text = BASE.replace("consumes = true", "")
    with pytest.raises(ScenarioError, match="only pretend to read: give consumes = true"):
        read_scenario(
            f'{text}[[churn]]\nkind = "restart"\nmembers = "app"\nwhen = "lag above 3"\nof = "app"\n',
            "mine.toml",
        )


def test_looks_change_nothing_where_heartbeats_are_skipped() -> None:
    text = """
[[members]]
name = "quiet"
count = 5
group = "quiet"
topics = "orders"
[[churn]]
kind = "restart"
members = "it"
when = "not ready for 10s"
of = "quiet"
[[faults]]
verb = "PauseMember"
member = "leader of quiet"
at = "50s"
lasts = "20s"
"""
    assert run(text)[1] == run(text, skips=False)[1]
