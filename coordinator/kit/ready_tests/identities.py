"""Findings about the identity of an application at its brokers: its group, its membership, its
instance id and its transactional id.

Reads lines of the event log, and commits as they came. `findings` has the names of findings and
all other judgements.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from coordinator.base.counting import how_many
from coordinator.events.groups import (
    GroupLoaded,
    MemberJoined,
    MemberPending,
    MemberRemoved,
    MemberSynced,
    Removal,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
)
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen
from coordinator.history.world.groups.consumer_groups import ConsumerGroups
from coordinator.history.world.groups.memberships import REPLACED, memberships
from coordinator.history.world.processes.returns import departures

from . import findings as f
from .findings import CommitSeen, Finding, Line, when
from .losses import TOLD_AT_MOST

_COMMITS = ("offset_commit", "txn_offset_commit")
_JOINED = frozenset({MemberPending, MemberJoined, ConsumerMemberSubscribed})
_BY_ITSELF = (Removal.LEFT, Removal.SESSION_EXPIRED)


def clients_that_joined(lines: Iterable[Line]) -> set[str]:
    """Return client ids that asked to join a group; in the consumer protocol (KIP-848) those
    that became members."""
    found = set()
    for line in lines:
        match line.event:
            case RequestSeen("join_group", _, client):
                found.add(client)
            case ConsumerMemberSubscribed() as subscription:
                found.add(subscription.client_id)
            case ConsumerMemberReplaced(_, _, subscription):
                found.add(subscription.client_id)
    return found


def without_membership(
    commits: Iterable[CommitSeen], lines: Sequence[Line], *, ever: bool
) -> list[Finding]:
    """Return findings for commits that name no member. `ever`: the application has no member at
    all.

    If it has members, only commits that were refused count: from a client that never joined, or
    several of one client. A client that lost its membership forgets its member id before it
    joins again, and may commit once for each record that it is processing.
    """
    joined = clients_that_joined(lines)
    refused = {
        line.cause
        for line in lines
        if isinstance(line.event, RequestRefused) and line.event.api in _COMMITS
    }
    count: Counter[str] = Counter()
    for commit in commits:
        if commit.by_member or not (ever or commit.seq in refused):
            continue
        count[commit.member] += 1
        if commit.member not in joined:
            told = (
                "is refused, because the group has members"
                if commit.seq in refused
                else "is no member"
            )
            text = f"{commit.member} commits without a member id, and {told}{commit.when}: it assigns partitions to itself"
            return [Finding(f.NO_MEMBER, text)]
        if count[commit.member] > TOLD_AT_MOST:
            text = f"{commit.member} has lost its membership, but continues to commit without a member id{commit.when}"
            return [Finding(f.AFTER_LOSING, f"{text}; it does not join again")]
    return []


def without_members(
    commits: Iterable[CommitSeen], lines: Sequence[Line], group: str, peers: Collection[str] = ()
) -> list[Finding]:
    """Return why the application has no member in its group: it commits or reads without being a
    member, is in another group, or has left."""
    alone = without_membership(commits, lines, ever=True)
    return (
        alone or elsewhere(lines, group) or reads_alone(lines, group) or gone(lines, group, peers)
    )


def gone(lines: Sequence[Line], group: str, peers: Collection[str]) -> list[Finding]:
    """Return a finding if the application's last member was removed and none has joined since."""
    for line in reversed(lines):
        event = line.event
        if (
            isinstance(event, MemberRemoved | ConsumerMemberRemoved)
            and line.group == group
            and event.member_id not in peers
        ):
            detail, at, why = event.detail, when(line.seq, line.at_ms), event.reason
            told = f"{why!r} ({detail})" if detail else f"{why!r}"
            text = f"it no longer has a member in its group: {event.member_id} went{at}, the reason is {told}"
            refused = _after_its_commit(lines, line, event) if why == Removal.LEFT else ""
            return [Finding(f.NO_RECOVERY, f"{text}; none has come since{refused}")]
    return []


def _after_its_commit(
    lines: Sequence[Line], gone: Line, removal: MemberRemoved | ConsumerMemberRemoved
) -> str:
    """Return a sentence if the member's last commit before it left was refused, else an empty
    string."""
    for line in reversed(lines):
        event = line.event
        if line.member != removal.member_id or line.seq >= gone.seq:
            continue
        if isinstance(event, RequestAnswered) and event.api in _COMMITS:
            break
        if isinstance(event, RequestRefused) and event.api in _COMMITS:
            named, at = ", ".join(event.errors), when(line.seq, line.at_ms)
            why = "a consumer that ends with this error (kafkajs: if its handler throws it) has to catch it"
            return f". Its last commit was refused with {named}{at}: {why}"
    return ""


def reads_alone(lines: Sequence[Line], group: str) -> list[Finding]:
    """Return a finding if a client fetches the group's offsets and never joins any group."""
    joined = clients_that_joined(lines)
    for line in lines:
        match line.event:
            case RequestSeen("offset_fetch", _, client) if (
                line.group == group and client not in joined
            ):
                text = f"{client} asks for the group's offsets and never joins: it assigns partitions to itself"
                return [Finding(f.NO_MEMBER, text)]
    return []


def elsewhere(lines: Iterable[Line], group: str) -> list[Finding]:
    """Return a finding if a consumer joined another group, and none joined the group that the
    application names."""
    others = dict.fromkeys(line.group for line in lines if line.kind in _JOINED)
    if not others or group in others:
        return []
    named = ", ".join(repr(other) for other in list(others)[:3])
    return [Finding(f.ELSEWHERE, f"it says that its group is {group!r}, but it joined {named}")]


def shared_instance(
    lines: Sequence[Line],
    group: str,
    at_most: int,
    running: Collection[tuple[int, int]] = (),
    others: Collection[str] = (),
) -> list[Finding]:
    """Return findings about static members that were replaced, over another connection, more often
    than the application was started, or that were fenced while it ran.

    Over the same connection a consumer replaces itself: aiokafka forgets its member id when a
    commit is refused, and joins without one. `running`: first and last line of each start.
    `others`: members whose refusals are not the application's mistake.
    """
    counts: Counter[str] = Counter()
    by: dict[str, str] = {}
    members = memberships(lines, group)
    replaced = {each.member: each.left_seq or 0 for each in members if each.reason == REPLACED}
    joined = {each.member: each.joined_seq for each in members}
    connections = _connections_that_joined(lines)
    for each in members:
        name = each.group_instance_id
        if name is None:
            continue
        peer = connections.get(each.joined_seq, "")
        counts[name] += each.joined_seq in replaced.values() and (not peer or peer != by.get(name))
        by[name] = peer
    found = [
        Finding(
            f.SHARED,
            f"members with group.instance.id {name!r} replaced each other "
            f"{how_many(times, 'time')}; at most {how_many(at_most, 'restart')} can be explained",
        )
        for name, times in counts.items()
        if times > at_most
    ]
    asked: dict[int, str] = {}
    for line in lines:
        seq, member, event = line.seq, line.member or "", line.event
        told = event.peer if isinstance(event, RequestSeen | RequestRefused) else None
        asked[seq] = told or asked.get(line.cause or 0, "")
        if found or not isinstance(event, RequestRefused) or line.group != group:
            continue
        since = replaced.get(member, sys.maxsize)
        fenced = (line.cause or seq) > since and asked[seq] != connections.get(since)
        error = "FENCED_INSTANCE_ID" if fenced else "UNRELEASED_INSTANCE_ID"
        if (
            error in event.errors
            and (fenced or joined.get(member, seq) >= seq)
            and member not in others
            and any(first <= seq < end for first, end in running)
        ):
            text = f"{member} was refused with {error}{when(seq, line.at_ms)}"
            found = [Finding(f.SHARED, f"{text}: another consumer has its group.instance.id")]
    return found


def _connections_that_joined(lines: Iterable[Line]) -> dict[int, str]:
    """Return the client's address for each line that a JoinGroup caused."""
    asked: dict[int, str] = {}
    found: dict[int, str] = {}
    for line in lines:
        event = line.event if line.kind is RequestSeen else None
        if isinstance(event, RequestSeen) and event.api == "join_group":
            asked[line.seq] = event.peer
        elif line.cause is not None and line.cause in asked:
            found[line.seq] = asked[line.cause]
    return found


def other_instance(
    lines: Iterable[Line], group: str, starts: Sequence[int], peers: Collection[str]
) -> list[Finding]:
    """Return a finding if static members of one start have other instance ids than those of the
    start before, which are still in the group. `starts`: marks of the log, from before each
    start. `peers`: member ids that are not the application's."""
    if len(starts) < 2:
        return []
    members = [
        each
        for each in memberships(lines, group)
        if each.group_instance_id is not None
        and each.member not in peers
        and each.joined_seq >= starts[-2]
    ]
    before = [
        each.group_instance_id
        for each in members
        if each.joined_seq < starts[-1] and each.reason in (None, REPLACED)
    ]
    now = [each for each in members if each.joined_seq >= starts[-1]]
    if not before or not now or any(each.group_instance_id in before for each in now):
        return []
    first = now[0]
    at = when(first.joined_seq, first.joined_ms)
    text = f"started again, its group.instance.id is {first.group_instance_id!r}{at}; it was {before[0]!r}"
    return [
        Finding(
            f.OTHER_INSTANCE, f"{text}, a member that keeps its partitions until its session ends"
        )
    ]


def falls_out(
    lines: Iterable[Line],
    group: str,
    peers: Collection[str],
    running: Iterable[tuple[int, int]],
    at_most: int,
) -> list[Finding]:
    """Return a finding if the application's members left or expired more than `at_most` times
    while it ran. `running`: first and last line of each start."""
    spans = list(running)
    went = [
        (line, event)
        for line in lines
        if isinstance(event := line.event, MemberRemoved | ConsumerMemberRemoved)
        and line.group == group
        and event.member_id not in peers
        and event.reason in _BY_ITSELF
        and any(first <= line.seq < end for first, end in spans)
    ]
    if len(went) <= at_most:
        return []
    why = "it makes new consumers, after errors, say, unsubscribes, or does not come back to its poll within max.poll.interval.ms"
    last, event = went[-1]
    text = f"its members left or expired {how_many(len(went), 'time')} while it ran, the last, {event.member_id}, {event.reason}"
    return [Finding(f.RESTLESS, f"{text}{when(last.seq, last.at_ms)}: {why}")]


def consumers_at_once(
    lines: Sequence[Line], group: str, peers: Collection[str], running: Iterable[tuple[int, int]]
) -> int:
    """Return the highest number of members that the application had at the same time, all from the
    same start. `running`: first and last line of each start.

    Classic members count if they synced in the same generation. A member whose JoinGroup
    response was lost joins anew, while its former member id is still in the group. A generation
    that a coordinator had not stored before another one took over gets the same number twice.
    """
    most = 0
    for first, end in running:
        groups, synced = ConsumerGroups(), dict[int, set[str]]()
        others = set(peers)
        for line in lines:
            if line.group != group or line.seq >= end:
                continue
            changed = groups.see(line)
            if line.seq < first:
                others |= set() if changed is None else changed.members.keys()
            elif changed is not None:
                most = max(most, len(changed.members.keys() - others))
            elif line.kind is MemberSynced and line.member not in peers:
                together = synced.setdefault(line.generation or 0, set())
                together.add(line.member or "")
                most = max(most, len(together))
            elif line.kind is GroupLoaded:
                synced.clear()
    return most


def left(
    lines: Sequence[Line],
    group: str,
    peers: Collection[str],
    since: int,
    connected: Collection[str] = (),
) -> list[Finding]:
    """Return a finding if the application's own members left and closed their consumers, from a
    line of the log on. A client that asks to join again over the same connection, or is still
    `connected`, has only unsubscribed."""
    for each in departures(lines, group, [(since, sys.maxsize)]):
        if each.back or each.peer in connected or each.member in peers:
            continue
        at = when(each.at.seq, each.at.at_ms)
        text = f"{each.member} left the group when its commit was refused{at}; the next one would have succeeded"
        return [Finding(f.LEAVES, text)]
    return []


def other_transactional_id(lines: Iterable[Line], transactional_id: str) -> list[Finding]:
    """Return a finding if clients' producers have transactional ids and none has this one."""
    asked = [line.event for line in lines if line.kind is RequestSeen]
    used = [
        event.transactional_id
        for event in asked
        if event.api == "init_producer_id" and event.transactional_id
    ]
    if not used or transactional_id in used:
        return []
    return [
        Finding(
            f.OTHER_ID,
            f"it says {transactional_id!r}, and its producer has {used[0]!r}: another instance would not be fenced",
        )
    ]
