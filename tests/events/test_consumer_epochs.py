"""The rebalances of a consumer group (KIP-848) over a change of its membership: epochs of one do
not go on in the next."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.history.world.groups.epochs import Epochs
from tests.lines import line_from


def _follow(epochs: Epochs, at_ms: int, state: str, kind: str, **fields: Any) -> None:
    line = line_from({"seq": at_ms, "at_ms": at_ms, "type": kind, **fields})
    epochs.follow(line, state, lambda _: [])


def _target(epochs: Epochs, at_ms: int, epoch: int, member: str, numbers: list[int]) -> None:
    topics = [{"topic": "orders", "topic_id": "", "partitions": numbers}]
    targets = [{"member_id": member, "topics": topics}]
    _follow(
        epochs,
        at_ms,
        "Reconciling",
        "TargetAssigned",
        assignment_epoch=epoch,
        assignor="uniform",
        targets=targets,
    )


@pytest.mark.parametrize("kind", ["ConsumerGroupDowngraded", "MembershipReset"])
def test_an_epoch_ends_with_its_membership_and_the_next_one_knows_none_of_its_targets(
    kind: str,
) -> None:
    epochs = Epochs()
    _follow(epochs, 0, "Empty", "ConsumerGroupCreated")
    _follow(epochs, 1, "Assigning", "GroupEpochBumped", group_epoch=2)
    _target(epochs, 2, 2, "a", [0, 1])
    _follow(epochs, 3, "Stable", kind)  # as a classic group
    first = epochs.views[0]
    assert (first.outcome, first.ended_ms, first.stable_ms) == ("interrupted", 3, None)
    _follow(epochs, 8, "Reconciling", "ConsumerGroupUpgraded")
    _follow(epochs, 9, "Assigning", "GroupEpochBumped", group_epoch=9)
    _target(epochs, 10, 9, "b", [0])
    [target] = epochs.views[1].targets
    assert (target.member, target.added, first.ended_ms) == ("b", {"orders": (0,)}, 3)
