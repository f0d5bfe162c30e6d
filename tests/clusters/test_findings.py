"""Findings, each with a twin: a log that looks like it and is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .kit import adds, client, java, member, read, rebalance, scala, story


def ids(*lines: str) -> list[str]:
    return sorted(finding.id for finding in story(*lines).findings)


def gone(begin: str, end: str, old: int, number: int, name: str = "a") -> list[str]:
    one = member(name, number)
    return [
        scala(begin, f"Member {one} in group g has failed, removing it from the group"),
        *rebalance(begin, end, old, f"removing member {one} on heartbeat expiration"),
    ]


def left(begin: str, end: str, old: int, number: int, why: str = "not provided") -> list[str]:
    reason = f"Removing member {member('a', number)} on LeaveGroup; client reason: {why}"
    return rebalance(begin, end, old, reason)


def test_max_poll_exceeded_and_a_close() -> None:
    why = "consumer poll timeout has expired."
    assert ids(*left("10:00:00,000", "10:00:01,000", 4, 1, why)) == ["max-poll-exceeded"]
    assert not ids(*left("10:00:00,000", "10:00:01,000", 4, 1, "the consumer is being closed"))


def test_session_expired_and_a_leave() -> None:
    assert ids(*gone("10:00:00,000", "10:00:01,000", 4, 1)) == ["session-expired"]
    assert not ids(*left("10:00:00,000", "10:00:01,000", 4, 1))


def test_never_rejoins_and_a_join_phase_that_is_only_long() -> None:
    begin, end = rebalance("10:00:00,000", "10:05:00,000", 4, adds("b"))
    removed = scala(
        "10:04:59,999", f"Group g removed dynamic members who haven't joined: Set({member('a')})"
    )
    assert ids(begin, removed, end) == ["never-rejoins"]
    assert not ids(begin, end)


def test_a_static_restart_that_is_too_late_and_a_dynamic_one() -> None:
    lost = rebalance(
        "10:00:00,000",
        "10:00:01,000",
        5,
        f"removing member {member('w', 1)} on heartbeat expiration",
    )

    def came(instance: str) -> list[str]:
        return [
            *rebalance("09:50:00,000", "09:50:01,000", 4, adds("w", 1, instance)),
            *lost,
            *rebalance("10:00:08,000", "10:00:09,000", 6, adds("w", 2, instance)),
        ]

    assert ids(*came("Some(w)")) == ["session-expired", "static-restart-too-late"]
    assert ids(*came("None")) == ["session-expired"]


def test_a_static_member_that_was_replaced_before_it_is_too_late() -> None:
    """The one that is replaced is no second process beside the one that comes."""
    made = "Static member with groupInstanceId=web-1 and unknown member id joins group g in {} state. Created a new member id {}"
    replaced = (
        "Static member with groupInstanceId=web-1 and unknown member id rejoins group g in Stable state. Replacing previously "
        "mapped member {} with this groupInstanceId."
    )
    first, second, third = (member("web-1", number) for number in (1, 2, 3))
    lines = [
        scala("10:00:00,000", made.format("Empty", first)),
        *rebalance("10:00:00,001", "10:00:01,000", 3, adds("web-1", 1, "web-1"), 1),
        scala("10:01:00,000", replaced.format(first)),
        scala("10:02:00,000", f"Member {second} in group g has failed, removing it from the group"),
        *rebalance(
            "10:02:00,001",
            "10:02:01,000",
            4,
            f"removing member {second} on heartbeat expiration",
            1,
        ),
        scala("10:02:20,000", made.format("Stable", third)),
        *rebalance("10:02:20,001", "10:02:21,000", 5, adds("web-1", 3, "web-1"), 1),
    ]
    told = story(*lines)
    assert [(each.cause, each.returns) for each in told.rebalances][1:] == [
        ("expired", None),
        ("static-restart", True),
    ]
    assert "static-restart-too-late" in ids(*lines)


def test_flapping_and_members_that_come_once() -> None:
    lines: list[str] = []
    others: list[str] = []
    for turn in range(4):
        minute = f"10:0{turn}"
        joined = (f"{minute}:20,000", f"{minute}:21,000", 5 + 2 * turn)
        lines += left(f"{minute}:00,000", f"{minute}:01,000", 4 + 2 * turn, turn)
        lines += rebalance(*joined, adds("a", turn + 1))
        others += rebalance(*joined, adds(f"b{turn}", turn))
    assert "flapping" not in ids(*others)
    back = [
        line
        for turn in range(4)
        for line in (
            *_left_line(f"10:0{turn}:00,000", turn),
            *lines[4 * turn : 4 * turn + 4],
        )
    ]
    assert "flapping" in ids(*back)


def _left_line(clock: str, number: int) -> list[str]:
    return [
        scala(
            clock,
            f"Member MemberMetadata(memberId={member('a', number)}, groupInstanceId=None, clientId=a, "
            "clientHost=/10.0.0.1, sessionTimeoutMs=6000, rebalanceTimeoutMs=300000, "
            "supportedProtocols=List(range)) has left group g through explicit `LeaveGroup`; "
            "client reason: not provided",
        )
    ]


def test_a_topic_that_grew_and_a_leader_that_asks_again() -> None:
    again = f"Leader {member('a')} re-joining group during Stable; client reason: "
    grew = rebalance("10:00:00,000", "10:00:01,000", 4, again + "cached metadata has changed")
    asks = rebalance("10:00:00,000", "10:00:01,000", 4, again + "not provided")
    assert ids(*grew) == ["topic-grew"]
    assert not ids(*asks)


def test_a_coordinator_that_moved_and_one_that_only_loads() -> None:
    assert ids(scala("10:00:00,000", "Unloading group metadata for g with generation 7")) == [
        "coordinator-moved"
    ]
    assert not ids(scala("10:00:00,000", "Loading group metadata for g with generation 7"))


def test_a_broker_that_is_stopped_at_the_end() -> None:
    gone = scala("10:00:05,000", "Unloading group metadata for g with generation 5")
    before = rebalance("10:00:00,000", "10:00:01,000", 4, adds("a"))
    later = rebalance("10:01:00,000", "10:01:01,000", 5, adds("b"))
    assert ids(*before, gone) == []
    assert ids(*before, gone, *later) == ["coordinator-moved"]


def test_a_missed_poll_that_a_consumer_of_kip_848_tells_twice() -> None:
    over = client(
        "10:00:00.000",
        "a",
        "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the "
        "configured max.poll.interval.ms",
    )
    again = client(
        "10:01:00.000",
        "a",
        "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately "
        "by 60000 ms. Member 7 will rejoin the group now.",
    )
    for lines in ((over, again), (again,)):
        (finding,) = story(*lines).findings
        assert (finding.id, finding.member) == ("max-poll-exceeded", "a")
        assert "once" in finding.sentence


@pytest.mark.parametrize(
    "text",
    [
        "Caught fenced group.instance.id Optional[i-1] error in heartbeat thread",
        (
            "ConsumerGroupHeartbeatRequest failed due to fenced instance id i-1: The instance is fenced. This is expected in the "
            "case that the member was removed from the group by an admin client"
        ),
        "ConsumerGroupHeartbeatRequest failed due to unreleased instance id i-1: The instance ID is still used",
    ],
)
def test_a_fence_in_the_words_of_each_consumer(text: str) -> None:
    assert ids(client("10:00:00.000", "a", text)) == ["member-fenced"]


def of_broker(broker: int, lines: list[str]) -> list[str]:
    return [line.replace("[GroupCoordinator 1]", f"[GroupCoordinator {broker}]") for line in lines]


def test_two_coordinators_at_once_and_one_after_the_other() -> None:
    """Each broker's lines are a story of their own: what one removes is no brake of the other's."""
    gone = f"removing member {member('b')} on heartbeat expiration"
    first = rebalance("10:00:00,000", "10:00:01,000", 6, adds("a"))
    at_once = [
        *of_broker(2, rebalance("10:05:00,000", "10:05:09,000", 7, adds("c", 3), 1)),
        scala(
            "10:05:03,000",
            f"Member {member('b')} in group g has failed, removing it from the group",
        ),
        *rebalance("10:05:03,000", "10:05:04,000", 7, gone, 1),
    ]
    told = story(*first, *at_once)
    assert [(each.generation, each.cause, each.removed) for each in told.rebalances] == [
        (7, "joined", []),
        (8, "expired", []),
        (8, "joined", []),
    ]
    assert "two-coordinators" in ids(*first, *at_once)
    after = of_broker(2, rebalance("10:05:00,000", "10:05:09,000", 7, adds("c", 3), 1))
    assert ids(*first, *after) == []
    assert [each.generation for each in story(*first, *after).rebalances] == [7, 8]


def test_a_fenced_process_and_the_network() -> None:
    """Nobody answers its heartbeats, for it has no session any more."""
    lines = [
        (
            "%7|1772359200.000|SESSTMOUT|a#consumer-1| [thrd:main]: Consumer group session timed out (in join-state steady) after "
            "6001 ms without a successful response"
        ),
        (
            "%0|1772359201.000|FATAL|a#consumer-1| [thrd:main]: Fatal error: Broker: Static consumer fenced by other consumer with "
            "same group.instance.id"
        ),
    ]
    named = '%7|1772359199.000|JOIN|a#consumer-1| [thrd:main]: Group "g": join with 1 subscribed topic(s)'
    assert ids(named, *lines) == ["member-fenced"]
    assert ids(named, lines[0]) == ["heartbeats-unanswered"]


def test_a_member_that_does_not_do_its_part_and_one_whose_session_ends() -> None:
    join = java(
        "10:00:00,000", "[GroupId g] Member A joins the consumer group using the consumer protocol."
    )
    first = java("10:00:00,001", "[GroupId g] Bumped group epoch to 2 with metadata hash 7.")
    fenced = "[GroupId g] Member A fenced from the group because "
    second = java("10:01:00,001", "[GroupId g] Bumped group epoch to 3 with metadata hash 7.")
    slow = fenced + "it failed to transition from epoch 1 within 60000ms."
    assert ids(join, first, java("10:01:00,000", slow), second) == ["member-fenced"]
    over = fenced + "the member session expired."
    assert ids(join, first, java("10:01:00,000", over), second) == ["session-expired"]


def test_a_refused_commit_alone_accuses_nobody() -> None:
    told = story(
        client(
            "10:00:00.000",
            "a",
            "Failing OffsetCommit request since the consumer is not part of an active group",
        )
    )
    assert [event.kind for event in told.events] == ["commit-refused"]
    assert not told.findings


def deployment(static: bool) -> list[str]:
    """Three processes are restarted one after another."""
    lines: list[str] = []
    for turn in range(3):
        minute = f"10:0{turn}"
        old = member(f"p{turn}", 1)
        instance = f"Some(p{turn})" if static else "None"
        lines += [
            scala(
                f"{minute}:00,000",
                f"Member MemberMetadata(memberId={old}, groupInstanceId={instance}, clientId=p{turn}, "
                "clientHost=/10.0.0.1, sessionTimeoutMs=6000, rebalanceTimeoutMs=300000, "
                "supportedProtocols=List(range)) has left group g through explicit `LeaveGroup`; "
                "client reason: the consumer is being closed",
            ),
            *rebalance(
                f"{minute}:00,000",
                f"{minute}:01,000",
                4 + 2 * turn,
                f"Removing member {old} on LeaveGroup; client reason: the consumer is being closed",
            ),
            *rebalance(
                f"{minute}:20,000",
                f"{minute}:21,000",
                5 + 2 * turn,
                adds(f"p{turn}", 2, instance),
            ),
        ]
    return lines


def test_a_rolling_deployment_and_two_members_that_come_and_go() -> None:
    assert ids(*deployment(static=False)) == ["rolling-deployment"]
    assert not ids(*deployment(static=False)[:8])


def test_a_leader_that_asks_again_and_one_whose_topic_grew() -> None:
    def asked(why: str, count: int) -> list[str]:
        return [
            line
            for turn in range(count)
            for line in rebalance(
                f"10:0{turn}:00,000",
                f"10:0{turn}:01,000",
                4 + turn,
                f"Leader {member('a')} re-joining group during Stable; client reason: {why}",
            )
        ]

    assert ids(*asked("not provided", 3)) == ["leader-asks-again"]
    assert not ids(*asked("not provided", 2))
    assert ids(*asked("cached metadata has changed", 3)) == ["topic-grew"]


def subscribes(clock: str, name: str, topics: str) -> str:
    return java(clock, f"[GroupId g] Member {name} updated its subscribed topics to: [{topics}].")


def test_subscriptions_that_differ_and_a_change_that_reaches_one_after_another() -> None:
    late = java("10:10:00,000", "[GroupId g] Bumped group epoch to 9 with metadata hash 7.")
    apart = [subscribes("10:00:00,000", "A", "x"), subscribes("10:00:01,000", "B", "x, y")]
    assert ids(*apart, late) == ["subscriptions-differ"]
    assert not ids(*apart, subscribes("10:09:59,000", "A", "x, y"), late)
    assert not ids(*apart), "the others may follow at once"
    gone = java("10:05:00,000", "[GroupId g] Member A left the consumer group.")
    assert not ids(*apart, gone, late)


def test_assignors_that_differ_and_lists_that_overlap() -> None:
    refused = client(
        "10:00:00.000",
        "a",
        "JoinGroup failed due to fatal error: The group member's supported protocols are incompatible "
        "with those of existing members or first group member tried to join with empty protocol type",
    )
    (finding,) = story(refused).findings
    assert (finding.id, finding.member) == ("assignors-differ", "a")
    assert finding.setting == "partition.assignment.strategy"
    assert not ids(client("10:00:00.000", "a", "Subscribed to topic(s): t"))


def test_more_members_than_partitions_and_a_step_of_a_cooperative_rebalance() -> None:
    def plan(*parts: tuple[str, str]) -> str:
        shown = ", ".join(
            f"{member(name)}=Assignment(partitions=[{those}])" for name, those in parts
        )
        return client(
            "10:00:00.000", "a", f"Finished assignment for group at generation 5: {{{shown}}}"
        )

    assert ids(plan(("a", "t-0"), ("b", "t-1"), ("c", ""))) == ["more-members-than-partitions"]
    assert not ids(plan(("a", "t-0, t-1"), ("b", "t-2"), ("c", ""))), "c gets one in the next step"
    assert not ids(plan(("a", "t-0"), ("b", "t-1")))


def described(*rows: tuple[str, int]) -> list[str]:
    return [
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID",
        *(
            f"g t {number} 10 {10 + lag} {lag} {member(name)} /10.0.0.1 {name}"
            for number, (name, lag) in enumerate(rows)
        ),
    ]


def test_lag_at_one_owner_and_lag_that_all_have() -> None:
    assert ids(*described(("a", 5), ("b", 90_000))) == ["lag-at-one-owner"]
    assert not ids(*described(("a", 40_000), ("b", 90_000)))
    assert not ids(*described(("a", 0), ("b", 9))), "nine records are no lag"
    unknown = [line.replace(" 5 ", " - ") for line in described(("a", 5), ("b", 90_000))]
    assert not ids(*unknown), "not every lag is told"


def test_members_without_a_partition_in_a_describe() -> None:
    def members(*counts: int) -> list[str]:
        return [
            "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS",
            *(f"g {member('a', n)} /10.0.0.1 a {count}" for n, count in enumerate(counts)),
        ]

    assert ids(*members(1, 1, 0)) == ["more-members-than-partitions"]
    assert not ids(*members(2, 1, 0))


def test_commits_that_are_refused_to_who_lost_its_partitions() -> None:
    late = client("10:00:00.000", "a", "consumer poll timeout has expired. This means the time ...")
    refused = client(
        "10:00:09.000",
        "a",
        "Failing OffsetCommit request since the consumer is not part of an active group",
    )
    assert ids(late, refused) == ["commits-refused", "max-poll-exceeded"]
    assert ids(late, refused.replace("=a,", "=b,")) == ["max-poll-exceeded"]


def test_heartbeats_without_an_answer_and_a_coordinator_that_moved() -> None:
    def lost(why: str) -> str:
        return client(
            "10:00:00.000",
            "a",
            "Group coordinator k1:9092 (id: 2147483646 rack: null) is unavailable or invalid due to "
            f"cause: {why}. isDisconnected: false. Rediscovery will be attempted.",
        )

    assert ids(lost("session timed out without receiving a heartbeat response")) == [
        "heartbeats-unanswered"
    ]
    assert ids(lost("error response NOT_COORDINATOR")) == ["coordinator-moved"]
    assert not ids(lost("coordinator unavailable"))


def test_a_process_that_was_paused_is_no_network_at_fault() -> None:
    expired = gone("10:00:00,000", "10:00:01,000", 4, 1)
    woke = client(
        "10:00:20.000",
        "a",
        "Group coordinator k1:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: "
        "session timed out without receiving a heartbeat response. isDisconnected: false.",
    )
    assert ids(*expired, woke) == ["session-expired"]


def test_a_migration_that_is_refused_one_that_is_not_done_and_one_that_is() -> None:
    refused = java(
        "10:00:00,000",
        "Cannot upgrade classic group g to consumer group because online upgrade is disabled.",
    )
    assert ids(refused) == ["migration-refused"]

    def joins(clock: str, name: str, protocol: str) -> list[str]:
        text = f"[GroupId g] Member {name} joins the consumer group using the {protocol} protocol."
        return [java(clock, text)]

    half = [*joins("10:00:00,000", "A", "consumer"), *joins("10:00:01,000", "b-1", "classic")]
    assert ids(*half) == ["migration-unfinished"]
    done = java("10:05:00,000", "[GroupId g] Member b-1 left the consumer group.")
    assert not ids(*half, done)


def fenced_producer(error: str) -> str:
    return (
        "2026-03-01 10:00:00,000 ERROR [Producer clientId=p-1, transactionalId=pay] Transiting to fatal "
        f"error state due to org.apache.kafka.common.errors.{error}: ..."
    )


def test_a_fenced_producer_a_transaction_that_timed_out_and_an_abort() -> None:
    fenced = fenced_producer("ProducerFencedException")
    assert [one.id for one in story(fenced, group="?").findings] == ["producer-fenced"]
    late = (
        "[2026-03-01 09:59:00,000] INFO [TransactionCoordinator id=1] Completed rollback of ongoing "
        "transaction for transactionalId pay due to timeout (kafka.coordinator.transaction.TransactionCoordinator)"
    )
    assert [one.id for one in story(late, fenced, group="?").findings] == ["transaction-timed-out"]
    assert not read(fenced_producer("UnsupportedVersionException")).groups


def test_a_topic_that_a_client_sees_grow() -> None:
    grew = (
        "[sarama] 2026/03/01 10:00:00 consumergroup/g loop check partition number goroutine find "
        "partitions in topics [t] changed from 3 to 4"
    )
    assert ids(grew) == ["topic-grew"]
    assert not ids(
        grew.replace("find partitions in topics [t] changed from 3 to 4", "will exit, topics [t]"),
        client("10:00:00.000", "a", "Subscribed to topic(s): t"),
    )


def test_every_finding_has_its_section_in_the_docs() -> None:
    project = Path(__file__).parents[2]
    pages = project / "docs" / "diagnose-findings.md"
    sections = set(re.findall(r"^## (\S+)$", pages.read_text(), re.MULTILINE))
    named = {
        found
        for module in (project / "coordinator" / "clusters" / "findings").glob("of_*.py")
        for found in re.findall(r"Finding\(\s*\"([a-z-]+)\"", module.read_text())
    }
    assert named == sections


def test_a_coordinator_that_is_back_after_its_restart() -> None:
    """Members whose heartbeats were not answered meanwhile are not accused of anything."""
    lines = [
        *rebalance("10:00:00,000", "10:00:03,000", 0, adds("app-1", 1)),
        scala("10:05:00,000", "Loading group metadata for g with generation 1"),
        client(
            "10:04:58,000",
            "app-1",
            "Group coordinator kafka:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: session timed out "
            "without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.",
        ),
    ]
    assert [each.id for each in story(*lines).findings] == ["coordinator-moved"]
    assert [each.id for each in story(*lines[:2], lines[3]).findings] == ["heartbeats-unanswered"]
    assert not story(lines[2]).findings, "a log that begins with a load shows no move"


def test_a_predecessor_that_did_not_leave_holds_up_its_successor() -> None:
    found = story(
        *rebalance("10:00:00,000", "10:00:03,000", 0, adds("app-1", 1), members=1),
        scala(
            "10:01:00,000",
            "Preparing to rebalance group g in state PreparingRebalance with old generation 1 (__consumer_offsets-3) "
            f"(reason: {adds('app-1', 2)})",
        ),
        scala(
            "10:01:06,000",
            f"Member {member('app-1', 1)} in group g has failed, removing it from the group",
        ),
        scala(
            "10:01:06,001", "Stabilized group g generation 2 (__consumer_offsets-3) with 1 members"
        ),
    )
    again = found.rebalances[1]
    assert (again.cause, again.member, again.held_up_by, again.returns) == (
        "joined",
        "app-1",
        "app-1",
        True,
    )
    (finding,) = found.findings
    assert "had begun anew under another member id" in finding.sentence
    assert any("Why app-1 began anew without leaving" in one for one in found.not_known)


def test_a_missed_poll_while_the_coordinator_was_away_is_likely_only() -> None:
    missed = client(
        "10:00:10,000",
        "app-1",
        "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer",
    )
    away = client(
        "10:00:12,000",
        "app-1",
        "Group coordinator kafka:9092 (id: 1 rack: null) is unavailable or invalid due to cause: coordinator unavailable. "
        "Rediscovery will be attempted.",
    )
    (sure,) = story(missed).findings
    (likely,) = story(missed, away).findings
    assert (sure.id, sure.certainty, likely.id, likely.certainty) == (
        "max-poll-exceeded",
        "shown",
        "max-poll-exceeded",
        "likely",
    )


def test_nobody_is_asked_for_while_an_empty_group_waits_for_more_members() -> None:
    found = story(*rebalance("10:00:00,000", "10:00:06,000", 0, adds("app-1", 1)))
    assert not any("For whom" in one for one in found.not_known)
    later = story(*rebalance("10:00:00,000", "10:00:06,000", 4, adds("app-1", 1)))
    assert any("For whom generation 5 waited 6.0 s" in one for one in later.not_known)


def test_a_library_that_goes_silent_because_the_application_did_not_poll() -> None:
    """librdkafka in a KIP-848 group: the broker sees a session that ends. A process that was paused
    says the same of itself, but after that."""
    missed = (
        "%4|{}|MAXPOLL|k-2#consumer-1| [thrd:main]: Application maximum poll interval (8000ms) exceeded by 213ms (adjust "
        "max.poll.interval.ms for long-running message processing): leaving group"
    )
    own = '%7|1772359195.000|MEMBERID|k-2#consumer-1| [thrd:main]: Group "g": updating member id "" -> "KKK"'
    lines = [
        own,
        java(
            "09:59:55,000",
            "[GroupId g] Member KKK joins the consumer group using the consumer protocol.",
        ),
        java("09:59:55,001", "[GroupId g] Bumped group epoch to 2 with metadata hash 7."),
        java(
            "10:00:20,000",
            "[GroupId g] Member KKK fenced from the group because the member session expired.",
        ),
        java("10:00:20,001", "[GroupId g] Bumped group epoch to 3 with metadata hash 7."),
    ]
    silent = story(missed.format("1772359212.000"), *lines).rebalances[-1]
    paused = story(missed.format("1772359225.000"), *lines).rebalances[-1]
    assert (silent.cause, silent.member, silent.certainty) == ("poll-timeout", "k-2", "follows")
    assert (paused.cause, paused.member) == ("expired", "k-2")


def test_answers_before_a_group_begins_are_no_move_of_its_coordinator() -> None:
    away = (
        "Group coordinator kafka:9092 (id: 1 rack: null) is unavailable or invalid due to cause: error response NOT_COORDINATOR. "
        "isDisconnected: false. Rediscovery will be attempted."
    )
    joined = (
        "Successfully joined group with generation Generation{generationId=1, "
        f"memberId='{member('app-1')}', protocol='range'}}"
    )
    before = [client("10:00:00,000", "app-1", away), client("10:00:03,000", "app-1", joined)]
    assert not story(*before).findings
    (finding,) = story(*before, client("10:05:00,000", "app-1", away)).findings
    assert finding.id == "coordinator-moved"
