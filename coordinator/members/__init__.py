"""The other side of the protocol: one consumer-group member, as pure as the heart.

Responses and time go in; requests, callbacks and the next deadline come out (`Member`). Nothing here has a clock, dice or
sockets; `coordinator.members.live` drives the same machine over real ones, against any Kafka. A member knows only what the
wire tells it: no group, no cluster, no broker is imported here. This is the one place where a subscription meets an assignor.
"""

from __future__ import annotations

from .config import MemberConfig, MemberConfigError
from .faults import MemberFault
from .member import Member
from .states import Generation, MemberState

__all__ = ["Generation", "Member", "MemberConfig", "MemberConfigError", "MemberFault", "MemberState"]
