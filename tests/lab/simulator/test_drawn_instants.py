"""What a seed draws of when things happen: the instant of churn, when each of several members goes, and
how late each one's heartbeats are. Drawn for one, the draws of all others stay."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.lab.simulator.churn import begins_at
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.model import Scenario
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario

BASE = """
duration = "3m"
[topics]
orders = 6
[[members]]
name = "app"
count = 6
topics = "orders"
protocol = "PROTOCOL"
"""
RESTART = '[[churn]]\nkind = "rolling"\nmembers = "app"\nat = "60s"\nevery = "30s"\nat_once = 3\n'


def scenario(more: str, protocol: str = "classic") -> Scenario:
    return read_scenario(BASE.replace("PROTOCOL", protocol) + more, "mine.toml")


def run(one: Scenario, seed: int = 1) -> list[dict[str, Any]]:
    log = EventLog(seed=seed, epoch_ms=EPOCH_MS)
    run_scenario(one, seed, log)
    return list(log.events())


def at(lines: list[dict[str, Any]], kind: str) -> dict[str, int]:
    return {line["client"]: line["at_ms"] for line in lines if line["type"] == kind}


def test_churn_happens_at_an_instant_that_the_seed_draws() -> None:
    one = scenario(RESTART + 'within = "15s"\n')
    began = [begins_at(one, seed, 0) for seed in range(200)]
    assert 60_000 <= min(began) < 61_000 and 74_000 < max(began) <= 75_000
    assert len(set(began)) > 150
    for seed in (1, 2):
        closing = at(run(one, seed), "MemberClosing")
        first = begins_at(one, seed, 0)
        assert [closing[f"app-{number}"] for number in range(1, 7)] == [first] * 3 + [
            first + 30_000
        ] * 3


def test_each_member_of_a_step_goes_at_its_own_instant() -> None:
    closing = at(run(scenario(RESTART + 'spread = "3s"\n')), "MemberClosing")
    assert len(set(closing.values())) == 6
    for number in range(1, 7):
        turn = 60_000 if number <= 3 else 90_000
        assert turn <= closing[f"app-{number}"] <= turn + 3_000
    restart = RESTART.replace("rolling", "restart").replace("at_once = 3\n", 'spread = "3s"\n')
    again = at(run(scenario(restart)), "MemberClosing")
    assert len(set(again.values())) == 6
    assert all(60_000 <= instant <= 63_000 for instant in again.values())


def test_what_is_drawn_of_instants_changes_no_other_draw() -> None:
    plain, drawn = (run(scenario(RESTART + more)) for more in ("", 'within = "15s"\n'))
    first = min(at(drawn, "MemberClosing").values())
    before = [
        [line for line in lines if line["at_ms"] < 60_000 and line["type"] != "RunStarted"]
        for lines in (plain, drawn)
    ]
    assert before[0] == before[1] and len(before[0]) > 50 and first > 60_000


def test_members_of_different_rates_hear_of_a_rebalance_one_after_the_other() -> None:
    leave = '[[churn]]\nkind = "scale"\nmembers = "app"\nat = "100s"\nto = 5\n'
    heard = []
    for late in ("", 'late = ["0ms", "100ms"]\n'):
        lines = run(scenario('assignor = "range"\n' + late + leave))
        told = at([line for line in lines if line["at_ms"] > 100_000], "PartitionsRevoked")
        left = told.pop("app-6")
        assert len(told) == 5 and all(left < instant < left + 3_200 for instant in told.values())
        heard.append(max(told.values()) - min(told.values()))
    in_step, out_of_step = heard
    assert in_step < 50 and out_of_step > 500


@pytest.mark.parametrize(("protocol", "interval"), [("classic", 3_000), ("consumer", 5_000)])
def test_how_late_heartbeats_are_is_each_ones_own(protocol: str, interval: int) -> None:
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    world = run_scenario(scenario('late = ["50ms", "250ms"]\n', protocol), 1, log)
    late = [each.member.beat_interval_ms - interval for each in world.members.values()]
    assert len(late) == 6 and 50 <= min(late) < max(late) <= 250


@pytest.mark.parametrize(
    ("protocol", "more", "said"),
    [
        (
            "classic",
            'late = "42s"',
            "the session of 45000 ms would end first: give less than 42000",
        ),
        ("consumer", 'late = "40s"', "after an interval of 5000 ms"),
        ("share", 'late = "1s"', 'late is not of protocol = "share"'),
        (
            "classic",
            '[[churn]]\nkind = "stall"\nmembers = "app"\nspread = "1s"',
            "churn stall has no spread: that is of rolling and restart",
        ),
    ],
)
def test_what_a_file_may_not_say(protocol: str, more: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        scenario(more, protocol)
