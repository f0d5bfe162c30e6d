"""Members of the consumer protocol (KIP-848) in the simulated world: their groups come to rest, and
keep every promise on the way."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.comparing.measures import measure
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts

Line = dict[str, Any]

HEAD = """
duration = "9m"
[topics]
orders = 12
payments = 5
[[members]]
name = "app"
count = 5
topics = ["orders", "payments"]
protocol = "consumer"
"""
TAIL = """
[must]
stable_within = "3m"
"""
SCENARIOS = {
    "rolling": """[[churn]]
kind = "rolling"
members = "app"
at = "60s"
every = "20s"
""",
    "crashes": """config = {"enable.auto.commit" = true, "auto.commit.interval.ms" = 2000}
[[churn]]
kind = "restart"
members = "app"
at = "60s"
every = "90s"
times = 3
down = "9s"
how = "crash"
""",
    "static": """static = true
assignor = "range"
[[churn]]
kind = "rolling"
members = "app"
at = "60s"
every = "20s"
""",
    "stalls": """config = {"max.poll.interval.ms" = 20000}
[[churn]]
kind = "stall"
members = "app"
at = "60s"
every = "2m"
times = 2
lasts = "50s"
""",
    "churn": """[[churn]]
kind = "poisson"
members = "app"
arrivals_per_hour = 120
departures_per_hour = 120
until = "5m"
how = "crash"
""",
    "failover": """[[faults]]
verb = "StopBroker"
broker = 1
at = "1m"
lasts = "40s"
[[faults]]
verb = "StopBroker"
broker = 2
at = "3m"
lasts = "40s"
[[faults]]
verb = "StopBroker"
broker = 3
at = "5m"
lasts = "40s"
[brokers]
count = 3
""",
    "cut links": """[[faults]]
verb = "CutMember"
member = "app-2"
at = "1m"
lasts = "70s"
[[faults]]
verb = "PauseMember"
member = "app-3"
at = "3m"
lasts = "70s"
[[faults]]
verb = "ResetMember"
member = "app-4"
at = "5m"
""",
    "upgrade and back": """start = ["2m", "150s"]
[[members]]
name = "old"
count = 3
topics = ["orders", "payments"]
assignor = "cooperative-sticky"
[[churn]]
kind = "scale"
members = "app"
at = "5m"
to = 0
""",
    "upgrade for good, of eager members": """start = ["2m", "150s"]
[[members]]
name = "old"
count = 3
topics = ["orders", "payments"]
assignor = "range"
[[churn]]
kind = "scale"
members = "old"
at = "5m"
to = 0
""",
}


@cache
def lines_of(name: str, seed: int) -> list[Line]:
    """The log of a run, whose judges must be content."""
    scenario = read_scenario(HEAD + SCENARIOS[name] + TAIL, name)
    log = EventLog(seed=seed)
    run_scenario(scenario, seed, log)
    lines = list(log.events())
    broken = [
        str(verdict)
        for verdict in verdicts(scenario, typed(lines))
        if verdict.judgement is Judgement.BROKEN
    ]
    assert broken == []
    return lines


def kinds(lines: list[Line], kind: str, **fields: Any) -> list[Line]:
    return [
        line
        for line in lines
        if line["type"] == kind and all(line.get(name) == value for name, value in fields.items())
    ]


def held_at_the_end(lines: list[Line]) -> list[str]:
    """What the members' listeners were told to have, when the log ends."""
    held: dict[str, set[str]] = {}
    for line in lines:
        if line["stream"] != "member":
            continue
        mine = held.setdefault(line["client"], set())
        names = {f"{row['topic']}-{row['partition']}" for row in line.get("partitions", ())}
        if line["type"] == "PartitionsAssigned":
            mine |= names
        elif line["type"] in ("PartitionsRevoked", "PartitionsLost"):
            mine -= names
        elif line["type"] in ("MemberCrashed", "MemberClosed"):
            mine.clear()
    return sorted(name for names in held.values() for name in names)


EVERYTHING = sorted(
    [f"orders-{number}" for number in range(12)] + [f"payments-{number}" for number in range(5)]
)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_partition_has_one_owner_at_the_end(name: str, seed: int) -> None:
    """K8-CL-1 to K8-CL-4 against the coordinator: by what members were told, nothing is owned twice
    or by nobody."""
    assert held_at_the_end(lines_of(name, seed)) == EVERYTHING


def test_a_static_member_that_comes_back_in_time_costs_no_assignment() -> None:
    """K8-LV-2, K8-ST-1."""
    lines = lines_of("static", 1)
    assert len(kinds(lines, "ConsumerMemberReplaced")) == 5
    last = max(line["at_ms"] for line in kinds(lines, "TargetAssigned"))
    assert last < 60_000


def test_a_failover_puts_nobody_out() -> None:
    """The new coordinator knows every epoch: nothing is lost, and nobody joins again."""
    lines = lines_of("failover", 1)
    assert (
        kinds(lines, "GroupLoaded")
        and not kinds(lines, "PartitionsLost")
        and not kinds(lines, "ConsumerMemberRemoved")
    )


def test_an_upgrade_and_a_downgrade() -> None:
    """K8-MIG-1, K8-MIG-2: classic members keep their place while the protocol changes under
    them."""
    lines = lines_of("upgrade and back", 1)
    [upgraded], [downgraded] = (
        kinds(lines, "ConsumerGroupUpgraded"),
        kinds(lines, "ConsumerGroupDowngraded"),
    )
    lost = [line["at_ms"] for line in kinds(lines, "PartitionsLost")]
    assert all(
        at >= downgraded["at_ms"] > upgraded["at_ms"] for at in lost
    )  # 22 for who is behind the group's epoch then


def test_the_same_seed_gives_the_same_log() -> None:
    """Member ids are drawn from the seed, too."""
    logs = []
    for _ in range(2):
        log = EventLog(seed=7)
        run_scenario(read_scenario(HEAD + SCENARIOS["stalls"], "twice"), 7, log)
        logs.append(list(log.events()))
    assert logs[0] == logs[1]


def test_what_it_costs_is_measured_as_with_classic_groups() -> None:
    """One of five goes and comes back: two new assignments, its share moves there and back, and
    nobody else stands still for long."""
    quiet = measure(typed(lines_of("static", 1)))
    scenario = read_scenario(
        HEAD + '[[churn]]\nkind = "restart"\nmembers = "app-1"\nat = "60s"\ndown = "20s"\n',
        "restart",
    )
    log = EventLog(seed=1)
    run_scenario(scenario, 1, log)
    lines = list(log.events())
    restart = measure(typed(lines))
    before = measure(typed(line for line in lines if line["at_ms"] < 60_000))
    assert restart.rebalances == before.rebalances + 2
    assert restart.moved > before.moved and 0 < restart.rebalancing_s - before.rebalancing_s < 20
    assert quiet.rebalances > 0 and quiet.unavailable_partition_s > 0


def test_processes_that_begin_at_one_instant_are_members_of_their_own() -> None:
    """K8-CL-1: each draws an id. Two restarts meet here: the second ends the process that the first
    has just begun."""
    churn = (
        '[[churn]]\nkind = "rolling"\nmembers = "app"\nat = "{}s"\nevery = "{}s"\ndown = "{}s"\n'
    )
    text = 'duration = "3m"\n[topics]\norders = 2\n[[members]]\nname = "app"\ncount = 2\ntopics = "orders"\nprotocol = "consumer"\n'
    text += "static = true\n" + churn.format(21, 10, 22) + churn.format(24, 15, 14)
    text += (
        '[must]\nmay_fail = ["app"]\n'  # one comes while its predecessor still owns its instance id
    )
    scenario, log = read_scenario(text, "mine.toml"), EventLog(seed=3)
    run_scenario(scenario, 3, log)
    lines = list(log.events())
    [crashed] = [
        line["member"]
        for line in lines
        if line["type"] == "MemberCrashed" and line["at_ms"] == 53_000
    ]
    assert crashed not in {line["member"] for line in lines if line["type"] == "PartitionsAssigned"}
    assert [
        str(each) for each in verdicts(scenario, typed(lines)) if each.judgement is Judgement.BROKEN
    ] == []
