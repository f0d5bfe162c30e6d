"""Clocks that jump in a scenario: records are dated by their producer's host, sessions and links
know nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.lab.simulator.world import World

BASE = """
duration = "2m"
[topics]
orders = 1
copies = 1
[brokers]
count = 3
[[members]]
name = "app"
topics = "orders"
commit = "transaction"
output = "copies"
[[members]]
name = "idle"
group = "idle"
count = 3
topics = "orders"
[[producers]]
name = "shop"
topics = "orders"
rate = 1
stop = "2m"
"""
HOUR_MS = 3_600_000


def run(text: str) -> tuple[World, list[dict[str, Any]]]:
    scenario, log = read_scenario(BASE + text, "mine.toml"), EventLog(seed=1)
    world = run_scenario(scenario, 1, log)
    lines = list(log.events())
    assert [
        str(each)
        for each in verdicts(scenario, typed(lines))
        if each.judgement is not Judgement.KEPT
    ] == []
    return world, lines


def jump(verb: str, **fields: object) -> str:
    rows = [
        f"{key} = {value if isinstance(value, int) else repr(value)}"
        for key, value in fields.items()
    ]
    return "\n".join([f'[[faults]]\nverb = "{verb}"\nat = "30s"', *rows, ""])


def latest(world: World, topic: str) -> int:
    """The highest timestamp of a topic's records, from the world's zero."""
    truth = world.brokers.controller.cluster.partition(topic, 0)
    assert truth is not None
    partition = world.brokers.images[truth.leader].partition(topic, 0)
    assert partition is not None
    return partition.log.highest_timestamp().timestamp - EPOCH_MS


def test_records_are_dated_by_their_producers_host() -> None:
    """A pipeline, too, dates what it writes."""
    world, _ = run("")
    assert max(latest(world, "orders"), latest(world, "copies")) <= 120_000
    world, lines = run(
        jump("JumpMemberClock", member="shop-1", by_ms=HOUR_MS)
        + jump("JumpMemberClock", member="app-1", by_ms=600_000)
    )
    assert HOUR_MS < latest(world, "orders") <= HOUR_MS + 120_000
    assert 600_000 < latest(world, "copies") <= 720_000
    assert [
        (line["client"], line["by_ms"]) for line in lines if line["type"] == "JumpMemberClock"
    ] == [("shop-1", HOUR_MS), ("app-1", 600_000)]


def test_a_clock_goes_back_when_the_fault_is_over() -> None:
    world, lines = run(jump("JumpMemberClock", member="shop-1", by_ms=-HOUR_MS, lasts="10s"))
    jumps = [(line["at_ms"], line["by_ms"]) for line in lines if line["type"] == "JumpMemberClock"]
    assert jumps == [(30_000, -HOUR_MS), (40_000, HOUR_MS)]
    assert 100_000 < latest(world, "orders") <= 120_000


def test_a_process_that_comes_back_has_its_hosts_clock() -> None:
    restart = '[[churn]]\nkind = "restart"\nmembers = "shop-1"\nat = "50s"\ndown = "5s"\n'
    world, _ = run(restart + jump("JumpMemberClock", member="shop-1", by_ms=HOUR_MS))
    assert latest(world, "orders") > HOUR_MS + 60_000


@pytest.mark.parametrize("by_ms", [365 * 24 * HOUR_MS, -HOUR_MS // 2])
def test_timers_know_nothing_of_it(by_ms: int) -> None:
    """Every line is the same but those that tell of the jumps: sessions, join phases, heartbeats,
    fetches, commits. Neither records nor segments grow old here: that is a matter
    of wall clocks."""
    kept = '[brokers.config]\n"log.retention.ms" = -1\n"log.roll.hours" = 1000000\n'

    def told(text: str) -> list[dict[str, Any]]:
        _, lines = run(text + kept)
        return [
            {key: value for key, value in line.items() if key not in ("seq", "cause")}
            for line in lines
            if not line["type"].startswith("Jump")
        ]

    jumps = "".join(jump("JumpClock", broker=broker, by_ms=by_ms) for broker in (1, 2, 3))
    hosts = "".join(
        jump("JumpMemberClock", member=name, by_ms=by_ms) for name in ("app-1", "idle-1", "shop-1")
    )
    assert told(jumps + hosts) == told("")


def test_a_producer_whose_clock_is_too_far_ahead_is_refused() -> None:
    """message.timestamp.after.max.ms is one hour: INVALID_TIMESTAMP, as in Kafka."""
    _, lines = run(jump("JumpMemberClock", member="shop-1", by_ms=2 * HOUR_MS))
    failed = [line for line in lines if line["type"] == "RecordsDelivered" and line["failed"]]
    assert {line["failed"] for line in failed} == {"INVALID_TIMESTAMP"}


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (
            'verb = "JumpMemberClock"\nby_ms = 5\n',
            "JumpMemberClock: member is missing; there are app-1, idle-1",
        ),
        (
            'verb = "JumpMemberClock"\nmember = "app-1"\n',
            "JumpMemberClock: by_ms is missing: give whole milliseconds such as 3600000",
        ),
        (
            'verb = "JumpMemberClock"\nmember = "app-1"\nby_ms = "1h"\n',
            "line 26: JumpMemberClock: by_ms = '1h': give whole milliseconds",
        ),
        (
            'verb = "JumpClock"\nbroker = 1\nby_ms = 0\n',
            "line 26: JumpClock: by_ms=0: the clock would not jump",
        ),
        (
            'verb = "JumpClock"\nbroker = 1\nby_ms = -1700000000001\n',
            "line 26: JumpClock: by_ms=-1700000000001: the clock shows 2023",
        ),
        ('verb = "JumpClock"\nbroker = 1\n', "JumpClock: by_ms is missing: it needs broker, by_ms"),
        (
            'verb = "JumpClock"\nbroker = 4\nby_ms = 5\n',
            "line 25: JumpClock: broker = 4: from 1 to 3",
        ),
    ],
)
def test_jumps_that_cannot_be(text: str, right: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read_scenario(BASE + "[[faults]]\n" + text, "mine.toml")
    assert right in str(refused.value)
    assert str(refused.value).startswith("mine.toml, line 2")


def test_the_swarm_draws_them() -> None:
    texts = [scenario_text(seed) for seed in range(1, 60)]
    for verb in ("JumpClock", "JumpMemberClock"):
        assert any(f'verb = "{verb}"' in text for text in texts)


def test_a_producer_that_is_refused_while_it_commits_aborts_once() -> None:
    """A record dated more than an hour ahead is refused (message.timestamp.after.max.ms), here
    after the commit was asked for."""
    bank = """
[[producers]]
name = "bank"
topics = "orders"
rate = 2
transactional = true
transaction = "0ms"
stop = "60s"
"""
    _, lines = run(bank + jump("JumpMemberClock", member="bank-1", by_ms=2 * HOUR_MS))
    ended = [
        line for line in lines if line["type"] == "TransactionEnded" and line["client"] == "bank-1"
    ]
    refused = [at for at, line in enumerate(ended) if line["failed"] == "INVALID_TIMESTAMP"]
    assert refused
    assert [(ended[at + 1]["committed"], ended[at + 1]["failed"]) for at in refused] == [
        (False, None)
    ] * len(refused)
