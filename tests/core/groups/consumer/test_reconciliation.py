"""Joining, reconciliation, leaving and fencing of consumer groups (K8-HB, K8-EP, K8-REC, K8-LV).
The real broker's own transcripts stand in integration_tests/golden/wire/consumer_*; these tests say
which rule each step obeys."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.consumer.environment import AssignorFailed
from coordinator.events.groups import consumer as cev
from coordinator.wire.messages.consumer_group_heartbeat import TopicPartitions
from tests.core.groups.consumer.kit import ConsumerWorld, error_of


def test_a_lone_member_has_everything_at_epoch_2() -> None:
    """K8-HB-1 as 4.4.0 has it: a group begins at epoch 1 and the first subscription bumps it."""
    w = ConsumerWorld(orders=3)
    call = w.hello("a", "orders")
    assert (call.member_epoch, w.owned("a"), call.heartbeat_interval_ms) == (
        2,
        {"orders": [0, 1, 2]},
        5_000,
    )
    assert w.ack("a").assignment is None  # K8-HB-2: nothing changed
    full = w.ack("a", rebalance_timeout_ms=60_000, subscribed_topic_names=["orders"])
    assert full.assignment is not None  # K8-HB-2: a full request is told its assignment


def test_without_a_name_the_first_member_is_at_epoch_1() -> None:
    w = ConsumerWorld(orders=3)
    assert w.hello("a").member_epoch == 1
    assert w.beat("a", subscribed_topic_names=["orders"]).member_epoch == 2


def test_partitions_move_only_after_they_were_revoked() -> None:
    """K8-REC-3..5: the old owner revokes, then the new one gets them."""
    w = ConsumerWorld(orders=4)
    w.hello("a", "orders")
    w.ack("a")
    assert w.hello("b", "orders").member_epoch == 3
    assert w.owned("b") == {}
    assert w.beat("a").member_epoch == 2  # told what it keeps, and not yet at the next epoch
    assert w.owned("a") == {"orders": [0, 1]}
    assert w.beat("b").assignment is None  # still held
    assert w.ack("a").member_epoch == 3
    w.beat("b")
    assert w.owned("b") == {"orders": [2, 3]}
    assert str(w.whole.state) == "Stable"


def test_a_member_that_still_reports_a_revoked_partition_stays_where_it_is() -> None:
    """K8-REC-2."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    old = w.listed("a")
    w.hello("b", "orders")
    w.beat("a")
    for owned in (None, old):
        assert w.beat("a", topic_partitions=owned).member_epoch == 2
    assert w.beat("a", topic_partitions=[]).member_epoch == 3


@pytest.mark.parametrize(
    ("epoch", "owned", "error"),
    [
        (3, None, ErrorCode.NONE),
        (2, None, ErrorCode.FENCED_MEMBER_EPOCH),
        (2, "subset", ErrorCode.NONE),
        (2, "old", ErrorCode.FENCED_MEMBER_EPOCH),
        (1, "subset", ErrorCode.FENCED_MEMBER_EPOCH),
        (4, None, ErrorCode.FENCED_MEMBER_EPOCH),
        (0, None, ErrorCode.INVALID_REQUEST),
    ],
)
def test_which_epochs_are_accepted(epoch: int, owned: str | None, error: ErrorCode) -> None:
    """K8-EP-1: the previous epoch only with a subset of what is held. A refusal changes nothing."""
    w = ConsumerWorld(orders=4)
    w.hello("a", "orders")
    old = w.listed("a")
    w.hello("b", "orders")
    w.beat("a")
    w.ack("a")
    before = w.consumers.snapshot()
    reported = {"old": old, "subset": w.listed("a"), None: None}[owned]
    assert error_of(w.beat("a", member_epoch=epoch, topic_partitions=reported)) is error
    assert w.happened(cev.PreviousEpochAccepted) == (
        [cev.PreviousEpochAccepted("a", 2)] if (epoch, error) == (2, ErrorCode.NONE) else []
    )
    if error:
        assert w.consumers.snapshot() == before


def test_epoch_0_is_welcome_at_any_time() -> None:
    """K8-EP-1 as 4.4.0 has it: answered with the current epoch and the whole assignment, without a
    bump."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    w.ack("a")
    assert (w.hello("a", "orders").member_epoch, w.owned("a")) == (2, {"orders": [0, 1]})


def test_leaving_bumps_the_epoch_and_frees_what_was_held() -> None:
    """K8-LV-1, K8-LV-4."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    w.hello("b", "orders")
    w.until_stable("a", "b")
    answer = w.bye("a")
    assert (answer.member_epoch, answer.heartbeat_interval_ms) == (-1, 0)
    assert error_of(w.beat("a")) is ErrorCode.UNKNOWN_MEMBER_ID
    w.beat("b")
    assert w.owned("b") == {"orders": [0, 1]}
    w.bye("b")
    assert (str(w.whole.state), w.consumers.group_epoch) == ("Empty", 5)
    assert w.delete() == {"g": ErrorCode.NONE}
    assert error_of(w.beat("b", member_epoch=3)) is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_session_that_expires_removes_its_member() -> None:
    """K8-LV-5."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    w.hello("b", "orders")
    w.advance(44_999)
    w.beat("a")
    assert set(w.consumers.members) == {"a", "b"}
    w.advance(1)
    assert set(w.consumers.members) == {"a"}
    (gone,) = w.happened(cev.ConsumerMemberRemoved)
    assert (gone.member_id, gone.reason) == ("b", cev.Removal.SESSION_EXPIRED)


def test_who_does_not_revoke_in_time_is_fenced_whatever_it_sends() -> None:
    """K8-REC-6: heartbeats that report the old partitions do not put the time off."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders", rebalance_timeout_ms=10_000)
    w.hello("b", "orders")
    w.beat("a")
    for _ in range(2):
        w.advance(4_999)
        w.beat("a")
    w.advance(2)
    assert error_of(w.beat("a")) is ErrorCode.UNKNOWN_MEMBER_ID
    (gone,) = w.happened(cev.ConsumerMemberRemoved)
    assert gone.reason == cev.Removal.DID_NOT_REVOKE


def test_topics_that_come_grow_and_go_bump_the_epoch_at_the_next_heartbeat() -> None:
    """K8-HB-4, K8-TGT-4."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders", "later")
    w.topics.set("later", 1)
    assert w.beat("a").member_epoch == 3
    assert w.owned("a") == {"orders": [0, 1], "later": [0]}
    w.topics.set("orders", 3)
    assert w.beat("a").member_epoch == 4
    assert w.owned("a") == {"orders": [0, 1, 2], "later": [0]}
    w.topics.set("orders", None)
    w.beat("a")
    w.ack("a")
    assert w.owned("a") == {"later": [0]}
    w.topics.set("unrelated", 9)
    assert w.beat("a").assignment is None
    assert w.consumers.group_epoch == 5


def test_within_the_assignment_interval_a_newcomer_waits_for_the_first_heartbeat_after_it() -> None:
    """KIP-1263: no timer; the interval counts from the last assignment."""
    w = ConsumerWorld(interval_ms=1_000, orders=2)
    w.hello("a", "orders")
    w.advance(999)
    assert w.hello("b", "orders").member_epoch == 2
    assert (str(w.whole.state), w.consumers.group_epoch, w.consumers.assignment_epoch) == (
        "Assigning",
        3,
        2,
    )
    w.advance(5_000)
    assert w.consumers.assignment_epoch == 2
    assert w.beat("b").member_epoch == 3


def test_the_assignor_most_members_ask_for_is_used() -> None:
    """K8-TGT-1."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders", server_assignor="range")
    assert w.describe_consumers().assignor_name == "range"
    w.hello("b", "orders", server_assignor="uniform")
    w.hello("c", "orders", server_assignor="uniform")
    assert w.describe_consumers().assignor_name == "uniform"
    assert (
        error_of(w.hello("d", "orders", server_assignor="nobody")) is ErrorCode.UNSUPPORTED_ASSIGNOR
    )  # K8-VAL-3


def test_an_assignor_that_fails_changes_nothing() -> None:
    """K8-TGT-3: UNKNOWN_SERVER_ERROR without a text, and the bump of the epoch is lost too."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    before = w.consumers.snapshot()

    class Broken:
        name = "broken"

        def assign(self, wanted: object) -> dict[str, dict[bytes, list[int]]]:
            raise AssignorFailed("it is broken")

    w.environment.make_assignors().update(broken=Broken())  # type: ignore[attr-defined]
    call = w.hello("b", "orders", server_assignor="broken")
    assert (error_of(call), call.error_message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)
    assert before == w.consumers.snapshot()
    assert w.happened(cev.AssignmentFailed) == [cev.AssignmentFailed(3, "broken", "it is broken")]


def test_a_partition_nobody_owns_in_the_report_is_no_harm() -> None:
    """A heartbeat may report partitions of topics the coordinator does not know."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    assert w.beat("a", topic_partitions=[TopicPartitions(topic_id=b"x" * 16, partitions=[0])]).ok
