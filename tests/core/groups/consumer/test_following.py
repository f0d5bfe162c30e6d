"""The short way of members that only follow the group's epoch gives what the long way gives, in
every life (K8-REC-3)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from coordinator.core.groups.consumer import heartbeat
from coordinator.core.groups.consumer.following import follow
from tests.core.groups.consumer.kit import ConsumerWorld

pytestmark = pytest.mark.unmeasured


def _life(seed: int) -> tuple[list[Any], list[Any]]:
    """A random life of a group; its events, and the answers that its members got."""
    draw = random.Random(seed)
    w = ConsumerWorld(orders=7, other=draw.choice((1, 40)), big=100)
    w.instances = {"s": "i"}
    there: list[str] = []
    answers: list[Any] = []
    for _ in range(60):
        who, what = draw.choice("abcdes"), draw.random()
        if who not in there:
            call = w.hello(who, *draw.sample(("orders", "other", "big"), draw.choice((1, 1, 2))))
            there += [who] if call.ok else []
        elif what < 0.08:
            call = w.bye(who, draw.choice((-1, -2)) if who == "s" else -1)
            there.remove(who)
        elif what < 0.13:
            call = w.beat(
                who,
                subscribed_topic_names=draw.sample(
                    ("orders", "other", "big"), draw.choice((1, 1, 2))
                ),
            )
        elif what < 0.16:
            w.topics.set("orders", w.topics.sizes["orders"] + 1)
            call = w.beat(who)
        elif what < 0.2:
            call = w.beat(who, member_epoch=draw.randint(1, 5))
        else:
            call = w.ack(who) if draw.random() < 0.5 else w.beat(who)
        answers.append((call.reply.error_code, call.reply.member_epoch, call.reply.assignment))
    return w.log, answers


def test_lives_are_the_same_without_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """K8-REC-3."""
    taken = []

    def watched(*arguments: Any) -> Any:
        decision = follow(*arguments)
        taken.append(decision is not None)
        return decision

    monkeypatch.setattr(heartbeat, "follow", watched)
    short = [_life(seed) for seed in range(40)]
    monkeypatch.setattr(heartbeat, "follow", lambda *_: None)
    assert short == [_life(seed) for seed in range(40)]
    assert sum(taken) > 50


def test_who_follows_costs_the_same_for_any_number_of_partitions() -> None:
    """K8-REC-3: what its partitions are is neither read nor told anew while they stay."""
    w = ConsumerWorld(orders=12, other=1)
    w.hello("a", "orders")
    seen = []
    for number in range(3):
        w.hello(f"b{number}", "other")
        w.beat("a")
        member = w.consumers.members["a"]
        assert (member.member_epoch, len(member.told[0].partitions)) == (
            w.consumers.group_epoch,
            12,
        )
        seen.append((member.held, member.told))
    assert seen[1][0] is seen[2][0]
    assert seen[1][1] is seen[2][1]
