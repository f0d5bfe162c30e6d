"""Findings about a group as a whole: they concern no single member, or one member that repeats
an action."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import (
    Assigned,
    BecameEmpty,
    ClientJoined,
    ClientSubscribed,
    CoordinatorLost,
    Described,
    EpochBumped,
    Evidence,
    Joined,
    Left,
    Loaded,
    MemberFenced,
    ProtocolRefused,
    Refused,
    Seen,
    Settings,
    Stabilized,
    SubscriptionChanged,
    TopicChanged,
    Unloaded,
)
from ..stories.people import People
from ..stories.story import FOLLOWS, LIKELY, SHOWN, Event, Finding, GroupStory, Rebalance
from .evidence import evidence_of, times

_BROKER = re.compile(r"\[GroupCoordinator (?:id=)?(\d{1,10})")
_MANY = 3
_DEPLOYMENT_MS = 900_000
_SETTLED_MS = 30_000
_MUCH_LAG = 1_000
_AT_ONCE_MS = 2_000


def find(story: GroupStory, people: People) -> Iterator[Finding]:
    """Yield the findings about a group as a whole."""
    yield from _flapping(story)
    yield from _rolling(story)
    yield from _leader(story)
    yield from _topics(story)
    yield from _coordinator(story)
    yield from _two_coordinators(story)
    yield from _assignors(story)
    yield from _subscriptions(story, people)
    yield from _too_many(story, people)
    yield from _lag(story)
    yield from _migration(story)


def _returning(story: GroupStory) -> dict[str, list[Rebalance]]:
    back: dict[str, list[Rebalance]] = {}
    for each in story.rebalances:
        if each.returns and each.member:
            back.setdefault(each.member, []).append(each)
    return {member: those for member, those in back.items() if len(those) >= _MANY}


def _flapping(story: GroupStory) -> Iterator[Finding]:
    for member, those in _returning(story).items():
        yield Finding(
            "flapping",
            member,
            None,
            FOLLOWS,
            f"{member} left and came back {len(those)} times: each time the whole group rebalances twice",
            evidence_of(those),
        )


def _rolling(story: GroupStory) -> Iterator[Finding]:
    """Find a rolling deployment: several members leave and as many join, within minutes, none of
    them static."""
    flapping = _returning(story)
    static = {
        each.fact.member
        for each in story.seen
        if isinstance(each.fact, Joined | Left) and each.fact.instance
    }
    best: list[Rebalance] = []
    run: list[Rebalance] = []
    for each in story.rebalances:
        if each.cause not in ("left", "joined") or each.at is None or each.member in flapping:
            continue
        if each.member_id in static:
            continue
        run = [one for one in run if each.at - (one.at or 0) <= _DEPLOYMENT_MS] + [each]
        if len(run) > len(best) and _many_both(run):
            best = list(run)
    passing = _passing(best)
    if passing:
        yield Finding(
            "flapping",
            None,
            None,
            FOLLOWS,
            f"{len(passing)} members came and were gone again within {_minutes(passing)} minutes: each of them is two rebalances for "
            "everybody, as when an autoscaler follows the load too closely",
            evidence_of([one for pair in passing for one in pair]),
        )
    elif best:
        first, last = best[0].at or 0, best[-1].at or 0
        left = sum(each.cause == "left" for each in best)
        yield Finding(
            "rolling-deployment",
            None,
            "group.instance.id",
            LIKELY,
            f"{left} members left cleanly and {len(best) - left} came within {(last - first) / 60_000:.1f} minutes, as in a deployment "
            f"that restarts one process after another: {len(best)} rebalances. Static members (group.instance.id, none is seen here) "
            "that are back within the session timeout would spare them; an autoscaler looks the same",
            evidence_of(best),
        )


def _passing(run: list[Rebalance]) -> list[tuple[Rebalance, Rebalance]]:
    """Return the joins and leaves of members that came and left within a run, if most members that
    left did so. In a deployment those leave that were there before."""
    came = {each.member_id: each for each in run if each.cause == "joined"}
    left = [each for each in run if each.cause == "left"]
    pairs = [(came[each.member_id], each) for each in left if each.member_id in came]
    return pairs if len(pairs) >= _MANY and len(pairs) * 2 > len(left) else []


def _minutes(pairs: list[tuple[Rebalance, Rebalance]]) -> str:
    longest = max((left.at or 0) - (came.at or 0) for came, left in pairs)
    return f"{longest / 60_000:.1f}"


def _many_both(run: list[Rebalance]) -> bool:
    left = {each.member_id for each in run if each.cause == "left"}
    came = {each.member_id for each in run if each.cause == "joined"}
    return len(left) >= _MANY and len(came) >= _MANY


def _leader(story: GroupStory) -> Iterator[Finding]:
    again: dict[str, list[Rebalance]] = {}
    for each in story.rebalances:
        if each.cause == "leader-rejoined" and each.member:
            again.setdefault(each.member, []).append(each)
    for member, those in again.items():
        if len(those) >= _MANY:
            yield Finding(
                "leader-asks-again",
                member,
                None,
                SHOWN,
                f"the leader {member} joined again {len(those)} times and gave no reason: its client does so when it sees other "
                "partitions or topics than before (brokers that disagree on metadata, a pattern that matches topics which come "
                "and go), or when the application subscribes anew. Its own log tells which",
                evidence_of(those),
            )


def _topics(story: GroupStory) -> Iterator[Finding]:
    grew = [each for each in story.rebalances if each.cause == "topic-grew"]
    told = [each.evidence for each in story.seen if isinstance(each.fact, TopicChanged)]
    if not grew and not told:
        return
    lines = evidence_of(grew) or list(dict.fromkeys(told))
    count = len(grew) or len(lines)
    yield Finding(
        "topic-grew",
        None,
        None,
        min((each.certainty or LIKELY for each in grew), key=(LIKELY, FOLLOWS, SHOWN).index)
        if grew
        else SHOWN,
        f"the partitions of a subscribed topic changed, {times(count)}: that has to rebalance the group; it is no fault",
        lines,
    )


def _coordinator(story: GroupStory) -> Iterator[Finding]:
    moved = [each for each in story.events if each.kind in ("loaded", "unloaded")]
    gone = [each for each in moved if each.kind == "unloaded" and not _at_the_end(story, each)]
    gone = gone or [each for each in moved if each.kind == "loaded" and _after_others(story, each)]
    told = [
        each
        for each in story.seen
        if isinstance(each.fact, CoordinatorLost)
        and _not_there(each.fact.reason)
        and not _before_all(story, each)
    ]
    if gone:
        yield Finding(
            "coordinator-moved",
            None,
            None,
            SHOWN,
            f"the group's coordinator moved to another broker, or its broker was stopped or restarted, {times(len(gone))}",
            [line for each in moved for line in each.evidence],
        )
    elif told:
        yield Finding(
            "coordinator-moved",
            None,
            None,
            SHOWN,
            "a broker answered that it is not, or not yet, the group's coordinator: the coordinator moved, or its broker was restarted",
            list(dict.fromkeys(each.evidence for each in told)),
        )


def _two_coordinators(story: GroupStory) -> Iterator[Finding]:
    """Find two brokers that complete the same generation: each believes to be the coordinator."""
    first: dict[int, tuple[str, Seen]] = {}
    lines: list[Evidence] = []
    brokers: list[str] = []
    for each in story.seen:
        broker = _BROKER.search(each.evidence.text)
        if not isinstance(each.fact, Stabilized | BecameEmpty) or broker is None:
            continue
        other, seen = first.setdefault(each.fact.generation, (broker[1], each))
        if other != broker[1]:
            lines += [seen.evidence, each.evidence]
            brokers += [other, broker[1]]
    if lines:
        names = " and ".join(dict.fromkeys(brokers))
        yield Finding(
            "two-coordinators",
            None,
            None,
            FOLLOWS,
            f"brokers {names} completed the same generation of the group: for a while each acted as the coordinator, as when one "
            "of them was cut off or paused while the partition of __consumer_offsets moved. Members of one do not know those of "
            "the other",
            list(dict.fromkeys(lines)),
        )


def _before_all(story: GroupStory, lost: Seen) -> bool:
    """Return True if the group began after a client's line: a coordinator that is about to begin
    answers as one that moved does."""
    joins = [each.at for each in story.seen if isinstance(each.fact, ClientJoined)]
    begun = min((at for at in joins if at is not None), default=None)
    return begun is not None and (lost.at or 0) < begun


def _after_others(story: GroupStory, loaded: Event) -> bool:
    """Return True if a coordinator had completed generations or epochs before this load: the
    group came from elsewhere, or its broker was started again."""
    return any(
        isinstance(each.fact, Stabilized | EpochBumped) and (each.at or 0) < (loaded.at or 0)
        for each in story.seen
    )


def _at_the_end(story: GroupStory, unloaded: Event) -> bool:
    """Return True if the unload was the last event, as when everything is stopped: nothing
    follows from it."""
    at = unloaded.at or 0
    others = [each for each in story.seen if not isinstance(each.fact, Unloaded)]
    return bool(others) and not any(
        (each.at or 0) > at + _AT_ONCE_MS
        or (isinstance(each.fact, Loaded) and (each.at or 0) >= at)
        for each in others
    )


def _not_there(reason: str) -> bool:
    words = ("NOT_COORDINATOR", "not the correct coordinator", "NotCoordinator")
    return any(word in reason for word in words)


def _assignors(story: GroupStory) -> Iterator[Finding]:
    refused = [each for each in story.seen if isinstance(each.fact, ProtocolRefused)]
    if not refused:
        return
    member = refused[-1].fact.client if isinstance(refused[-1].fact, ProtocolRefused) else None
    strategies = {
        each.fact.client: each.fact.values["partition.assignment.strategy"]
        for each in story.seen
        if isinstance(each.fact, Settings) and "partition.assignment.strategy" in each.fact.values
    }
    shown = "; ".join(f"{client}: {value}" for client, value in strategies.items())
    yield Finding(
        "assignors-differ",
        member,
        "partition.assignment.strategy",
        SHOWN,
        f"{member} cannot join: it has no assignor in common with the members of the group (INCONSISTENT_GROUP_PROTOCOL)"
        + (
            f". Seen here: {shown}"
            if shown
            else "; the assignors of the others are not in these files"
        )
        + ". Give all members one in common first, then remove the old one",
        [each.evidence for each in refused],
    )


def _subscriptions(story: GroupStory, people: People) -> Iterator[Finding]:
    """Find members that, at the end of the log, have subscribed to different topics for some
    time."""
    now: dict[str, tuple[frozenset[str], Seen]] = {}
    last = None
    for each in story.seen:
        fact = each.fact
        last = each.at if each.at is not None else last
        if isinstance(fact, SubscriptionChanged) and fact.topics:
            now[people.name(fact.member) or fact.member] = _topics_of(fact.topics), each
        elif isinstance(fact, ClientSubscribed):
            now[fact.client] = _topics_of(fact.topics), each
        elif isinstance(fact, Left | MemberFenced):
            now.pop(people.name(fact.member) or fact.member, None)
    if len({topics for topics, _ in now.values()}) < 2 or last is None:
        return
    newest = max((seen.at or 0 for _, seen in now.values()), default=0)
    if last - newest < _SETTLED_MS:
        return
    shown = "; ".join(f"{name}: {', '.join(sorted(topics))}" for name, (topics, _) in now.items())
    yield Finding(
        "subscriptions-differ",
        None,
        None,
        FOLLOWS,
        f"members of one group subscribe to different topics ({shown}): a topic is read only by the members that subscribe to it, "
        "and each change of one of them rebalances all",
        [seen.evidence for _, seen in now.values()],
    )


def _topics_of(text: str) -> frozenset[str]:
    return frozenset(part for part in text.strip("[]").replace(",", " ").split() if part)


def _too_many(story: GroupStory, people: People) -> Iterator[Finding]:
    """Find members without a partition, by the newest assignment of a leader or output of
    `--describe`."""
    idle: tuple[str, ...] = ()
    line: Evidence | None = None
    for each in story.seen:
        fact = each.fact
        if isinstance(fact, Assigned | Described) and fact.most is not None:
            idle, line = (fact.idle if fact.most <= 1 else ()), each.evidence
    if not idle or line is None:
        return
    names = ", ".join(people.name(one) or one for one in idle[:10])
    yield Finding(
        "more-members-than-partitions",
        None,
        None,
        SHOWN,
        f"{len(idle)} of the members have no partition while nobody has more than one ({names}): there are more members than "
        "partitions. They do nothing but rebalance with the others",
        [line],
    )


def _lag(story: GroupStory) -> Iterator[Finding]:
    for state in reversed(story.states):
        lags = dict(state.described.lags)
        if not lags:
            continue
        total = sum(lags.values())
        owner = max(lags, key=lambda one: lags[one])
        if len(lags) >= 2 and total >= _MUCH_LAG and lags[owner] * 10 >= total * 9:
            yield Finding(
                "lag-at-one-owner",
                owner,
                None,
                LIKELY,
                f"{lags[owner]} of {total} records that wait are {owner}'s: it is slow or stuck, or its partitions get more than "
                "the others (keys that are not spread)",
                [state.evidence],
            )
        return


def _migration(story: GroupStory) -> Iterator[Finding]:
    refused = [each for each in story.seen if isinstance(each.fact, Refused)]
    if refused:
        fact = refused[-1].fact
        assert isinstance(fact, Refused)
        yield Finding(
            "migration-refused",
            None,
            "group.consumer.migration.policy",
            SHOWN,
            f"the coordinator refused to let the group become a {fact.to} group, {times(len(refused))}: {fact.why}",
            [each.evidence for each in refused],
        )
    classic: dict[str, Evidence] = {}
    modern: dict[str, Evidence] = {}
    for each in story.seen:
        if isinstance(each.fact, Joined) and each.fact.protocol in ("classic", "consumer"):
            kind = classic if each.fact.protocol == "classic" else modern
            kind[each.fact.member] = each.evidence
        elif isinstance(each.fact, Left | MemberFenced):
            classic.pop(each.fact.member, None)
            modern.pop(each.fact.member, None)
    if classic and modern:
        yield Finding(
            "migration-unfinished",
            None,
            "group.protocol",
            FOLLOWS,
            f"{len(classic)} members still use the classic protocol beside {len(modern)} of the consumer protocol: the migration is not "
            "done until the former are restarted with group.protocol=consumer",
            [*classic.values(), *modern.values()],
        )
