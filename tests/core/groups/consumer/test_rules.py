"""What requests to consumer groups are refused with, and what is told about them (K8-VAL, K8-CLS,
K8-OFF, K8-DSC, K8-MIG)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import RELEASES
from coordinator.core.groups.consumer.environment import GroupSettings, MigrationPolicy
from coordinator.events.groups import consumer as cev
from coordinator.history.explain.notes import told
from coordinator.history.explain.output import timeline_of
from coordinator.history.world.views import Note
from coordinator.wire.consumer_protocol import Subscription
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.core.groups.consumer.kit import ConsumerWorld, error_of

OWNED = [{"topic_id": b"x" * 16, "partitions": [0]}]
ORDERS = {"range": Subscription(("orders",)).encode(1)}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"member_id": " "}, "MemberId can't be empty."),  # K8-VAL-4
        ({"instance_id": ""}, "InstanceId can't be empty."),  # K8-VAL-1
        ({"rack_id": "\t "}, "RackId can't be empty."),
        (
            {"rebalance_timeout_ms": -1},
            "RebalanceTimeoutMs must be provided in first request.",
        ),  # K8-VAL-2
        ({"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"subscribed_topic_names": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"member_epoch": -2}, "InstanceId can't be null."),
        ({"member_epoch": -3}, "MemberEpoch is invalid."),
    ],
)
def test_a_heartbeat_that_is_none(wrong: dict[str, Any], text: str) -> None:
    """K8-VAL-1, K8-VAL-2, K8-VAL-4: nothing is made by it."""
    w = ConsumerWorld(orders=1)
    call = w.hello("a", "orders", **wrong)
    assert (error_of(call), call.error_message) == (ErrorCode.INVALID_REQUEST, text)
    assert w.coordinator.groups == {}


def test_version_0_is_given_a_member_id() -> None:
    """K8-VAL-4: by the coordinator, at epoch 0 only."""
    w = ConsumerWorld(orders=1)
    made = w.hello("a", "orders", member_id="", version=0)
    assert made.ok
    assert list(w.consumers.members) == [made.member_id]
    assert (
        error_of(w.beat("a", member_id="", member_epoch=2, version=0)) is ErrorCode.INVALID_REQUEST
    )


def test_no_room_for_a_newcomer() -> None:
    """K8-HB-1 step 2."""
    w = ConsumerWorld(settings={"max_size": 1}, orders=1)
    w.hello("a", "orders")
    assert error_of(w.hello("b", "orders")) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert w.hello("a", "orders").ok


def test_states_and_what_is_described() -> None:
    """K8-REC-1, K8-REC-7, K8-HB-3, K8-DSC-1: what has yet to be revoked is described, and not told
    to its member."""
    w = ConsumerWorld(interval_ms=1_000, orders=4)
    w.hello("a", "orders", rack_id="r")
    assert w.list() == {"g": "Stable"}
    w.hello("b", "orders")
    assert w.list() == {"g": "Assigning"}
    w.advance(1_000)
    w.beat("b")
    w.beat("a")
    assert w.list(states=["reconciling "], types=["Consumer"]) == {"g": "Reconciling"}
    assert w.owned("a") == {"orders": [0, 1]}
    row = w.describe_consumers()
    assert (row.group_epoch, row.assignment_epoch, row.assignor_name) == (3, 3, "uniform")
    a = next(member for member in row.members if member.member_id == "a")
    assert a.rack_id == "r"
    assert sorted(a.assignment.topic_partitions[0].partitions) == [0, 1, 2, 3]
    assert a.target_assignment.topic_partitions[0].partitions == [0, 1]
    assert w.describe(version=6).error_message == "Group g is not a classic group."
    w.bye("a")
    w.bye("b")
    assert w.list() == {"g": "Empty"}


def test_a_target_is_computed_for_all_members_and_only_changes_are_written() -> None:
    """K8-TGT-2."""
    w = ConsumerWorld(orders=4)
    w.hello("a", "orders")
    w.hello("b", "orders")
    w.hello("c", "other")
    assert [
        {target.member_id for target in event.targets} for event in w.happened(cev.TargetAssigned)
    ] == [{"a"}, {"a", "b"}, {"c"}]


def test_static_identities() -> None:
    """K8-ST-2, K8-ST-4."""
    w = ConsumerWorld(orders=1, other=1)
    w.instances = {"a": "i", "b": "j"}
    w.hello("a", "orders")
    assert error_of(w.beat("b", member_epoch=2)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(w.beat("b", member_epoch=2, instance_id="i")) is ErrorCode.FENCED_INSTANCE_ID
    w.bye("a", -2)
    assert w.hello("a", "orders", "other").member_epoch == 3


def test_a_member_that_takes_another_instance_id_gives_up_its_own() -> None:
    """K8-ST-5: it is unknown, is another's for the asking, and is nothing to its former member's
    end. Joining again with none changes nothing."""
    w = ConsumerWorld(orders=1)
    w.instances = {"a": "i"}
    w.hello("a", "orders")
    w.instances = {}
    w.hello("a", "orders")
    assert w.consumers.static_members == {"i": "a"}
    w.instances = {"a": "j", "b": "i"}
    w.hello("a", "orders")
    assert error_of(w.beat("a", member_epoch=-2, instance_id="i")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert w.hello("b", "orders").ok
    assert w.bye("a").ok
    assert w.consumers.static_members == {"i": "b"}


def test_before_4_4_a_former_instance_id_stands_for_its_member_still() -> None:
    """K8-ST-5: for the member as long as it is there, then for nobody; the last one that it names
    is its own, and another's that comes in its place."""
    w = ConsumerWorld(settings={"release": RELEASES["4.3"]}, orders=1)
    for instance in "ij":
        w.instances["a"] = instance
        w.hello("a", "orders")
    assert w.beat("a", instance_id="i").ok
    w.instances["b"] = "i"
    assert error_of(w.hello("b", "orders")) is ErrorCode.UNRELEASED_INSTANCE_ID
    assert w.bye("a", -2).ok
    assert w.hello("b", "orders").ok
    assert w.consumers.static_members == {"i": "b", "j": "a"}
    assert error_of(w.hello("a", "orders")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert w.bye("b").ok
    assert w.consumers.static_members == {"j": "a"}
    notes = timeline_of(w.log_file.read()).groups["g"].entries
    sentences = [told(entry) for entry in notes if isinstance(entry, Note)]
    assert "Member a is also the static member with its former instance id i." in sentences


def test_empty_groups_convert_whatever_the_policy_says() -> None:
    """K8-MIG-3: and their offsets stay."""
    w = ConsumerWorld(settings={"migration": MigrationPolicy.DISABLED}, orders=1)
    w.admin_commit({("orders", 0): 3})
    w.hello("a", "orders")
    w.bye("a")
    w.enter("m", protocols=ORDERS)
    assert w.whole.consumer is None
    w.share(m={"orders": [0]})
    w.leave("m")
    assert w.hello("a", "orders").ok
    assert w.fetch([("orders", 0)]) == {("orders", 0): 3}


@pytest.mark.parametrize("policy", MigrationPolicy)
def test_migration_of_groups_with_members_is_a_matter_of_policy(policy: MigrationPolicy) -> None:
    """K8-MIG-1, K8-MIG-2, K8-CLS-1."""
    w = ConsumerWorld(settings={"migration": policy}, orders=2)
    w.enter("m", protocols=ORDERS)
    w.share(m={"orders": [0, 1]})
    assert w.hello("a", "orders").ok is policy.allows_upgrade
    other = ConsumerWorld(settings={"migration": policy}, orders=2)
    other.hello("a", "orders")
    other.client("m").member_id = "m"
    joined = other.join("m", protocols=ORDERS)
    if policy is MigrationPolicy.DISABLED:
        assert error_of(joined) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return
    assert joined.ok
    other.bye("a")
    assert (other.whole.consumer is None) is policy.allows_downgrade


def test_joins_of_classic_members_are_checked() -> None:
    """K8-CLS-1: another type, nothing in common with the classic members, no id."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    assert (
        error_of(w.join("m", protocols=ORDERS, kind="connect"))
        is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )
    assert error_of(w.join("m", protocols=ORDERS)) is ErrorCode.MEMBER_ID_REQUIRED
    assert w.join("m", protocols=ORDERS).ok
    assert (
        error_of(w.join("n", protocols={"roundrobin": ORDERS["range"]}))
        is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )


def test_a_classic_member_has_to_sync_and_to_rejoin_in_time() -> None:
    """K8-CLS-6."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    for silent in ("sync", "rejoin"):
        w.client("m").member_id = "m"
        w.join("m", protocols=ORDERS, rebalance_ms=10_000)
        if silent == "rejoin":
            w.sync("m")
            w.until_stable("a") if str(w.whole.state) == "Stable" else w.ack("a")
            w.ack("a")
            assert w.heartbeat("m").error == ErrorCode.REBALANCE_IN_PROGRESS
        w.advance(9_999)
        assert "m" in w.consumers.members
        w.advance(1)
        assert "m" not in w.consumers.members
    assert [e.reason for e in w.happened(cev.ConsumerMemberRemoved)] == [
        cev.Removal.DID_NOT_SYNC,
        cev.Removal.DID_NOT_REJOIN,
    ]


def test_leave_group_takes_members_of_either_protocol() -> None:
    """K8-CLS-7: one bump for the whole batch."""
    w = ConsumerWorld(orders=2)
    w.instances = {"c": "i"}
    for name in "abc":
        w.hello(name, "orders")
    epoch = w.consumers.group_epoch
    call = w.leave("admin", ("a", None), ("nobody", None), ("x", "i"), ("", "i"))
    assert [row.error_code for row in call.reply.members] == [0, 25, 82, 0]
    assert (set(w.consumers.members), w.consumers.group_epoch) == ({"b"}, epoch + 1)


def test_fetches_name_a_member_or_nobody() -> None:
    """K8-OFF-2."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    for member, epoch, error in (
        ("a", 2, 0),
        ("a", 1, 113),
        (None, -1, 0),
        ("", -1, 25),
        ("x", 2, 25),
        (None, 2, -1),
    ):
        asked = OffsetFetchRequestGroup(
            group_id="g",
            member_id=member,
            member_epoch=epoch,
            topics=[OffsetFetchRequestTopics(name="orders", partition_indexes=[0])],
        )
        (row,) = w.ask("a", OffsetFetchRequest(groups=[asked]), 9).reply.groups
        assert row.error_code == error, (member, epoch)


@pytest.mark.parametrize(
    ("member", "epoch", "error"),
    [
        ("a", 2, 0),
        ("a", 1, ErrorCode.ILLEGAL_GENERATION),
        ("a", 3, ErrorCode.ILLEGAL_GENERATION),
        ("x", 2, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", -1, 0),
    ],
)
def test_commits_within_transactions(member: str, epoch: int, error: int) -> None:
    """TXN-3, OC-10: anonymous ones pass, a wrong epoch is told as a wrong generation."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    call = w.pend(7, {("orders", 0): 1}, client="p", member_id=member, generation=epoch)
    assert call.reply.topics[0].partitions[0].error_code == error


def test_settings_of_a_group_count_from_the_next_heartbeat() -> None:
    """K8-CFG-1."""
    w = ConsumerWorld(orders=1)
    w.hello("a", "orders")
    w.environment.settings = lambda group: GroupSettings(50_000, 7_000, 0)
    assert w.beat("a").heartbeat_interval_ms == 7_000
    w.advance(49_999)
    assert set(w.consumers.members) == {"a"}
    w.advance(1)
    assert w.consumers.members == {}
