"""Groups at one broker: requests go to the group coordinator, and its replies to whom they belong.

A reply whose writes are not replicated yet waits at the commit gate, where the broker has one.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from coordinator.base.slices import uncollected
from coordinator.core.groups.requests import Request, RequestContext
from coordinator.core.shards.journal import Effects
from coordinator.wire.messages.sync_group import SyncGroupRequest

from .cluster.model import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coordinator.base.slices import Slices
    from coordinator.core.group_coordinator import GroupCoordinator, Outcome
    from coordinator.core.groups.requests import Reply
    from coordinator.core.groups.share.requests import StateRequest
    from coordinator.wire.schema import Message
    from coordinator.wire.schema import Request as RequestMessage

    from .parked_requests import ParkedRequests
    from .requests.call import Call, Encoded
    from .requests.commit_gate import CommitGate
    from .services import Services


class GroupService:
    """The group coordinator of one broker, with the requests that wait for it."""

    def __init__(
        self, coordinator: GroupCoordinator, parked: ParkedRequests, services: Services
    ) -> None:
        self.coordinator = coordinator
        self.gate: CommitGate | None = None  # None: what is written is replicated
        self._parked = parked
        self._services = services
        self.share_states: deque[StateRequest] = deque()
        """Requests to the share coordinator, once the answers before them are sent."""

    def coordinate(self, call: Call, message: RequestMessage, fresh_id: str = "") -> Message | None:
        """Handle a request with the group coordinator. Return the reply to this request, or None if
        it is parked; send replies to other requests that it completed.
        """
        context = RequestContext(
            call.version, call.client_id, call.client_host, fresh_id, call.token, call.cause
        )
        if self.gate is not None:
            self.gate.begin()
        effects = Effects(call.now, call.cause, call.sees)
        response = self.coordinator.serve(message, context, effects)
        if effects.share_states:
            self.share_states.extend(effects.share_states)
        if effects.replies or self.gate is not None:
            return self._reply(effects.replies, call.token, response, call.now)
        return response

    def coordinate_in_slices(self, call: Call, message: RequestMessage) -> Slices[Message]:
        """Like `coordinate`, in slices, for requests that may name many groups. They are never
        parked.
        """
        context = RequestContext(
            call.version, call.client_id, call.client_host, "", call.token, call.cause
        )
        outcome = yield from self.coordinator.handle_in_slices(Request(context, message), call.now)
        self.share_states.extend(outcome.share_states)
        mine = self._reply(outcome.replies, call.token, None, call.now)
        assert mine is not None
        return mine

    def send_replies(self, outcome: Outcome, now: int) -> None:
        """Send replies that no request being handled caused, such as those of a timer."""
        self._reply(outcome.replies, None, None, now)

    def _reply(
        self, replies: Iterable[Reply], own: int | None, mine: Message | None, now: int
    ) -> Message | None:
        """Send replies. Return the reply for the token `own` (default: `mine`) instead of sending
        it: its connection sends it in order.
        """
        gate = self.gate
        needs = None if gate is None else gate.needs(now)
        for token, message in replies:
            assert isinstance(token, int)
            if token == own:
                mine = message
            elif gate is not None and needs and gate.waits_for_its_writes(message):
                gate.hold(token, message, None, needs, now)
            else:
                self._parked.answer(token, message, now)
        if gate is not None and mine is None:
            gate.begin()
        return mine

    def hold_back(self, call: Call, response: Message | Encoded) -> bool:
        """Return True if the answer was held back until the request's writes are replicated
        (META-1); its connection then parks the request.
        """
        if self.gate is None:
            return False
        needs = self.gate.take(call.now) or self.gate.earlier(call, response, self.coordinator)
        if needs and self.gate.waits_for_its_writes(response, call.message):
            self.gate.hold(call.token, response, call, needs, call.now)
            return True
        return False

    def write_failed(self, message: Message, now: int) -> None:
        """Handle a request whose write was not replicated in time. A generation that is not stored
        starts a rebalance (ERR-2).
        """
        if isinstance(message, SyncGroupRequest):
            self.send_replies(self.coordinator.generation_not_stored(message, now), now)

    # -- the coordinator's partitions

    def load(self, partition: int | None, now: int) -> None:
        """Load the groups of a partition of __consumer_offsets (None: all partitions) from their
        durable events (ERR-7).
        """
        self.send_replies(self.coordinator.finish_load(now, partition), now)

    def begin_load(self, partition: int | None, load_ms: int, now: int) -> None:
        """Start to load groups as `load` does, but in slices and `load_ms` milliseconds from now;
        until it is finished, `coordinator.is_loading` holds.
        """
        self.send_replies(
            self.coordinator.begin_load(now, partition, by_itself=True, after_ms=load_ms), now
        )
        self.send_replies(self.coordinator.tick(now), now)

    def unload(self, partition: int | tuple[int, ...] | None, now: int) -> None:
        """Stop serving the groups of a partition of __consumer_offsets (None: all partitions) and
        answer their parked requests (ERR-6).
        """
        self.send_replies(self.coordinator.unload(now, partition), now)
        if self.gate is not None:
            self.gate.lost(CONSUMER_OFFSETS, partition, now)

    def shut_down(self, now: int, *, in_slices: bool = False) -> None:
        """Answer parked JoinGroup and SyncGroup requests as a stopping broker does (ERR-6). Waiting
        fetches get no answer, as in Kafka.
        """
        self.send_replies(self.coordinator.shutdown(now, in_slices=in_slices), now)

    # -- what follows from others

    def end_transaction(
        self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None
    ) -> None:
        """Apply the end of a producer's transaction to the offsets that it committed in groups of a
        partition of __consumer_offsets (TXN-5).
        """
        self.send_replies(
            self.coordinator.end_transaction(producer_id, committed, partition, now, cause), now
        )

    def ask_share_coordinator(self, now: int) -> None:
        """Create or delete the states of share partitions that are asked for, and give each result
        to the group that waits for it (SH-HB-2).
        """
        while self.share_states:
            from .shares.of_groups import carry_out  # at first use, so that start-up is fast

            asked = self.share_states.popleft()
            error = carry_out(self._services.shares, asked, now)
            self.send_replies(self.coordinator.share_state_answered(asked, error, now), now)

    def tick(self, now: int) -> None:
        """Run the timers of groups that are due."""
        due, gate = self.coordinator.wake_by(), self.gate
        if (due is not None and due <= now) or (gate is not None and gate.has_written):
            tick = self.coordinator.tick
            self.send_replies(
                uncollected(tick, now) if self.coordinator.is_loading else tick(now), now
            )
