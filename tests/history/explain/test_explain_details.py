"""explain: how members learn of a rebalance, the story as it happens, and its cost."""

from __future__ import annotations

import pytest

from coordinator.events import Line
from coordinator.events.groups import RebalanceStarted
from coordinator.history.explain.narrator import Narrator
from coordinator.history.explain.output import as_plain, as_text, timeline_of
from coordinator.history.world.world import World
from tests.events.kit import LoggedWorld
from tests.history.explain.test_explain_ownership import EAGER, A, B, refuse_as_the_wire_does, two
from tests.lines import write


def test_details_show_how_members_learn_of_a_rebalance() -> None:
    w = two()
    seen = write(
        w.log_file,
        "wire",
        "RequestSeen",
        at_ms=w.now,
        group="g",
        api="join_group",
        version=9,
        client="c",
        peer="-",
    )
    write(
        w.log_file,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        cause=seen,
        group="g",
        member="c-x",
        api="join_group",
        errors=["MEMBER_ID_REQUIRED"],
    )
    w.enter("c", **EAGER)
    for _ in range(3):
        w.advance(100)
        refuse_as_the_wire_does(w, "a", "heartbeat", "REBALANCE_IN_PROGRESS")
    w.join("a", **EAGER)
    timeline = timeline_of(w.log_file.read(), details=True)
    text = "\n".join(as_text(timeline, timeline.groups.values()))
    assert (
        "client c's JoinGroup is answered MEMBER_ID_REQUIRED: it is given the member id c-x and has to join with that (MID-3)."
        in text
    )
    assert (
        f"1.100 s  {A}'s heartbeat is answered REBALANCE_IN_PROGRESS (3 times): this is how a member learns"
        in text
    )
    assert f"1.300 s  {A} sends JoinGroup." in text
    plain = as_plain(timeline, timeline.groups.values())["groups"][0]["rebalances"][-1]["steps"]
    assert [step["times"] for step in plain if "heartbeat" in step["text"]] == [3]
    assert "sends JoinGroup" not in w.text(), "only if asked for"


def narrated(w: LoggedWorld) -> list[str]:
    """The story as the demo tells it."""
    narrator = Narrator()
    return [text for line in w.log_file.read() for text in narrator.tell(line)]


def test_a_beginning_rebalance_does_not_end_the_generation_before() -> None:
    """HB-1, OC-3: its commits are still taken, its heartbeats are answered
    REBALANCE_IN_PROGRESS."""
    w = two()
    w.enter("c", **EAGER)
    for _ in range(2):
        refuse_as_the_wire_does(w, "a", "heartbeat", "REBALANCE_IN_PROGRESS")
    told = narrated(w)
    begun = [text for text in told if "a rebalance begins" in text]
    assert begun[0].endswith("a rebalance begins"), "there was nothing before"
    assert begun[2].endswith(
        "generation 2 is ending; until the join phase is over its members' commits are still taken"
    )
    assert [text for text in told if "learns" in text] == [
        f"   1.000 s  {A} learns of it: its heartbeat is answered REBALANCE_IN_PROGRESS"
    ], "once"


def test_a_generation_that_nobody_else_is_in_has_no_commits_to_take() -> None:
    w = LoggedWorld()
    w.enter("a", **EAGER)
    w.share(a={"orders": (0,)})
    w.join("a", **EAGER)
    w.share(a={"orders": (0,)})
    w.leave("a")
    assert [text for text in narrated(w) if "ending" in text] == []


def test_who_stood_still_is_told_when_all_go_on() -> None:
    w = two()
    w.join("a", **EAGER)
    w.advance(100)
    w.join("b", **EAGER)
    w.sync("a", {"a": wants_nothing(), "b": wants_nothing()})
    assert "stood still" not in "".join(narrated(w)[-3:]), "b has not sent its SyncGroup yet"
    w.advance(50)
    w.sync("b")
    assert narrated(w)[-1].startswith(f"   1.150 s  stood still: {B} for 50 ms and {A} for 100 ms")
    w.join("a", **EAGER)
    w.join("b", **EAGER)
    w.sync("a", {"a": wants_nothing(), "b": wants_nothing()})
    w.leave("b")
    assert "stood still" not in narrated(w)[-1], "they had nothing any more"


def test_who_still_stands_when_the_next_rebalance_begins() -> None:
    w = two()
    w.join("a", **EAGER)
    w.join("b", **EAGER)
    w.sync("a", {"a": wants_nothing(), "b": wants_nothing()})
    w.advance(50)
    w.leave("a")
    (told,) = [text for text in narrated(w) if "stood still" in text and "1.050" in text]
    assert told.startswith(f"   1.050 s  stood still: {B} since 1.000 s and {A} for 0 ms")


def wants_nothing() -> bytes:
    """An assignment of nothing."""
    return b""


def looks(rounds: int) -> int:
    """How often lines are looked at for a group that rebalances so many times, each one caused by
    the one before."""
    w = two()
    for _ in range(rounds):
        w.join("a", **EAGER)
        w.join("b", **EAGER)
        w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
        refuse_as_the_wire_does(w, "b", "offset_commit", "ILLEGAL_GENERATION", generation=1)
        write(
            w.log_file,
            "cluster",
            "PartitionsAdded",
            at_ms=w.now,
            topic="orders",
            partitions=3,
            added=[],
        )
    lines = [*w.log_file.read()]
    cause: int | None = None
    for line in lines:
        if line.kind is RebalanceStarted:
            line.cause = cause
            cause = line.seq
    count = 0

    def looked_at(line: Line, name: str) -> object:
        nonlocal count
        count += 1
        return object.__getattribute__(line, name)

    world = World()
    timeline = world.timeline
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Line, "__getattribute__", looked_at)
        for line in lines:
            world.see(line)
        assert sum(1 for _ in as_text(timeline, timeline.groups.values())) > rounds
    return count


def test_the_work_is_linear_in_the_log() -> None:
    """Twice the log, twice the looks: chains of causes are bounded, refusals do not make the last
    rebalance hard to find."""
    assert looks(800) < 2.2 * looks(400)
