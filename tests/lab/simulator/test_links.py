"""Links that carry so many bytes a second and no more: what is sent waits for what was sent before
it."""

from __future__ import annotations

import pytest

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.chance import Draws
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.links import Link
from coordinator.lab.simulator.run import run_scenario, verdicts
from tests.lab.simulator.kit import Line, kinds

SLOW = """
duration = "4m"
[topics]
orders = 3
[links]
delay = "2ms"
bandwidth = 0
[[members]]
name = "app"
count = 2
topics = "orders"
[[churn]]
kind = "restart"
members = "app-1"
at = "60s"
down = "1s"
[must]
stable_within = "30s"
"""


def run(*settings: str) -> tuple[list[Line], set[str]]:
    scenario = read_scenario(SLOW, "slow.toml", settings)
    log = EventLog(seed=1)
    run_scenario(scenario, 1, log)
    lines = list(log.events())
    return lines, {
        verdict.judge
        for verdict in verdicts(scenario, typed(lines))
        if verdict.judgement is Judgement.BROKEN
    }


def test_messages_share_a_link_one_after_the_other() -> None:
    link = Link(Draws(1, "delay", "a>1"), (5, 5), 1000)
    assert link.arrival(0, 100) == 105  # 100 ms on the way in, 5 ms of delay
    assert link.arrival(0, 50) == 155
    assert link.arrival(1000, 1) == 1006
    assert Link(Draws(1, "delay", "a>1"), (5, 5)).arrival(0, 10**9) == 5


def test_many_small_messages_take_as_long_as_one_large_one() -> None:
    """No message is rounded up to a whole millisecond."""
    one, many = Link(Draws(1, "", ""), (0, 0), 3_000), Link(Draws(1, "", ""), (0, 0), 3_000)
    assert [many.arrival(0, 1) for _ in range(3_000)][-1] in (999, one.arrival(0, 3_000))


def test_a_group_on_links_that_are_too_slow_does_not_get_stable_in_time() -> None:
    """A join needs about a kilobyte: at sixty bytes a second that takes longer than the group
    has."""
    lines, broken = run()
    assert broken == set()
    assert len(kinds(lines, "GenerationStored")) >= 2
    slow, broken = run("links.bandwidth=60")
    assert "stable_within" in broken
    assert len(kinds(slow, "GenerationStored")) < len(kinds(lines, "GenerationStored"))


def test_one_member_on_a_slow_link_holds_up_the_group() -> None:
    """The rebalance that a restart begins takes as long as the slow member's messages do."""
    text = (
        SLOW
        + '[[faults]]\nverb = "SlowMember"\nmember = "app-2"\nbytes_per_second = 100\nat = "50s"\nlasts = "100s"\n'
    )
    log = EventLog(seed=1)
    run_scenario(read_scenario(text, "slow.toml"), 1, log)
    usual, slow = (_rebalancing(lines) for lines in (run()[0], list(log.events())))
    assert slow > usual + 1000
    assert len(kinds(list(log.events()), "MemberSpedUp")) == 1


def _rebalancing(lines: list[Line]) -> int:
    """Milliseconds from the restart to the last generation."""
    closing = kinds(lines, "MemberClosing")[0]["at_ms"]
    stored: int = kinds(lines, "GenerationStored")[-1]["at_ms"]
    return stored - closing


def test_a_slow_link_needs_a_rate() -> None:
    with pytest.raises(ScenarioError, match="bytes_per_second = 0: give a whole number from 1 on"):
        read_scenario(
            SLOW + '[[faults]]\nverb = "SlowMember"\nmember = "app-2"\nbytes_per_second = 0\n',
            "slow.toml",
        )


def test_a_paused_host_may_open_a_link_when_it_goes_on() -> None:
    """It is paused before it knows its coordinator, and connects to it with the answer that waited
    for it."""
    text = SLOW.replace("[links]", "[brokers]\ncount = 3\n[links]").replace(
        'delay = "2ms"', 'delay = "300ms"'
    )
    text += '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nat = "2s"\nlasts = "5s"\n'
    scenario, log = read_scenario(text, "paused.toml"), EventLog(seed=2)
    run_scenario(scenario, 2, log)
    lines = list(log.events())
    [resumed] = kinds(lines, "MemberResumed")
    assert any(line["at_ms"] > resumed["at_ms"] for line in kinds(lines, "ConnectionOpened"))
    assert [
        str(each)
        for each in verdicts(scenario, typed(lines))
        if each.judgement is not Judgement.KEPT
    ] == []
