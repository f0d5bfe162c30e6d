"""The one door for faults of single requests: pass, answer, hold, drop.

An interceptor is called with every decoded request before its handler is. The first that gives a verdict other than None
decides; with none of them installed a request pays one test for it. Owns the verdicts and nothing else: faults of links
and hosts have other seats, and no interceptor is ever asked inside the heart.

    def second_heartbeat_fails(call: Call) -> Verdict:
        return Answer(HeartbeatResponse(error_code=27)) if isinstance(call.message, HeartbeatRequest) else None

    broker.interceptors.append(second_heartbeat_fails)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .broker.core import Call
    from .wire.schema import Message


class Answer(NamedTuple):
    """Answer with this and do not ask the broker: nothing changes."""

    response: Message


class Hold(NamedTuple):
    """Let the request wait so long, then handle it. Its connection waits with it, as for a parked request."""

    duration_ms: int


class Drop(NamedTuple):
    """Swallow the request: never handled, never answered. Later requests of its connection wait until the client hangs up."""


Verdict = Answer | Hold | Drop | None
"""None lets the request pass."""

Interceptor = Callable[["Call"], Verdict]


def consult(interceptors: Sequence[Interceptor], call: Call) -> Verdict:
    """The first verdict that is not None, in the order of installation."""
    for interceptor in interceptors:
        verdict = interceptor(call)
        if verdict is not None:
            return verdict
    return None
