"""`explain` tells what was done on purpose: verbs of brokers, links and members, and what a member
went through that was removed."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import Line
from coordinator.history.explain.cause_sentences import why
from coordinator.history.explain.notes import told
from coordinator.history.explain.output import as_text, timeline_of
from coordinator.history.world.verb_notes import KINDS
from coordinator.history.world.views import Note
from coordinator.verbs import ROWS
from coordinator.verbs.brokers import CreatePartitions, CutLink
from tests.events.kit import LoggedWorld, wants
from tests.lines import line_from, write

SHORT: dict[str, Any] = {"session_ms": 6000, "rebalance_ms": 10_000, "protocols": wants("orders")}


def world() -> LoggedWorld:
    """A group of a and b, Stable; the client ids are a and b."""
    w = LoggedWorld()
    w.enter("a", **SHORT)
    w.enter("b", **SHORT)
    w.join("a", **SHORT)
    w.share(a={"orders": (0,)}, b={"orders": (1,)})
    return w


def fault(w: LoggedWorld, kind: str, **fields: object) -> None:
    write(w.log_file, "fault", kind, at_ms=w.now, **fields)


def test_a_member_that_stood_still_and_woke_as_a_zombie() -> None:
    w = world()
    w.advance(1000)
    w.heartbeat("b")
    fault(w, "PauseMember", client="b")
    for _ in range(3):
        w.advance(3000)
        w.heartbeat("a")
    fault(w, "MemberResumed", client="b")
    text = w.text()
    assert "1.000 s  The host of b is paused." in text
    assert "10.000 s  The host of b is resumed." in text
    assert "expired after 6 s of silence" in text
    assert "): its host was paused since 1.000 s" in text


def test_of_several_links_that_were_cut_each_is_told_and_the_time_lasts_until_the_last() -> None:
    w = world()
    w.advance(1000)
    w.heartbeat("b")
    for broker in (1, 2):
        fault(w, "CutMember", client="b", broker=broker, direction="to_broker")
    w.advance(1000)
    fault(w, "MemberHealed", client="b", broker=1, direction="to_broker")
    for _ in range(2):
        w.advance(3000)
        w.heartbeat("a")
    text = w.text()
    assert "2.000 s  Traffic passes from b to broker 1 again." in text
    assert text.count("Traffic passes") == 1
    assert "): its links with brokers were cut since 1.000 s" in text
    w = world()
    fault(w, "SlowMember", client="b", broker=1, bytes_per_second=9)
    fault(w, "MemberSpedUp", client="b", broker=1)
    assert "Traffic between b and broker 1 is as quick as before." in w.text()


def test_what_is_slow_is_told_by_how_slow_and_when_that_is_over() -> None:
    w = world()
    fault(w, "SlowFollower", broker=2, delay_ms=500)
    fault(w, "SlowFollower", broker=2, delay_ms=0, bytes_per_second=1000)
    fault(w, "SlowFollower", broker=2, delay_ms=0, bytes_per_second=None)
    fault(w, "SlowBroker", broker=2, by_ms=70)
    fault(w, "SlowBroker", broker=2, by_ms=0)
    fault(w, "SlowLoad", broker=2, load_ms=90)
    fault(w, "SlowLoad", broker=2, load_ms=0)
    text = w.text()
    assert "Broker 2 follows 500 ms late." in text
    assert "Broker 2 follows, at 1000 bytes a second." in text
    assert "Broker 2 follows without delay again." in text
    assert "Every answer of broker 2 takes 70 ms longer." in text
    assert "Answers of broker 2 take no longer than before." in text
    assert "Coordinators of broker 2 take 90 ms to load." in text
    assert "Coordinators of broker 2 load as quickly as before." in text


def test_what_another_process_of_the_same_name_went_through_is_over() -> None:
    w = world()
    write(w.log_file, "member", "MemberCrashed", at_ms=w.now, client="b")
    write(w.log_file, "member", "MemberStarted", at_ms=w.now, client="b")
    for _ in range(3):
        w.advance(3000)
        w.heartbeat("a")
    assert "The process of b was killed." in w.text()
    assert "): its process" not in w.text()


def test_verbs_concern_the_groups_that_they_touch() -> None:
    w = world()
    fault(w, "PauseMember", client="somebody else")
    fault(w, "CreatePartitions", topic="payments", partitions=3)
    assert not any(isinstance(entry, Note) for entry in w.view().entries)
    fault(w, "CreatePartitions", topic="orders", partitions=3)
    fault(w, "CutLink", one=1, other=2)
    assert [entry.kind for entry in w.view().entries if isinstance(entry, Note)] == [
        CreatePartitions,
        CutLink,
    ]


def lines(*rows: dict[str, Any]) -> list[Line]:
    """Lines of a log; those that name no stream are of group g."""
    of_group = {"stream": "group", "group": "g"}
    return [
        line_from({"seq": seq, "at_ms": 1000, **(row if "stream" in row else of_group | row)})
        for seq, row in enumerate([{"type": "GroupCreated", "broker": 1}, *rows])
    ]


JOINED = {
    "type": "MemberJoined",
    "member": "a",
    "client_id": "a",
    "client_host": "",
    "group_instance_id": None,
    "protocol_type": "consumer",
    "leader": "a",
    "protocols": [],
    "broker": 1,
}
UNLOADED = {"type": "GroupUnloaded", "broker": 1, "error": 16}
LOADED = {"type": "GroupLoaded", "broker": 2, "state": "Stable", "generation": 1}
STOPPED = {"stream": "fault", "type": "StopBroker", "broker": 1, "how": "crash"}


def text_of(*rows: dict[str, Any]) -> list[str]:
    timeline = timeline_of(lines(*rows))
    told = "\n".join(as_text(timeline, timeline.groups.values()))
    return [line.split("s  ", 1)[1] for line in told.splitlines() if " s  " in line]


def test_who_crashed_that_it_coordinated_the_group_and_who_took_over() -> None:
    """The line of a verb is written when it is done; it is told before what came of it."""
    assert text_of(JOINED, UNLOADED, STOPPED, LOADED)[-3:] == [
        "Broker 1, which coordinates the group, stops (crash).",
        "Broker 1 crashed; parked requests of the group were not answered.",
        "Broker 2 loaded the group as Stable in generation 1; all sessions began anew.",
    ]


def test_whoever_is_parked_is_told_of_a_controlled_shutdown_alone() -> None:
    """A process that was killed answers nobody."""
    assert text_of(JOINED, UNLOADED, STOPPED | {"how": "controlled"}, LOADED)[-3:-1] == [
        "Broker 1, which coordinates the group, stops (controlled).",
        "Broker 1 unloaded the group; parked requests were answered with NOT_COORDINATOR.",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "No traffic passes between a and brokers."),
        ({"direction": "both", "broker": 2}, "No traffic passes between a and broker 2."),
        ({"direction": "from_broker", "broker": None}, "No traffic passes from brokers to a."),
        ({"direction": "to_broker", "broker": 2}, "No traffic passes from a to broker 2."),
    ],
)
def test_a_link_that_is_cut_one_way_is_told_so(fields: dict[str, Any], said: str) -> None:
    line = line_from({"stream": "fault", "type": "CutMember", "client": "a", **fields})
    assert told(Note(0, 0, line.kind, 0, [], line)) == said


def test_the_coordinator_is_named_where_its_broker_is() -> None:
    jump = {"stream": "fault", "type": "JumpClock", "broker": 1, "by_ms": -5}
    assert "The wall clock of broker 1, which coordinates the group, jumps by -5 ms." in text_of(
        JOINED, jump
    )


def test_a_former_coordinator_gives_its_copy_up_late() -> None:
    rows = text_of(JOINED, LOADED, UNLOADED)
    assert rows[-1].startswith("Broker 1 unloaded its copy of the group, which another broker")
    timeline = timeline_of(lines(JOINED, LOADED, UNLOADED))
    assert timeline.groups["g"].state == "Stable"


def sample(hint: object) -> object:
    """A value of a verb's field that is neither left out nor 0."""
    told_of = str(hint)
    if "list" in told_of or "tuple" in told_of:
        return [1]
    return 1 if "int" in told_of else "x"


def test_every_verb_has_a_sentence_with_the_fields_of_its_line() -> None:
    rows = [row for row in ROWS.values() if row.kind in KINDS]
    assert rows
    for row in rows:
        takes = zip(row.logged, row.takes, strict=True)
        fields = {key: sample(taken.kind) for key, taken in takes}
        line = line_from({"stream": "fault", "type": row.name, **fields})
        assert "any" not in told(Note(0, 0, row.kind, 0, [], line)).split(), row.name


def test_a_member_that_joins_again_says_why() -> None:
    """KIP-800; and what of its metadata is another than before."""
    w = world()
    other = wants("orders", owned={"orders": (0,)})
    w.join("a", **(SHORT | {"protocols": other}))
    cause = w.last().trigger.line.cause
    lines = [
        Line.of({**line.plain, "reason": "it was asked to"}) if line.seq == cause else line
        for line in w.log_file.read()
    ]
    (rebalance,) = timeline_of(lines).groups["g"].rebalances[-1:]
    assert (
        'because leader a-9e37 joined again with changed metadata (owned partitions) (saying "it was asked to")'
        in why(rebalance)
    )


def test_a_leader_that_joins_again_for_partitions_that_nobody_has_yet() -> None:
    """Even if its metadata was older in a rebalance between."""
    w = world()
    write(w.log_file, "cluster", "PartitionsAdded", at_ms=w.now, topic="orders", partitions=3)
    w.enter("c", **SHORT)
    for name in "ab":
        w.join(name, **SHORT)
    w.share(a={"orders": (0,)}, b={"orders": (1,)}, c={})
    assert "joined; members" in why(w.last())
    w.join("a", **SHORT)
    grown = "because topic orders grew to 3 partitions and leader a-9e37, which saw it, asked to"
    assert grown in why(w.last())
    for name in "bc":
        w.join(name, **SHORT)
    w.share(a={"orders": (0,)}, b={"orders": (1,)}, c={"orders": (2,)})
    w.join("a", **SHORT)
    assert "grew" not in why(w.last())
