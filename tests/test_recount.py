"""The plain counts of `tests/recount.py`: what they stand on is what the groups' own rules make of
the events, and tables say the same: here of a swarm's logs, in tests/test_frozen.py of stored ones."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.configs.broker_configs import BrokerConfigs
from coordinator.event_log.replay_brokers import ReplayedBrokers
from coordinator.groups.classic.model import ClassicGroup
from coordinator.groups.config import GroupConfig
from coordinator.groups.share.model import ShareMembership
from coordinator.pipeline.schemas import TABLES
from coordinator.simulator.files import catalogue
from coordinator.simulator.swarm.random_scenarios import scenario_text
from tests.frozen.outputs import Lines
from tests.frozen.store import names, stored_log
from tests.recount import Line, Recount
from tests.shipped import lines_of, simulated

pytestmark = pytest.mark.unmeasured

_SWARM = 300
_OF_CLUSTERS = [name for name in names() if name != "live" and not name.startswith("vector-")]
"""The logs that say which broker serves which group."""


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
        super().__init__(({"broker": 1, **line} for line in lines), BrokerConfigs({}), config)

    def _fold(self, line: Line) -> None:
        super()._fold(line)
        self.count.feed(line)
        if line["stream"] != "group":
            return
        coordinator, name = self.coordinators[line["broker"]], line["group"]
        index = coordinator.partition_for(name)
        group = coordinator.partition_shard(index).groups.get(name)
        if group is None or coordinator.availability.error(index):
            return
        membership, counted = group.membership, self.count.served(name, line)
        where = f"line {line['seq']}, {line['type']} of {name}"
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


@pytest.mark.parametrize("name", _OF_CLUSTERS)
def test_states_and_members_are_those_of_the_groups_rules(name: str) -> None:
    lines = lines_of(stored_log(name))
    assert Replayed(lines).compared > 0


def test_share_groups_are_those_of_the_groups_rules() -> None:
    """No stored log has one."""
    log = Lines(simulated(catalogue.text("share_lock_expiry"), "share_lock_expiry", 1))
    replayed = Replayed(log.lines)
    assert {group.protocol for group in replayed.count.groups.values()} == {"share"}
    assert replayed.compared > 0
    assert of_tables(log) == counted(log.lines)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(1, _SWARM + 1))
def test_tables_of_a_swarm_say_the_same(seed: int) -> None:
    log = Lines(simulated(scenario_text(seed, 3), f"swarm-{seed}", seed))
    assert of_tables(log) == counted(log.lines)
    Replayed(log.lines)
