"""Records of share groups in a picture: their states, who holds them, the borders between which they
are in flight; and what of it a long log is drawn with."""

from __future__ import annotations

import json
from typing import Any

from coordinator.events import share_partitions as ev
from coordinator.events.line import Line
from coordinator.history.world.accepted_lines import accepted
from coordinator.lab.page.engine import picture_of
from coordinator.lab.page.lessons import load
from coordinator.lab.page.shares import queues
from coordinator.lab.page.shares.queues import Queues
from tests.lines import line_from

Plain = dict[str, Any]


def line(at_ms: int, kind: str, **fields: Any) -> Line:
    of = {"stream": "share", "group": "workers", "topic": "jobs", "partition": 0}
    return line_from({"at_ms": at_ms, "type": kind, **of, **fields})


def records(first: int, last: int, state: str, count: int = 1, **more: str) -> Plain:
    return {
        "first_offset": first,
        "last_offset": last,
        "state": state,
        "delivery_count": count,
    } | more


def drawn(*lines: Line) -> Plain:
    seen = Queues()
    for each in accepted(lines):
        seen.see(each)
    (queue,) = seen.plain("workers", lambda member: None, 100)
    return queue


def test_borders_move_and_records_stay_in_a_state_until_the_start_passes_them() -> None:
    queue = drawn(
        line(0, "SharePartitionOpened"),
        line(10, "RecordsAcquired", member="a", records=[records(0, 2, "Acquired")]),
        line(20, "RecordsAcquired", member="b", records=[records(3, 4, "Acquired")]),
        line(30, "RecordsAcknowledged", member="b", records=[
            records(3, 4, "Acknowledged", acknowledgement="accept")]),
        line(50, "RecordsReleased", member="a", records=[records(1, 2, "Available")]),
        line(60, "RecordsAcknowledged", member="a", start_offset=1, records=[
            records(0, 0, "Acknowledged", acknowledgement="accept")]),
    )  # fmt: skip
    assert queue["start"] == [(0, 60, 0), (60, 100, 1)]
    assert queue["end"] == [(0, 10, 0), (10, 20, 3), (20, 100, 5)]
    assert sorted(each[:5] for each in queue["stays"]) == [
        (10, 50, 1, 2, "Acquired"),
        (10, 60, 0, 0, "Acquired"),
        (20, 30, 3, 4, "Acquired"),
        (30, 100, 3, 4, "Acknowledged"),
        (50, 100, 1, 2, "Available"),
    ]


def test_a_renewal_leaves_records_with_who_holds_them() -> None:
    queue = drawn(
        line(0, "SharePartitionOpened"),
        line(10, "RecordsAcquired", member="a", records=[records(0, 2, "Acquired")]),
        line(20, "RecordsAcknowledged", member="a", records=[
            records(0, 2, "Acquired", acknowledgement="renew")]),
    )  # fmt: skip
    assert [each[:5] for each in queue["stays"]] == [(10, 100, 0, 2, "Acquired")]


def test_a_partition_that_is_served_no_longer_has_nothing_in_flight() -> None:
    closed = line(50, "SharePartitionClosed", reason="moved")
    queue = drawn(
        line(0, "SharePartitionOpened", start_offset=7, records=[records(8, 8, "Available", 2)]),
        line(10, "RecordsAcquired", member="a", start_offset=7, records=[
            records(7, 7, "Acquired")]),
        closed,
    )  # fmt: skip
    assert (queue["start"], queue["end"]) == ([(0, 50, 7)], [(0, 50, 9)])
    assert [each[:5] for each in queue["stays"]] == [
        (10, 50, 7, 7, "Acquired"),
        (0, 50, 8, 8, "Available"),
    ]


def test_a_former_leader_that_closes_late_ends_nothing_at_the_next_one() -> None:
    late = line(50, "SharePartitionClosed", broker=1, reason="moved")
    queue = drawn(
        line(0, "SharePartitionOpened", broker=1),
        line(40, "SharePartitionOpened", broker=2, start_offset=3),
        late,
    )
    assert queue["start"] == [(0, 40, 0), (40, 100, 3)]


def test_who_holds_records_works_and_who_has_given_all_back_does_not() -> None:
    seen = Queues()
    seen.see(line(0, "SharePartitionOpened"))
    acquired = line(10, "RecordsAcquired", member="a", records=[records(0, 2, "Acquired")])
    other = line(
        11, "RecordsAcquired", member="a", partition=1, records=[records(0, 2, "Acquired")]
    )
    assert (seen.see(acquired), seen.see(other)) == ({"a": True}, {"a": True})
    back = {"member": "a", "records": [records(0, 2, "Available")]}
    assert seen.see(line(20, "RecordsReleased", **back)) == {"a": True}
    assert seen.see(line(20, "RecordsReleased", **back, partition=1)) == {"a": False}


def test_of_a_long_log_the_latest_states_are_drawn() -> None:
    seen = Queues()
    seen.see(line(0, "SharePartitionOpened"))
    for turn in range(queues.MOST_STAYS + 10):
        acquired = records(turn, turn, "Acquired")
        seen.see(line(turn, "RecordsAcquired", member="a", start_offset=turn, records=[acquired]))
    (queue,) = seen.plain("workers", lambda member: None, 10**9)
    assert len(queue["stays"]) == queues.MOST_STAYS + 1
    assert queue["stays"][-1][2] == queues.MOST_STAYS + 9


def test_names_of_clients_are_made_printable() -> None:
    hostile = "jobs\u202e<script>\n"
    lines = [
        json.dumps(json.loads(each) | ({"topic": hostile} if '"topic":"jobs"' in each else {}))
        for each in load("17_queue_on_a_log").lines
    ]
    (group,) = picture_of(lines).plain()["groups"]
    (queue,) = group["queues"]
    assert queue["topic"] == hostile
    assert queue["label"].isascii() and "\n" not in queue["label"]


def test_a_lesson_s_share_group_has_members_lanes_and_what_was_delivered_again() -> None:
    (group,) = load("17_queue_on_a_log").plain()["picture"]["groups"]
    assert (group["protocol"], group["delivered_again"]) == ("share", 5)
    assert [lane["name"] for lane in group["lanes"]] == ["worker-1", "worker-2"]
    assert group["states"][0][2] == "Stable" and group["numbers"][-1][2] == 3
    does = [does for _, _, does in group["lanes"][1]["activity"]]
    assert does == ["idle", "consuming", "idle", "consuming", "idle"]


def test_a_killed_process_of_a_share_group_does_not_run_although_its_session_does() -> None:
    kill = next(each for each in load("17_queue_on_a_log").tries if each.id == "kill")
    (group,) = picture_of(kill.lines).plain()["groups"]
    killed = group["lanes"][0]
    assert killed["activity"][-1][1] == 7_000
    assert killed["member"][-1][1] > 45_000


def test_what_is_stored_stays_when_the_leader_unloads() -> None:
    """SH-SES-6: only what was held is so no more."""
    closed = line(50, "SharePartitionClosed", reason=ev.UNLOADED)
    queue = drawn(
        line(0, "SharePartitionOpened", records=[records(1, 1, "Available", 2)]),
        line(10, "RecordsAcquired", member="a", records=[records(2, 3, "Acquired")]),
        closed,
    )
    assert queue["end"] == [(0, 10, 2), (10, 100, 4)]
    assert sorted(each[:5] for each in queue["stays"]) == [
        (0, 100, 1, 1, "Available"),
        (10, 50, 2, 3, "Acquired"),
    ]
