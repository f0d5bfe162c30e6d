"""The log of consumer groups: its bytes are pinned, every type of event is in it, and a replay of
it gives the live group."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.groups.consumer.environment import AssignorFailed
from coordinator.events.groups import ConsumerEvent
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    FormerInstanceIdKept,
    GroupEpochBumped,
)
from coordinator.server.replay.one_broker import read_group_events
from coordinator.wire.consumer_protocol import Subscription
from tests.core.groups.consumer.kit import ConsumerWorld

GOLDEN = Path(__file__).parent.parent / "vectors" / "event_log" / "consumer_story.jsonl"


class Broken:
    """An assignor that never assigns anything."""

    name = "broken"

    def assign(self, wanted: object) -> dict[str, dict[bytes, list[int]]]:
        raise AssignorFailed("it is broken")


def a_story_of_both_protocols() -> ConsumerWorld:
    """A group is born as a consumer group, shares, loses members, moves between the protocols and
    back."""
    w = ConsumerWorld(orders=4)
    orders = {"range": Subscription(("orders",)).encode(1)}
    w.instances = {"c": "i", "d": "i"}
    w.hello("a", "orders")
    w.hello("b", subscribed_topic_names=None, subscribed_topic_regex="ord.*")
    w.until_stable("a", "b")
    w.hello("c", "orders", rack_id="r")
    w.beat("a")
    w.ack("a")
    before = w.consumers.members["a"].previous_epoch
    w.beat("a", member_epoch=before, topic_partitions=w.listed("a"))  # its last answer was lost
    w.bye("c", -2)
    w.hello("d", "orders")
    w.environment.make_assignors().update(broken=Broken())  # type: ignore[attr-defined]
    w.hello("e", "orders", server_assignor="broken")
    w.bye("b")
    w.client("m").member_id = "m"
    w.join("m", protocols=orders)
    w.bye("d")
    w.bye("a")
    w.join("m", protocols=orders)
    w.share(m={"orders": [0, 1, 2, 3]})
    w.hello("f", "orders")
    w.leave("m")
    w.bye("f")
    w.enter("n", protocols=orders)
    w.leave("n")
    w.hello("a", "orders")
    return w


def test_the_golden_log_of_consumer_groups() -> None:
    """A difference here is a change of the public contract."""
    w = a_story_of_both_protocols()
    assert w.log_file.lines[1:] == GOLDEN.read_text().splitlines()[1:]
    of_older_releases = {FormerInstanceIdKept}
    assert {type(entry.event) for entry in read_group_events(GOLDEN)} >= set(
        get_args(ConsumerEvent)
    ) - of_older_releases
    replayed = GroupCoordinator.replay(w.config, read_group_events(GOLDEN), w.now)
    assert replayed.groups["g"].membership.snapshot() == w.consumers.snapshot()


def test_lines_of_consumer_groups_have_epochs_and_no_generation() -> None:
    lines = [line for line in a_story_of_both_protocols().log_file.read() if line.stream == "group"]
    bumps = [line for line in lines if line.kind is GroupEpochBumped]
    assert bumps
    assert all(line.generation is None and line.event.group_epoch > 0 for line in bumps)
    assert any(
        line.kind is ConsumerGroupDowngraded and (line.generation or 0) > 0 for line in lines
    )
