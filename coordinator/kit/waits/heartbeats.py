"""Notes which members have sent a heartbeat since they got their assignment. `activity` is the
stronger proof that a member uses its assignment.

An interceptor that changes nothing. It is installed when a test first waits for heartbeats, and
stays. For a member that got its assignment before that, the first heartbeat from then on counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest

if TYPE_CHECKING:
    from coordinator.server.requests.call import Call


class Heartbeats:
    """Members, of any group at one broker, whose latest response was that of a heartbeat without
    news."""

    api_keys = frozenset(
        {
            ConsumerGroupHeartbeatRequest.api_key,
            HeartbeatRequest.api_key,
            ShareGroupHeartbeatRequest.api_key,
            SyncGroupRequest.api_key,
        }
    )

    def __init__(self) -> None:
        self._heard: set[tuple[str, str]] = set()

    def __call__(self, call: Call) -> None:
        """Note a request; as an interceptor it never gives a verdict."""

    def saw_answer(self, call: Call, answer: Any, now: int) -> None:
        """Note a response that is about to be sent."""
        message = call.message
        if message.api_key not in self.api_keys:
            return
        who = (message.group_id, message.member_id)  # type: ignore[attr-defined]
        told = (
            isinstance(message, SyncGroupRequest) or getattr(answer, "assignment", None) is not None
        )
        error: int = getattr(answer, "error_code", 0)
        if told or error:
            self._heard.discard(who)
        else:
            self._heard.add(who)

    def heard(self, group_id: str, member_id: str) -> bool:
        """Return True if a member has sent a heartbeat, and got a response without news, since
        its assignment last changed."""
        return (group_id, member_id) in self._heard
