"""explain tells consumer groups in sentences: who waits for whom, since which epoch, and each
change of protocol."""

from __future__ import annotations

from tests.core.groups.consumer.kit import ConsumerWorld
from tests.events.test_consumer_story import a_story_of_both_protocols


def test_who_waits_for_whom_to_revoke_what_since_which_epoch() -> None:
    w = ConsumerWorld(orders=4)
    w.hello("a", "orders")
    w.hello("b", "orders")
    w.beat("a")
    text = w.text()
    assert (
        "Member b is at epoch 3 with nothing and waits for orders 2-3, which a has yet to revoke (it is at epoch 2)."
        in text
    )
    assert "Member a has to revoke orders 2-3 before it moves on from epoch 2." in text
    assert "group g: Reconciling in group epoch 3, target of epoch 3, 2 members" in text


def test_each_change_of_protocol_and_a_failed_assignor_are_told() -> None:
    text = a_story_of_both_protocols().text()
    for sentence in (
        "The group is a consumer group (KIP-848) from now on, in the place of an empty classic group; its offsets stay.",
        "The group became a classic group in generation 7, because all remaining members use the classic protocol.",
        "The classic group became a consumer group at epoch 8, because a member of the consumer protocol joined; m keeps its partitions.",
        "The empty consumer group became an empty classic group; its offsets stay.",
        "Assignor broken failed (it is broken); nothing changed, and the request was refused.",
        "Static member i came back as d and keeps the partitions of c.",
        "The expression ord.* matches orders.",
    ):
        assert sentence in text
