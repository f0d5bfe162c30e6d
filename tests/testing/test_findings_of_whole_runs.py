"""Findings that look at the whole run of an application: each where it must be, and not where its
library or its shape explains it."""

from __future__ import annotations

from typing import Any

from coordinator.kit.ready_tests import findings, identities, repeats, verdict
from coordinator.kit.ready_tests.findings import CommitSeen, Line
from coordinator.kit.views.group_snapshots import MemberSnapshot
from tests.lines import line_from

PLACE = ("orders", 0)
RECORDS = {PLACE: [0, 1, 2]}


def rows(*offsets: int, partition: int = 0) -> list[tuple[str, int, int]]:
    return [("orders", partition, offset) for offset in offsets]


def line(seq: int, kind: str, **fields: Any) -> Line:
    stream = "wire" if kind.startswith("Request") else "group"
    of = {"seq": seq, "at_ms": 10 * seq, "stream": stream, "type": kind, "group": "g"}
    return line_from({**of, **fields})


def joined(seq: int, member: str, instance: str | None = None, cause: int | None = None) -> Line:
    return line(seq, "MemberJoined", member=member, group_instance_id=instance, cause=cause)


def replaced(seq: int, member: str, old: str, instance: str, cause: int) -> Line:
    return line(
        seq, "MemberReplaced", member=member, replaced=old, group_instance_id=instance, cause=cause
    )


def gone(seq: int, member: str, reason: str = "left", detail: str | None = None) -> Line:
    return line(seq, "MemberRemoved", member=member, reason=reason, detail=detail)


# -- what is said beside a commit that came too early
# -------------------------------------------------------------------


def test_a_commit_for_another_partition_is_told_as_such() -> None:
    commit = CommitSeen({PLACE: 1}, 1, "app-1", 7, at_ms=70)
    (found,) = findings.ahead(rows(0, partition=1), [commit], RECORDS)
    assert found.text == (
        "app-1 committed 1 for orders-0 while offset 0 was still to be processed; "
        "what it had just processed is offset 0 of orders-1, another partition (line 7, at 70 ms)"
    )


def test_who_began_at_the_end_is_told_so() -> None:
    (found,) = findings.ahead(rows(2), [CommitSeen({PLACE: 3}, 1, "app-1", 7)], RECORDS)
    assert (
        "while offsets 0, 1 were still to be processed; of these it never processed any, it began at 2: at the end"
        in found.text
    )
    (found,) = findings.ahead(rows(2, 0, 1), [CommitSeen({PLACE: 3}, 1, "app-1", 7)], RECORDS)
    assert "never processed any" not in found.text


# -- what keeps an application from what is awaited
# ----------------------------------------------------------------------


def test_nothing_is_expected_of_partitions_that_others_have() -> None:
    two = {**RECORDS, ("orders", 1): [0, 1]}
    assert findings.unfinished(rows(0, 1, 2), {PLACE: 3}, two, {PLACE}) == []
    (found,) = findings.unfinished(rows(0, 1, 2), {PLACE: 3}, two, {PLACE, ("orders", 1)})
    assert (found.name, "it has processed nothing of it" in found.text) == (
        findings.STOPS_READING,
        True,
    )
    (found,) = findings.unfinished([*rows(0, 1, 2), *rows(0, partition=1)], {PLACE: 3}, two)
    assert (found.name, "it has processed nothing of it" in found.text) == (
        findings.STOPS_READING,
        False,
    )
    assert (
        "has not processed offset 1, but everything of other partitions; it has paused it, or keeps"
        in found.text
    )
    (found,) = findings.unfinished([*rows(0, 1, 2), *rows(1, partition=1)], {PLACE: 3}, two)
    assert found.text.endswith("but everything of other partitions"), "it read on behind it"


def test_the_last_record_that_waits_for_the_next_is_kept_back() -> None:
    two = {**RECORDS, ("orders", 1): [0, 1]}
    (found,) = findings.kept_back([*rows(0, 1), *rows(0, partition=1)], two)
    assert (found.name, "offset 2 of orders-0, offset 1 of orders-1" in found.text) == (
        findings.KEEPS_BACK,
        True,
    )
    assert findings.kept_back([*rows(0, 1, 2), *rows(0, partition=1)], two) == []
    assert findings.kept_back(rows(0, 2), RECORDS) == []  # another one is missing
    assert findings.kept_back([], RECORDS) == []


def test_a_member_that_reads_nothing_of_what_it_was_given_is_silent() -> None:
    member = MemberSnapshot("app-1", "app", "/h", None, ("orders",), (PLACE,), 0)
    (found,) = verdict.silent([member])
    assert found.name == findings.STOPS_READING
    assert verdict.silent([member._replace(acted=True)]) == []
    assert verdict.silent([member._replace(waits_for="SyncGroup")]) == []
    assert verdict.silent([member._replace(assignment=())]) == []


# -- who it is
# ------------------------------------------------------------------------------------------------------------


def asked(seq: int, peer: str) -> Line:
    return line(seq, "RequestSeen", api="join_group", client="app", peer=peer)


def test_a_consumer_that_replaces_itself_shares_no_instance_id() -> None:
    """aiokafka forgets its member id when a commit is refused, and joins without one over the same
    connection."""
    own = [asked(1, "a:1"), joined(2, "x", "i", 1), asked(3, "a:1"), replaced(4, "y", "x", "i", 3)]
    assert identities.shared_instance(own, "g", 0) == []
    other = [*own, asked(5, "a:2"), replaced(6, "z", "y", "i", 5)]
    (found,) = identities.shared_instance(other, "g", 0)
    assert (found.name, "each other 1 time;" in found.text) == (findings.SHARED, True)


def test_an_instance_id_that_is_drawn_at_each_start_is_named() -> None:
    first, second = [joined(2, "a", "one")], [joined(12, "b", "two")]
    (found,) = identities.other_instance([*first, *second], "g", [1, 10], ())
    assert (found.name, "'two' (line 12, at 120 ms); it was 'one'" in found.text) == (
        findings.OTHER_INSTANCE,
        True,
    )
    assert identities.other_instance([*first, joined(12, "b", "one")], "g", [1, 10], ()) == []
    assert (
        identities.other_instance(
            [*first, gone(9, "a", "session expired"), *second], "g", [1, 10], ()
        )
        == []
    )
    assert identities.other_instance([*first, *second], "g", [1], ()) == []
    assert identities.other_instance([*first, *second], "g", [1, 10], {"b"}) == []


def test_members_that_leave_again_and_again_are_named() -> None:
    lines = [gone(seq, f"app-{seq}") for seq in range(2, 7)]
    (found,) = identities.falls_out(lines, "g", (), [(1, 50)], 4)
    assert (found.name, "left or expired 5 times while it ran" in found.text) == (
        findings.RESTLESS,
        True,
    )
    assert identities.falls_out(lines, "g", (), [(1, 50)], 5) == []
    assert identities.falls_out(lines, "g", {"app-2"}, [(1, 50)], 4) == []
    assert identities.falls_out(lines, "g", (), [(1, 4)], 4) == []  # it was stopped
    assert (
        identities.falls_out(
            [gone(seq, "a", "did not rejoin in time") for seq in range(9)], "g", (), [(0, 50)], 4
        )
        == []
    )


def test_consumers_are_counted_that_are_members_at_the_same_time() -> None:
    def synced(seq: int, member: str, generation: int) -> Line:
        return line(seq, "MemberSynced", member=member, generation=generation)

    both = [synced(2, "a", 1), synced(3, "b", 1)]
    assert identities.consumers_at_once(both, "g", (), [(1, 50)]) == 2
    assert identities.consumers_at_once(both, "g", {"b"}, [(1, 50)]) == 1
    assert (
        identities.consumers_at_once([synced(2, "a", 1), synced(3, "b", 2)], "g", (), [(1, 50)])
        == 1
    )  # its answer was lost, say
    assert identities.consumers_at_once(both, "g", (), [(1, 3), (3, 50)]) == 1
    moved = [
        synced(2, "a", 1),
        line(3, "GroupLoaded", state="PreparingRebalance"),
        synced(4, "b", 1),
    ]  # nobody had stored generation 1
    assert identities.consumers_at_once(moved, "g", (), [(1, 50)]) == 1
    consumer = [
        line(seq, "ConsumerMemberSubscribed", member=member, client_id="app")
        for seq, member in ((2, "a"), (4, "b"))
    ]
    assert identities.consumers_at_once(consumer, "g", (), [(1, 50)]) == 2
    assert identities.consumers_at_once(consumer, "g", {"b"}, [(1, 50)]) == 1
    assert identities.consumers_at_once(consumer, "g", (), [(1, 3), (3, 50)]) == 1
    between = line(3, "ConsumerMemberRemoved", member="a", reason="left")
    assert (
        identities.consumers_at_once([consumer[0], between, consumer[1]], "g", (), [(1, 50)]) == 1
    )


def test_a_member_of_the_consumer_protocol_has_joined() -> None:
    """KIP-848: its first heartbeat is no line of its own; that it subscribed is."""
    subscribed = line(2, "ConsumerMemberSubscribed", member="m", client_id="app")
    fetched = line(3, "RequestSeen", api="offset_fetch", client="app")
    assert identities.without_members([], [subscribed, fetched], "g") == []
    assert identities.clients_that_joined([subscribed, asked(4, "a:1")]) == {"app"}


def test_why_there_is_no_member_any_more_is_told() -> None:
    (found,) = identities.without_members(
        [], [asked(1, "a:1"), joined(2, "a"), gone(3, "a"), gone(4, "peer")], "g", {"peer"}
    )
    assert (
        found.text
        == "it no longer has a member in its group: a went (line 3, at 30 ms), the reason is 'left'; none has come since"
    )
    expired = gone(3, "a", "session expired", "6000 ms")
    (found,) = identities.without_members([], [asked(1, "a:1"), joined(2, "a"), expired], "g")
    assert "the reason is 'session expired' (6000 ms)" in found.text


def test_a_refused_commit_before_its_member_left_is_told() -> None:
    came = [asked(1, "a:1"), joined(2, "a")]

    def refusal(member: str = "a", api: str = "offset_commit") -> Line:
        errors = ["REBALANCE_IN_PROGRESS"]
        return line(3, "RequestRefused", member=member, api=api, errors=errors)

    refused = refusal()
    (found,) = identities.without_members([], [*came, refused, gone(4, "a")], "g")
    assert found.text.endswith(
        "none has come since. Its last commit was refused with REBALANCE_IN_PROGRESS (line 3, at 30 ms): "
        "a consumer that ends with this error (kafkajs: if its handler throws it) has to catch it"
    )
    made = line(4, "RequestAnswered", member="a", api="offset_commit")
    others = refusal(member="b")
    heartbeat = refusal(api="heartbeat")
    expired = gone(5, "a", "session expired")
    for lines in (
        [refused, made, gone(5, "a")],
        [others, gone(5, "a")],
        [heartbeat, gone(5, "a")],
        [refused, expired],
    ):
        (found,) = identities.without_members([], [*came, *lines], "g")
        assert found.text.endswith("none has come since")


# -- what comes again
# -----------------------------------------------------------------------------------------------------


def committed(seq: int, offset: int, cause: int) -> list[Line]:
    row = {"topic": "orders", "partition": 0, "offset": offset}
    return [
        line(cause, "RequestSeen", api="offset_commit", client="app"),
        line(seq, "OffsetsCommitted", cause=cause, offsets=[row]),
    ]


def fetched(seq: int, version: int = 8) -> Line:
    return line(seq, "RequestSeen", api="offset_fetch", client="app", version=version)


def test_a_commit_on_its_way_while_a_rebalance_ends_explains_that_its_records_come_again() -> None:
    """The library had asked from where to read on when it came."""
    commits = [CommitSeen({PLACE: 1}, 1, "app-1", 2), CommitSeen({PLACE: 2}, 2, "app-1", 8)]
    first, second = committed(3, 1, cause=2), committed(9, 2, cause=8)
    began, again = line(5, "GenerationStarted"), line(12, "GenerationStarted")
    processed = rows(0, 1, 1, 2)
    assert repeats.processed_again(processed, commits, [*first, began, fetched(6), *second]) == []
    for lines in (
        [
            *first,
            fetched(4),
            began,
            *second,
        ],  # asked before the generation began: of it, nothing was asked
        [*first, began, *second],  # never asked: it goes back by itself
        [
            *first,
            began,
            fetched(6),
            *second,
            again,
            fetched(13),
        ],  # it has been told of the commit since
    ):
        (found,) = repeats.processed_again(processed, commits, lines)
        assert (found.name, "offset 1 was processed again" in found.text) == (findings.AGAIN, True)
    batch = [commits[0], CommitSeen({PLACE: 3}, 3, "app-1", 8)]
    twice, loop = rows(0, 1, 2, 1, 2), committed(9, 3, cause=8)
    assert (
        repeats.processed_again(twice, batch, [*first, began, fetched(6, version=3), *loop]) == []
    )  # aiokafka's, beneath a batch
    (found,) = repeats.processed_again(twice, batch, [*first, began, fetched(6), *loop])
    assert "offsets 1, 2 were processed again" in found.text
    (found,) = repeats.processed_again(
        rows(0, 1, 0, 1), commits, [*first, began, fetched(6), *second]
    )
    assert (
        "committed 1 for orders-0, and then offset 0 was processed again" in found.text
    )  # below what it was told


def test_processed_and_not_committed_at_all_is_no_offset_that_is_one_off() -> None:
    (found,) = findings.unfinished(rows(0), {}, {PLACE: [0]})
    assert (found.name, found.text) == (
        findings.BEHIND,
        "orders-0 is processed up to offset 0, and nothing of it is committed",
    )
