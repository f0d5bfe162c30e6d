"""Reconciliation of a member: one step towards its target assignment (K8-REC-1..5, KIP-1251).

Pure: takes a member, its target and the owners of partitions, returns the member after the step.
Maps have the iteration order of Java's, because a response lists partitions in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import NamedTuple

from coordinator.base.java_hash import copy_capacity, set_capacity

from .java_order import int_order, uuid_order
from .model import NO_PARTITIONS, NOTHING, Held, Member, MemberState, Partitions

Owned = Iterable[tuple[bytes, Iterable[int]]]
"""Topic ids and partitions that a member reports to have."""


class Step(NamedTuple):
    """Input of a step: the target and its epoch, the topics that the member subscribes to, and the
    partitions that it reports.
    """

    target_epoch: int
    target: Partitions
    subscribed: Container[bytes]
    subscribes_to_nothing: bool
    subscription_changed: bool
    owned: Owned | None
    owner_epoch: Callable[[bytes, int], int]
    by_subscription: bool = True
    """A topic no longer subscribed to goes at once, and a member that has to revoke again stays
    where it is; in older releases it is an epoch further once it has revoked (K8-REC-42-1)."""


def reconcile(member: Member, step: Step) -> Member:
    """Return the member after one step; the same member if it cannot move (K8-REC-2)."""
    if member.state is MemberState.STABLE:
        if member.member_epoch != step.target_epoch:
            return _next(member, step)
        return _unsubscribe(member, step) if step.subscription_changed else member
    if member.state is MemberState.UNREVOKED and _owns_any(step.owned, member.revoking):
        return _unsubscribe(member, step) if step.subscription_changed else member
    if member.state is MemberState.UNREVOKED and not step.by_subscription:
        return _next(member, step, member.member_epoch + 1)
    return _next(member, step)


def _owns_any(owned: Owned | None, revoked: Held) -> bool:
    """Return True if the member still reports a partition that it has to revoke; no report counts
    as yes.
    """
    if owned is None:
        return True
    return any(
        partition in revoked.get(topic_id, NO_PARTITIONS)
        for topic_id, partitions in owned
        for partition in partitions
    )


def _moved(member: Member, epoch: int, state: MemberState, held: Held, revoking: Held) -> Member:
    return member._replace(
        member_epoch=epoch,
        previous_epoch=member.member_epoch,
        state=state,
        held=held,
        revoking=revoking,
    )


def _unsubscribe(member: Member, step: Step) -> Member:
    """Revoke the topics that the member no longer subscribes to, before there is a new target."""
    gone = [topic_id for topic_id in member.held if topic_id not in step.subscribed]
    if not gone:
        rewritten = step.subscribes_to_nothing and not member.held and not member.revoking
        return (
            _moved(member, member.member_epoch, member.state, member.held, member.revoking)
            if rewritten
            else member
        )
    held = {
        topic_id: partitions for topic_id, partitions in member.held.items() if topic_id not in gone
    }
    revoking = dict(member.revoking)
    for topic_id in gone:
        revoking[topic_id] = {**revoking.get(topic_id, {}), **member.held[topic_id]}
    if _owns_any(step.owned, revoking):
        return _moved(member, member.member_epoch, MemberState.UNREVOKED, held, _in_order(revoking))
    return _moved(member, member.member_epoch, member.state, held, member.revoking)


def _next(member: Member, step: Step, epoch: int | None = None) -> Member:
    """Keep partitions that are in the target, revoke the others, take free ones (K8-REC-3).
    `epoch`: the epoch while revoking, if not the member's.
    """
    same = all_kept(member.held, step.target, step.subscribed)
    if same is not None:
        return _moved(member, step.target_epoch, MemberState.STABLE, same, NOTHING)
    kept: dict[bytes, dict[int, int]] = {}
    capacities: dict[bytes, int] = {}
    revoke: dict[bytes, dict[int, int]] = {}
    take: dict[bytes, list[int]] = {}
    unreleased = False
    for topic_id in _topics(step.target, member.held):
        has = member.held.get(topic_id, NO_PARTITIONS)
        target = step.target.get(topic_id, ()) if topic_id in step.subscribed else ()
        wanted = frozenset(target)
        order = int_order(list(has), copy_capacity(len(has)))
        stays = {partition: has[partition] for partition in order if partition in wanted}
        leaves = {partition: has[partition] for partition in order if partition not in wanted}
        missing = wanted.difference(stays)
        free = []
        if missing:
            released = {
                partition for partition in missing if _is_free(member, step, topic_id, partition)
            }
            free = [
                partition
                for partition in int_order(target, set_capacity(len(target)))
                if partition in released
            ]
        unreleased = unreleased or len(free) < len(missing)
        if stays:
            kept[topic_id], capacities[topic_id] = stays, copy_capacity(len(has))
        if leaves:
            revoke[topic_id] = leaves
        if free:
            take[topic_id] = free
    if revoke and _owns_any(step.owned, revoke):
        return _moved(
            member,
            member.member_epoch if epoch is None else epoch,
            MemberState.UNREVOKED,
            _in_order(kept),
            _in_order(revoke),
        )
    new = [topic_id for topic_id in uuid_order(list(take)) if topic_id not in kept]
    held = {topic_id: kept.get(topic_id, {}) for topic_id in uuid_order([*reversed(new), *kept])}
    for topic_id, free in take.items():
        epochs = held[topic_id] | dict.fromkeys(free, step.target_epoch)
        held[topic_id] = {
            p: epochs[p] for p in int_order(list(epochs), capacities.get(topic_id, 16))
        }
    state = MemberState.UNRELEASED if unreleased else MemberState.STABLE
    return _moved(member, step.target_epoch, state, held, NOTHING)


def all_kept(held: Held, target: Partitions, subscribed: Container[bytes]) -> Held | None:
    """Return the member's partitions, in the order of the copied map, if they are its target
    already, else None. While others join or leave, most members only follow the group's epoch.
    """
    for topic_id, wanted in target.items():
        has = held.get(topic_id, NO_PARTITIONS)
        if len(has) != len(wanted) or (
            wanted and (topic_id not in subscribed or not has.keys() >= set(wanted))
        ):
            return None
    if any(partitions and topic_id not in target for topic_id, partitions in held.items()):
        return None
    kept: dict[bytes, Mapping[int, int]] = {}
    for topic_id in uuid_order(
        [topic_id for topic_id in _topics(target, held) if held.get(topic_id)]
    ):
        has = held[topic_id]
        kept[topic_id] = {
            partition: has[partition] for partition in int_order(list(has), copy_capacity(len(has)))
        }
    return kept


def _is_free(member: Member, step: Step, topic_id: bytes, partition: int) -> bool:
    """Return True if the partition has no owner but the member itself, which has just revoked it
    (K8-REC-5).
    """
    return step.owner_epoch(topic_id, partition) == -1 or partition in member.revoking.get(
        topic_id, NO_PARTITIONS
    )


def _topics(target: Partitions, held: Held) -> list[bytes]:
    """Return the topics of both, as a HashSet of the first filled with the second iterates them."""
    return uuid_order(list(dict.fromkeys([*target, *held])), set_capacity(len(target)))


def _in_order(held: Mapping[bytes, Mapping[int, int]]) -> Held:
    return {topic_id: held[topic_id] for topic_id in uuid_order(list(held))}
