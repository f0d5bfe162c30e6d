"""Any Kafka as the cluster of a live run: topics are created before it and deleted after it;
brokers are left alone.

Raises KafkaError, in words for the user of the command, for a cluster on which the scenario
cannot run: too few brokers, another configuration than the scenario's, topics or groups of the
same names. Nothing is changed before all that is known.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from coordinator.base.errors import ErrorCode
from coordinator.kit.admin import BROKER, Admin, AdminError
from coordinator.members.live.wire import Entry
from coordinator.server.net.loop_clock import LoopClock
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest
from coordinator.wire.messages.describe_groups import DescribeGroupsRequest
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)

from ..simulator.files.model import DEFAULT_BROKER_CONFIG, Scenario
from .world import Address, Cluster

_READY_WITHIN_S = 30.0


class KafkaError(Exception):
    """A scenario cannot run on this cluster; the message says why, and what to change."""


class Kafka:
    """A foreign cluster, prepared over blocking sockets."""

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        scenario: Scenario,
        entry: Entry | None = None,
    ) -> None:
        self._bootstrap = list(bootstrap)
        self._scenario = scenario
        self._admin = Admin(bootstrap, "coordinator-simulate", entry)
        self._entry = entry
        self._nodes: dict[int, tuple[str, int]] = {}
        self.notes: list[str] = []
        """Differences from the scenario that are not refused."""
        self._made = False

    def prepare(self) -> None:
        """Check that the scenario can run here; create its topics. Raises KafkaError."""
        try:
            existing = self._admin.replicas(list(self._scenario.topics))
            self._nodes = self._admin.addresses
            self._check(sorted({topic for topic, _ in existing}))
            self._check_configs()
            self._create()
            self._wait(
                lambda: (
                    len(self._admin.replicas(list(self._scenario.topics)))
                    == sum(self._scenario.topics.values())
                )
            )
            for group in self._groups():
                self._wait(lambda group=group: self._coordinator(group) is not None)  # type: ignore[misc]
        except AdminError as error:
            raise KafkaError(str(error)) from None

    def cluster(self) -> Cluster:
        """Return the cluster for a live world. Call it on a running loop."""
        known = {address: node for node, address in self._nodes.items()}
        addresses = [
            Address(known.get(each, -1 - number), *each)
            for number, each in enumerate(self._bootstrap)
        ]
        cluster = Cluster(addresses, LoopClock(asyncio.get_running_loop()), self._entry)
        cluster.nodes = sorted({*cluster.nodes, *self._nodes})
        return cluster

    def tidy(self) -> None:
        """Delete the topics and groups of the run. Raises KafkaError, which names what is left."""
        if not self._made:
            return
        try:
            topics = [DeleteTopicState(name=name) for name in self._scenario.topics]
            self._admin.ask(DeleteTopicsRequest(topics=topics, timeout_ms=30_000), 6)
            for group in self._groups():
                node = self._coordinator(group)
                self._empty(group, node)
                answer = self._admin.ask(DeleteGroupsRequest(groups_names=[group]), 2, node)
                code = answer.results[0].error_code
                if code not in (0, ErrorCode.GROUP_ID_NOT_FOUND):
                    raise KafkaError(f"group {group} is left behind: {ErrorCode(code).name}")
        except AdminError as error:
            raise KafkaError(f"topics and groups of the run are left behind: {error}") from None
        finally:
            self._admin.__exit__(None, None, None)

    def _empty(self, group: str, node: int | None) -> None:
        """Remove members of this run that died and whose sessions have not ended yet."""
        described = self._admin.ask(DescribeGroupsRequest(groups=[group]), 5, node).groups[0]
        if described.members:
            gone = [
                MemberIdentity(member_id=each.member_id, group_instance_id=each.group_instance_id)
                for each in described.members
            ]
            self._admin.ask(LeaveGroupRequest(group_id=group, members=gone), 5, node)

    # -- looking

    def _check(self, existing: list[str]) -> None:
        scenario = self._scenario
        if len(self._nodes) < scenario.brokers:
            raise KafkaError(
                f"{scenario.lines['brokers']}: {scenario.brokers} brokers, but this cluster has {len(self._nodes)}"
            )
        if existing:
            raise KafkaError(
                f"{scenario.lines['topics']}: topic {existing[0]} exists on this cluster already; a scenario makes its topics and removes "
                f"them in the end: give it another name, or another cluster"
            )
        there = {
            group.group_id
            for node in self._nodes
            for group in self._admin.ask(ListGroupsRequest(), 3, node).groups
        }
        for group in self._groups():
            if group in there:
                raise KafkaError(
                    f"group {group} exists on this cluster already; a scenario begins with a new one: set members.NAME.group"
                )

    def _check_configs(self) -> None:
        """Check that a setting of the scenario file has the same value on the cluster. For other
        settings that differ, add a note."""
        wanted = self._scenario.broker_config
        found = self._admin.configs(BROKER, str(min(self._nodes)), list(wanted))
        for name, value in wanted.items():
            if name not in found or found[name] == value:
                continue
            said = f"{name} is {found[name]} on this cluster, and {value} in the scenario"
            if DEFAULT_BROKER_CONFIG.get(name) != value:
                where = self._scenario.lines["brokers"]
                raise KafkaError(
                    f"{where}: {said}; set the broker's, or --set brokers.config.{name}={found[name]}"
                )
            self.notes.append(said)

    def _groups(self) -> list[str]:
        return sorted(self._scenario.group_ids)

    def _coordinator(self, group: str) -> int | None:
        answer = self._admin.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]), 4)
        found = answer.coordinators[0]
        return None if found.error_code else found.node_id

    def _create(self) -> None:
        topics = [
            CreatableTopic(name=name, num_partitions=count, replication_factor=-1)
            for name, count in self._scenario.topics.items()
        ]
        answer = self._admin.ask(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 7)
        for row in answer.topics:
            if row.error_code:
                raise KafkaError(
                    f"topic {row.name} cannot be made: {row.error_message or ErrorCode(row.error_code).name}"
                )
        self._made = True

    @staticmethod
    def _wait(ready: Callable[[], bool]) -> None:
        end = time.monotonic() + _READY_WITHIN_S
        while not ready():
            if time.monotonic() > end:
                what = "topics without leaders, or groups without coordinator"
                raise KafkaError(f"the cluster was not ready within {_READY_WITHIN_S:g} s: {what}")
            time.sleep(0.1)
