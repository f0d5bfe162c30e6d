"""Subscriptions of a consumer group's members: names, regular expressions, topic ids, and the hash
that detects changes of topics.

Owns the bump of the group epoch (K8-HB-1 step 5) and the times at which regular expressions are
matched again (K8-RX-2). Does not know how partitions are assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from enum import Enum
from hashlib import blake2b
from typing import Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import set_capacity
from coordinator.events.groups import consumer as ev

from .environment import Environment, PatternRefused, Topics
from .java_order import name_order
from .model import (
    ConsumerMembership,
    Member,
    SubscriberCount,
    add_names,
    remove_names,
    replace_names,
)
from .requests import Refused

#: Regular expressions are matched again at most so often (K8-RX-2).
REGEX_PAUSE_MS: Final = 10_000
STEPS_A_SLICE: Final = 4_000_000
"""Of the engine that matches: some 25 ms."""
STEPS_A_NAME: Final = 1_200
"""The cost of a match beside the engine's own steps: the call of it, some 8 us."""
STEPS_TO_COMPILE: Final = 500
"""The cost of a character of a pattern."""


class RegexChange(Enum):
    """Change of a member's regular expression."""

    NONE = "unchanged"
    UPDATED = "changed, and not resolved yet"
    RESOLVED = "changed, and resolved already"

    __hash__ = object.__hash__


class Subscriptions(NamedTuple):
    """The group's subscriptions after a member's change: subscribers of each topic, and whether all
    members subscribe alike (SRV-1).
    """

    subscribers: Mapping[str, SubscriberCount]
    homogeneous: bool


class SubscribedTopics:
    """Container of the topic ids a member subscribes to; membership is tested by the topic's name,
    as in Kafka's TopicIds.
    """

    __slots__ = ("names", "topics")

    def __init__(self, names: Collection[str], topics: Topics) -> None:
        self.names = names
        self.topics = topics

    def __contains__(self, topic_id: object) -> bool:
        return isinstance(topic_id, bytes) and self.topics.topic_name(topic_id) in self.names


def names_of(group: ConsumerMembership, member: Member) -> Collection[str]:
    """Return the topic names a member subscribes to, including matches of its resolved regular
    expression (K8-RX-1).
    """
    matched = group.regexes.get(member.regex) if member.regex else None
    return member.topics | matched if matched else member.topics


def ordered_topics(group: ConsumerMembership, member: Member, topics: Topics) -> list[bytes]:
    """Return the ids of the existing subscribed topics, in Kafka's order of iteration over the
    names.
    """
    named = _in_java_order(member.topics, topics)
    matched = group.regexes.get(member.regex) if member.regex else None
    if matched:
        others = _in_java_order(matched, topics)
        large, small = (named, others) if len(member.topics) > len(matched) else (others, named)
        named = list(dict.fromkeys([*large, *small]))
    return [topic_id for name in named if (topic_id := topics.topic_id(name)) is not None]


def _in_java_order(names: Collection[str], topics: Topics) -> list[str]:
    """Return the existing topics among the names, as `new HashSet(names)` iterates them."""
    return name_order(existing(names, topics), set_capacity(len(names)))


def existing(names: Collection[str], topics: Topics) -> list[str]:
    """Return the existing topics among the names, sorted. A member may name a hundred thousand that
    do not exist.
    """
    there = topics.names()
    if len(there) < len(names):
        return sorted([name for name in there if name in names])
    return sorted([name for name in names if topics.topic_id(name) is not None])


def metadata_hash(subscribed: Collection[str], topics: Topics) -> int:
    """Return a number that differs when any subscribed topic was created, deleted, grown, created
    again or moved to other racks; 0 if none exists.
    """
    marks = [topics.fingerprint(name) for name in existing(subscribed, topics)]
    if not marks:
        return 0
    digest = blake2b(b"".join(marks), digest_size=7)
    return int.from_bytes(digest.digest(), "big")


def after(group: ConsumerMembership, old: Member, new: Member) -> Subscriptions:
    """Return the subscriptions as if `old` had become `new`."""
    subscribers = dict(group.subscribers)
    replace_names(subscribers, old.topics, new.topics)
    regexes = dict(group.regex_members)
    if old.regex != new.regex:
        if old.regex:
            if regexes.get(old.regex) == 1:
                remove_names(subscribers, group.regexes.get(old.regex, ()), 0, 1)
            regexes[old.regex] = regexes.get(old.regex, 0) - 1
        if new.regex:
            regexes[new.regex] = regexes.get(new.regex, 0) + 1
    known = new.member_id in group.members or (
        new.instance_id is not None and new.instance_id in group.static_members
    )
    return Subscriptions(
        subscribers,
        is_homogeneous(
            {r: n for r, n in regexes.items() if n > 0},
            subscribers,
            len(group.members) + (not known),
        ),
    )


def without(
    group: ConsumerMembership, members: Collection[Member]
) -> tuple[Mapping[str, SubscriberCount], list[str]]:
    """Return the subscribers of each topic without `members`, and the regular expressions that no
    member has then.
    """
    subscribers = dict(group.subscribers)
    left = dict(group.regex_members)
    for member in members:
        remove_names(subscribers, member.topics, 1, 0)
        if member.regex:
            left[member.regex] -= 1
    forgotten = [regex for regex, count in left.items() if not count]
    for regex in forgotten:
        remove_names(subscribers, group.regexes.get(regex, ()), 0, 1)
    return subscribers, forgotten


def is_homogeneous(
    regexes: Mapping[str, int], subscribers: Mapping[str, SubscriberCount], members: int
) -> bool:
    """Return True if every member subscribes to the same topics, by Kafka's criterion (SRV-1)."""
    if not regexes:
        return all(count.by_name == members for count in set(subscribers.values()))
    if next(iter(regexes.values())) != members:
        return False
    return all(count.by_regex == 1 and count.by_name <= 0 for count in subscribers.values())


# -- regular expressions


class RegexOutcome(NamedTuple):
    """Result of a member's regular expression: events, and the expressions to be matched after the
    reply.
    """

    change: RegexChange
    events: tuple[ev.ConsumerEvent, ...] = ()
    resolve: frozenset[str] | None = None


def update_regex(
    group: ConsumerMembership, old: Member, new: Member, now: int, environment: Environment
) -> RegexOutcome:
    """Process a member's regular expression (K8-RX-1, K8-RX-2). Raises Refused if RE2J refuses it."""
    change, refresh = RegexChange.NONE, False
    events: tuple[ev.ConsumerEvent, ...] = ()
    if old.regex != new.regex:
        change = RegexChange.UPDATED
        if old.regex and group.regex_members.get(old.regex) == 1:
            events = (ev.TopicRegexForgotten(old.regex),)
        if new.regex:
            if not group.regex_members.get(new.regex):
                _check(new.regex, environment)
                refresh = True
            elif new.regex in group.regexes:
                change = RegexChange.RESOLVED
        elif old.regex:
            change = RegexChange.RESOLVED
    if not refresh and not group.regex_members:
        return RegexOutcome(change, events)
    return RegexOutcome(change, events, _due(group, old, new, now, environment, refresh))


def _check(regex: str, environment: Environment) -> None:
    try:
        environment.compile_pattern(regex)
    except PatternRefused as refused:
        text = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {refused}."
        raise Refused(ErrorCode.INVALID_REGULAR_EXPRESSION, text) from None


def _due(
    group: ConsumerMembership,
    old: Member,
    new: Member,
    now: int,
    environment: Environment,
    refresh: bool,
) -> frozenset[str] | None:
    """Return the regular expressions to be matched now, or None if it is too early."""
    last = next(iter(group.regexes_ms.values()), None)
    if last is not None and now <= last + REGEX_PAUSE_MS:
        return None
    subscribed = dict(group.regex_members)
    if old.regex:
        subscribed[old.regex] = subscribed.get(old.regex, 0) - 1
    if new.regex:
        subscribed[new.regex] = subscribed.get(new.regex, 0) + 1
    wanted = frozenset(regex for regex, count in subscribed.items() if count > 0)
    due = (
        refresh
        or len(wanted) != len(group.regexes)
        or (
            group.resolved_version is not None
            and group.resolved_version < environment.topics.created
        )
        or last is None
        or now > last + environment.regex_refresh_interval_ms
    )
    return wanted if due and wanted else None


def resolve(
    group: ConsumerMembership,
    regexes: Collection[str],
    environment: Environment,
    sees: Callable[[str], bool] | None = None,
) -> Generator[None, None, tuple[ev.ConsumerEvent, ...]]:
    """Match expressions against all topics, in slices, and bump the group epoch if the subscribed
    topics change (K8-RX-2).

    `sees`: whether the client whose heartbeat caused it may describe a topic, None: all. Other
    topics match for no member (K8-RX-3, REF-7). Expressions without a subscriber at the end are
    left out, as in Kafka.
    """
    names = tuple(environment.topics.names())
    found: dict[str, frozenset[str]] = {}
    left = STEPS_A_SLICE
    for regex in sorted(regexes):
        if not group.regex_members.get(regex):
            continue
        left -= STEPS_TO_COMPILE * len(regex)
        if left < 0:
            yield
            left = STEPS_A_SLICE - STEPS_TO_COMPILE * len(regex)
        pattern = environment.compile_pattern(regex)
        matching: list[str] = []
        for name in names:
            steps = STEPS_A_NAME + pattern.instructions * len(name)
            left -= steps
            if left < 0:
                yield
                left = STEPS_A_SLICE - steps
            if pattern.matches(name) and (sees is None or sees(name)):
                matching.append(name)
        found[regex] = frozenset(matching)
    return _resolved(group, found, environment)


def _resolved(
    group: ConsumerMembership, found: Mapping[str, frozenset[str]], environment: Environment
) -> tuple[ev.ConsumerEvent, ...]:
    subscribers = dict(group.subscribers)
    changed = False
    events: list[ev.ConsumerEvent] = []
    for regex, topics in found.items():
        if not group.regex_members.get(regex):
            continue
        before = group.regexes.get(regex, frozenset())
        if topics != before:
            changed = True
            remove_names(subscribers, before, 0, 1)
            add_names(subscribers, topics, 0, 1)
        events.append(ev.TopicRegexResolved(regex, tuple(sorted(topics))))
    new_hash = metadata_hash(subscribers, environment.topics)
    if changed or new_hash != group.metadata_hash:
        events.append(
            ev.GroupEpochBumped(
                group.group_epoch + 1, new_hash, "topics that a regular expression matches changed"
            )
        )
    return tuple(events)
