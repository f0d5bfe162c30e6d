"""Common parts of findings: counting, evidence, a setting's value."""

from __future__ import annotations

from collections.abc import Iterable

from ..facts import Evidence, MemberTimeouts, Settings
from ..stories.people import People
from ..stories.story import GroupStory, Rebalance


def setting_of(story: GroupStory, people: People, member: str | None, key: str) -> str | None:
    """Return a member's setting as a line shows it; None if no line does."""
    for each in story.seen:
        if isinstance(each.fact, Settings) and each.fact.client == member:
            return each.fact.values.get(key)
    for member_id, timeouts in people.timeouts.items():
        if people.name(member_id) == member and isinstance(timeouts, MemberTimeouts):
            return {
                "session.timeout.ms": str(timeouts.session_ms),
                "max.poll.interval.ms": str(timeouts.rebalance_ms),
            }.get(key)
    return None


def by_member(rebalances: Iterable[Rebalance]) -> dict[str, list[Rebalance]]:
    """Return rebalances by the member that caused them."""
    found: dict[str, list[Rebalance]] = {}
    for each in rebalances:
        if each.member is not None:
            found.setdefault(each.member, []).append(each)
    return found


def evidence_of(rebalances: Iterable[Rebalance]) -> list[Evidence]:
    """Return the lines that show several rebalances, each line once."""
    return list(dict.fromkeys(line for each in rebalances for line in each.evidence))


def times(count: int) -> str:
    """Return `once`, or `3 times`."""
    return "once" if count == 1 else f"{count} times"
