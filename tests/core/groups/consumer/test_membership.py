"""Static members, regular expressions, migration, offsets and loads of consumer groups (K8-ST,
K8-RX, K8-MIG, K8-CLS, K8-OFF, PST-4)."""

from __future__ import annotations

import random

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.events.groups import consumer as cev
from coordinator.wire.consumer_protocol import Assignment, Subscription, TopicPartitions
from tests.core.groups.consumer.kit import ConsumerWorld, error_of


def wants(*topics: str, owned: tuple[int, ...] | None = None) -> dict[str, bytes]:
    """A classic consumer's only protocol."""
    held = () if owned is None else (TopicPartitions(topics[0], owned),)
    return {"range": Subscription(topics, owned_partitions=held).encode(1)}


def test_an_instance_id_in_use_is_refused_until_it_is_left_for_a_while() -> None:
    """K8-ST-1, K8-LV-2: who comes back has its partitions at once, without a bump."""
    w = ConsumerWorld(orders=2)
    w.instances = {"a": "i", "b": "i"}
    w.hello("a", "orders")
    assert error_of(w.hello("b", "orders")) is ErrorCode.UNRELEASED_INSTANCE_ID
    assert error_of(w.beat("b", member_epoch=2)) is ErrorCode.FENCED_INSTANCE_ID
    assert w.bye("a", -2).member_epoch == -2
    assert str(w.whole.state) == "Reconciling"
    assert error_of(w.beat("a", member_epoch=2)) is ErrorCode.FENCED_MEMBER_EPOCH  # K8-ST-3
    assert (w.hello("b", "orders").member_epoch, w.owned("b")) == (2, {"orders": [0, 1]})
    assert w.bye("b", -1).ok
    assert (w.consumers.group_epoch, w.consumers.members) == (3, {})  # K8-LV-3


def test_a_member_that_left_for_a_while_expires_like_any_other() -> None:
    """K8-LV-2."""
    w = ConsumerWorld(orders=2)
    w.instances = {"a": "i"}
    w.hello("a", "orders")
    w.bye("a", -2)
    w.advance(45_000)
    assert w.consumers.members == {}


def test_a_regular_expression_counts_from_the_heartbeat_after_it_was_resolved() -> None:
    """K8-RX-1, K8-RX-2, K8-RX-4."""
    w = ConsumerWorld(orders=2, other=1)
    fields = {"subscribed_topic_names": None, "subscribed_topic_regex": "ord.*"}
    assert w.hello("a", **fields).member_epoch == 1
    assert w.beat("a").member_epoch == 2
    assert w.owned("a") == {"orders": [0, 1]}
    assert w.hello("b", **fields).member_epoch == 3  # resolved already
    refused = w.hello("c", subscribed_topic_names=None, subscribed_topic_regex="(")
    assert error_of(refused) is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert refused.error_message.startswith(
        "SubscribedTopicRegex `(` is not a valid regular expression: "
    )
    w.topics.set("ordinary", 1)
    w.advance(10_001)
    w.beat("a")  # starts the refresh
    w.ack("a")
    assert "ordinary" in w.consumers.subscribers
    w.beat("a", subscribed_topic_regex="")
    w.bye("b")
    assert w.consumers.regexes == {}  # K8-RX-3


def test_a_classic_group_is_upgraded_and_its_member_follows() -> None:
    """K8-MIG-1, K8-CLS-2..5, K8-CLS-8."""
    w = ConsumerWorld(orders=4)
    w.enter("m", protocols=wants("orders"))
    w.share(m={"orders": [0, 1, 2, 3]})
    epoch = w.group.generation
    assert w.hello("b", "orders").member_epoch == epoch + 1
    assert w.heartbeat("m").error == ErrorCode.REBALANCE_IN_PROGRESS
    joined = w.join("m", protocols=wants("orders", owned=(0, 1, 2, 3)))
    assert (joined.generation_id, joined.leader, joined.members) == (epoch, "", [])
    kept = Assignment.decode(w.sync("m").assignment).partitions[0].partitions
    assert len(kept) == 2
    w.join("m", protocols=wants("orders", owned=kept))
    assert w.sync("m").ok
    assert w.heartbeat("m").ok
    w.beat("b")
    assert len(w.owned("b")["orders"]) == 2
    assert [row.member_type for row in w.describe_consumers().members] in ([0, 1], [1, 0])


def test_the_last_consumer_leaves_and_the_group_is_classic_again() -> None:
    """K8-MIG-2: offsets survive, and a rebalance starts."""
    w = ConsumerWorld(orders=2)
    w.hello("a", "orders")
    w.client("m").member_id = "m"
    w.join("m", protocols=wants("orders"))
    w.admin_commit({("orders", 0): 5})
    w.commit("m", {("orders", 0): 5})
    w.bye("a")
    assert w.whole.consumer is None
    assert w.describe().group_state == "PreparingRebalance"
    assert error_of(w.beat("a", member_epoch=3)) is ErrorCode.GROUP_ID_NOT_FOUND
    assert w.fetch([("orders", 0)]) == {("orders", 0): 5}
    assert w.happened(cev.ConsumerGroupDowngraded)[0].generation == 3


@pytest.mark.parametrize(
    ("epoch", "partition", "error"),
    [
        (3, 0, 0),
        (2, 0, 0),
        (2, 2, ErrorCode.STALE_MEMBER_EPOCH),
        (3, 2, 0),
        (1, 0, ErrorCode.STALE_MEMBER_EPOCH),
        (4, 0, ErrorCode.STALE_MEMBER_EPOCH),
    ],
)
def test_an_older_epoch_commits_what_has_been_held_since(
    epoch: int, partition: int, error: int
) -> None:
    """K8-OFF-1 with KIP-1251."""
    w = ConsumerWorld(orders=4)
    w.hello("a", "orders")
    w.hello("b", "orders")
    w.beat("a")
    w.ack("a")
    call = w.commit("a", {("orders", partition): 7}, member_id="a", generation=epoch)
    assert call.reply.topics[0].partitions[0].error_code == error


def random_life(w: ConsumerWorld, seed: int) -> None:
    """A few members do what members do, in any order."""
    rng = random.Random(seed)
    names = ["a", "b", "c"]
    w.instances = {"c": "i"}
    for _ in range(60):
        who = rng.choice(names)
        match rng.randrange(11):
            case 0:
                w.hello(who, "orders", "other")
            case 1:
                w.bye(who, -2 if who == "c" and rng.random() < 0.7 else -1)
            case 2:
                w.beat(who, subscribed_topic_names=rng.choice((["orders"], ["other"], [])))
            case 3:
                w.beat(who, subscribed_topic_regex=rng.choice(("o.*", "", "orders")))
            case 4:
                w.topics.set("orders", w.topics.sizes["orders"] + 1)
            case 5:
                w.advance(rng.choice((1_000, 20_000)))
            case 6:
                w.client("m").member_id = "m"
                w.join("m", protocols=wants("orders"))
            case 7 if w.whole.consumer is not None:
                w.heartbeat("m", member_id="m", generation=w.consumers.group_epoch)
            case _:
                w.ack(who)


@pytest.mark.parametrize("seed", range(25))
def test_replays_and_loads_give_the_group_that_lived(seed: int) -> None:
    """PST-4, ERR-7: a replay of the log gives the live group, and so does a load of what a
    partition keeps of it."""
    w = ConsumerWorld(orders=3, other=2)
    w.hello("a", "orders")
    random_life(w, seed)
    if w.whole.consumer is None:
        return
    live = w.consumers.snapshot()
    replayed = GroupCoordinator.replay(w.config, w.log, w.now)
    assert replayed.groups["g"].membership.snapshot() == live
    w.unload()
    w.finish_load()
    assert w.consumers.snapshot() == live
    w.advance(45_000)  # sessions began anew with the load, and all of them end
    assert w.whole.consumer is None or not w.consumers.members


def test_what_a_partition_keeps_grows_with_members_not_with_heartbeats() -> None:
    """The durable events are compacted by Kafka's keys."""
    w = ConsumerWorld(orders=8)
    for i in range(50):
        w.hello("a", "orders", rack_id=str(i))
        w.hello("b", "orders", rack_id=str(i))
        w.until_stable("a", "b")
        w.bye("b")
    (shard,) = [shard for shard in w.coordinator.shards.values() if shard.groups]
    assert len(shard.durable.events_of("g")) < 10
