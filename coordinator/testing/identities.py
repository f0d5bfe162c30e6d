"""Who an application is to its brokers: findings about its group, its membership, its instance id and its transactional id.

Judges lines of the event log, and commits as they came; `findings` has the names and all other judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from .findings import ELSEWHERE, LEAVES, NO_MEMBER, OTHER_ID, SHARED, CommitSeen, Finding, Line

_FORGETFUL = 5
_JOINS = ("join_group", "consumer_group_heartbeat")
_COMMITS = ("offset_commit", "txn_offset_commit")
_JOINED = ("MemberPending", "MemberJoined", "ConsumerMemberSubscribed")
_REPLACED = ("MemberReplaced", "ConsumerMemberReplaced")
_REMOVED = ("MemberRemoved", "ConsumerMemberRemoved")


def without_membership(commits: Iterable[CommitSeen], lines: Sequence[Line], *, ever: bool) -> list[Finding]:
    """Commits that name no member. `ever`: the application has no member at all.

    Otherwise those that are refused because there are members, from a client that never joined, or again and again: a client that is
    about to join again may send a few.
    """
    joined = {line["client"] for line in lines if line["type"] == "RequestSeen" and line["api"] in _JOINS}
    refused = {line["cause"] for line in lines if line["type"] == "RequestRefused" and line.get("api") in _COMMITS}
    count: Counter[str] = Counter()
    for commit in commits:
        if commit.by_member or not (ever or commit.seq in refused):
            continue
        count[commit.member] += 1
        if ever or commit.member not in joined or count[commit.member] > _FORGETFUL:
            told = "is refused, because the group has members" if commit.seq in refused else "is no member"
            return [Finding(NO_MEMBER, f"{commit.member} commits without a member id, and {told}: it assigns partitions to itself")]
    return []


def nobody(commits: Iterable[CommitSeen], lines: Sequence[Line], group: str) -> list[Finding]:
    """Why the application has no member in its group: it commits or reads without being one, or is in another group."""
    return without_membership(commits, lines, ever=True) or elsewhere(lines, group) or reads_alone(lines, group)


def reads_alone(lines: Sequence[Line], group: str) -> list[Finding]:
    """A client asks for the group's offsets and never joins any group."""
    joined = {line["client"] for line in lines if line["type"] == "RequestSeen" and line["api"] in _JOINS}
    for line in lines:
        asks = line["type"] == "RequestSeen" and line["api"] == "offset_fetch" and line.get("group") == group
        if asks and line["client"] not in joined:
            return [Finding(NO_MEMBER, f"{line['client']} asks for the group's offsets and never joins: it assigns partitions to itself")]
    return []


def elsewhere(lines: Iterable[Line], group: str) -> list[Finding]:
    """A consumer joined another group, and nobody the one that is meant."""
    others = dict.fromkeys(line["group"] for line in lines if line["type"] in _JOINED)
    if not others or group in others:
        return []
    named = ", ".join(repr(other) for other in list(others)[:3])
    return [Finding(ELSEWHERE, f"it says that its group is {group!r}, and joined {named}")]


def shared_instance(lines: Iterable[Line], group: str, at_most: int) -> list[Finding]:
    """A static member was replaced more often than it was started."""
    replaced = [line for line in lines if line["type"] in _REPLACED and line["group"] == group]
    counts = Counter(_instance(line) for line in replaced)
    return [
        Finding(SHARED, f"members with group.instance.id {name!r} took each other's place {times} times; at most {at_most} were restarts")
        for name, times in counts.items() if times > at_most
    ]  # fmt: skip


def _instance(line: Line) -> str:
    return str(line.get("group_instance_id") or (line.get("subscription") or {}).get("group_instance_id"))


def left(lines: Iterable[Line], group: str, peers: Collection[str], since: int) -> list[Finding]:
    """The application's own members left, from a line of the log on."""
    gone = [line for line in lines if line["type"] in _REMOVED and line["group"] == group and line["seq"] >= since]
    own = [line["member"] for line in gone if line["reason"] == "left" and line["member"] not in peers]
    return [Finding(LEAVES, f"{own[0]} left the group when its commit was refused; the next one would have succeeded")] if own else []


def other_transactional_id(lines: Iterable[Line], transactional_id: str) -> list[Finding]:
    """Producers of clients have transactional ids, and none has this one."""
    api = "init_producer_id"
    asked = [line for line in lines if line["type"] == "RequestSeen" and line["api"] == api]
    used = [line["transactional_id"] for line in asked if line.get("transactional_id")]
    if not used or transactional_id in used:
        return []
    return [Finding(OTHER_ID, f"it says {transactional_id!r}, and its producer has {used[0]!r}: another instance would not be fenced")]
