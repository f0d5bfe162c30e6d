"""What the facts of several lines and files tell together."""

from __future__ import annotations

from pathlib import Path

from coordinator.clusters.diagnosis import diagnose
from coordinator.clusters.facts import ClientJoined

from .kit import adds, client, java, member, read, rebalance, scala, story


def test_trigger_and_brake_are_two_things() -> None:
    told = story(
        *rebalance("10:00:00,000", "10:05:00,002", 4, adds("web-3"))[:1],
        scala(
            "10:05:00,001",
            f"Group g removed dynamic members who haven't joined: Set({member('web-1')})",
        ),
        *rebalance("10:00:00,000", "10:05:00,002", 4, adds("web-3"))[1:],
    )
    (each,) = told.rebalances
    assert (each.cause, each.member) == ("joined", "web-3")
    assert (each.held_up_by, each.removed, each.join_phase_ms) == ("web-1", ["web-1"], 300_002)


def test_a_session_that_ends_meanwhile_is_a_brake() -> None:
    begin, end = rebalance("10:00:00,000", "10:00:40,000", 4, adds("web-3"))
    told = story(
        begin,
        scala("10:00:39,999", f"Member {member('web-1')} in group g has failed, removing it"),
        end,
    )
    (each,) = told.rebalances
    assert (each.cause, each.member, each.held_up_by) == ("joined", "web-3", "web-1")


def test_without_the_line_that_begins_it_a_cause_is_unknown() -> None:
    told = story(rebalance("10:00:00,000", "10:00:01,000", 4, "")[1])
    (each,) = told.rebalances
    assert (each.cause, each.certainty, each.member) == ("unknown", None, None)
    assert any("generation 5" in sentence for sentence in told.not_known)


def test_a_reason_that_nobody_knows_is_unknown() -> None:
    told = story(*rebalance("10:00:00,000", "10:00:01,000", 4, "the moon is full"))
    assert told.rebalances[0].cause == "unknown"


def test_the_last_member_leaves_an_empty_group() -> None:
    told = story(
        rebalance(
            "10:00:00,000",
            "10:00:00,000",
            4,
            f"Removing member {member('a')} on LeaveGroup; client reason: not provided",
        )[0],
        scala("10:00:00,001", "Group g with generation 5 is now empty (__consumer_offsets-3)"),
    )
    (each,) = told.rebalances
    assert (each.generation, each.cause, each.empty, each.members) == (5, "left", True, 0)


def test_the_same_client_under_a_new_id_returns() -> None:
    expired = f"removing member {member('a', 1)} on heartbeat expiration"
    gone = rebalance("10:00:00,000", "10:00:01,000", 4, expired)
    failed = scala("10:00:00,000", f"Member {member('a', 1)} in group g has failed, removing it")
    back = rebalance("10:00:20,000", "10:00:21,000", 5, adds("a", 2))
    told = story(failed, *gone, *back)
    assert [(each.cause, each.returns) for each in told.rebalances] == [
        ("expired", None),
        ("joined", True),
    ]


def test_a_client_id_of_several_members_does_not_tell_who_returns() -> None:
    joins = "Dynamic member with unknown member id joins group g in Stable state. Created a new member id"
    told = story(
        scala("09:59:00,000", f"{joins} {member('a', 1)} and request the member to rejoin"),
        scala("09:59:01,000", f"{joins} {member('a', 2)} and request the member to rejoin"),
        scala("10:00:00,000", f"Member {member('a', 1)} in group g has failed, removing it"),
        *rebalance(
            "10:00:00,000",
            "10:00:01,000",
            4,
            f"removing member {member('a', 1)} on heartbeat expiration",
        ),
        *rebalance("10:00:20,000", "10:00:21,000", 5, adds("a", 3)),
    )
    assert told.rebalances[1].returns is None


def test_the_leader_that_joins_again_for_a_topic_says_so_in_its_own_log() -> None:
    again = f"Leader {member('a')} re-joining group during Stable; client reason: not provided"
    lines = rebalance("10:00:00,000", "10:00:01,000", 4, again)
    assert story(*lines).rebalances[0].cause == "leader-rejoined"
    asked = client(
        "09:59:59,900",
        "a",
        "Request joining group due to: cached metadata has changed from (version2: {t=1}) "
        "at the beginning of the rebalance to (version3: {t=2})",
    )
    deeper = story(*lines, asked)
    assert (deeper.rebalances[0].cause, deeper.rebalances[0].certainty) == ("topic-grew", "shown")
    other = asked.replace("clientId=a", "clientId=b")
    assert story(*lines, other).rebalances[0].cause == "leader-rejoined"


def test_the_second_step_of_a_cooperative_rebalance_is_no_change_of_subscription() -> None:
    told = story(
        *rebalance(
            "10:00:00,000",
            "10:00:01,000",
            4,
            f"Updating metadata for member {member('a')} during Stable; "
            "client reason: need to revoke partitions and re-join",
        )
    )
    assert told.rebalances[0].cause == "rejoined"
    assert not told.findings


def test_a_client_that_left_because_it_did_not_poll() -> None:
    lines = rebalance(
        "10:00:00,000",
        "10:00:01,000",
        4,
        f"Removing member {member('a')} on LeaveGroup; client reason: not provided",
    )
    assert story(*lines).rebalances[0].cause == "left"
    late = client("09:59:59,990", "a", "consumer poll timeout has expired. This means the time ...")
    assert story(*lines, late).rebalances[0].cause == "poll-timeout"
    assert story(*lines, late.replace("=a,", "=b,")).rebalances[0].cause == "left"


def test_a_process_that_was_frozen_accuses_itself_wrongly() -> None:
    lines = rebalance(
        "10:00:00,000", "10:00:01,000", 4, f"removing member {member('a')} on heartbeat expiration"
    )
    woke = client("10:00:07,000", "a", "consumer poll timeout has expired. This means the time ...")
    told = story(*lines, woke)
    assert told.rebalances[0].cause == "expired"
    assert "max-poll-exceeded" not in {finding.id for finding in told.findings}


def test_a_process_that_was_frozen_accuses_itself_in_its_own_log_alone() -> None:
    """Both timers of the process ran out while it was paused: its session came first."""
    joined = "Successfully joined group with generation Generation{{generationId={}, memberId='{}', protocol='range'}}"
    told = story(
        client("10:00:00.000", "a", joined.format(4, member("a"))),
        client(
            "10:02:00.000",
            "a",
            "Group coordinator b:9092 (id: 1 rack: null) is unavailable or invalid due to cause: session timed out without "
            "receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.",
        ),
        client(
            "10:02:00.100",
            "a",
            "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the "
            "configured max.poll.interval.ms",
        ),
        client("10:02:03.000", "a", joined.format(6, member("a", 2))),
    )
    assert [each.cause for each in told.rebalances] == ["unknown", "joined"]
    (finding,) = (each for each in told.findings if each.id == "max-poll-exceeded")
    assert finding.certainty == "likely"
    assert "was paused" in finding.sentence


def rdkafka(second: int, facility: str, text: str, client_id: str = "a") -> str:
    """A line of librdkafka."""
    return f"%7|{1_772_359_200 + second}.000|{facility}|{client_id}#consumer-1| [thrd:main]: {text}"


def rdkafka_join(second: int, generation: int, number: int, client_id: str = "a") -> list[str]:
    """The two answers to a client of librdkafka that is new."""
    mine = member(client_id, number)
    return [
        rdkafka(
            second,
            "JOINGROUP",
            f"JoinGroup response: GenerationId -1, Protocol , LeaderId , my MemberId {mine}, member metadata count 0: "
            "Broker: Group member needs a valid member ID",
            client_id,
        ),
        rdkafka(
            second,
            "JOINGROUP",
            f"JoinGroup response: GenerationId {generation}, Protocol range, LeaderId x, my MemberId {mine}, member metadata "
            "count 0: (no error)",
            client_id,
        ),
    ]


LEARNS = (
    'Group "g" initiating rebalance {} in state up (join-state {}) with {} assigned partition(s): Metadata for subscribed '
    "topic(s) has changed"
)


def test_a_client_that_learns_of_its_topics_and_one_whose_topic_grows() -> None:
    lines = [
        rdkafka(0, "JOIN", 'Group "g": join with 1 subscribed topic(s)'),
        rdkafka(0, "REBALANCE", LEARNS.format("(NONE)", "wait-metadata", 0)),
        *rdkafka_join(1, 5, 1),
    ]
    (first,) = story(*lines).rebalances
    assert (first.cause, first.member, first.certainty) == ("joined", "a", "likely")
    grown = [
        rdkafka(60, "REBALANCE", LEARNS.format("(EAGER)", "steady", 2)),
        rdkafka_join(61, 6, 1)[1],
    ]
    assert [each.cause for each in story(*lines, *grown).rebalances] == ["joined", "topic-grew"]


def test_a_process_that_was_killed_and_started_again_in_one_log() -> None:
    told = story(
        rdkafka(0, "JOIN", 'Group "g": join with 1 subscribed topic(s)'),
        *rdkafka_join(1, 5, 1),
        *rdkafka_join(30, 7, 2),
    )
    assert [(each.generation, each.cause, each.returns) for each in told.rebalances] == [
        (5, "joined", None),
        (7, "joined", True),
    ]


def test_processes_with_the_client_id_that_a_library_gives_all(tmp_path: Path) -> None:
    """What one of them says is not said of the other one."""
    first = [
        rdkafka(0, "JOIN", 'Group "g": join with 1 subscribed topic(s)', "rdkafka"),
        *rdkafka_join(1, 5, 1, "rdkafka"),
        rdkafka(
            40,
            "MAXPOLL",
            "Application maximum poll interval (30000 ms) exceeded by 5 ms: leaving group",
            "rdkafka",
        ),
        *rdkafka_join(90, 8, 3, "rdkafka"),
    ]
    second = [
        rdkafka(9, "JOIN", 'Group "g": join with 1 subscribed topic(s)', "rdkafka"),
        *rdkafka_join(10, 6, 2, "rdkafka"),
        rdkafka_join(41, 7, 2, "rdkafka")[1],
        rdkafka_join(91, 8, 2, "rdkafka")[1],
    ]
    paths = [tmp_path / "one.log", tmp_path / "two.log"]
    for path, lines in zip(paths, (first, second), strict=True):
        path.write_text("\n".join(lines) + "\n")
    told = diagnose(map(str, paths)).groups["g"]
    assert [(each.generation, each.cause) for each in told.rebalances] == [
        (5, "joined"),
        (6, "joined"),
        (7, "unknown"),
        (8, "joined"),
    ]


def test_a_client_without_a_client_id_in_its_lines_is_named_by_its_member_id(
    tmp_path: Path,
) -> None:
    line = "2026-03-01 10:00:01,100 INFO aiokafka.consumer.group_coordinator Joined group 'g' (generation 5) with member_id {}"
    server, worker, other = (tmp_path / name for name in ("server.log", "w.log", "x.log"))
    server.write_text("\n".join(rebalance("10:00:00,000", "10:00:01,000", 4, adds("a"))) + "\n")
    worker.write_text(line.format(member("a")) + "\n")
    (each,) = diagnose([str(server), str(worker)]).groups["g"].rebalances
    assert each.member == "a"
    other.write_text(line.format(member("a", 7)) + "\n")
    told = diagnose([str(worker), str(other)])
    assert set(told.people.clients.values()) == {"w.log", "x.log"}


def test_a_static_member_has_one_name_in_all_files(tmp_path: Path) -> None:
    """The broker puts the instance id in front of the member id, the client logs its client id."""
    server, worker = tmp_path / "server.log", tmp_path / "b.log"
    gone = f"removing member {member('web-1')} on heartbeat expiration"
    server.write_text(
        "\n".join(
            [
                *rebalance("10:00:00,000", "10:00:01,000", 4, gone, 1),
                *rebalance("10:01:00,000", "10:01:01,000", 5, adds("web-1", 2, instance="web-1")),
            ]
        )
        + "\n"
    )
    joined = "Successfully joined group with generation Generation{{generationId={}, memberId='{}', protocol='range'}}"
    worker.write_text(
        client("09:59:00.000", "app", joined.format(4, member("web-1")))
        + "\n"
        + client("10:01:01.010", "app", joined.format(6, member("web-1", 2)))
        + "\n"
    )
    told = diagnose([str(server), str(worker)]).groups["g"]
    assert [(each.cause, each.member) for each in told.rebalances if each.generation > 4] == [
        ("expired", "web-1"),
        ("static-restart", "web-1"),
    ]


def test_clocks_that_differ_are_put_on_the_brokers(tmp_path: Path) -> None:
    broker = tmp_path / "server.log"
    broker.write_text(
        "\n".join(
            [
                *rebalance("10:00:00,000", "10:00:01,000", 0, adds("a")),
                *rebalance(
                    "10:05:00,000",
                    "10:05:01,000",
                    1,
                    f"Removing member {member('a')} on LeaveGroup; client reason: not provided",
                ),
            ]
        )
    )
    app = tmp_path / "app.log"
    joined = f"Generation{{generationId=1, memberId='{member('a')}', protocol='range'}}"
    app.write_text(
        "\n".join(
            [
                client("10:02:01,010", "a", f"Successfully joined group with generation {joined}"),
                client("10:07:00,000", "a", "consumer poll timeout has expired. This means ..."),
            ]
        )
    )
    told = diagnose([str(broker), str(app)])
    assert told.reports[str(app)].clock_offset_ms == 120_010
    assert told.reports[str(broker)].clock_offset_ms == 0
    assert [each.cause for each in told.groups["g"].rebalances] == ["first-join", "poll-timeout"]


def test_a_zone_follows_from_a_file_that_has_one(tmp_path: Path) -> None:
    broker = tmp_path / "server.log"
    broker.write_text("\n".join(rebalance("12:00:00,000", "12:00:01,000", 0, adds("a"))))
    app = tmp_path / "app.log"
    app.write_text(
        "%7|1772359201.010|JOINGROUP|a#consumer-1| [thrd:main]: JoinGroup response: GenerationId 1, "
        f"Protocol range, LeaderId {member('a')} (me), my MemberId {member('a')}, "
        "member metadata count 1: (no error)\n"
    )
    told = diagnose([str(app), str(broker)])
    assert told.reports[str(broker)].offset == 120
    (each,) = told.groups["g"].rebalances
    assert each.at == 1_772_359_201_000


def test_a_share_group_has_no_epoch_line_for_a_leave() -> None:
    told = story(
        java(
            "10:00:00,000", "[GroupId q] Member AAA joins the share group using the share protocol."
        ),
        java("10:00:00,001", "[GroupId q] Bumped group epoch to 2 with metadata hash 7."),
        java(
            "10:00:00,002",
            "[GroupId q] Computed a new target assignment for epoch 2 with 'simple' assignor in 0ms.",
        ),
        java(
            "10:00:05,000",
            "[GroupId q] Member BBB+/1 joins the share group using the share protocol.",
        ),
        java("10:00:05,001", "[GroupId q] Bumped group epoch to 3 with metadata hash 7."),
        java("10:00:09,000", "[GroupId q] Member BBB+/1 left the share group."),
        java(
            "10:00:10,000",
            "[GroupId q] Computed a new target assignment for epoch 4 with 'simple' assignor in 0ms.",
        ),
        group="q",
    )
    assert told.protocol == "share"
    assert [(each.generation, each.cause, each.member) for each in told.rebalances] == [
        (2, "first-join", "AAA"),
        (3, "joined", "BBB+/1"),
        (4, "left", "BBB+/1"),
    ]


def test_an_epoch_that_only_new_metadata_begins() -> None:
    """A consumer that subscribes to other topics changes the metadata, too; brokers log its
    subscription at DEBUG."""
    told = story(
        java(
            "10:00:00,000",
            "[GroupId g] Member AAA joins the consumer group using the consumer protocol.",
        ),
        java("10:00:00,001", "[GroupId g] Bumped group epoch to 2 with metadata hash 7."),
        java("10:00:05,001", "[GroupId g] Computed new metadata hash: 8."),
        java("10:00:05,001", "[GroupId g] Bumped group epoch to 3 with metadata hash 8."),
    )
    assert [(each.cause, each.certainty) for each in told.rebalances] == [
        ("first-join", "shown"),
        ("topic-grew", "likely"),
    ]
    assert any("or a consumer subscribed to other topics" in one for one in told.not_known)


def test_an_excerpt_that_begins_with_new_metadata() -> None:
    """The last member's leave changes the metadata as well: its line may be cut off."""
    lines = (
        java("10:00:00,000", "[GroupId g] Computed new metadata hash: 0."),
        java("10:00:00,000", "[GroupId g] Bumped group epoch to 5 with metadata hash 0."),
    )
    told = story(*lines)
    assert [(each.generation, each.cause) for each in told.rebalances] == [(5, "unknown")]
    assert not told.findings


def test_a_client_that_names_its_client_id_only_later() -> None:
    told = story(
        "2026-03-01 10:00:00,000 INFO kafka.coordinator Successfully joined group g <Generation 5 (member_id: "
        f"{member('app')}, protocol: range)>",
        "2026-03-01 10:00:09,000 INFO kafka.consumer.group KafkaConsumer (client_id=app) closing",
        "2026-03-01 10:00:10,000 WARNING kafka.coordinator Consumer poll timeout has expired. This means the time between "
        "subsequent calls to poll() was longer than the configured max_poll_interval_ms",
    )
    assert {each.member for each in told.findings} == {"app"}
    assert told.seen[0].fact == ClientJoined("app", "g", member("app"), 5)


def test_an_instance_that_is_replaced_and_one_whose_twin_lives() -> None:
    replaced = scala(
        "10:00:00,000",
        "Static member with groupInstanceId=s-1 and unknown member id joins group g in Stable state. "
        f"Replacing previously mapped member {member('s-1', 1)} with this groupInstanceId.",
    )
    fenced = scala(
        "10:00:03,000",
        f"Request memberId={member('s-1', 1)} for static member with groupInstanceId=s-1 is fenced by "
        f"current memberId={member('s-1', 2)} during operation heartbeat",
    )
    alone = story(replaced)
    assert [event.kind for event in alone.events] == ["replaced"]
    assert not alone.findings
    assert any("restarted or a second process" in sentence for sentence in alone.not_known)
    both = story(replaced, fenced)
    assert [event.kind for event in both.events] == ["replaced", "fenced"]
    assert [(finding.id, finding.certainty) for finding in both.findings] == [
        ("member-fenced", "likely")
    ]


def test_a_coordinator_that_moves_is_an_event_and_no_rebalance() -> None:
    told = story(scala("10:00:00,000", "Unloading group metadata for g with generation 7"))
    assert [event.kind for event in told.events] == ["unloaded"]
    assert not told.rebalances


def test_lines_that_name_no_group() -> None:
    told = read(
        "%4|1772359201.010|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval "
        "(300000ms) exceeded by 88ms (adjust max.poll.interval.ms for long-running message processing): "
        "leaving group"
    )
    (finding,) = told.groups["?"].findings
    assert (finding.id, finding.member) == ("max-poll-exceeded", "rdkafka")
    assert "it is 300000 ms here" in finding.sentence


def test_a_consumer_of_kip_848_alone_knows_its_epochs_and_its_missed_poll() -> None:
    def moved(clock: str, epoch: int, old: str, new: str) -> str:
        text = f"Member AbC-_12 with epoch {epoch} transitioned from {old} to {new}."
        return client(clock, "c-1", text).replace(
            "ConsumerCoordinator", "ConsumerMembershipManager"
        )

    told = story(
        moved("10:00:00.100", 0, "UNSUBSCRIBED", "JOINING"),
        moved("10:00:00.200", 5, "JOINING", "RECONCILING"),
        moved("10:00:00.400", 5, "ACKNOWLEDGING", "STABLE"),
        moved("10:01:00.400", 6, "STABLE", "RECONCILING"),
        client("10:02:00.400", "c-1", "Consumer poll timeout has expired. This means the time ..."),
        moved("10:02:00.500", 6, "STABLE", "STALE"),
        moved("10:03:00.200", 8, "JOINING", "RECONCILING"),
    )
    assert told.protocol == "consumer"
    assert [(each.generation, each.cause, each.returns) for each in told.rebalances] == [
        (5, "joined", None),
        (6, "unknown", None),
        (8, "joined", True),
    ]
    assert [(finding.id, finding.member) for finding in told.findings] == [
        ("max-poll-exceeded", "c-1")
    ]


def test_a_group_of_interest_in_a_long_log(tmp_path: Path) -> None:
    """Most lines are never decoded: what is told is the same as without that."""
    noise = [
        f"[2026-03-01 10:00:{second:02d},000] INFO [UnifiedLog partition=orders-{number}] Rolled new log segment"
        for second in range(60)
        for number in range(80)
    ]
    other = noise_of("other")
    log = tmp_path / "server.log"
    mine = rebalance("10:01:00,000", "10:01:01,000", 4, adds("a"))
    refused = scala(
        "10:01:02,000",
        f"Request memberId={member('a', 1)} for static member with groupInstanceId=s-1 is fenced by "
        f"current memberId={member('a', 2)} during operation heartbeat",
    )
    trace = "\tat java.lang.Thread.run(Thread.java:833)"
    log.write_text("\n".join([*noise, *other, *mine, trace, refused, *noise]) + "\n")
    chosen = diagnose([str(log)], group="g")
    told = chosen.groups["g"]
    assert [each.cause for each in told.rebalances] == ["joined"]
    assert [each.kind for each in told.events] == ["fenced"]
    assert list(chosen.groups) == ["g"]
    everything = diagnose([str(log)])
    assert list(everything.groups) == ["other", "g"]
    assert everything.groups["g"].rebalances == told.rebalances
    assert chosen.reports[str(log)].lines == everything.reports[str(log)].lines


def noise_of(group: str) -> list[str]:
    return [
        line.replace("group g ", f"group {group} ")
        for number in range(40)
        for line in rebalance(
            f"10:00:{number:02d},000", f"10:00:{number:02d},500", number, adds("b")
        )
    ]


def test_a_table_in_a_long_log_is_read_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "paste.txt"
    noise = ["2026-03-01 10:00:00,000 nothing to see"] * 2_500
    table = [
        "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS",
        *(f"g {member('a', n)} /10.0.0.1 a 1" for n in range(3)),
        "",
    ]
    log.write_text("\n".join([*noise, *table, *noise]) + "\n")
    (state,) = diagnose([str(log)], group="g").groups["g"].states
    assert state.described.most == 1
