"""Partitions that each member of a classic group consumes, and members that stand still in a
rebalance.

If a member logs its callbacks (stream `member`), these decide. For other members the instants are
inferred from requests and responses:

* An eager member stops consuming before it sends JoinGroup (onPartitionsRevoked), and goes on when
its SyncGroup is answered, even with the same partitions.
* A cooperative member goes on with the partitions that it keeps. When its SyncGroup is answered, it
gives up those that it lost and begins with those that it gained.
* A removed member counts as owner until its removal.

For how long nobody worked on a partition: `lost_time`. This module changes views alone; it must not
know lines.
"""

from __future__ import annotations

from .blobs import Partitions, both, by_topic, joined, minus
from .views import MemberView, Pause

# -- inferred from requests


def joins(member: MemberView, at_ms: int) -> None:
    """Note a member's JoinGroup."""
    if member.tells:
        return
    if not member.cooperative:
        _stop(member, member.held, at_ms, known=False)
    elif member.subscription is not None:
        owned = by_topic(member.subscription.owned_partitions)
        _give_up(member, minus(member.held, owned))


def goes_on(member: MemberView, generation: int, at_ms: int) -> None:
    """Note that a member's SyncGroup was answered with its assignment."""
    given = member.assignment or {}
    if member.tells or (member.held is given and member.pause is None):
        return
    member.held, member.held_generation = given, generation
    _end_pause(member, at_ms)


def removed(member: MemberView, at_ms: int) -> None:
    """Note that a member was removed or replaced."""
    _give_up(member, member.held)
    if member.pause is not None:
        member.pause.removed = True
        _end_pause(member, at_ms)


# -- told by the member itself


def told_given_up(member: MemberView, partitions: Partitions, at_ms: int) -> None:
    """Note a member's own line that these partitions were revoked or lost."""
    member.tells = True
    if not minus(member.held, partitions) and not member.cooperative:
        _stop(member, member.held, at_ms, known=True)
    else:
        _give_up(member, both(member.held, partitions))


def told_assigned(member: MemberView, partitions: Partitions, generation: int, at_ms: int) -> None:
    """Note a member's own line that these partitions were assigned in addition."""
    member.tells = True
    member.held, member.held_generation = joined(member.held, partitions), generation
    _end_pause(member, at_ms)


# -- parts


def _stop(member: MemberView, partitions: Partitions, at_ms: int, *, known: bool) -> None:
    if member.pause is None and partitions:
        member.pause = Pause(
            member.name, partitions, at_ms, known=known, learned_ms=member.learned_ms
        )
    _give_up(member, partitions)


def _end_pause(member: MemberView, at_ms: int) -> None:
    if member.pause is not None:
        member.pause.to_ms, member.pause = at_ms, None


def _give_up(member: MemberView, partitions: Partitions) -> None:
    if partitions:
        member.held = {} if partitions is member.held else minus(member.held, partitions)
