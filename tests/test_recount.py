"""The plain counts of `tests/recount.py`: what they stand on is what the groups' own rules make of
the events, and tables say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordinator import events
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.config import GroupConfig
from coordinator.core.groups.share.model import ShareMembership
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.server.replay.several_brokers import ReplayedBrokers
from coordinator.server.settings.broker_configs import BrokerConfigs
from tests.frozen.making import makers
from tests.frozen.outputs import Lines
from tests.frozen.stored import LOGS, stored_log
from tests.recount import Line, Recount
from tests.shipped import simulated

pytestmark = pytest.mark.unmeasured

_SWARM = 300
LOGS_BY_NAME = {
    **dict(makers()),
    **{path.stem: path.read_text for path in sorted(LOGS.glob("*.jsonl"))},
}
_WITHOUT_BROKERS = {"live", *(name for name in LOGS_BY_NAME if name.startswith("vector-"))}
"""The logs that do not say which broker serves which group."""


@pytest.fixture(scope="module")
def log(request: pytest.FixtureRequest) -> Lines:
    """One of LOGS_BY_NAME, made once for the tests that run one after the other."""
    return Lines(LOGS_BY_NAME[request.param]())


class Replayed(ReplayedBrokers):
    """A log that is replayed and counted at once: after each line of a group that a broker serves,
    its state, its number and its members are the same in both."""

    def __init__(self, lines: list[Line]) -> None:
        self.count = Recount()
        self.compared = 0
        partitions = next(
            (
                line["partitions"]
                for line in lines
                if line["type"] == "TopicCreated" and line["topic"] == "__consumer_offsets"
            ),
            GroupConfig().offsets_topic_partitions,
        )
        config = GroupConfig(offsets_topic_partitions=partitions)
        super().__init__(
            (events.Line.of({"broker": 1, **line}) for line in lines), BrokerConfigs({}), config
        )

    def _fold(self, line: events.Line) -> None:
        super()._fold(line)
        self.count.feed(line.plain)
        if line.stream != "group":
            return
        assert line.broker is not None and line.group is not None
        coordinator, name = self.coordinators[line.broker], line.group
        index = coordinator.partition_for(name)
        group = coordinator.partition_shard(index).groups.get(name)
        if group is None or coordinator.availability.error(index):
            return
        membership, counted = group.membership, self.count.served(name, line.plain)
        where = f"{line} of {name}"
        assert counted.members == set(membership.members), where
        if isinstance(membership, ClassicGroup):
            assert counted.protocol == "classic", where
            assert (counted.state, counted.number) == (
                str(membership.state),
                membership.generation,
            ), where
        else:
            protocol = "share" if isinstance(membership, ShareMembership) else "consumer"
            assert (counted.protocol, counted.number) == (protocol, membership.group_epoch), where
        self.compared += 1


def plain(log: Lines) -> list[Line]:
    """The log's lines as their JSON has them."""
    return [json.loads(line) for line in log.text.splitlines()]


def of_tables(log: Lines) -> dict[str, Any]:
    """What tables say of a run, by the names of `counted`."""
    [run], [metrics], members = (
        [dict(zip(TABLES[name].names(), row, strict=True)) for row in log.tables[name]]
        for name in ("runs", "metrics", "members")
    )
    assert run["rebalances"] == metrics["rebalances"]
    assert run["completed_rebalances"] == metrics["stable"]
    expired = sum(row["reason"] == "session expired" for row in members)
    names = (
        "rebalances",
        "stable",
        "rebalancing_ms",
        "moved",
        "moved_between_processes",
        "unavailable_partition_ms",
        "commits",
        "refused",
        "refused_commits",
        "members",
    )
    return {name: metrics[name] for name in names} | {"expired": expired}


def counted(lines: list[Line]) -> dict[str, int]:
    """What the plain counts say of a log."""
    count = Recount(lines).finish()
    return {
        "rebalances": count.rebalances,
        "stable": count.completed,
        "rebalancing_ms": sum(count.rebalancing_ms),
        "moved": count.moved,
        "moved_between_processes": count.moved_between_processes,
        "unavailable_partition_ms": count.unavailable_ms,
        "commits": count.commits,
        "refused": count.refusals,
        "refused_commits": count.refused_commits,
        "members": count.joined,
        "expired": count.expired,
    }


@pytest.mark.parametrize("log", LOGS_BY_NAME, indirect=True, scope="module")
def test_tables_say_the_plain_counts(log: Lines) -> None:
    assert of_tables(log) == counted(plain(log))


@pytest.mark.parametrize(
    "log",
    [name for name in LOGS_BY_NAME if name not in _WITHOUT_BROKERS],
    indirect=True,
    scope="module",
)
def test_states_and_members_are_those_of_the_groups_rules(log: Lines) -> None:
    assert Replayed(plain(log)).compared > 0


def test_share_groups_are_those_of_the_groups_rules() -> None:
    replayed = Replayed(plain(Lines(stored_log("share"))))
    assert {group.protocol for group in replayed.count.groups.values()} == {"share"}
    assert replayed.compared > 0


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(1, _SWARM + 1))
def test_tables_of_a_swarm_say_the_same(seed: int) -> None:
    log = Lines(simulated(scenario_text(seed, 3), f"swarm-{seed}", seed))
    assert of_tables(log) == counted(plain(log))
    Replayed(plain(log))
