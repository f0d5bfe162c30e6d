"""The elected leader's work: decode the subscriptions, run the chosen assignor, check its result,
encode the assignments (CLI-8).

A result that breaks a rule is not sent, so that no mistake gives a partition two owners or none.
Java checks only user assignors of the cooperative protocol (CLI-26); this leader checks all,
because an error is better than a group that silently consumes half of its topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignors import Assignment as Plan
from assignors import (
    Assignor,
    AssignorError,
    RebalanceProtocol,
    Subscription,
    TopicPartition,
)
from assignors.user_data import java_form
from coordinator.wire.consumer_protocol import Assignment
from coordinator.wire.consumer_protocol import Subscription as Wish
from coordinator.wire.messages.join_group import JoinGroupResponse
from coordinator.wire.primitives import WireError

from .. import topics
from ..faults import AssignorFault, MemberFault
from ..membership import Membership
from ..rebalancing import assignor_called

Wishes = Mapping[str, Wish]
"""The subscription of each member, by member id."""
_CHECKS_ITSELF = "cooperative-sticky"
_STICKY = "sticky"
"""kafka-python's members of it put a version before their user data: a leader of ours reads that
too."""


class UnreadableSubscription(MemberFault):
    """Fault: a member's subscription cannot be decoded, so the leader cannot assign."""


def knows_group(m: Membership, wishes: Wishes) -> bool:
    """Watch the topics of the whole group from now on; return whether their metadata is known. If
    not, it is requested.
    """
    m.subscribed.group_topics = frozenset().union(*{wish.topics for wish in wishes.values()})
    return _metadata_is_here(m)


def _metadata_is_here(m: Membership) -> bool:
    if not topics.is_fresh(m):
        if m.view is None or not m.view.covers(m.subscribed.metadata_topics()):
            m.metadata_again_at = 0  # new topics do not wait for the backoff
        topics.need(m)
        return False
    topics.take_over(m)
    topics.take_snapshot(m)
    return True


def assign(m: Membership, response: JoinGroupResponse, wishes: Wishes) -> dict[str, bytes] | None:
    """Return the encoded assignment of each member, or None if metadata of further topics is needed
    first (CLI-27). Raises AssignorFault, which names the rule.
    """
    assignor = assignor_called(m, response.protocol_name)
    members = {
        row.member_id: _subscription(wishes[row.member_id], row.group_instance_id)
        for row in response.members
    }
    if assignor.name == _STICKY:
        members = {
            member_id: told._replace(user_data=java_form(told.user_data))
            for member_id, told in members.items()
        }
    asked = sorted(m.subscribed.group_topics)
    assert m.view is not None
    plan = _run(assignor, m, asked, members)
    if m.cooperative and assignor.name != _CHECKS_ITSELF:
        _check_revoked_first(assignor.name, members, plan)
    further = {
        partition.topic for part in plan.values() for partition in part.partitions
    } - m.subscribed.group_topics
    if further:
        m.subscribed.group_topics |= further
        if not _metadata_is_here(m):
            return None
    check(
        assignor.name,
        m.view.partition_counts(m.subscribed.group_topics),
        members,
        plan,
        cooperative=RebalanceProtocol.COOPERATIVE in assignor.rebalance_protocols,
    )
    return {member_id: _written(part) for member_id, part in plan.items()}


def _run(
    assignor: Assignor, m: Membership, asked: list[str], members: Mapping[str, Subscription]
) -> Mapping[str, Plan]:
    assert m.view is not None
    try:
        plan = assignor.assign(m.view.partition_counts(asked), members, m.view.racks(asked))
    except AssignorError as error:
        raise AssignorFault(assignor.name, "assigns", str(error)) from error
    except Exception as error:
        raise AssignorFault(
            assignor.name, "assigns", f"assign raised {type(error).__name__}: {error}"
        ) from error
    try:
        return {
            member_id: Plan(tuple([TopicPartition(*p) for p in part.partitions]), part.user_data)
            for member_id, part in plan.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise AssignorFault(
            assignor.name,
            "answers {member id: Assignment}",
            f"it answered {type(plan).__name__}: {error}",
        ) from error


def read_wishes(response: JoinGroupResponse) -> Wishes:
    """Decode the subscription of each member. Raises UnreadableSubscription."""
    try:
        wishes = Wish.decode_all([row.metadata for row in response.members])
    except WireError as error:
        raise UnreadableSubscription(f"a member's subscription cannot be read: {error}") from error
    return dict(zip([row.member_id for row in response.members], wishes, strict=True))


def _subscription(wish: Wish, instance_id: str | None) -> Subscription:
    owned = [
        TopicPartition(topic, number)
        for topic, numbers in wish.owned_partitions
        for number in numbers
    ]
    generation = wish.generation_id if wish.generation_id >= 0 else None
    return Subscription(wish.topics, wish.user_data, owned, generation, instance_id, wish.rack_id)


def _written(plan: Plan) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, number in plan.partitions:
        by_topic.setdefault(topic, []).append(number)
    return Assignment.of(by_topic, plan.user_data).encode()


# -- rules


def _check_revoked_first(
    name: str, members: Mapping[str, Subscription], plan: Mapping[str, Plan]
) -> None:
    """Raise AssignorFault if a member gets a partition that another member still has to revoke
    (CLI-26).
    """
    holder = {
        partition: member_id
        for member_id, wish in members.items()
        for partition in wish.owned_partitions
    }
    for member_id, part in plan.items():
        own = set(members[member_id].owned_partitions) if member_id in members else set()
        for partition in part.partitions:
            owner = holder.get(partition)
            if partition not in own and owner is not None and owner != member_id:
                detail = f"{partition} goes to {member_id} while {owner} still owns it"
                raise AssignorFault(
                    name, "is revoked before it is assigned", detail, str(partition)
                )


def check(
    name: str,
    counts: Mapping[str, int],
    members: Mapping[str, Subscription],
    plan: Mapping[str, Plan],
    *,
    cooperative: bool,
) -> None:
    """Raise AssignorFault unless every member has a part, no other has, and every existing
    partition has one owner.

    An assignor of the cooperative protocol may leave a partition out while a member still owns
    it, even if the leader itself is eager because it offers another assignor too (KIP-429).
    """
    for member_id in members:
        if member_id not in plan:
            raise AssignorFault(
                name, "every member has a part", f"{member_id} is left out; a part may be empty"
            )
    owner: dict[TopicPartition, str] = {}
    for member_id, part in plan.items():
        if member_id not in members:
            first = str(part.partitions[0]) if part.partitions else None
            raise AssignorFault(
                name,
                "only members have a part",
                f"{first or 'a part'} goes to {member_id}, who is no member",
                first,
            )
        for partition in part.partitions:
            if partition.topic in counts and not 0 <= partition.partition < counts[partition.topic]:
                detail = f"{partition}, but {partition.topic} has {counts[partition.topic]}"
                raise AssignorFault(name, "the partition exists", detail, str(partition))
            if partition in owner:
                raise AssignorFault(
                    name,
                    "a partition has one owner",
                    f"{partition} goes to {owner[partition]} and to {member_id}",
                    str(partition),
                )
            owner[partition] = member_id
    subscribed = {topic for wish in members.values() for topic in wish.topics}
    if sum(counts[topic] for topic in subscribed if topic in counts) > sum(
        1 for partition in owner if partition.topic in subscribed
    ):
        held = (
            {partition for wish in members.values() for partition in wish.owned_partitions}
            if cooperative
            else set()
        )
        _check_none_dropped(name, counts, sorted(subscribed), owner, held)


def _check_none_dropped(
    name: str,
    counts: Mapping[str, int],
    subscribed: Iterable[str],
    owner: Mapping[TopicPartition, str],
    held: set[TopicPartition],
) -> None:
    for topic in subscribed:
        for number in range(counts.get(topic, 0)):
            partition = TopicPartition(topic, number)
            if partition not in owner and partition not in held:
                raise AssignorFault(
                    name,
                    "every partition has an owner",
                    f"{partition} goes to nobody",
                    str(partition),
                )
