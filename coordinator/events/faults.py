"""Events of stream `fault`: what was done on purpose.

Most of them are verbs: the data of a verb (`coordinator.verbs`) is the event, and its line is made
from the verb's row. Here are the others: ends of verbs that no verb of its own undoes, faults of
requests, and what a simulation could not do.
"""

from __future__ import annotations

from typing import NamedTuple

from .values import LeftOut


class FaultInjected(NamedTuple):
    """A request met a fault. The line's cause is the RequestSeen, if that is logged."""

    api: str
    client: str
    action: str
    """Kind of the fault, such as `fail`, `delay` or `lose_answer`."""
    fault: str
    """The fault in words."""


class SnapshotRestored(NamedTuple):
    """A snapshot was restored. Lines with this one as their cause unload and delete what was there,
    then make what the snapshot has."""

    topics: tuple[str, ...]
    groups: tuple[str, ...]


class RequestFaultBegan(NamedTuple):
    """A fault of requests is in force from now on."""

    fault: str


class RequestFaultEnded(NamedTuple):
    """A fault of requests is no longer in force."""

    fault: str


class FaultSkipped(NamedTuple):
    """A fault could not be carried out when its time had come."""

    why: str


class RunEnded(NamedTuple):
    """A simulation's time is over."""


class MemberHealed(NamedTuple):
    """The links of a member pass messages again (the end of CutMember)."""

    client: str
    direction: LeftOut[str] = None


class MemberSpedUp(NamedTuple):
    """The links of a member are as fast as before (the end of SlowMember)."""

    client: str
    direction: LeftOut[str] = None


class MemberResumed(NamedTuple):
    """The host of a member goes on (the end of PauseMember)."""

    client: str


Event = (
    FaultInjected
    | SnapshotRestored
    | RequestFaultBegan
    | RequestFaultEnded
    | FaultSkipped
    | RunEnded
    | MemberHealed
    | MemberSpedUp
    | MemberResumed
)
