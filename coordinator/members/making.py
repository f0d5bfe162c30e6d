"""Creation of the member that a configuration asks for, of either group protocol."""

from __future__ import annotations

from collections.abc import Callable

from .classic.member import Member
from .config import MemberConfig
from .consumer_protocol.member import ConsumerMember
from .effects import RebalanceListener
from .group_member import GroupMember


def make_member(
    config: MemberConfig,
    listener: RebalanceListener | None = None,
    *,
    chance: Callable[[], float],
    now: int = 0,
    member_id: str | None = None,
) -> GroupMember:
    """Return a member of the configured group protocol. `member_id`: only for the consumer
    protocol, whose members choose their own. Raises MemberConfigError for assignors that do not
    exist or cannot be combined.
    """
    if config.speaks_consumer:
        return ConsumerMember(config, listener, chance=chance, now=now, member_id=member_id)
    return Member(config, listener, chance=chance, now=now)
