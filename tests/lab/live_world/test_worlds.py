"""In which worlds a scenario can be: what needs another one is refused before anything starts, with
its file and line."""

from __future__ import annotations

import pytest

from coordinator.cli import main
from coordinator.kit.cluster import VERBS
from coordinator.kit.faults import ACTIONS
from coordinator.lab.simulator.conditions import Kind
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.model import Scenario
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.files.security_keys import ACL_VERBS
from coordinator.lab.simulator.files.wires_keys import CUT_ZONE
from coordinator.lab.simulator.files.worlds import LEADER, WORLDS, WorldKind, check_world
from coordinator.lab.simulator.triggers import WHEN
from coordinator.verbs.members import MEMBER_VERBS

BASE = """
[topics]
orders = 2
[[members]]
name = "app"
topics = "orders"
"""


def scenario(text: str) -> Scenario:
    return read_scenario(BASE + text, "mine.toml")


def test_every_word_of_a_scenario_says_where_it_can_be() -> None:
    states = {kind.value for kind in Kind}
    assert set(WORLDS) == {
        *VERBS,
        *MEMBER_VERBS,
        *ACTIONS,
        *WHEN,
        *states,
        LEADER,
        CUT_ZONE,
        *ACL_VERBS,
    }
    assert all(WorldKind.VIRTUAL in worlds for worlds in WORLDS.values())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\n[[faults]]\nverb = "StopBroker"\nbroker = 1\n',
            "line 10: StopBroker",
        ),
        (
            '[[faults]]\naction = "fail"\napi = "Heartbeat"\nerror = "NOT_COORDINATOR"\n',
            "line 7: fail",
        ),
        (
            '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nwhen = "join phase"\n',
            "line 7: join phase",
        ),
        ('[[churn]]\nkind = "restart"\nmembers = "app"\nwhen = "commit"\n', "line 7: commit"),
        ('[brokers]\nmetadata_delay = "1s"\n', "line 7: brokers.metadata_delay"),
        (
            '[[churn]]\nkind = "scale"\nmembers = "app"\nmore = 1\nto = 3\nwhen = "members below 2"\nof = "app"\n',
            "line 7: members below",
        ),
        (
            '[[faults]]\nverb = "PauseMember"\nmember = "leader of app"\n',
            "line 7: leader of GROUP",
        ),
        (
            '[brokers]\ncount = 2\nzones = ["a", "b"]\n[[faults]]\nverb = "CutZone"\nzone = "a"\n',
            "line 10: CutZone",
        ),
        ("[brokers]\nrequests_per_second = 100\n", "line 7: brokers.requests_per_second"),
        (
            '[[faults]]\nverb = "StopBroker"\nbroker = "coordinator of app"\n',
            "line 7: StopBroker",
        ),
    ],
)
def test_what_befalls_brokers_cannot_be_had_on_a_foreign_kafka(text: str, named: str) -> None:
    with pytest.raises(ScenarioError, match=f"mine.toml, {named}"):
        check_world(scenario(text), WorldKind.KAFKA)
    check_world(scenario(text), WorldKind.EMULATOR)
    check_world(scenario(text), WorldKind.VIRTUAL)


def test_what_befalls_members_can_be_had_anywhere() -> None:
    faults = "".join(
        f'[[faults]]\nverb = "{verb}"\nmember = "app-1"\n'
        for verb in ("CutMember", "PauseMember", "ResetMember")
    )
    faults += '[[faults]]\nverb = "JumpMemberClock"\nmember = "app-1"\nby_ms = 5\n'
    slow = '[[faults]]\nverb = "SlowMember"\nmember = "app-1"\nbytes_per_second = 500\nwhen = "assigned"\n'
    for world in WorldKind:
        check_world(scenario(faults + slow), world)


def test_the_line_is_that_of_the_file_in_which_the_fault_stands() -> None:
    below = BASE + '[[faults]]\nverb = "StopBroker"\nbroker = 1\n'
    above = '\nextends = "below.toml"\n\n[[faults]]\naction = "fail"\napi = "Heartbeat"\nerror = "NOT_COORDINATOR"\n'
    read = read_scenario(above, "above.toml", load=lambda name, _: (below, name))
    assert [plan.line for plan in read.faults] == ["below.toml, line 7", "above.toml, line 4"]


def test_a_command_for_a_foreign_kafka_ends_before_it_connects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody listens at port 1: it is not asked."""
    assert main(["simulate", "coordinator_crash", "--live", "--bootstrap", "127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "coordinator_crash, line" in told
    assert (
        "StopBroker cannot be in a foreign Kafka, only in the live emulator and virtual time"
        in told
    )


def test_an_address_without_live_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "one_crash_one_join", "--bootstrap", "127.0.0.1:9092"]) == 2
    assert "--bootstrap: give --live, too" in capsys.readouterr().err


def test_a_cluster_that_cannot_be_reached_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "one_crash_one_join", "--live", "--bootstrap", "127.0.0.1:1"]) == 2
    assert "no broker can be reached: 127.0.0.1:1" in capsys.readouterr().err


def test_half_of_the_shipped_scenarios_can_be_run_on_any_kafka() -> None:
    able = 0
    for name in catalogue.names():
        read = read_scenario(catalogue.text(name), name)
        if read.rights is None:  # users without logins are in virtual time alone
            check_world(read, WorldKind.EMULATOR)
        try:
            check_world(read, WorldKind.KAFKA)
            able += 1
        except ScenarioError:
            pass
    assert able >= len(catalogue.names()) // 2
