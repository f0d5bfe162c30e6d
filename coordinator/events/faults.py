"""Events of stream `fault`: faults that were caused on purpose.

Most of them are verbs: the data of a verb (`coordinator.verbs`) is the event, and its line is
made from the verb's row. This module has the others: ends of faults that no verb of their own
undoes, faults of requests, and faults that a simulation could not carry out.
"""

from __future__ import annotations

from typing import NamedTuple

from .values import LeftOut


class FaultInjected(NamedTuple):
    """A fault was applied to a request. The line's cause is the RequestSeen, if that is logged."""

    api: str
    client: str
    action: str
    """Kind of the fault, such as `fail`, `delay` or `lose_answer`."""
    fault: str
    """The fault in words."""


class SnapshotRestored(NamedTuple):
    """A snapshot was restored. The lines that it causes first unload and delete the present topics
    and groups, then create those of the snapshot.
    """

    topics: tuple[str, ...]
    groups: tuple[str, ...]


class RequestFaultBegan(NamedTuple):
    """A fault of requests is active from now on."""

    fault: str


class RequestFaultEnded(NamedTuple):
    """A fault of requests is no longer active."""

    fault: str


class FaultSkipped(NamedTuple):
    """A fault could not be carried out when it was due."""

    why: str


class RunEnded(NamedTuple):
    """The time of a simulation is over."""


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
