"""A group as a test holds it: look at it, wait for it, act on its members. Begin with
`GroupHandle.wait`.

Every property shows one instant; `wait` returns when all its conditions hold at the same
instant. Views are in `kit/views/`, conditions in `kit/waits/`; this module applies them
between two requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any

from coordinator.base.keyword_errors import nearest_keywords
from coordinator.core.groups.consumer.validation import LEAVING
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from coordinator.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

from .. import arguments, operations
from ..client_requests import asked, at_once, coordinated
from ..in_process_requests import ControlError, check
from ..injection.engine import Active
from ..injection.fault_board import FaultHandle
from ..thread_calls import DEFAULT_TIMEOUT_S
from ..views.group_snapshots import GroupSnapshot, TopicPartition
from ..waiting import WaitTimeoutError, not_in_time
from ..waits.expectations import ExpectationError, GroupExpectation, partition_of
from .in_vain import reasons
from .properties import GroupLooks

if TYPE_CHECKING:
    from coordinator.server.broker import Broker

    from ..client_requests import Done, Steps
    from ..session import KitSession
    from ..thread_calls import Runner
    from ..verifying.verification import Verification

_HEARTBEAT, _PEER_HEARTBEAT_MS = "heartbeat.interval.ms", "100"
_BY_NAME = 9
"""The last version of OffsetCommit that names topics."""


@nearest_keywords
class GroupHandle(GroupLooks):
    """One group of a running emulator. The object can be made before the group exists and used
    after the group is gone."""

    def __init__(
        self,
        run: Runner,
        done: Done,
        session: KitSession,
        group_id: str,
        verify: Callable[..., Verification],
        peer: Callable[..., Any],
        timeline: Callable[[], dict[str, Any]],
        obstacles: Callable[[str], list[str]],
    ) -> None:
        self._run = run
        self._done = done
        self._verify = verify
        self._peer = peer
        self._timeline = timeline
        self._obstacles = obstacles
        self._session = session
        self.group_id = group_id

    # -- looking

    def snapshot(self) -> GroupSnapshot:
        """Return the whole state of the group at this instant."""
        return self._run(lambda: self._session.group(self.group_id))

    @property
    def rebalances(self) -> list[dict[str, Any]]:
        """See `GroupLooks.rebalances`."""
        from coordinator.history.explain.output import rebalances_of

        return rebalances_of(self._timeline(), self.group_id)

    def obstacles(self) -> list[str]:
        """Return obstacles of the group, in sentences: see `Kit.obstacles`."""
        return self._obstacles(self.group_id)

    # -- waiting

    def wait(
        self,
        *,
        state: str | None = None,
        members: int | None = None,
        generation_above: int | None = None,
        assigned: str | Mapping[str, Iterable[TopicPartition | str]] | None = None,
        committed: Mapping[TopicPartition, int] | None = None,
        lag: int | None = None,
        acted: bool | None = None,
        heard: bool | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> GroupSnapshot:
        """Wait until everything that is given holds at the same instant. Return the group as it is
        then. See `GroupExpectation` for the arguments.

        `timeout` in seconds. Raises WaitTimeoutError, which says what is missing, what was seen,
        and which members the group waits for.
        """
        arguments.seconds("timeout", timeout)
        expectation = GroupExpectation(
            state=state,
            members=members,
            generation_above=generation_above,
            assigned=assigned,
            committed=committed,
            lag=lag,
            acted=acted,
            heard=heard,
        )
        future = self.begin_wait(expectation)
        try:
            result: GroupSnapshot = future.result(timeout)
        except FutureTimeoutError:
            raise self.timed_out(expectation, future, timeout) from None
        return result

    def begin_wait(self, expectation: GroupExpectation) -> Future[Any]:
        """Wait without blocking: the future gets the group when it meets the expectation."""
        if expectation.is_empty:
            raise ExpectationError(
                "wait for what? Give state, members, generation_above, assigned, committed, lag, acted or heard"
            )
        session = self._session

        def begin() -> Future[Any]:
            expectation.check_possible(session.check_partition, session.most_members(self.group_id))
            if expectation.acted:
                session.watch_activity()
            if expectation.heard:
                session.watch_heartbeats()
            wait = session.waits.begin(
                lambda: expectation.unmet(session.group(self.group_id), session.partitions_of),
                lambda: session.group(self.group_id),
            )
            if not session.group(self.group_id).exists:
                session.look_on(wait)
            return wait

        return self._run(begin)

    def timed_out(
        self, expectation: GroupExpectation, future: Future[Any], timeout: float
    ) -> WaitTimeoutError:
        """End a wait whose time is over. Return the error to raise."""
        obstacles = self.obstacles()

        def look() -> WaitTimeoutError:
            self._session.waits.end(future)
            onlooker = self._session.onlookers.pop(future, None)
            if onlooker is not None:
                onlooker.end()
            seen = self._session.group(self.group_id)
            missing = expectation.unmet(seen, self._session.partitions_of)
            text = f"group {self.group_id!r} did not reach {expectation} within {timeout:g} s: {'; '.join(missing) or 'it has now'}."
            why = reasons(
                self._session, self.group_id, expectation, seen, onlooker, tried=bool(obstacles)
            )
            told = [text, f"Seen: {seen}.", *(f"{each}." for each in why), *obstacles]
            return not_in_time("\n".join(told))

        return self._run(look)

    def verify(self, *, since: int = 0) -> Verification:
        """Return assertions about what happened to the group, from a `mark` on. Each raises
        AssertionError with the lines that contradict it."""
        return self._verify(self.group_id, since=since)

    # -- acting

    def peer(self, topics: Iterable[str] | None = None, **options: Any) -> Any:
        """Start a simulated member of this group: a `coordinator.members.live.PeerHandle`; see
        `Emulator.peer`.

        It sends heartbeats every 100 ms unless `config` has another heartbeat.interval.ms, so
        that it learns of rebalances soon. In a group of the consumer protocol (KIP-848) the
        coordinator sets the interval.
        """
        config = dict(options.pop("config", None) or {})
        protocol = options.get("protocol") or config.get("group.protocol") or self.snapshot().type
        if protocol != "consumer":
            config = {_HEARTBEAT: _PEER_HEARTBEAT_MS, **config}
        return self._peer(self.group_id, topics, config=config, **options)

    def remove(self, name: str, reason: str = "removed by a test") -> None:
        """Remove a member, as an administrator does: by LeaveGroup, in a share group by a
        heartbeat with the leaving epoch. The member's next request is refused with
        UNKNOWN_MEMBER_ID. `name`: any name of the member. Raises LookupError if there is no such
        member."""

        def leave(broker: Broker) -> Steps[None]:
            group = self._session.group(self.group_id)
            member = group.member(name)
            if group.type == "share":
                leaves = ShareGroupHeartbeatRequest(
                    group_id=self.group_id, member_id=member.member_id, member_epoch=LEAVING
                )
                left = yield from asked(self._session, broker, leaves, ShareGroupHeartbeatResponse)
                check(left.error_code, f"{member.name} cannot be removed")
                return
            identity = MemberIdentity(
                member_id=member.member_id, group_instance_id=member.instance_id, reason=reason
            )
            request = LeaveGroupRequest(group_id=self.group_id, members=[identity])
            answer = yield from asked(self._session, broker, request, LeaveGroupResponse)
            check(
                answer.error_code or answer.members[0].error_code,
                f"{member.name} cannot be removed",
            )

        return self._act(leave)

    def expire(self, name: str) -> None:
        """End a member's session now, as if it had been silent for its whole session timeout.
        Raises LookupError, ControlError."""

        def end(broker: Broker) -> None:
            member = self._session.group(self.group_id).member(name)
            operations.expire(broker, self.group_id, member.member_id, self._session.now())

        return self._act(at_once(end))

    def rebalance(self, reason: str = "a test asked for it") -> None:
        """Start a rebalance: every member has to join again. Raises ControlError if the group
        has no members or is rebalancing already."""
        return self._act(
            at_once(
                lambda broker: operations.start_rebalance(
                    broker, self.group_id, reason, self._session.now()
                )
            )
        )

    def fence(self, name: str) -> None:
        """Fence a static member, as a second process with its group.instance.id does: its next
        request is refused with FENCED_INSTANCE_ID. The new member has no process and expires.
        Raises LookupError, ControlError."""

        def take_over(broker: Broker) -> None:
            member = self._session.group(self.group_id).member(name)
            operations.fence(broker, self.group_id, member, self._session.now())

        return self._act(at_once(take_over))

    def lose(self, name: str) -> FaultHandle:
        """Let a member learn that it lost its partitions (onPartitionsLost), so that it joins
        again.

        Its next heartbeat is answered with ILLEGAL_GENERATION, in a KIP-848 group
        FENCED_MEMBER_EPOCH, as Kafka answers a member that the group went on without; until then
        nothing changes. The returned handle is that of the fault: `wait_hit` waits for the
        heartbeat, and a test fails if it never came. Raises LookupError, and ControlError for a
        member without partitions.
        """

        def add() -> Active:
            group = self._session.group(self.group_id)
            return self._session.add_fault(operations.loss(group, group.member(name)))

        return FaultHandle(self._session.faults, self._run(add), self._run, self._session.now)

    def commit(
        self, offsets: Mapping[TopicPartition, int], *, timeout: float = DEFAULT_TIMEOUT_S
    ) -> None:
        """Set committed offsets as a tool does, while the group has no members. If the group has
        no running coordinator, wait for one up to `timeout` seconds. Raises ExpectationError,
        ControlError."""
        arguments.mapping("offsets", offsets, '{("orders", 0): 10}')
        if not offsets:
            raise ControlError(
                'offsets: {}; name at least one partition, such as {("orders", 0): 10}'
            )
        wanted = GroupExpectation(committed=offsets)

        def put(broker: Broker) -> Steps[None]:
            wanted.check_possible(self._session.check_partition, 0)
            there = self._session.group(self.group_id).members
            if there:
                right = "Kafka accepts a tool's commit only while the group has no members: stop or remove them"
                raise ControlError(
                    f"group {self.group_id!r} has {len(there)} member{'s' if len(there) > 1 else ''}: {right}"
                )
            rows: dict[str, list[OffsetCommitRequestPartition]] = {}
            for (topic, index), offset in (
                (partition_of(key), offset) for key, offset in offsets.items()
            ):
                rows.setdefault(topic, []).append(
                    OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
                )
            topics = [
                OffsetCommitRequestTopic(name=topic, partitions=found)
                for topic, found in rows.items()
            ]
            request = OffsetCommitRequest(
                group_id=self.group_id, generation_id_or_member_epoch=-1, topics=topics
            )
            answer = yield from asked(
                self._session, broker, request, OffsetCommitResponse, version=_BY_NAME
            )
            for answered in answer.topics:
                for row in answered.partitions:
                    check(
                        row.error_code,
                        f"{answered.name}-{row.partition_index} cannot be committed for group {self.group_id!r}",
                    )

        return self._act(put, timeout)

    def delete(self) -> None:
        """Delete the group and its offsets; it must be Empty."""

        def end(broker: Broker) -> Steps[None]:
            request = DeleteGroupsRequest(groups_names=[self.group_id])
            answer = yield from asked(self._session, broker, request, DeleteGroupsResponse)
            check(answer.results[0].error_code, f"group {self.group_id!r} cannot be deleted")

        return self._act(end)

    def _act(
        self, act: Callable[[Broker], Steps[None]], timeout: float = DEFAULT_TIMEOUT_S
    ) -> None:
        return self._done(coordinated(self._session, self.group_id, act), timeout)
