"""The log of share groups: its bytes are pinned, every type of event is in it, and a replay of it
gives the live group."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.events.groups import ShareEvent
from coordinator.server.replay.one_broker import read_group_events
from tests.core.groups.share.kit import ShareWorld

GOLDEN = Path(__file__).parent.parent / "vectors" / "event_log" / "share_story.jsonl"


def a_story_of_a_share_group() -> ShareWorld:
    """Members come, share, are silent and go; topics come, grow and go; the share coordinator refuses
    once."""
    w = ShareWorld(jobs=3, manual=True, session_ms=10_000)
    w.hello("a", "jobs", rack_id="r")
    w.initialize(ErrorCode.NOT_COORDINATOR)
    w.beat("a")
    w.initialize()
    w.beat("a")
    w.hello("b", "jobs")
    w.beat("a")
    w.topics.set("jobs", 4)
    w.beat("b")
    w.initialize()
    w.beat("b")
    w.advance(6_000)
    w.beat("b")
    w.advance(4_000)
    w.beat("b", subscribed_topic_names=["jobs", "mail"])
    w.topics.set("jobs", None)
    w.delete_partitions(*(("jobs", number) for number in range(4)))
    w.beat("b")
    w.bye("b")
    return w


def test_the_golden_log_of_share_groups() -> None:
    """A difference here is a change of the public contract."""
    w = a_story_of_a_share_group()
    assert w.log_file.lines[1:] == GOLDEN.read_text().splitlines()[1:]
    assert {type(entry.event) for entry in read_group_events(GOLDEN)} >= set(get_args(ShareEvent))
    replayed = GroupCoordinator.replay(w.config, read_group_events(GOLDEN), w.now)
    assert replayed.groups["g"].membership.snapshot() == w.sharers.snapshot()
