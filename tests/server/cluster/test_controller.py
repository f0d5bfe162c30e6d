"""The controller: fencing, elections, eligible leader replicas, reassignments, the quorum. Kafka
4.4.0's rules."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.events import cluster as ev
from coordinator.server.cluster import BrokerNode, Cluster, Partition
from coordinator.server.cluster.controller import Controller
from coordinator.server.cluster.controller.controller import ControllerSettings
from coordinator.server.cluster.controller.leaders import elect, move_leader
from coordinator.server.cluster.controller.partition_change import Election, completed
from coordinator.server.cluster.controller.reassignments import plan, reassign
from coordinator.server.cluster.evolve import evolve
from coordinator.server.cluster.network import HostState, Network
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.server.storage.replica_log import ReplicaLog


class World:
    """A controller of five brokers, and what it published."""

    def __init__(self, *, brokers: int = 5, min_isr: int = 1, **configs: str) -> None:
        self.events: list[ev.Event] = []
        self.network = Network(range(1, brokers + 1))
        self.brokers = brokers
        self.configs = BrokerConfigs(
            {name.replace("_", "."): value for name, value in configs.items()}
        )
        self.configs.replace_dynamic({"min.insync.replicas": str(min_isr)}, for_all_brokers=True)
        self.controller = Controller(
            self.empty(),
            self._published,
            settings=ControllerSettings(session_timeout_ms=2_000, imbalance_check_ms=10_000),
            reaches=self.network.reaches,
        )

    def empty(self) -> Cluster:
        nodes = [BrokerNode(node, epoch=1) for node in range(1, self.brokers + 1)]
        return Cluster(
            cluster_id="c",
            controller_id=1,
            brokers=nodes,
            configs=self.configs,
            new_log=lambda _topic, _index, _replicas: ReplicaLog(),
        )

    def _published(self, event: ev.Event, now: int, cause: int | None) -> int:
        self.events.append(event)
        return len(self.events)

    def topic(self, *replicas: int, configs: Mapping[str, str] | None = None) -> Partition:
        topic = self.controller.create_topic(
            "t", topic_id=b"t" * 16, replicas=[list(replicas)], configs=configs or {}, now=0
        )
        return topic.partitions[0]

    def stop(self, *brokers: int, now: int = 0) -> None:
        for broker in brokers:
            self.network.hosts[broker] = HostState.STOPPED
        self.controller.look(now)

    def start(self, broker: int, now: int, *, clean: bool = True) -> None:
        self.network.hosts[broker] = HostState.RUNNING
        self.controller.register(broker, None, {}, now, clean=clean)


def test_a_silent_broker_is_fenced_when_its_session_ends() -> None:
    world = World()
    partition = world.topic(3, 4, 5)
    world.stop(3, now=100)
    assert world.controller.next_deadline() == 2_100
    world.controller.tick(2_099)
    assert partition.leader == 3
    world.controller.tick(2_100)
    assert (partition.leader, partition.isr, partition.leader_epoch, partition.partition_epoch) == (
        4,
        [4, 5],
        1,
        1,
    )
    assert partition.offline == [3]


def test_the_only_replica_in_sync_goes_and_comes_back() -> None:
    """With eligible leader replicas the ISR may be empty (KIP-966)."""
    world = World()
    partition = world.topic(3)
    world.stop(3)
    world.controller.tick(2_000)
    assert (partition.leader, partition.isr, partition.elr, partition.last_known_elr) == (
        -1,
        [],
        [3],
        [3],
    )
    world.start(3, 5_000)
    assert (partition.leader, partition.isr, partition.elr, partition.last_known_elr) == (
        3,
        [3],
        [],
        [],
    )
    assert world.controller.cluster.brokers[3].epoch == 2


def test_below_min_isr_who_leaves_stays_eligible() -> None:
    world = World(min_isr=2)
    partition = world.topic(3, 4, 5)
    for broker in (3, 4):
        world.controller.fence(broker, "test", 0)
    assert (partition.leader, partition.isr, partition.elr) == (5, [5], [4])
    world.controller.fence(5, "test", 0)
    assert (partition.leader, partition.isr, sorted(partition.elr)) == (-1, [], [4, 5])
    world.controller.look(1)
    assert partition.leader in (4, 5)


def test_an_unclean_shutdown_costs_eligibility() -> None:
    world = World(min_isr=2)
    partition = world.topic(3, 4)
    world.stop(3)
    world.controller.tick(2_000)
    assert (partition.isr, partition.elr) == ([4], [3])
    world.start(3, 3_000, clean=False)
    assert (partition.isr, partition.elr) == ([4], [])


@pytest.mark.parametrize("unclean", [True, False])
def test_an_unclean_leader_only_where_it_is_allowed(unclean: bool) -> None:
    world = World()
    partition = world.topic(3, 4, configs={"unclean.leader.election.enable": str(unclean).lower()})
    world.controller.fence(4, "test", 0, hold=True)
    world.controller.fence(3, "test", 0, hold=True)
    assert (partition.leader, partition.isr, partition.elr) == (-1, [], [3])
    world.controller.release(4, 1)
    assert (partition.leader, partition.isr) == ((4, [4]) if unclean else (-1, []))


def test_a_controlled_shutdown_moves_leaders_first() -> None:
    world = World()
    partition = world.topic(3, 4)
    world.controller.start_shutdown(3, 0)
    assert (partition.leader, partition.isr) == (4, [4])
    assert not world.controller.cluster.brokers[3].fenced
    assert (
        world.controller.alter_isr(
            4, partition, [4, 3], 1, partition.partition_epoch, 1, reason="t"
        )
        is ErrorCode.INELIGIBLE_REPLICA
    )


def test_a_leader_has_to_name_the_epochs() -> None:
    """KIP-497: stale proposals of an ISR change nothing."""
    world = World()
    partition = world.topic(3, 4)
    alter = world.controller.alter_isr
    before = len(world.events)
    assert alter(4, partition, [4], 0, 0, 0, reason="t") is ErrorCode.FENCED_LEADER_EPOCH
    assert alter(3, partition, [3], 0, 7, 0, reason="t") is ErrorCode.INVALID_UPDATE_VERSION
    assert len(world.events) == before
    assert alter(3, partition, [3], 0, 0, 0, reason="t") is ErrorCode.NONE
    assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == ([3], 0, 1)


def test_preferred_leaders_come_back_at_the_next_look() -> None:
    world = World()
    partition = world.topic(3, 4)
    assert move_leader(world.controller, partition, 4, 1_234)
    assert (partition.leader, partition.replicas) == (4, [3, 4])
    assert world.controller.next_deadline() == 10_000
    world.controller.tick(10_000)
    assert partition.leader == 3
    assert world.controller.next_deadline() is None


def test_elections_that_are_asked_for() -> None:
    world = World()
    partition = world.topic(3, 4)
    assert (
        elect(world.controller, "t", 0, Election.PREFERRED, 0).error
        is ErrorCode.ELECTION_NOT_NEEDED
    )
    assert (
        elect(world.controller, "t", 0, Election.UNCLEAN, 0).error is ErrorCode.ELECTION_NOT_NEEDED
    )
    assert (
        elect(world.controller, "t", 1, Election.UNCLEAN, 0).error
        is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    world.controller.fence(3, "test", 0, hold=True)
    assert (
        elect(world.controller, "t", 0, Election.PREFERRED, 0).error
        is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    )
    world.controller.fence(4, "test", 0, hold=True)
    assert (
        elect(world.controller, "t", 0, Election.UNCLEAN, 0).error
        is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    )
    world.controller.release(3, 0)
    assert partition.leader == -1
    assert elect(world.controller, "t", 0, Election.UNCLEAN, 0).error is ErrorCode.NONE
    assert (partition.leader, partition.isr) == (3, [3])


class TestReassignments:
    @pytest.mark.parametrize(
        ("current", "target", "expected"),
        [
            ([1, 2, 3], [3, 4, 5], ([3, 4, 5, 1, 2], [4, 5], [1, 2])),
            ([1, 2, 3], [3, 2, 1], ([3, 2, 1], [], [])),
            ([1], [5, 1, 2], ([5, 1, 2], [2, 5], [])),
        ],
    )
    def test_lists(
        self, current: list[int], target: list[int], expected: tuple[list[int], ...]
    ) -> None:
        """REASN-1"""
        assert tuple(plan(current, target)) == expected

    def test_completion(self) -> None:
        """REASN-2"""
        assert completed([3, 4, 1], [1, 3], [4], [1]) is None
        assert completed([3, 4, 1], [1, 3, 4], [4], [1]) == ([3, 4], [3, 4])
        assert completed([4, 1, 2, 3], [1, 2, 3, 4], [4], [4, 3]) is None, (
            "a broker that is both adding and removing"
        )

    def test_a_leader_that_is_removed_gives_way(self) -> None:
        """REASN-2, and the leader epoch rises because replicas were removed."""
        world = World()
        partition = world.topic(1, 2)
        assert reassign(world.controller, "t", 0, [3, 2], 0).error is ErrorCode.NONE
        assert (
            partition.replicas,
            partition.adding,
            partition.removing,
            partition.leader_epoch,
        ) == ([3, 2, 1], [3], [1], 0)
        world.controller.alter_isr(
            1, partition, [1, 2, 3], 0, partition.partition_epoch, 0, reason="3 caught up"
        )
        assert (partition.replicas, partition.isr, partition.leader, partition.leader_epoch) == (
            [3, 2],
            [2, 3],
            3,
            1,
        )
        assert [event.what for event in world.events if isinstance(event, ev.PartitionChanged)] == [
            ev.PartitionChange.REASSIGNMENT_STARTED,
            ev.PartitionChange.REASSIGNMENT_COMPLETED,
        ]

    def test_growth_alone_leaves_the_leader_epoch(self) -> None:
        world = World()
        partition = world.topic(1)
        reassign(world.controller, "t", 0, [1, 2], 0)
        world.controller.alter_isr(
            1, partition, [1, 2], 0, partition.partition_epoch, 0, reason="2 caught up"
        )
        assert (partition.replicas, partition.reassigning, partition.leader_epoch) == (
            [1, 2],
            False,
            0,
        )

    def test_cancelling(self) -> None:
        """REASN-3"""
        world = World()
        partition = world.topic(1, 2)
        assert (
            reassign(world.controller, "t", 0, None, 0).error
            is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        )
        reassign(world.controller, "t", 0, [3, 4], 0)
        assert reassign(world.controller, "t", 0, None, 0).error is ErrorCode.NONE
        assert (
            partition.replicas,
            partition.adding,
            partition.removing,
            partition.leader_epoch,
        ) == ([1, 2], [], [], 1)

    def test_cancelling_may_not_empty_the_isr(self) -> None:
        """REASN-3"""
        world = World()
        partition = world.topic(1)
        reassign(world.controller, "t", 0, [2, 3], 0)
        world.controller.alter_isr(
            1, partition, [1, 2], 0, partition.partition_epoch, 0, reason="2 caught up"
        )
        world.controller.fence(1, "test", 0, hold=True)
        assert (partition.isr, partition.leader) == ([2], 2)
        before = partition.partition_epoch
        assert (
            reassign(world.controller, "t", 0, None, 0).error
            is ErrorCode.INVALID_REPLICA_ASSIGNMENT
        )
        assert partition.partition_epoch == before

    def test_a_new_target_midway(self) -> None:
        """REASN-4: computed against all current replicas; an empty list leaves the earlier one in
        place."""
        world = World()
        partition = world.topic(1, 2, 3)
        reassign(world.controller, "t", 0, [4, 1, 2], 0)
        assert (partition.replicas, partition.adding, partition.removing) == (
            [4, 1, 2, 3],
            [4],
            [3],
        )
        reassign(world.controller, "t", 0, [1, 2, 3], 0)
        assert (partition.replicas, partition.adding, partition.removing) == (
            [1, 2, 3, 4],
            [4],
            [4],
        )

    @pytest.mark.parametrize(
        ("target", "says"),
        [
            ([], "empty replica list"),
            ([9], "broker 9, but no such broker"),
            ([1, 1], "the broker 1 more than once"),
        ],
    )
    def test_targets_that_cannot_be(self, target: list[int], says: str) -> None:
        """REASN-4"""
        world = World()
        world.topic(1)
        before = len(world.events)
        refusal = reassign(world.controller, "t", 0, target, 0)
        assert refusal.error is ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert says in (refusal.message or "")
        assert len(world.events) == before

    def test_the_factor_may_be_kept(self) -> None:
        world = World()
        world.topic(1, 2)
        refusal = reassign(world.controller, "t", 0, [1], 0, allow_factor_change=False)
        assert refusal.error is ErrorCode.INVALID_REPLICATION_FACTOR


class TestQuorum:
    def test_the_controller_moves_when_its_broker_dies(self) -> None:
        world = World(brokers=3)
        partition = world.topic(1, 2)
        world.stop(1, now=1_000)
        assert not world.controller.active
        assert world.controller.next_deadline() == 3_000
        world.controller.tick(3_000)
        assert (world.controller.leader, world.controller.cluster.controller_epoch) == (2, 2)
        assert partition.leader == 1, "the new controller gives every broker a whole session"
        world.controller.tick(5_000)
        assert partition.leader == 2

    def test_without_a_majority_nothing_is_decided(self) -> None:
        world = World(brokers=3)
        partition = world.topic(3, 1)
        world.stop(2, 3, now=0)
        while (deadline := world.controller.next_deadline()) is not None and deadline < 60_000:
            world.controller.tick(deadline)
        assert (world.controller.leader, partition.leader) == (None, 3)
        assert isinstance(world.events[-1], ev.ControllerLost)
        world.start(2, 60_000)
        world.controller.tick(62_000)
        assert world.controller.leader == 1
        world.controller.tick(64_000)
        assert partition.leader == 1


def test_the_events_fold_to_the_same_cluster() -> None:
    world = World()
    world.topic(3, 4, 5)
    reassign(world.controller, "t", 0, [1, 2], 0)
    world.stop(3)
    world.controller.tick(2_000)
    world.start(3, 3_000, clean=False)
    copy = world.empty()
    for event in world.events:
        evolve(copy, event)
    assert copy.brokers == world.controller.cluster.brokers
    (ours,), (theirs,) = (
        copy.topics["t"].partitions,
        world.controller.cluster.topics["t"].partitions,
    )
    for name in Partition.__slots__:
        if name != "log":
            assert getattr(ours, name) == getattr(theirs, name), name
