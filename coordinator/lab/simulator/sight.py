"""Read-only queries about brokers, simulated or live: the lag, the members, the leader and the
coordinator of a group, and the leader of a partition. A query for something that does not exist
raises ClusterError."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coordinator.kit.reachable_brokers import Reach
from coordinator.kit.views.group_views import snapshot
from coordinator.server.cluster_runtime import ClusterError

if TYPE_CHECKING:
    from coordinator.kit.views.group_snapshots import GroupSnapshot
    from coordinator.server.cluster_runtime import Brokers


class Sight:
    """The brokers of one world. `now`: its clock."""

    def __init__(self, brokers: Brokers, now: Callable[[], int]) -> None:
        self._reach = Reach(lambda: list(brokers.brokers.values()), brokers.network.running, now)

    def group(self, group_id: str) -> GroupSnapshot | None:
        """Return the group as its coordinator has it; None while no broker coordinates it."""
        if self._reach.all_brokers_down():
            return None
        broker = self._reach.coordinator_of(group_id)
        if broker is None:
            return None
        return snapshot(
            broker,
            group_id,
            self._reach.now(),
            lambda *_: False,
            lambda _: True,
            self._reach.log_of,
        )

    def lag(self, group_id: str) -> int | None:
        """Return the number of records by which a group is behind, in all its partitions; None
        while it has neither a partition nor an offset."""
        seen = self.group(group_id)
        return None if seen is None or not seen.lag else sum(seen.lag.values())

    def member_count(self, group_id: str) -> int | None:
        """Return the number of members of a group; None if no broker knows it."""
        seen = self.group(group_id)
        return None if seen is None else len(seen.members)

    def leader(self, group_id: str) -> str:
        """Return the client id of a group's leader."""
        seen = self.group(group_id)
        if seen is None:
            raise ClusterError(f"leader of {group_id}: no coordinator serves the group")
        leader = next((each for each in seen.members if each.member_id == seen.leader), None)
        if leader is None:
            raise ClusterError(f"leader of {group_id}: the group has none, {seen}")
        return leader.client_id

    def coordinator(self, group_id: str) -> int:
        """Return the broker that coordinates a group."""
        broker = None if self._reach.all_brokers_down() else self._reach.coordinator_of(group_id)
        if broker is None:
            raise ClusterError(f"coordinator of {group_id}: no broker that runs is it")
        return broker.node_id

    def partition_leader(self, topic: str, index: int) -> int:
        """Return the broker that leads a partition. Raises ClusterError if it has no leader."""
        found = (
            None
            if self._reach.all_brokers_down()
            else self._reach.any_broker().controller.cluster.partition(topic, index)
        )
        if found is None or found.leader < 0:
            raise ClusterError(f"leader of {topic}-{index}: it has none")
        return found.leader
