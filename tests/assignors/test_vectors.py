"""What Java's classes answered, word for word (vectors V1..V18), and what a group of any kind must
not do."""

from __future__ import annotations

import pytest

from assignors import AssignorError, Subscription, TopicPartition, by_name
from assignors.user_data import encode_sticky

S = Subscription
ABC = [["a"], ["b"], ["c"]]
RING = [["a", "b"], ["b", "c"], ["c", "a"]]
BOTH = ("t1", "t2")


def parts(text: str) -> tuple[TopicPartition, ...]:
    """`t1:0,2 t2:1` as partitions."""
    found = []
    for word in text.split():
        topic, _, numbers = word.partition(":")
        found += [TopicPartition(topic, int(number)) for number in numbers.split(",")]
    return tuple(found)


def owning(
    text: str, generation: int | None = None, topics: tuple[str, ...] = ("t1",)
) -> Subscription:
    """A member of cooperative-sticky."""
    return S(topics, None, parts(text), generation)


FIVE = ("t1", "t2", "t3", "t4", "t5")
ODD = ("t1", "t3", "t5")
STAIRS = {"c0": S(("t1",)), "c1": S(BOTH), "c2": S(("t1", "t2", "t3"))}
VECTORS = {
    # RNG-1, RNG-2
    "V1": (
        "range",
        {"t1": 3, "t2": 3},
        {"c1": S(BOTH), "c2": S(BOTH)},
        None,
        {"c1": "t1:0,1 t2:0,1", "c2": "t1:2 t2:2"},
    ),
    # APA-2
    "V2": (
        "range",
        {"t1": 7},
        {
            "m3": S(("t1",)),
            "m1": S(("t1",), group_instance_id="b"),
            "m2": S(("t1",), group_instance_id="a"),
        },
        None,
        {"m2": "t1:0,1,2", "m1": "t1:3,4", "m3": "t1:5,6"},
    ),
    # RNG-3, RNG-4
    "V3": (
        "range",
        {"t1": 3, "t2": 3},
        {f"c{i}": S(BOTH, rack=r) for i, r in enumerate("bca", 1)},
        {"t1": ABC, "t2": ABC},
        {"c3": "t1:0 t2:0", "c1": "t1:1 t2:1", "c2": "t1:2 t2:2"},
    ),
    # RNG-5
    "V4": (
        "range",
        {"t1": 6, "t2": 7},
        {"c1": S(BOTH, rack="a"), "c2": S(BOTH, rack="b"), "c3": S(("t1",), rack="c")},
        {"t1": RING * 2, "t2": (RING * 3)[:7]},
        {"c1": "t1:0,2 t2:0,2,3,5", "c2": "t1:1,3 t2:1,4,6", "c3": "t1:4,5"},
    ),
    # RR-1
    "V5": (
        "roundrobin",
        {"t1": 1, "t2": 2, "t3": 3},
        STAIRS,
        None,
        {"c0": "t1:0", "c1": "t2:0", "c2": "t2:1 t3:0,1,2"},
    ),
    # STK-7, STK-9, STK-11
    "V6": (
        "sticky",
        {"t1": 3, "t2": 3},
        {"c1": S(BOTH), "c2": S(BOTH)},
        None,
        {"c1": "t1:0,2 t2:1", "c2": "t1:1 t2:0,2"},
    ),
    # STK-8, STK-13, STK-27
    "V7": (
        "cooperative-sticky",
        {"t1": 6},
        {"c1": owning("t1:0,1,2", 5), "c2": owning("t1:3,4,5", 5), "c3": S(("t1",))},
        None,
        {"c1": "t1:0,1", "c2": "t1:3,4", "c3": ""},
    ),
    "V8": (
        "cooperative-sticky",
        {"t1": 5},
        {"c1": owning("t1:0,1,2,3,4", 5), "c2": S(("t1",))},
        None,
        {"c1": "t1:0,1,2", "c2": ""},
    ),
    # STK-5
    "V9": (
        "cooperative-sticky",
        {"t1": 4},
        {"c1": owning("t1:0,1", 5), "c2": owning("t1:1,2,3", 5)},
        None,
        {"c1": "t1:0", "c2": "t1:2,3"},
    ),
    "V10": (
        "cooperative-sticky",
        {"t1": 4},
        {"c1": owning("t1:0,1", 5), "c2": owning("t1:1,2,3", 4)},
        None,
        {"c1": "t1:0,1", "c2": "t1:2,3"},
    ),
    # STK-15, STK-18
    "V11": (
        "sticky",
        {"t1": 1, "t2": 2, "t3": 3},
        STAIRS,
        None,
        {"c0": "t1:0", "c1": "t2:0,1", "c2": "t3:0,1,2"},
    ),
    # STK-26, STK-27
    "V12": (
        "cooperative-sticky",
        {"t1": 3, "t2": 3},
        {"c1": owning("t1:0,1,2 t2:0,1,2", 7, BOTH), "c2": S(("t1",))},
        None,
        {"c1": "t2:0,1,2", "c2": ""},
    ),
    "V13": (
        "sticky",
        dict.fromkeys(FIVE, 1),
        {"c1": S(FIVE), "c2": S(ODD), "c3": S(ODD), "c4": S(FIVE)},
        None,
        {"c1": "t2:0 t5:0", "c2": "t1:0", "c3": "t3:0", "c4": "t4:0"},
    ),
    # STK-10
    "V15": (
        "sticky",
        {"t1": 6},
        {f"c{i}": S(("t1",), rack=r) for i, r in enumerate("abc", 1)},
        {"t1": ABC * 2},
        {"c1": "t1:0,3", "c2": "t1:1,4", "c3": "t1:2,5"},
    ),
    "V16": (
        "cooperative-sticky",
        {"t1": 7},
        {"c1": owning("t1:0,1,2,3", 3), "c2": owning("t1:4,5,6", 3), "c3": S(("t1",))},
        None,
        {"c1": "t1:0,1,2", "c2": "t1:4,5", "c3": ""},
    ),
    # APA-1: topics in the order of the map
    "V18": (
        "range",
        {"zz": 2, "a": 2, "t2": 2},
        {"c1": S(("a", "t2", "zz"))},
        None,
        {"c1": "zz:0,1 a:0,1 t2:0,1"},
    ),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_vector(vector: str) -> None:
    name, partitions, members, racks, expected = VECTORS[vector]
    plan = by_name(name).assign(partitions, members, racks)
    assert {member: given.partitions for member, given in plan.items()} == {
        member: parts(text) for member, text in expected.items()
    }
    assert {given.user_data for given in plan.values()} == {None}


def test_v14_a_former_owner_that_was_set_aside() -> None:
    """STK-25, STK-16, STK-19: Java throws a NullPointerException."""
    data = (
        encode_sticky({"t3": [1], "topic-21": [0]}, 3),
        encode_sticky({"orders": [0], "t1": [6], "t3": [0], "topic-21": [1]}, 2),
    )
    members = {
        "client-38-24e8a11e": S(("topic-21", "t3"), data[0], group_instance_id="i279660"),
        "client-0-170fcde5": S(("orders",), data[1]),
        "consumer-23": S(("t3",), group_instance_id="i682250"),
    }
    with pytest.raises(AssignorError, match=r"STK-25.*client-0-170fcde5"):
        by_name("sticky").assign({"t1": 10, "topic-21": 3, "orders": 2, "t3": 3}, members)


def test_v17_an_owned_partition_that_does_not_exist() -> None:
    """STK-29: Java throws an IllegalStateException."""
    members = {"c1": owning("t1:5 t2:0", 1, BOTH), "c2": owning("t1:0 t2:1", 1, BOTH)}
    with pytest.raises(AssignorError, match="STK-29"):
        by_name("cooperative-sticky").assign({"t1": 2, "t2": 2}, members)


def test_unknown_topics_and_empty_ones_are_left_out_and_members_are_not() -> None:
    """APA-1."""
    members = {"a": S(("gone", "empty")), "b": S(("t", "gone"))}
    for name in ("range", "roundrobin", "sticky", "cooperative-sticky"):
        plan = by_name(name).assign({"t": 2, "empty": 0, "unwanted": 3}, members)
        assert {member: given.partitions for member, given in plan.items()} == {
            "a": (),
            "b": parts("t:0,1"),
        }, name


def test_a_group_without_members() -> None:
    """Java's range answers nothing; the others cannot divide by none, or make a ring of none (RR-1,
    STK-7)."""
    assert by_name("range").assign({"t": 1}, {}) == {}
    for name, rule in (
        ("roundrobin", "RR-1"),
        ("sticky", "STK-7"),
        ("cooperative-sticky", "STK-7"),
    ):
        with pytest.raises(AssignorError, match=rule):
            by_name(name).assign({"t": 1}, {})


def test_malformed_user_data_is_no_memory() -> None:
    """STK-1, UD-2: Java takes it for nothing owned; it never raises."""
    for data in (b"", b"\0", b"\x7f\xff\xff\xff", b"\0\0\0\1\0\5t", b"\xff" * 40):
        for name in ("sticky", "cooperative-sticky"):
            plan = by_name(name).assign({"t": 2}, {"a": S(("t",), data), "b": S(("t",), data)})
            assert {member: given.partitions for member, given in plan.items()} == {
                "a": parts("t:0"),
                "b": parts("t:1"),
            }


def test_sticky_tells_the_next_leader_what_it_was_given() -> None:
    """UD-1, STK-28: topics in the order of Java's map, null before the first assignment;
    cooperative-sticky tells -1 then (UD-3)."""
    sticky, cooperative = by_name("sticky"), by_name("cooperative-sticky")
    assert (sticky.subscription_user_data(["t1"]), cooperative.subscription_user_data(["t1"])) == (
        None,
        b"\xff\xff\xff\xff",
    )
    plan = sticky.assign({"t1": 2}, {"m": S(("t1",))})
    sticky.on_assignment(plan["m"], 5)
    cooperative.on_assignment(plan["m"], 5)
    data = sticky.subscription_user_data(["t1"]) or b""
    assert data.hex(" ", 4) == bytes.fromhex(
        "00000001 00027431 00000002 00000000 00000001 00000005"
    ).hex(" ", 4)
    assert cooperative.subscription_user_data(["t1"]) == b"\0\0\0\5"
    assert [int(protocol) for protocol in cooperative.rebalance_protocols] == [1, 0]
    assert by_name("range").subscription_user_data(["t1"]) is None  # UD-4
