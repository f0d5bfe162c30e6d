"""What explain tells of share groups (KIP-932): members, epochs, and when partitions could be
given."""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.events import Line
from coordinator.history.explain.share_story import sentence
from coordinator.history.world.shares.records import ShareRecords
from tests.core.groups.share.kit import ShareWorld
from tests.events.test_share_story import a_story_of_a_share_group
from tests.lines import line_from, write


def told(w: ShareWorld) -> list[str]:
    """The sentences of the group, in order."""
    return [note.sentence for note in w.view().entries if note.sentence]  # type: ignore[union-attr]


def test_a_member_joins_waits_for_its_partitions_and_goes() -> None:
    w = ShareWorld(jobs=3, manual=True)
    w.hello("a", "jobs")
    w.initialize()
    w.beat("a")
    w.bye("a")
    assert told(w) == [
        "The group is a share group (KIP-932) from now on.",
        "a joined as member a and subscribes to jobs.",
        "The group went to epoch 2: a changed its subscription.",
        "Assignor simple computed the target of epoch 2: a gets nothing.",
        "a is at epoch 2 and reads nothing.",
        "The share coordinator is asked to initialize the state of jobs 0-2.",
        "The state of jobs 0-2 is initialized: members can be assigned these partitions.",
        "The group went to epoch 3: share partitions were initialized.",
        "Assignor simple computed the target of epoch 3: a gets jobs 0-2.",
        "a is at epoch 3 and reads jobs 0-2.",
        "a left the group.",
        "The group went to epoch 4: a left.",
        "The group has no members in epoch 4: there is nothing to assign.",
    ]
    assert "group g: Empty in group epoch 4, 0 members" in w.text()


def test_a_session_that_ends_and_a_state_that_is_not_made() -> None:
    w = ShareWorld(jobs=1, manual=True, session_ms=10_000)
    w.hello("a", "jobs")
    w.initialize(ErrorCode.NOT_COORDINATOR)
    w.advance(10_000)
    sentences = told(w)
    assert (
        "The share coordinator did not initialize the state of jobs 0; it is asked again with the next heartbeat."
        in sentences
    )
    assert "a is no longer in the group (session expired)." in sentences


def test_members_of_one_client_id_are_told_apart() -> None:
    w = ShareWorld(jobs=2)
    for member in ("m-1", "m-2"):
        w.epochs[member] = 0
        w.ask_as("worker", member, "jobs")
    sentences = told(w)
    assert "worker joined as member m-1 and subscribes to jobs." in sentences
    assert any("m-1 gets" in sentence for sentence in sentences)


def test_who_is_refused_something_is_called_as_elsewhere() -> None:
    w = ShareWorld(jobs=2)
    w.epochs["m-1"] = 0
    w.ask_as("worker", "m-1", "jobs")
    write(
        w.log_file,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        group="g",
        member="m-1",
        api="share_acknowledge",
        client="worker",
        errors=["INVALID_RECORD_STATE"],
    )
    assert "Member worker was refused ShareAcknowledge: INVALID_RECORD_STATE." in w.text()


def test_who_left_is_called_as_before_in_what_comes_of_it() -> None:
    w = ShareWorld(jobs=2)
    w.epochs["m-1"] = 0
    w.ask_as("worker", "m-1", "jobs")
    w.bye("m-1")
    sentences = told(w)
    assert "worker left the group." in sentences
    assert any(each.endswith(": worker left.") for each in sentences), sentences


def test_a_whole_story_has_a_sentence_for_each_change() -> None:
    """Nothing of it is left out, and nothing is told with a word that is none."""
    sentences = told(a_story_of_a_share_group())
    assert "b subscribes to jobs and mail from now on." in sentences
    assert "The state of jobs 0-3 is gone." in sentences


def test_of_records_that_come_again_each_has_its_own_reason() -> None:
    known = ShareRecords()

    def line(kind: str, member: str, *offsets: tuple[int, int], **more: Any) -> Line:
        of = more.pop("of")
        spans = [{"first_offset": first, "last_offset": last, **of} for first, last in offsets]
        about = {"stream": "share", "group": "g", "topic": "jobs", "partition": 0, "at_ms": 1}
        return line_from({"type": kind, "member": member, "records": spans, **about, **more})

    free = {"state": "Available", "delivery_count": 1}
    ended = line("RecordsReleased", "a", (0, 1), of=free, reason="the lock ended")
    lost = line("RecordsReleased", "b", (2, 3), of=free, reason="the connection was lost")
    released = line("RecordsAcknowledged", "c", (4, 4), of={**free, "acknowledgement": "release"})
    for each in (ended, lost, released):
        known.see(each)
    acquired = {"state": "Acquired", "delivery_count": 2}
    again = line("RecordsAcquired", "d", (0, 1), of=acquired)
    assert sentence(known, again) == (
        "d acquired records 0 to 1 of jobs-0 for the 2nd time, because the lock of a had ended."
    )
    again = line("RecordsAcquired", "d", (0, 1), (2, 3), (4, 4), of=acquired)
    assert sentence(known, again) == (
        "d acquired records 0 to 1, 2 to 3 and 4 of jobs-0 for the 2nd time, because the lock of a had ended (records 0 to 1), "
        "b lost them: the connection was lost (records 2 to 3) and c released it (record 4)."
    )
    gone = line(
        "RecordsReleased", "a", (0, 1), of={**free, "state": "Archived"}, reason="the lock ended"
    )
    assert sentence(known, gone) == (
        "the lock of a on jobs-0 ended: records 0 to 1 are archived after 1 delivery."
    )
