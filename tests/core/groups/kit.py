"""A world in virtual time around one GroupCoordinator: named clients ask, time advances, answers
are kept with their instant.

    w = World(initial_rebalance_delay_ms=3000)
    a = w.join("a")                  # 79: a must come back with its id
    a = w.join("a")                  # the world remembers the id
    assert a.parked
    w.advance(3000)
    assert a.ok and a.at == 3000

A client's id and generation are remembered from its answers and put into its later requests, unless
the call names others. The world itself insists that no request is answered twice and that nobody is
answered who did not ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator, LoggedEvent, Outcome
from coordinator.core.groups.classic.model import ClassicGroup, Member
from coordinator.core.groups.config import GroupConfig
from coordinator.core.groups.group import Group
from coordinator.core.groups.requests import Request, RequestContext
from coordinator.events import groups as ev
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest
from coordinator.wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from coordinator.wire.messages.transactions import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.core.groups.callers import Call, Client

SESSION_MS = 45_000
REBALANCE_MS = 300_000
Protocols = Mapping[str, bytes] | Iterable[tuple[str, bytes]]
Offsets = Mapping[tuple[str, int], int]
Partitions = Iterable[tuple[str, int]]


class World:
    """A coordinator, its clients and the time. Every event is kept in `log`, every call in
    `calls`."""

    def __init__(self, group: str = "g", now: int = 0, **config: Any) -> None:
        self.config = GroupConfig(**{"initial_rebalance_delay_ms": 0, **config})
        self.now = now
        self.group_id = group
        self.coordinator = GroupCoordinator(self.config, now=now)
        self.log: list[LoggedEvent] = []
        self.calls: list[Call] = []
        self.clients: dict[str, Client] = {}
        self.fresh = 0

    # -- asking

    def ask(self, client: str, message: Any, version: int) -> Call:
        """Send any request as `client`."""
        call = Call(client, version, message)
        self.fresh += type(message) is JoinGroupRequest and not message.member_id
        self.calls.append(call)
        context = RequestContext(version, client, "/127.0.0.1", str(self.fresh), call)
        outcome = self.coordinator.handle(Request(context, message), self.now)
        call.events = [event for _, event in outcome.events]
        self._take(outcome)
        return call

    def client(self, name: str) -> Client:
        """The memory of a client."""
        return self.clients.setdefault(name, Client())

    def join(
        self,
        client: str,
        *,
        version: int = 9,
        member_id: str | None = None,
        instance: str | None = None,
        protocols: Protocols = (("range", b"meta"),),
        kind: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        group: str | None = None,
    ) -> Call:
        """Send JoinGroup, with the id the client was given last."""
        known = self.client(client)
        if instance is not None:
            known.instance = instance
        pairs = protocols.items() if isinstance(protocols, Mapping) else protocols
        message = JoinGroupRequest(
            group_id=self.group_id if group is None else group,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=known.member_id if member_id is None else member_id,
            group_instance_id=known.instance,
            protocol_type=kind,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=metadata) for name, metadata in pairs
            ],
        )
        return self.ask(client, message, version)

    def enter(self, client: str, **options: Any) -> Call:
        """JoinGroup as often as it takes to be a member: once more with the id if 79 was the
        answer."""
        call = self.join(client, **options)
        if not call.parked and call.error == ErrorCode.MEMBER_ID_REQUIRED:
            call = self.join(client, **options)
        return call

    def sync(
        self,
        client: str,
        shares: Mapping[str, bytes] | None = None,
        *,
        version: int = 5,
        kind: str | None = "consumer",
        protocol: str | None = "range",
        group: str | None = None,
        **who: Any,
    ) -> Call:
        """Send SyncGroup; `shares` are assignments by member id or by client name."""
        shares = shares or {}
        message = SyncGroupRequest(
            group_id=self.group_id if group is None else group,
            protocol_type=kind if version >= 5 else None,
            protocol_name=protocol if version >= 5 else None,
            assignments=[
                SyncGroupRequestAssignment(member_id=self.id(name), assignment=share)
                for name, share in shares.items()
            ],
            **self._identity(client, who),
        )
        return self.ask(client, message, version)

    def heartbeat(
        self, client: str, *, group: str | None = None, version: int = 4, **who: Any
    ) -> Call:
        """Send Heartbeat."""
        message = HeartbeatRequest(
            group_id=self.group_id if group is None else group, **self._identity(client, who)
        )
        return self.ask(client, message, version)

    def leave(
        self,
        client: str,
        *who: tuple[str, str | None],
        version: int = 5,
        group: str | None = None,
        reason: str | None = None,
    ) -> Call:
        """Send LeaveGroup for (member id, instance id) pairs; for the client itself if none is
        given."""
        known = self.client(client)
        pairs = who or ((known.member_id, known.instance),)
        group = self.group_id if group is None else group
        if version < 3:
            return self.ask(
                client, LeaveGroupRequest(group_id=group, member_id=pairs[0][0]), version
            )
        members = [
            MemberIdentity(member_id=m, group_instance_id=i, reason=reason) for m, i in pairs
        ]
        return self.ask(client, LeaveGroupRequest(group_id=group, members=members), version)

    def commit(
        self,
        client: str,
        offsets: Offsets,
        *,
        metadata: str | None = "",
        epoch: int = -1,
        retention_ms: int = -1,
        version: int = 9,
        group: str | None = None,
        **who: Any,
    ) -> Call:
        """Send OffsetCommit for {(topic, partition): offset}."""
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            row = OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=offset,
                committed_leader_epoch=epoch,
                committed_metadata=metadata,
            )
            topics.setdefault(topic, []).append(row)
        identity = self._identity(client, who)
        message = OffsetCommitRequest(
            group_id=self.group_id if group is None else group,
            generation_id_or_member_epoch=identity.pop("generation_id"),
            retention_time_ms=retention_ms,
            topics=[
                OffsetCommitRequestTopic(name=name, partitions=rows)
                for name, rows in topics.items()
            ],
            **identity,
        )
        return self.ask(client, message, version)

    def admin_commit(self, offsets: Offsets, **options: Any) -> Call:
        """OffsetCommit of a client without membership."""
        return self.commit("admin", offsets, member_id="", generation=-1, **options)

    def pend(
        self,
        producer_id: int,
        offsets: Offsets,
        *,
        metadata: str = "",
        group: str | None = None,
        version: int = 5,
        **who: Any,
    ) -> Call:
        """Send TxnOffsetCommit for {(topic, partition): offset}; anonymous unless `who` (client,
        generation, ...) says otherwise."""
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            row = TxnOffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=metadata
            )
            topics.setdefault(topic, []).append(row)
        client = who.pop("client", "producer")
        identity = self._identity(client, who) if client != "producer" or who else {}
        if identity:
            identity["generation_id_or_member_epoch"] = identity.pop("generation_id")
        message = TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id=self.group_id if group is None else group,
            producer_id=producer_id,
            topics=[
                TxnOffsetCommitRequestTopic(name=name, partitions=rows)
                for name, rows in topics.items()
            ],
            **identity,
        )
        return self.ask(client, message, version)

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """A marker is written to every partition of __consumer_offsets."""
        for partition in range(self.config.offsets_topic_partitions):
            self._take(self.coordinator.end_transaction(producer_id, commit, partition, self.now))

    def unstable(self, partitions: Partitions | None, *, version: int = 8) -> list[tuple[str, int]]:
        """The partitions that OffsetFetch with require_stable calls unstable (88); None asks for
        all."""
        topics = None if partitions is None else _by_topic(partitions)
        if version >= 8:
            asked = (
                None
                if topics is None
                else [
                    OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in topics.items()
                ]
            )
            groups = [OffsetFetchRequestGroup(group_id=self.group_id, topics=asked)]
            rows = (
                self.ask("admin", OffsetFetchRequest(groups=groups, require_stable=True), version)
                .reply.groups[0]
                .topics
            )
        else:
            old = (
                None
                if topics is None
                else [
                    OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in topics.items()
                ]
            )
            message = OffsetFetchRequest(group_id=self.group_id, topics=old, require_stable=True)
            rows = self.ask("admin", message, version).reply.topics
        found = [(topic.name, p) for topic in rows for p in topic.partitions if p.error_code]
        shown = {
            (p.error_code, p.committed_offset, p.committed_leader_epoch, p.metadata)
            for _, p in found
        }
        assert shown <= {(ErrorCode.UNSTABLE_OFFSET_COMMIT, -1, -1, "")}
        return [(name, p.partition_index) for name, p in found]

    def fetch(
        self, partitions: Partitions | None, *, group: str | None = None, version: int = 8
    ) -> dict[tuple[str, int], int]:
        """The committed offsets of one group, by (topic, partition); None asks for all."""
        topics = None if partitions is None else _by_topic(partitions)
        group = self.group_id if group is None else group
        if version >= 8:
            asked = (
                None
                if topics is None
                else [
                    OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in topics.items()
                ]
            )
            call = self.ask(
                "admin",
                OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=asked)]),
                version,
            )
            answer = call.reply.groups[0]
        else:
            old = (
                None
                if topics is None
                else [
                    OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in topics.items()
                ]
            )
            answer = self.ask(
                "admin", OffsetFetchRequest(group_id=group, topics=old), version
            ).reply
        assert answer.error_code == ErrorCode.NONE
        return {
            (t.name, p.partition_index): p.committed_offset
            for t in answer.topics
            for p in t.partitions
        }

    def delete_offsets(self, partitions: Partitions, *, group: str | None = None) -> Call:
        """Send OffsetDelete."""
        topics = [
            OffsetDeleteRequestTopic(
                name=t,
                partitions=[OffsetDeleteRequestPartition(partition_index=i) for i in indexes],
            )
            for t, indexes in _by_topic(partitions).items()
        ]
        return self.ask(
            "admin",
            OffsetDeleteRequest(group_id=self.group_id if group is None else group, topics=topics),
            0,
        )

    def describe(
        self, group: str | None = None, *, version: int = 5, operations: bool = False
    ) -> DescribedGroup:
        """One group as DescribeGroups shows it."""
        group = self.group_id if group is None else group
        call = self.ask(
            "admin",
            DescribeGroupsRequest(groups=[group], include_authorized_operations=operations),
            version,
        )
        answer: DescribedGroup = call.reply.groups[0]
        return answer

    def list(self, states: Iterable[str] = (), types: Iterable[str] = ()) -> dict[str, str]:
        """State by group id, as ListGroups shows it."""
        reply = self.ask(
            "admin", ListGroupsRequest(states_filter=list(states), types_filter=list(types)), 5
        ).reply
        return {row.group_id: row.group_state for row in reply.groups}

    def delete(self, *groups: str) -> dict[str, int]:
        """Error code by group id, as DeleteGroups answers."""
        reply = self.ask(
            "admin", DeleteGroupsRequest(groups_names=list(groups or (self.group_id,))), 2
        ).reply
        return {row.group_id: row.error_code for row in reply.results}

    # -- time and what happens around

    def advance(self, by_ms: int) -> list[Call]:
        """Let time pass, tick at every deadline on the way; returns the calls that were answered
        meanwhile."""
        waiting = [call for call in self.calls if call.parked]
        end = self.now + by_ms
        while (due := self.coordinator.next_deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.tick()
        self.now = end
        return [call for call in waiting if not call.parked]

    def tick(self) -> None:
        """Serve what is due now."""
        self._take(self.coordinator.tick(self.now))

    def unload(self, partition: int | None = None) -> None:
        """The coordinator loses its partitions."""
        self._take(self.coordinator.unload(self.now, partition))

    def begin_load(self, partition: int | None = None) -> None:
        """The coordinator begins to load its partitions."""
        self._take(self.coordinator.begin_load(self.now, partition))

    def shutdown(self) -> None:
        """The coordinator shuts down."""
        self._take(self.coordinator.shutdown(self.now))

    def finish_load(self, partition: int | None = None) -> None:
        """The coordinator has its partitions back."""
        self._take(self.coordinator.finish_load(self.now, partition))

    def restart(self) -> None:
        """Another coordinator takes over: it knows durable events only, and no parked request
        survives."""
        self.coordinator = GroupCoordinator.load(self.config, self.log, self.now)

    def delete_partitions(self, *partitions: tuple[str, int]) -> None:
        """Topics go, and offsets with them."""
        self._take(self.coordinator.on_partitions_deleted(partitions, self.now))

    # -- looking

    @property
    def group(self) -> ClassicGroup:
        """The membership of this world's group."""
        return self.coordinator.groups[self.group_id].membership

    @property
    def whole(self) -> Group:
        """This world's group with its offsets."""
        return self.coordinator.groups[self.group_id]

    @property
    def state(self) -> str:
        """The group's state, as spelled on the wire; "-" if there is none."""
        group = self.coordinator.groups.get(self.group_id)
        return "-" if group is None else str(group.state)

    def id(self, client: str) -> str:
        """The member id a client was given; what is no client's name is taken for an id itself."""
        return self.clients[client].member_id if client in self.clients else client

    def member(self, client: str) -> Member:
        """The member a client is."""
        return self.group.members[self.id(client)]

    def names(self) -> set[str]:
        """The clients that are members now."""
        return {
            name for name, known in self.clients.items() if known.member_id in self.group.members
        }

    def happened(self, kind: type | None = None) -> list[Any]:
        """The events so far, of one kind or of all."""
        return [
            logged.event for logged in self.log if kind is None or isinstance(logged.event, kind)
        ]

    def snapshot(self) -> dict[str, object]:
        """All groups, as plain values."""
        return {group_id: group.snapshot() for group_id, group in self.coordinator.groups.items()}

    def stable(self, *clients: str, **options: Any) -> World:
        """Bring a new group with these clients to Stable; the first one leads. Each gets its own
        name as assignment."""
        for name in clients:
            self.enter(name, **options)
        self.settle()
        return self

    def settle(self) -> None:
        """Let the join phase end, then everybody syncs; the leader gives each client its name."""
        while self.group.join_deadline is not None:
            self.advance(self.group.join_deadline - self.now)
        shares = {name: name.encode() for name in self.names()}
        protocol = self.group.protocol_name
        for name in sorted(self.names(), key=lambda name: self.id(name) == self.group.leader):
            self.sync(name, shares, kind=self.group.protocol_type, protocol=protocol)
        assert self.state == "Stable", self.group

    # -- inside

    def _identity(self, client: str, who: Mapping[str, Any]) -> dict[str, Any]:
        """Member id, generation and instance id: remembered, or as the call names them."""
        known = self.client(client)
        assert not set(who) - {"member_id", "generation", "instance"}, who
        return {
            "member_id": who.get("member_id", known.member_id),
            "generation_id": who.get("generation", known.generation),
            "group_instance_id": who.get("instance", known.instance),
        }

    def _take(self, outcome: Outcome) -> None:
        self.log += [LoggedEvent(self.now, group_id, event) for group_id, event in outcome.events]
        for token, message in outcome.replies:
            call = token
            assert isinstance(call, Call) and call in self.calls, "an answer for nobody"
            assert call.parked, f"answered twice: {call!r}, now {message!r}"
            call.reply, call.at = message, self.now
            self.client(call.client).learn(call)


def _by_topic(partitions: Partitions) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def removals(world: World) -> list[tuple[str, str]]:
    """(member id, reason) of every removal so far."""
    return [(event.member_id, event.reason) for event in world.happened(ev.MemberRemoved)]
