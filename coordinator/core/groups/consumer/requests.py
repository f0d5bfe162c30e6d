"""Results of decisions about a consumer group: refusals, timers and decisions, all plain values."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.groups.consumer import AssignmentFailed, ConsumerEvent
from coordinator.wire.schema import Response

from .model import Member


class Refused(Exception):
    """Refusal of a request, which changes nothing: Kafka's error and text."""

    def __init__(
        self, error: ErrorCode, message: str | None = None, event: AssignmentFailed | None = None
    ) -> None:
        """`event`: an event to log nevertheless; it changes no state."""
        super().__init__(message)
        self.error = error
        self.message = message
        self.event = event


class TimerKind(Enum):
    """Kinds of timers of a member (K8-HB-1 step 8, K8-REC-6, K8-CLS-6)."""

    SESSION = "session"
    REBALANCE = "rebalance"
    JOIN = "join"
    SYNC = "sync"

    __hash__ = object.__hash__


class Timer(NamedTuple):
    """A member's timer to start, or to cancel if `deadline_ms` is None. `if_absent`: a running one
    is kept.
    """

    kind: TimerKind
    member_id: str
    deadline_ms: int | None
    if_absent: bool = False


class Decision(NamedTuple):
    """Decision on a request or an expired timer.

    `events` are folded first, then timers are set and the reply is sent. `checked_version`: the
    version of the topics with which the group was compared. `resolve`: regular expressions to be
    matched after the reply (K8-RX-2). `downgrades`: the group becomes a classic one instead;
    `events` are empty then, and `migration` builds the new group.
    """

    events: tuple[ConsumerEvent, ...] = ()
    reply: Response | None = None
    timers: tuple[Timer, ...] = ()
    checked_version: int | None = None
    resolve: frozenset[str] | None = None
    downgrade: Downgrade | None = None


class Downgrade(NamedTuple):
    """Conversion of the group to a classic one: without the leaving members, and with `joining` in
    place of `replaced` (K8-MIG-2).
    """

    leaving: tuple[str, ...]
    reason: str
    detail: str | None = None
    replaced: str | None = None
    joining: Member | None = None
    rebalance: str | None = None  # why a rebalance starts at once; None: none does
