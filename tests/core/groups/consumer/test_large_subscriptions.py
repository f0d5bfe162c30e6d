"""Subscriptions that cost much: regular expressions are matched in slices, and names that no topic
has cost next to nothing."""

from __future__ import annotations

import pytest

from coordinator.core.groups.consumer.java_order import name_order
from coordinator.core.groups.consumer.model import (
    ConsumerMembership,
    Member,
    SubscriberCount,
    add_names,
    remove_names,
    replace_names,
)
from coordinator.core.groups.consumer.subscription import existing, ordered_topics
from tests.core.groups.consumer.kit import ConsumerWorld, FakePattern, FakeTopics

TOPICS = {"orders": 2, "other": 1, "ordinary": 1, "payments": 3}
PATTERN = {"subscribed_topic_names": None, "subscribed_topic_regex": "ord.*"}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name is a slice of its own."""
    monkeypatch.setattr(FakePattern, "instructions", 1_000_000)


@pytest.mark.usefixtures("slow")
def test_it_is_answered_at_once_and_matched_slice_by_slice() -> None:
    """K8-RX-2: the reply does not wait; a heartbeat meanwhile begins nothing anew."""
    w = ConsumerWorld(**TOPICS)
    assert w.hello("a", **PATTERN).member_epoch == 1
    for _ in range(2):
        assert w.coordinator.next_deadline() == w.now + 1
        assert w.beat("a").member_epoch == 1
        w.advance(1)
        assert w.consumers.regexes == {}
    w.advance(10)
    assert w.consumers.regexes == {"ord.*": frozenset({"orders", "ordinary"})}
    assert w.beat("a").member_epoch == 2
    assert w.owned("a") == {"orders": [0, 1], "ordinary": [0]}


@pytest.mark.usefixtures("slow")
def test_a_tick_that_is_late_does_one_slice_all_the_same() -> None:
    w = ConsumerWorld(**TOPICS)
    w.hello("a", **PATTERN)
    w.now += 5_000
    w.tick()
    assert w.consumers.regexes == {}
    assert w.coordinator.next_deadline() == w.now + 1


@pytest.mark.usefixtures("slow")
def test_nothing_comes_of_it_when_nobody_subscribes_any_more() -> None:
    w = ConsumerWorld(**TOPICS)
    w.hello("a", **PATTERN)
    w.hello("b", "payments")
    w.bye("a")
    epoch = w.consumers.group_epoch
    w.advance(10)
    assert (w.consumers.regexes, w.consumers.group_epoch) == ({}, epoch)
    assert set(w.consumers.subscribers) == {"payments"}


@pytest.mark.usefixtures("slow")
def test_a_coordinator_that_is_lost_forgets_it_and_the_next_begins_anew() -> None:
    """ERR-7: it is in no event."""
    w = ConsumerWorld(**TOPICS)
    w.hello("a", **PATTERN)
    w.unload()
    w.advance(10)
    w.begin_load()
    w.finish_load()
    w.advance(10)
    assert w.consumers.regexes == {}
    w.beat("a")
    w.advance(10)
    assert set(w.consumers.regexes) == {"ord.*"}


@pytest.mark.parametrize("instructions", [1, 300_000, 10_000_000])
def test_however_long_it_takes_the_outcome_is_the_same(
    instructions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakePattern, "instructions", instructions)
    w = ConsumerWorld(**TOPICS)
    for who, pattern in (("a", "o.*"), ("b", "ord.*"), ("c", ".*s")):
        w.hello(who, subscribed_topic_names=None, subscribed_topic_regex=pattern)
        w.advance(11_000)
    w.beat("a")
    w.advance(100)
    w.until_stable("a", "b", "c")
    assert w.consumers.regexes == {
        "o.*": frozenset({"orders", "other", "ordinary"}),
        "ord.*": frozenset({"orders", "ordinary"}),
        ".*s": frozenset({"orders", "payments"}),
    }
    assert (
        sorted(len(partitions) for who in "abc" for partitions in w.owned(who).values()).count(0)
        == 0
    )
    assert sum(len(partitions) for who in "abc" for partitions in w.owned(who).values()) == 7


class CountedName(str):
    """A name that counts how often any of its kind is hashed."""

    __slots__ = ()
    hashed = 0

    def __hash__(self) -> int:
        CountedName.hashed += 1
        return str.__hash__(self)


def test_names_beside_a_pattern_are_looked_at_once_each() -> None:
    """All names were looked at again for each name that the pattern matches: 10,000 names and 1,000
    matches took seconds."""
    group = ConsumerMembership("g")
    named, matched = ([CountedName(f"{kind}{number}") for number in range(400)] for kind in "nm")
    group.regexes["m.*"] = frozenset([*matched, *named[:50]])
    member = Member("a", topics=frozenset(named), regex="m.*")
    topics = FakeTopics(dict.fromkeys((*named, *matched), 1))
    CountedName.hashed = 0
    ordered = ordered_topics(group, member, topics)
    assert CountedName.hashed < 40 * len(ordered)
    assert sorted(map(topics.topic_name, ordered)) == sorted({*named, *matched})


@pytest.mark.parametrize("more", [0, 5, 500])
def test_names_that_no_topic_has_are_left_out_and_still_decide_the_order(more: int) -> None:
    """HM-3, HM-4: Java's set has as many buckets as there are names, topics or not; 120,000 names
    that were none held the loop 0.7 s."""
    real = [f"topic-{number}" for number in range(40)]
    names = frozenset([*real, *(f"missing-{number}" for number in range(more))])
    topics = FakeTopics(dict.fromkeys(real, 1))
    whole = [name for name in name_order(sorted(names)) if name in topics.sizes]
    ordered = ordered_topics(ConsumerMembership("g"), Member("a", topics=names), topics)
    assert [topics.topic_name(topic_id) for topic_id in ordered] == whole
    assert existing(names, topics) == sorted(real)


def test_subscribers_are_counted_alike_one_by_one_and_all_at_once() -> None:
    """Names with equal counts change together, others one by one; a topic that nobody subscribes to
    any more goes."""
    one: dict[str, SubscriberCount] = {}
    all_at_once: dict[str, SubscriberCount] = {}
    add, remove = add_names, remove_names
    for change, names, by_name, by_regex in [
        (add, "abc", 1, 0),
        (add, "de", 1, 0),
        (add, "cdf", 1, 0),
        (add, "af", 0, 1),
        (remove, "abc", 1, 0),
        (remove, "af", 0, 1),
    ]:
        change(all_at_once, frozenset(names), by_name, by_regex)
        for name in names:
            change(one, [name], by_name, by_regex)
        assert one == all_at_once
    assert one == {"c": (1, 0), "d": (2, 0), "e": (1, 0), "f": (1, 0)}


@pytest.mark.parametrize(
    ("new", "left"),
    [
        ("abc", {"a": 1, "b": 2, "c": 2, "d": 1}),
        ("xy", {"b": 1, "c": 1, "d": 1, "x": 1, "y": 1}),
        ("bx", {"b": 2, "c": 1, "d": 1, "x": 1}),
        ("", {"b": 1, "c": 1, "d": 1}),
    ],
)
def test_a_member_that_names_others_is_counted_for_those(new: str, left: dict[str, int]) -> None:
    subscribers: dict[str, SubscriberCount] = {}
    add_names(subscribers, "bcd", 1, 0)
    replace_names(subscribers, frozenset(), frozenset("abc"))
    replace_names(subscribers, frozenset("abc"), frozenset(new))
    assert subscribers == {name: (count, 0) for name, count in left.items()}
