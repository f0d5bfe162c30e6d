"""Client side of the protocol: group members, consumers, share consumers and producers, as pure
state machines.

Responses and time go in; requests, callbacks and the next deadline come out: `Member` speaks the
classic protocol, `ConsumerMember` the consumer protocol (KIP-848), and `make_member` makes the
one that a configuration asks for. Nothing here has a clock, randomness or sockets, except
`coordinator.members.live`, which drives the same machines over sockets against any Kafka. A
member knows only what the wire says: no group, cluster or broker is imported. This is the one
place where a subscription meets an assignor. Begin with `classic/member.py`.
"""

from __future__ import annotations

from .classic.member import Member
from .config import MemberConfig, MemberConfigError
from .consumer_protocol.member import ConsumerMember
from .consumer_states import ConsumerState
from .faults import MemberFault
from .group_member import GroupMember
from .making import make_member
from .states import Generation, MemberState

__all__ = [
    "ConsumerMember",
    "ConsumerState",
    "Generation",
    "GroupMember",
    "Member",
    "MemberConfig",
    "MemberConfigError",
    "MemberFault",
    "MemberState",
    "make_member",
]
