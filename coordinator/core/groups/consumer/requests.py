"""Values into the decisions about a consumer group and out of them: refusals, timers and
decisions, all plain values."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.groups.consumer import AssignmentFailed, ConsumerEvent
from coordinator.wire.schema import Response

from .model import Member


class Refused(Exception):
    """A request that changes nothing: Kafka's error and the text that goes with it."""

    def __init__(
        self, error: ErrorCode, message: str | None = None, event: AssignmentFailed | None = None
    ) -> None:
        """`event`: what is written down all the same; it changes nothing either."""
        super().__init__(message)
        self.error = error
        self.message = message
        self.event = event


class TimerKind(Enum):
    """Reasons to wait for a member (K8-HB-1 step 8, K8-REC-6, K8-CLS-6)."""

    SESSION = "session"
    REBALANCE = "rebalance"
    JOIN = "join"
    SYNC = "sync"

    __hash__ = object.__hash__


class Timer(NamedTuple):
    """A timer of one member to be armed, or cancelled where `deadline_ms` is None. `if_absent`: one
    that runs is left alone."""

    kind: TimerKind
    member_id: str
    deadline_ms: int | None
    if_absent: bool = False


class Decision(NamedTuple):
    """The proposal for one request, or for a timer that ran out.

    `events` are folded first, then the timers are set and the reply goes out. `checked_version`:
    with which version of the topics the group was compared. `resolve`: these regular expressions
    are to be matched once the reply is on its way (K8-RX-2). `downgrades`: the group is to become a
    classic one instead; the events are empty then, and `migration` says what it will be.
    """

    events: tuple[ConsumerEvent, ...] = ()
    reply: Response | None = None
    timers: tuple[Timer, ...] = ()
    checked_version: int | None = None
    resolve: frozenset[str] | None = None
    downgrade: Downgrade | None = None


class Downgrade(NamedTuple):
    """The group becomes a classic one: without the members that leave, and with `joining` in the
    place of `replaced` (K8-MIG-2)."""

    leaving: tuple[str, ...]
    reason: str
    detail: str | None = None
    replaced: str | None = None
    joining: Member | None = None
    rebalance: str | None = None  # why a rebalance starts at once; None: none does
