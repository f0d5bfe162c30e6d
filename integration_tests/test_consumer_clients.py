"""Unmodified clients with `group.protocol=consumer` (KIP-848), on the emulator and on a real Apache
Kafka 4.4.0.

What is compared is what both have to come to, whichever heartbeat came first: who owns what when
all is quiet, in which order a partition changed hands, that no callback failed, and which offsets
were found. Java plays with both assignors of the coordinator. On a real broker `make test` has one
story of every variant, `make fuzz` the others.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from integration_tests.clients import java_agent
from integration_tests.clients.agents_running import Agents
from integration_tests.clients.consumer_cast import CONSUMER_VARIANTS, ConsumerCast
from integration_tests.clients.member import Member
from integration_tests.clients.perform import Part
from integration_tests.conftest import REQUIRED
from integration_tests.gate import on_a_real_broker
from integration_tests.targets import EmulatorTarget, KafkaTarget
from tools.kafka_jars import NoJavaError

PROFILE = "consumer"
Story = Callable[[ConsumerCast], None]


def shares(*members: Member) -> list[int]:
    """How many partitions each owns."""
    return sorted(len(member.owned) for member in members)


def called(member: Member) -> list[str]:
    """The kinds of its listener's calls that had partitions in them, in order."""
    kinds = ("assigned", "revoked", "lost")
    return [
        step.split()[0]
        for step in member.steps
        if step.split()[0] in kinds and not step.endswith(" -")
    ]


def members_come_and_go(cast: ConsumerCast) -> None:
    """K8-REC-3: a newcomer gets what others have given up; who closes leaves its share to the
    others."""
    orders = cast.topic("orders", 6)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B").subscribe(orders)
    cast.settled(a, b)
    assert shares(a, b) == [3, 3]
    c = cast.member("C").subscribe(orders)
    cast.settled(a, b, c)
    assert shares(a, b, c) == [2, 2, 2]
    assert set(called(c)) == {"assigned"}, "in one step or two, as the others give up"
    assert called(a)[0] == "assigned" and "lost" not in called(a) + called(b)
    b.close()
    cast.settled(a, c)
    assert shares(a, c) == [3, 3] and called(b)[-1] == "revoked"


def offsets_survive_a_change_of_owner(cast: ConsumerCast) -> None:
    """K8-OFF-1, K8-OFF-2: committed at a member epoch, found by whoever has the partition next."""
    orders = cast.topic("orders", 2)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    cast.produce(orders, {0: "abc", 1: "xyz"})
    a.until_consumed(6)
    a.commit({(orders, 0): 1, (orders, 1): 2})
    a.close()
    b = cast.member("B").subscribe(orders)
    cast.settled(b)
    b.until_consumed(3)
    assert {label: "".join(values) for label, values in b.records.items()} == {
        "orders/0": "bc",
        "orders/1": "z",
    }


def a_static_member_comes_back(cast: ConsumerCast) -> None:
    """K8-LV-2, K8-ST-1: it has what it had, and nobody else hears of it."""
    orders = cast.topic("orders", 4)
    a = cast.member("A", group_instance_id="one").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", group_instance_id="two").subscribe(orders)
    cast.settled(a, b)
    theirs, heard = set(b.owned), list(called(a))
    b.close()
    again = cast.member("B again", group_instance_id="two", client_id="b").subscribe(orders)
    again.until_owns(*theirs)
    cast.settled(a, again)
    assert called(a) == heard


def a_group_moves_to_the_consumer_protocol_and_back(cast: ConsumerCast) -> None:
    """K8-MIG-1, K8-MIG-2: one member after the other, each protocol beside the other; committed
    offsets stay."""
    orders = cast.topic("orders", 4)
    a = cast.member("A", protocol="classic").subscribe(orders)
    cast.settled(a)
    b = cast.member("B", protocol="classic").subscribe(orders)
    cast.settled(a, b)
    cast.produce(orders, {0: "ab", 1: "cd", 2: "ef", 3: "gh"})
    cast.until_seen("abcdefgh")
    a.commit()
    b.commit()
    a.close()
    cast.settled(b)
    new_a = cast.member("A new").subscribe(orders)
    cast.settled(b, new_a)
    b.close()
    cast.settled(new_a)
    new_b = cast.member("B new").subscribe(orders)
    cast.settled(new_a, new_b)
    new_a.close()
    cast.settled(new_b)
    old_a = cast.member("A old", protocol="classic").subscribe(orders)
    cast.settled(new_b, old_a)
    new_b.close()
    cast.settled(old_a)
    old_b = cast.member("B old", protocol="classic").subscribe(orders)
    cast.settled(old_a, old_b)
    assert shares(old_a, old_b) == [2, 2]
    assert not any(member.records for member in (new_a, new_b, old_a, old_b))  # all was committed


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        members_come_and_go,
        offsets_survive_a_change_of_owner,
        a_static_member_comes_back,
        a_group_moves_to_the_consumer_protocol_and_back,
    )
}
PARTS = [(variant, story) for variant in CONSUMER_VARIANTS for story in STORIES]


def play(story: str, variant: str, address: str, agents: Agents) -> None:
    """Play one story; Stuck says what did not come."""
    if CONSUMER_VARIANTS[variant].library == "java":
        try:
            java_agent.command()
        except NoJavaError as reason:
            if REQUIRED:
                pytest.fail(f"the Java consumer cannot play: {reason}", pytrace=False)
            pytest.skip(f"the Java consumer cannot play: {reason}")
    cast = ConsumerCast(CONSUMER_VARIANTS[variant], address, agents)
    try:
        STORIES[story](cast)
    finally:
        cast.transcript()
        cast.leave()


@pytest.mark.parametrize("part", PARTS, ids="-".join)
def test_on_the_emulator(part: Part, emulator: EmulatorTarget, agents: Agents) -> None:
    variant, story = part
    play(story, variant, emulator.address(PROFILE), agents)


@pytest.mark.parametrize(
    "part",
    on_a_real_broker(
        PARTS, [part for part in PARTS if part[1] == members_come_and_go.__name__], "-".join
    ),
)
def test_on_a_real_broker(part: Part, kafka: KafkaTarget, agents: Agents) -> None:
    variant, story = part
    play(story, variant, kafka.address(PROFILE), agents)
