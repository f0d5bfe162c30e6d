"""Java's hashes and HashMap order, against values known from Java itself (HM-1..HM-6, CFG-2,
PROTO-4)."""

from __future__ import annotations

import pytest

from coordinator.base.java_hash import (
    capacity_for,
    coordinator_partition,
    in_compute_order,
    in_hash_order,
    java_hash,
    spread,
    topic_partition_hash,
)
from coordinator.core.groups.classic.model import Member, Members


def one_by_one(text: str) -> int:
    h = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(units), 2):
        h = (31 * h + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    return h


def bucket(text: str, capacity: int = 16) -> int:
    return spread(java_hash(text)) & (capacity - 1)


@pytest.mark.parametrize(
    "unit", ["\x7f", "n", "\x01", "é", "\uffff", "\ud800", "\N{GRINNING FACE}"]
)
def test_long_strings_have_the_hash_that_going_from_unit_to_unit_gives(unit: str) -> None:
    """HM-1: no sum of neighbours overflows."""
    for length in (*range(1, 10), *range(60, 80), 32_767):
        text = unit * length
        assert java_hash(text) == one_by_one(text), length
        assert java_hash("a" + text) == one_by_one("a" + text), length


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("Aa", 2112),
        ("BB", 2112),
        ("hello", 99162322),
        ("range", 108280125),
        ("polygenelubricants", 0x80000000),
        ("é", 233),
        ("€", 0x20AC),
        ("\N{GRINNING FACE}", (31 * 0xD83D + 0xDE00) & 0xFFFFFFFF),  # two UTF-16 units
        ("\ud800", 0xD800),  # a lone surrogate, as bytes that are no UTF-8 may leave behind
    ],
)
def test_string_hash_is_javas(text: str, expected: int) -> None:
    """HM-1: over UTF-16 units, 32 bits."""
    assert java_hash(text) == expected


def test_hash_code_wraps_at_32_bits() -> None:
    """HM-1: long strings overflow as in Java."""
    assert java_hash("zzzzzzz") == sum(122 * 31**i for i in range(7)) & 0xFFFFFFFF
    assert all(0 <= java_hash("z" * n) < 1 << 32 for n in range(60))


def test_the_high_half_is_folded_in() -> None:
    """HM-1: bucket = (h ^ h >>> 16) & (capacity - 1)."""
    assert spread(0x0001_0000) == 0x0001_0001
    assert spread(0x8000_0000) == 0x8000_8000
    assert spread(5) == 5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("sticky", 8), ("range", 9), ("roundrobin", 10), ("cooperative-sticky", 15)),
        *(
            ("uniform", 1),
            ("compatible", 2),
            ("eager", 4),
            ("stream", 5),
            ("connect", 14),
            ("consumer", 14),
            ("sessioned", 15),
        ),
        *(("A", 1), ("B", 2), ("Z", 10)),
    ],
)
def test_buckets_of_well_known_names(name: str, expected: int) -> None:
    """PROTO-4: the order of these names in a HashMap of 16 buckets."""
    assert bucket(name) == expected


def test_topic_partition_hash() -> None:
    """HM-1: 31 * (31 + partition) + hash(topic)."""
    assert topic_partition_hash("", 0) == 961
    assert topic_partition_hash("a", 3) == 31 * 34 + 97
    assert topic_partition_hash("polygenelubricants", 0) == 0x80000000 + 961


@pytest.mark.parametrize(
    ("size", "capacity"),
    [(0, 16), (12, 16), (13, 32), (24, 32), (25, 64), (48, 64), (49, 128), (1000, 2048)],
)
def test_capacity_doubles_above_three_quarters(size: int, capacity: int) -> None:
    """HM-2, HM-4: a default HashMap begins with 16 buckets; 12 entries still fit, the 13th
    doubles."""
    assert capacity_for(size) == capacity


def test_iteration_is_by_bucket_then_by_insertion() -> None:
    """HM-3: Aa and BB share hash and bucket, so the one put first comes first; putting it again
    moves nothing."""
    assert in_hash_order(["BB", "b", "Aa", "a", "BB"], java_hash) == ["BB", "Aa", "a", "b"]
    assert in_hash_order(["Aa", "a", "BB"], java_hash) == ["Aa", "BB", "a"]


def test_more_names_spread_over_more_buckets() -> None:
    """HM-2: 'p' (112) lies in bucket 0 of 16 but 16 of 32, after 'a' (97) in bucket 1 of either."""
    few, many = [*"pa"], [*"pabcdefghijkl"]
    assert in_hash_order(few, java_hash) == ["p", "a"]
    assert len(many) == 13
    assert in_hash_order(many, java_hash)[-1] == "p"


def test_members_iterate_in_javas_order_and_the_table_never_shrinks() -> None:
    """HM-2, HM-6: the broker's member map remembers its largest size."""
    members = Members()
    for name in "pabcdefghijkl":
        members.add(Member(name, None, "", "", 0, 0, ()))
    for name in "bcdefghijkl":
        members.remove(name)
    assert [m.member_id for m in members.in_java_order()] == ["a", "p"]
    assert list(members) == ["p", "a"]
    fresh = Members()
    for name in "pa":
        fresh.add(Member(name, None, "", "", 0, 0, ()))
    assert [m.member_id for m in fresh.in_java_order()] == ["p", "a"]


def test_members_put_again_go_to_the_end_of_their_bucket() -> None:
    """HM-3: removal and another put is a new insertion."""
    members = Members()
    for name in ("Aa", "BB"):
        members.add(Member(name, None, "", "", 0, 0, ()))
    assert [m.member_id for m in members.in_java_order()] == ["Aa", "BB"]
    members.add(members.remove("Aa"))
    assert [m.member_id for m in members.in_java_order()] == ["BB", "Aa"]


def test_compute_if_absent_inserts_at_the_head_of_a_bucket() -> None:
    """HM-3 for computeIfAbsent, whose order answers of DescribeGroups and DeleteGroups show
    (DG-2)."""
    assert in_compute_order(["Aa", "BB", "a"], java_hash) == ["BB", "Aa", "a"]
    assert in_hash_order(["Aa", "BB", "a"], java_hash) == ["Aa", "BB", "a"]


def test_compute_if_absent_resizes_at_the_next_call() -> None:
    """HM-2 for computeIfAbsent: the 13th new key alone does not double the table, a call after it
    does."""
    thirteen = [*"pabcdefghijkl"]
    assert in_compute_order(thirteen, java_hash)[0] == "p"
    assert in_compute_order([*thirteen, "a"], java_hash)[-1] == "p"


@pytest.mark.parametrize(
    ("group", "partition"),
    [
        ("group", 47),
        ("test-group", 12),
        ("my-group", 12),
        ("polygenelubricants", 0),
        ("", 0),
        ("a", 47),
    ],
)
def test_the_partition_of_a_group(group: str, partition: int) -> None:
    """CFG-2: abs(hash) mod 50; the smallest int counts as 0."""
    assert coordinator_partition(group, 50) == partition


def test_negative_hashes_are_made_positive() -> None:
    """CFG-2: not masked, not wrapped: abs."""
    signed = java_hash("sticky") - (1 << 32) if java_hash("sticky") >> 31 else java_hash("sticky")
    assert signed < 0
    assert coordinator_partition("sticky", 7) == -signed % 7
