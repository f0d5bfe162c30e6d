"""Committed offsets of consumer groups that expire (EXP-1, EXP-3): of topics that no member
subscribes to, and of empty groups."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, topics
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.cleanup import SOON_MS, kept, until_gone, until_kept


@scenario("cleanup")
def consumers_keep_what_they_subscribe_to(s: Session) -> None:
    """Offsets that were committed before the first member came: the one of its topic stays until it
    leaves."""
    mine, other = topics(s, 1, 1)
    a = Consumer(s, "a", s.name("g"))
    for name in (mine, other):
        a.commit(name, epoch=-1, member_id="", version=4, retention_time_ms=SOON_MS)
    a.join(mine)
    s.say("there", kept(s, a.group))
    until_kept(s, a.group, 1)
    a.beat()
    a.leave()
    until_kept(s, a.group, 0)
    until_gone(s, a.group)
