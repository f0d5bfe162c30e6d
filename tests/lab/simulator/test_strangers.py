"""Scenario files as somebody writes them who knows the documentation alone: what they say happens,
and no judge is wrong about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator.cli import main
from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.lab.simulator.unreached import idle, unreached

Line = dict[str, Any]
_ON_THE_WAY_MS = 20


def _lines(text: str, seed: int = 1) -> list[Line]:
    """The log of a run, whose judges must be content."""
    scenario = read_scenario(text, "s.toml")
    log = EventLog(seed=seed)
    run_scenario(scenario, seed, log)
    lines = list(log.events())
    assert [
        str(verdict)
        for verdict in verdicts(scenario, typed(lines))
        if verdict.judgement is Judgement.BROKEN
    ] == []
    return lines


def test_a_slow_application_joins_before_it_is_given_more_records() -> None:
    """CLI-23, KAFKA-14196: what the commit before the rebalance does not cover any more is not
    handed out."""
    lines = _lines("""
duration = "50s"
[topics]
orders = 1
[[members]]
name = "app"
topics = "orders"
assignor = "range"
consumes = true
processing = "300ms"
config = { "max.poll.records" = 10 }
[[members]]
name = "late"
topics = "orders"
assignor = "range"
consumes = true
start = ["20s", "20s"]
[[producers]]
name = "shop"
topics = "orders"
rate = 50
""")
    told = next(
        line["at_ms"]
        for line in lines
        if line["type"] == "RequestRefused" and "REBALANCE_IN_PROGRESS" in line["errors"]
    )
    gave_up = next(
        line["at_ms"]
        for line in lines
        if line["type"] == "PartitionsRevoked" and line["client"] == "app-1"
    )
    polls = [
        line["at_ms"]
        for line in lines
        if line["type"] == "RecordsPolled" and line["client"] == "app-1"
    ]
    assert any(at < told for at in polls)
    assert told < gave_up and not any(told + _ON_THE_WAY_MS < at <= gave_up for at in polls)


def test_a_coordinator_that_knows_of_its_successor_late_is_not_judged_by_what_it_does_meanwhile() -> (
    None
):
    """A cut link between two brokers: the former coordinator goes on, and acknowledges nothing
    (COORDINATOR_NOT_AVAILABLE)."""
    lines = _lines("""
duration = "8m"
[topics]
orders = 6
[brokers]
count = 3
config = { "default.replication.factor" = 3, "min.insync.replicas" = 2, "broker.session.timeout.ms" = 60000 }
[[members]]
name = "web"
count = 3
topics = "orders"
config = { "session.timeout.ms" = 10000 }
[[faults]]
verb = "MoveCoordinator"
group = "app"
to = 3
at = "20s"
[[faults]]
verb = "CutLink"
one = 1
other = 3
at = "30s"
lasts = "60s"
[[faults]]
verb = "MoveCoordinator"
group = "app"
to = 2
at = "40s"
""")
    loaded = [line for line in lines if line["type"] == "GroupLoaded"]
    unloaded = [line for line in lines if line["type"] == "GroupUnloaded" and line["broker"] == 3]
    assert [line["broker"] for line in loaded][:2] == [3, 2] and loaded[1]["at_ms"] < unloaded[0][
        "at_ms"
    ]
    between = [line for line in lines if loaded[1]["at_ms"] < line["at_ms"] < unloaded[0]["at_ms"]]
    assert any(line["type"] == "OffsetsCommitted" and line["broker"] == 3 for line in between)


def test_a_pipeline_that_was_removed_while_it_worked_writes_nothing_for_what_others_have_by_now() -> (
    None
):
    """KIP-447: it commits with the generation in which it was given the records, also when a
    heartbeat has told it that it is gone."""
    lines = _lines("""
duration = "4m"
[topics]
orders = 2
invoices = 1
[brokers]
count = 1
[[producers]]
name = "shop"
topics = "orders"
rate = 1
stop = "60s"
[[members]]
name = "pipe"
count = 2
topics = "orders"
assignor = "cooperative-sticky"
commit = "transaction"
output = "invoices"
processing = "30s"
config = { "session.timeout.ms" = 10000, "max.poll.records" = 1 }
[[faults]]
verb = "PauseMember"
member = "pipe-1"
at = "15s"
lasts = "14s"
[[faults]]
verb = "PauseMember"
member = "pipe-2"
at = "100s"
lasts = "14s"
""")
    assert any(line["type"] == "MemberRemoved" for line in lines)
    assert any(
        line["type"] == "TransactionEnded"
        and line["client"].startswith("pipe")
        and not line["committed"]
        for line in lines
    )


_RIGHTS = """
duration = "40s"
[topics]
orders = 2
[security]
acls = ["User:app may read topic orders", "User:app may read group app"]
[[members]]
name = "app"
topics = "orders"
user = "{user}"
[must]
may_fail = "app"
"""


@pytest.mark.parametrize("user", ["app", "User:app"])
def test_a_user_is_written_as_in_acls_or_without_its_kind(user: str) -> None:
    lines = _lines(_RIGHTS.format(user=user))
    assert any(line["type"] == "PartitionsAssigned" for line in lines)
    assert list(idle(read_scenario(_RIGHTS.format(user=user), "s"), typed(lines))) == []


def test_members_that_never_had_anything_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No promise is broken where nobody gets as far as that."""
    file = tmp_path / "s.toml"
    file.write_text(_RIGHTS.format(user="nobody"))
    assert main(["simulate", str(file)]) == 0
    assert capsys.readouterr().err == (
        "note: members app: none of them was ever assigned a partition; "
        "app-1 failed: not authorized to access topics: orders\n"
    )


@pytest.mark.parametrize(
    ("verb", "right"),
    [
        ("PauseBroker", 'StopBroker with how = "pause"'),
        ("killmember", '[[churn]] with kind = "restart" and how = "crash"'),
    ],
)
def test_what_has_another_name_is_named(verb: str, right: str) -> None:
    text = _RIGHTS.format(user="app") + f'[[faults]]\nverb = "{verb}"\nbroker = 1\nat = "5s"\n'
    with pytest.raises(ScenarioError) as raised:
        read_scenario(text, "s.toml")
    assert str(raised.value) == f"s.toml, line 14: {verb!r} is no verb: give {right}"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('action = "delay"\nduration_ms = 50\napi = "OffsetDelete"', True),
        ('action = "delay"\nduration_ms = 50\napi = "OffsetDelete"\nmay_miss = true', False),
        ('action = "observe"\napi = "OffsetDelete"', False),
        ('action = "delay"\nduration_ms = 50\napi = "JoinGroup"', False),
    ],
)
def test_a_fault_that_no_request_met_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str, told: bool
) -> None:
    """Such a run says nothing of what was to be tried."""
    file = tmp_path / "s.toml"
    members = '[topics]\norders = 2\n[[members]]\nname = "app"\ntopics = "orders"\n'
    file.write_text(f'duration = "20s"\n{members}[[faults]]\n{said}\n')
    assert main(["simulate", str(file)]) == 0
    note = f"note: {file}, line 7: no request met this fault, OffsetDelete: delay by 50 ms (may_miss = true allows it)\n"
    assert capsys.readouterr().err == (note if told else "")


def test_a_setting_of_brokers_that_changes_nothing_is_told() -> None:
    """A run that was to lose records to their retention had tried nothing, and said so nowhere."""
    config = """
[topics]
orders = 2
[[members]]
name = "app"
topics = ["orders"]
[brokers]
[brokers.config]
"log.retention.ms" = 60000
"log.cleanup.policy" = "compact"
"num.io.threads" = 4
"replica.lag.time.max.ms" = 9000
"message.max.bytes" = 100000
"""
    assert list(unreached(read_scenario(config, "s.toml"))) == [
        "brokers.config: num.io.threads is shown only: nothing depends on it here",
        "brokers.config: replica.lag.time.max.ms changes nothing with one broker: give brokers.count",
    ]
    deleting = config.replace("compact", "delete").replace("[brokers]", "[brokers]\ncount = 2", 1)
    told = list(unreached(read_scenario(deleting, "s.toml")))
    assert [each.split()[1] for each in told] == ["num.io.threads"]


def test_shipped_scenarios_have_no_setting_that_changes_nothing() -> None:
    for name in catalogue.names():
        scenario = read_scenario(catalogue.text(name), name)
        assert [each for each in unreached(scenario) if "brokers.config" in each] == [], name
