"""Members in virtual time: `Solo`, one member and a coordinator that says what the test says;
`Crowd`, several and a real one.

    s = Solo(topics=["orders"])
    s.enter()                                     # found, two-step join, sync: stable in generation 1
    s.advance(3000); s.answer(HeartbeatResponse(error_code=27))

Time moves only by `advance`, which ticks and polls whenever the member asks for it; a stalled
application (`polling = False`) is only ticked. Every callback is kept, in order, with what the
member knew then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from assignors import Assignment as Plan
from assignors import Assignor, RebalanceProtocol, Subscription, TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.members import GroupMember, MemberConfig, MemberFault, make_member
from coordinator.members.cluster_view import ClusterView, TopicView
from coordinator.members.effects import Closed, Committed, Disconnect, Effect, FetchMetadata, Send
from coordinator.wire.consumer_protocol import Assignment
from coordinator.wire.consumer_protocol import Subscription as Wish
from coordinator.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from coordinator.wire.schema import Request, Response

Topics = Mapping[str, int]
LOAD, UNAVAILABLE, NOT_COORDINATOR = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def tp(name: str) -> TopicPartition:
    """TopicPartition from "orders-0"."""
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def tps(names: str) -> tuple[TopicPartition, ...]:
    """Several, with blanks between them."""
    return tuple(tp(name) for name in names.split())


def given(names: str) -> bytes:
    """An assignment's bytes."""
    topics: dict[str, list[int]] = {}
    for topic, number in tps(names):
        topics.setdefault(topic, []).append(number)
    return Assignment.of(topics).encode()


def topic_id(name: str) -> bytes:
    """The id that a topic has here."""
    return name.encode().ljust(16, b"-")[:16]


def view(
    topics: Topics,
    asked: Iterable[str] | None = None,
    errors: Mapping[str, ErrorCode] | None = None,
    racks: Mapping[str, list[tuple[str | None, ...]]] | None = None,
    internal: Iterable[str] = (),
) -> ClusterView:
    """An answer to Metadata."""
    rows = [
        TopicView(
            name,
            name in internal,
            tuple(range(count)),
            tuple((racks or {}).get(name, [(None,)] * count)),
            topic_id(name),
        )
        for name, count in topics.items()
    ]
    unsettled = any(
        error in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE)
        for error in (errors or {}).values()
    )
    return ClusterView(
        None if asked is None else frozenset(asked), rows, dict(errors or {}), unsettled
    )


class Listener:
    """Keeps callbacks as (kind, "orders-0 orders-1"); `fail` names the kind that raises."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.fail: str | None = None

    def _call(self, kind: str, partitions: tuple[TopicPartition, ...]) -> None:
        self.calls.append((kind, " ".join(map(str, partitions))))
        if kind == self.fail:
            raise RuntimeError(f"no {kind}")

    def on_partitions_revoked(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._call("revoked", partitions)

    def on_partitions_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._call("assigned", partitions)

    def on_partitions_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._call("lost", partitions)

    def take(self) -> list[tuple[str, str]]:
        """The calls since the last time."""
        calls, self.calls = self.calls, []
        return calls


class Cooperative(Assignor):
    """A user's cooperative assignor that answers what the test sets."""

    name = "mine"
    rebalance_protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)
    answer: ClassVar[Any] = None

    def assign(
        self, partitions: Mapping[str, int], members: Mapping[str, Subscription], racks: Any = None
    ) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return {member: Plan(tps(names)) for member, names in self.answer.items()}


class Eager(Cooperative):
    """The same, eager only."""

    rebalance_protocols = (RebalanceProtocol.EAGER,)


class Host:
    """A member, its listener, and the driver's part: time, polls and what is still to be done."""

    def __init__(
        self,
        topics: Iterable[str] = ("orders",),
        *,
        pattern: str | None = None,
        now: int = 0,
        **config: Any,
    ) -> None:
        self.now = now
        self.listener = Listener()
        config = {
            "group_id": "g",
            "client_id": "c",
            "enable_auto_commit": False,
            "assignors": ("range",),
            **config,
        }
        self.member: GroupMember = make_member(
            MemberConfig(**config), self.listener, chance=lambda: 0.5, now=now, member_id="m1"
        )
        self.polling = True
        self.pause_ms = 0
        """How long the application does not poll after a fault."""
        self.paused_until = now
        self.faults: list[MemberFault] = []
        self.todo: list[Send] = []
        """Requests not answered yet."""
        self.questions: list[FetchMetadata] = []
        self.disconnects: list[str] = []
        self.committed: list[Committed] = []
        self.closed: Closed | None = None
        if pattern is not None:
            self.member.subscribe_pattern(pattern, now)
        elif topics:
            self.member.subscribe(list(topics), now)

    def poll(self) -> None:
        """The application calls in; faults are kept."""
        try:
            self.member.poll(self.now)
        except MemberFault as fault:
            self.faults.append(fault)
            self.paused_until = self.now + self.pause_ms
        self.gather()

    def turn(self) -> None:
        """After an input."""
        if self.polling and self.now >= self.paused_until:
            self.poll()
        self.gather()

    def gather(self) -> None:
        """Take the effects."""
        for effect in self.member.take():
            self.do(effect)

    def do(self, effect: Effect) -> None:
        """Keep one effect."""
        match effect:
            case Send():
                self.todo.append(effect)
            case FetchMetadata():
                self.questions.append(effect)
            case Disconnect(_, why):
                self.disconnects.append(why)
                self.todo = [send for send in self.todo if send.node is None]
            case Committed():
                self.committed.append(effect)
            case Closed():
                self.closed = effect

    def deadline(self) -> int | None:
        """When the driver has to come back."""
        due = [self.member.next_deadline(), self.member.next_poll() if self.polling else None]
        if self.now < self.paused_until:
            due[1] = self.paused_until
        return min((at for at in due if at is not None), default=None)

    def advance(self, ms: int) -> None:
        """Let time pass, step by step."""
        end = self.now + ms
        for _ in range(10_000):
            at = self.deadline()
            if at is None or at > end:
                self.now = end
                return
            self.now = max(self.now, at)
            before = (len(self.todo), len(self.questions), at)
            self.member.tick(self.now)
            self.turn()
            if (
                len(self.todo),
                len(self.questions),
                self.deadline(),
            ) == before and self.deadline() == at:
                raise AssertionError(f"nothing happens at {at}, over and over")
        raise AssertionError("no end")


class Solo(Host):
    """One member; the test speaks for the coordinator."""

    def __init__(
        self, topics: Iterable[str] = ("orders",), *, cluster: Topics | None = None, **options: Any
    ) -> None:
        super().__init__(topics, **options)
        self.cluster = dict({"orders": 4} if cluster is None else cluster)

    def tell(self, errors: Mapping[str, ErrorCode] | None = None, **options: Any) -> None:
        """Answer the latest question for metadata with the cluster as it is."""
        self.gather()
        question = self.questions.pop()
        known = {
            name: count
            for name, count in self.cluster.items()
            if question.topics is None or name in question.topics
        }
        known = {name: count for name, count in known.items() if name not in (errors or {})}
        self.member.metadata(view(known, question.topics, errors, **options), self.now)
        self.turn()

    def waiting(self, kind: type[Request]) -> Send | None:
        """The request of this kind that has no answer yet."""
        self.gather()
        return next((send for send in self.todo if type(send.message) is kind), None)

    def sent(self, kind: type[Request]) -> Any:
        """Its message; there has to be one."""
        send = self.waiting(kind)
        assert send is not None, (
            f"no {kind.__name__}, but {[type(send.message).__name__ for send in self.todo]}"
        )
        return send.message

    def answer(self, response: Response) -> None:
        """Answer the request that this response is for, and let the application poll."""
        self.gather()
        key = response.api_key
        send = next((send for send in self.todo if send.message.api_key == key), None)
        assert send is not None, f"nobody waits for {type(response).__name__}"
        self.todo.remove(send)
        self.member.receive(send.number, response, self.now)
        self.turn()

    def find(self, error: ErrorCode = ErrorCode.NONE) -> None:
        """Answer FindCoordinator."""
        assert self.sent(FindCoordinatorRequest).coordinator_keys == ["g"]
        row = Coordinator(key="g", node_id=7, host="h", port=9, error_code=error)
        self.answer(FindCoordinatorResponse(coordinators=[row]))

    def joined(
        self,
        generation: int = 1,
        *,
        member: str | None = None,
        leader: str | None = None,
        protocol: str | None = None,
        members: Mapping[str, bytes] | None = None,
        **fields: Any,
    ) -> None:
        """Answer JoinGroup well; leads unless another leader is named."""
        request = self.sent(JoinGroupRequest)
        own = member or request.member_id or "m1"
        leader = own if leader is None else leader
        protocol = protocol or request.protocols[0].name
        data = next((p.metadata for p in request.protocols if p.name == protocol), b"")
        rows = {own: data} if members is None else members
        self.answer(
            JoinGroupResponse(
                generation_id=generation,
                protocol_type="consumer",
                protocol_name=protocol,
                leader=leader,
                member_id=own,
                members=[
                    JoinGroupResponseMember(member_id=name, metadata=row)
                    for name, row in rows.items()
                ]
                if leader == own
                else [],
                **fields,
            )
        )

    def synced(self, names: str = "orders-0 orders-1", **fields: Any) -> None:
        """Answer SyncGroup well."""
        name = self.sent(SyncGroupRequest).protocol_name
        self.answer(
            SyncGroupResponse(
                **{
                    "protocol_type": "consumer",
                    "protocol_name": name,
                    "assignment": given(names),
                    **fields,
                }
            )
        )

    def offsets(self, **positions: int) -> None:
        """Answer OffsetFetch; partitions that are not named have no committed offset."""
        topics = [
            OffsetFetchResponseTopics(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartitions(
                        partition_index=i, committed_offset=positions.get(f"{topic.name}_{i}", -1)
                    )
                    for i in topic.partition_indexes
                ],
            )
            for topic in self.sent(OffsetFetchRequest).groups[0].topics
        ]
        self.answer(
            OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=topics)])
        )

    def start(self) -> None:
        """Up to the first JoinGroup: metadata and coordinator are known."""
        self.turn()
        self.tell()
        if self.waiting(FindCoordinatorRequest):
            self.find()

    def enter(
        self,
        names: str = "orders-0 orders-1",
        *,
        generation: int = 1,
        leader: str = "somebody else",
        **positions: int,
    ) -> None:
        """Into the group: two-step join, sync, committed offsets."""
        self.start()
        if self.member.config.group_instance_id is None:
            self.answer(JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m1"))
        self.joined(generation, leader=leader)
        self.synced(names)
        if self.waiting(OffsetFetchRequest):
            self.offsets(**positions)
        assert self.member.settled, self.member.state

    def rejoined(self, names: str, generation: int = 2) -> None:
        """Answer the JoinGroup and SyncGroup of the next generation."""
        self.joined(generation, leader="somebody else")
        self.synced(names)
        if self.waiting(OffsetFetchRequest):
            self.offsets()

    def lose(self) -> None:
        """The connection to the coordinator breaks."""
        self.todo = [send for send in self.todo if send.node is None]
        self.member.disconnected(self.now)
        self.turn()


def wish(
    topics: Iterable[str] = ("orders",),
    owned: str = "",
    generation: int = -1,
    user_data: bytes | None = None,
) -> bytes:
    """A subscription's bytes."""
    from coordinator.members.classic.joining import owned_by_topic

    return Wish(tuple(topics), user_data, owned_by_topic(tps(owned)), generation).encode()
