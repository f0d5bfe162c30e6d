"""How many members of a share group name each topic."""

from __future__ import annotations

from random import Random

from coordinator.core.groups.share.model import recount


def test_subscriptions_are_counted() -> None:
    """Beside a plain count, whatever members name."""
    random = Random(1)
    counts: dict[str, int] = {}
    members: dict[int, frozenset[str]] = {}
    for _ in range(300):
        member = random.randrange(4)
        names = frozenset(random.sample("abcdefg", random.randrange(8)))
        recount(counts, members.get(member, frozenset()), names)
        members[member] = names
        plain = [name for topics in members.values() for name in topics]
        assert counts == {name: plain.count(name) for name in plain}
