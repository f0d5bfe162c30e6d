"""What people paste when they ask: a few lines of one client or one broker. What they tell is told; who
is not shown to be at fault is not accused; what they do not tell is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.clusters.diagnosis import Diagnosis, diagnose, diagnose_text

EXCERPTS = Path(__file__).with_name("excerpts")


def told(name: str) -> Diagnosis:
    return diagnose([str(EXCERPTS / f"{name}.txt")])


@pytest.mark.parametrize(
    ("name", "group", "causes"),
    [
        ("broker-2.2-joins", "import", [(13, "joined", "loader"), (14, "expired", "loader")]),
        (
            "broker-2.8-leader-again",
            "events-reader",
            [(number, "leader-rejoined", "house-web-1") for number in range(4101, 4105)],
        ),
        ("broker-3.x-slow-member", "etl", [(8, "joined", "etl-c")]),
        ("connect-worker-loop", "connect-prod", [(7026, "unknown", None)]),
        ("spring-boot-abbreviated", "billing", [(8, "unknown", None)]),
        ("java-2.5-poll-loop", "mail", [(41, "unknown", None), (43, "joined", "consumer-mail-1")]),
        ("java-fenced", "web", [(5, "unknown", None)]),
        ("kafka-python-rebalancing", "analyse", [(222, "unknown", None), (223, "unknown", None)]),
        ("franz-go-json", "history", [(693, "unknown", None), (694, "unknown", None)]),
        ("franz-go-basic", "history", [(1, "first-join", "kgo"), (3, "joined", "kgo")]),
        ("redpanda-trace", "logs", [(8, "expired", "tail")]),
        ("kafka-python-colons", "billing", [(1, "first-join", None)]),
        ("kafka-python-no-logger", "pushes", [(77, "unknown", None)]),
        (
            "kafka-python-member-not-known",
            "audit",
            [(3, "joined", "kafka-python-member-not-known.txt")],
        ),
        ("librdkafka-1-syslog", "tolls", [(12, "joined", "rdkafka"), (13, "unknown", None)]),
        ("librdkafka-bars", "quotes", [(7646, "unknown", None), (7647, "unknown", None)]),
        ("librdkafka-without-facility", "routes", [(46, "unknown", None)]),
        ("librdkafka-1-unknown-member", "mails", [(5, "joined", "mailer")]),
        ("librdkafka-1-maxpoll", "thumbs", [(24, "joined", "rdkafka")]),
        ("franz-go-kibana", "standby", [(31, "unknown", None)]),
        (
            "broker-thread-behind-logger",
            "copies",
            [(number, "subscription-changed", "connect-1") for number in (4711280, 4711281)],
        ),
        ("broker-cannot-store", "tracks", [(n, "unknown", None) for n in (628, 629, 630)]),
        ("kafka-go-dies-without-leaving", "invoices-reader", [(2, "unknown", None)]),
        (
            "kafka-go-unknown-member",
            "tracks",
            [(77, "joined", "worker"), (78, "topic-grew", "worker")],
        ),
        (
            "brod-elixir-loop",
            "basket_events",
            [(19, "unknown", None), (20, "joined", "<0.1077.0>")],
        ),
        ("brod-erlang", "mail-index", [(76, "unknown", None)]),
        ("brod-foreman", "index.6", [(15, "unknown", None), (16, "unknown", None)]),
        ("redpanda-left", "clips", [(8, "left", "clipper")]),
        ("redpanda-info", "alerts", [(1, "first-join", "alerter")]),
        ("spring-listener-revoked", "orders", [(44, "unknown", None)]),
        (
            "broker-moved-then-expired",
            "scheduler_local",
            [(5053, "joined", "33f90220-ab5e-4084-a21b-57e9d3f74f58")],
        ),
        ("broker-numbered-grep", "infra.testconsumer", [(57, "expired", "rdkafka")]),
        ("kibana-two-stamps", "login-workers", [(2, "expired", "login")]),
        ("franz-go-compose", "dispatcher", [(12, "joined", "kgo"), (13, "unknown", None)]),
        ("connect-task-poll", "connect-sink-pg", [(19, "joined", "connector-consumer-sink-pg-0")]),
        ("connect-worker-left", "connect-a", [(211, "unknown", None), (212, "unknown", None)]),
        ("kafka-python-two-stamps", "images", [(223, "unknown", None)]),
        (
            "streams-probing",
            "app",
            [(10, "unknown", None), (11, "rejoined", "app-StreamThread-1-consumer")],
        ),
    ],
)
def test_causes(name: str, group: str, causes: list[tuple[int, str, str | None]]) -> None:
    story = told(name).groups[group]
    assert [(each.generation, each.cause, each.member) for each in story.rebalances] == causes
    for each in story.rebalances:
        if each.cause == "unknown":
            assert any(f"generation {each.generation} " in one for one in story.not_known)


@pytest.mark.parametrize(
    ("name", "findings"),
    [
        ("broker-2.2-joins", [("session-expired", "loader")]),
        ("broker-2.8-leader-again", [("leader-asks-again", "house-web-1")]),
        ("broker-3.x-slow-member", [("never-rejoins", "etl-a")]),
        ("connect-worker-loop", []),
        ("describe-rebalancing-only", []),
        ("franz-go-json", []),
        (
            "java-2.5-poll-loop",
            [("max-poll-exceeded", "consumer-mail-1"), ("commits-refused", "consumer-mail-1")],
        ),
        ("java-coordinator-moved", [("coordinator-moved", None)]),
        ("java-coordinator-unreachable", [("heartbeats-unanswered", "c-1")]),
        ("java-fenced", [("member-fenced", "web-0")]),
        ("kafka-python-1.4-session", [("heartbeats-unanswered", "kafka-python-1.4-session.txt")]),
        ("kafka-python-rebalancing", []),
        ("kafkajs-loop", []),
        (
            "librdkafka-maxpoll-only",
            [("max-poll-exceeded", "worker-7"), ("commits-refused", "worker-7")],
        ),
        ("producer-fenced", [("producer-fenced", "pay-1")]),
        ("sarama", []),
        ("spring-boot-abbreviated", []),
        ("streams-assignors-differ", [("assignors-differ", "shipping-consumer")]),
        ("kafka-python-plain-format", [("max-poll-exceeded", "kafka-python-plain-format.txt")]),
        ("kafka-python-no-logger", []),
        (
            "kafka-python-member-not-known",
            [("heartbeats-unanswered", "kafka-python-member-not-known.txt")],
        ),
        ("kafkajs-winston", []),
        ("kafkajs-brace-too-many", []),
        ("librdkafka-1-syslog", []),
        ("librdkafka-bars", []),
        ("librdkafka-without-facility", []),
        ("librdkafka-1-unknown-member", []),
        ("librdkafka-1-maxpoll", [("max-poll-exceeded", "rdkafka")]),
        ("franz-go-kibana", []),
        ("franz-go-fenced", [("member-fenced", "franz-go-fenced.txt")]),
        ("dotnet-missed-poll", [("max-poll-exceeded", "dotnet-missed-poll.txt")]),
        ("broker-thread-behind-logger", []),
        ("broker-cannot-store", []),
        ("java-only-rebalancing", []),
        ("streams-probing", []),
        ("kafka-go-dies-without-leaving", []),
        ("kafka-go-unknown-member", [("topic-grew", None)]),
        ("brod-elixir-loop", []),
        ("brod-erlang", []),
        ("brod-foreman", []),
        ("sarama-lost-ownership", [("member-fenced", "sarama-lost-ownership.txt")]),
        ("sarama-not-coordinator", [("coordinator-moved", None)]),
        ("redpanda-left", []),
        ("spring-poll-json", [("max-poll-exceeded", "consumer-4")]),
        ("spring-listener-revoked", []),
        ("java-json-already-rebalancing", []),
        (
            "broker-moved-then-expired",
            [
                ("never-rejoins", "d75ae538-e997-488a-a27a-8ea716f6672e"),
                ("coordinator-moved", None),
            ],
        ),
        ("broker-numbered-grep", [("session-expired", "rdkafka")]),
        ("kibana-two-stamps", [("session-expired", "login")]),
        ("franz-go-compose", []),
        (
            "connect-task-poll",
            [
                ("max-poll-exceeded", "connector-consumer-sink-pg-0"),
                ("commits-refused", "connector-consumer-sink-pg-0"),
            ],
        ),
        ("connect-worker-left", []),
        (
            "streams-poll",
            [
                (
                    "max-poll-exceeded",
                    "shop-app-7bd4e6b1-4ed0-4be3-b1d7-3f9d6de1d1a0-StreamThread-2-consumer",
                )
            ],
        ),
        ("java-2.5-commit-only", []),
        ("java-kip848-fenced", []),
        ("kafka-python-two-stamps", [("heartbeats-unanswered", "kafka-python-two-stamps.txt")]),
    ],
)
def test_findings_and_no_others(name: str, findings: list[tuple[str, str | None]]) -> None:
    (story,) = told(name).groups.values()
    assert [(each.id, each.member) for each in story.findings] == findings


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kafkajs-loop", "Why cart joined the group at 2022-05-16T12:13:43.734Z"),
        (
            "sarama",
            "Why sarama was released from a generation at 2022-08-18T16:07:59.000 (generation 16)",
        ),
        ("describe-rebalancing-only", "Why the rebalance that the describe shows began"),
        ("describe-without-group-column", "Why the rebalance that the describe shows began"),
        ("java-only-rebalancing", "trigger-73 logged only that it was"),
        ("kafkajs-winston", "shop-server logged only that it was"),
        ("kafkajs-brace-too-many", "Why basket joined the group at 2024-05-17T07:13:43.734Z"),
        ("franz-go-fenced", "Which other process has the instance id"),
        (
            "java-2.5-commit-only",
            "Why the group had rebalanced without consumer-cohort-3 when it committed (2021-04-19T14:59:17.488)",
        ),
        (
            "java-kip848-fenced",
            "Why the coordinator did not have quotes-1 as a member any more (2025-10-01T09:00:00.100)",
        ),
        ("java-json-already-rebalancing", "consumer-trigger-19 logged only that it was"),
        ("sarama-lost-ownership", "Which other process has the instance id"),
        ("dotnet-missed-poll", "between its polls before 2024-05-17T02:30:54.356"),
    ],
)
def test_what_a_library_does_not_log_is_named(name: str, words: str) -> None:
    (story,) = told(name).groups.values()
    assert any(words in sentence for sentence in story.not_known)
    assert not story.rebalances


def test_a_describe_without_a_column_for_the_group() -> None:
    (story,) = told("describe-without-group-column").groups.values()
    (state,) = story.states
    assert (story.group, state.described.state) == ("BASE", "rebalancing")
    assert state.described.lag == 17_000


@pytest.mark.parametrize("between", [",", ";"])
def test_a_describe_with_commas(between: str) -> None:
    rows = [
        "GROUP,TOPIC,PARTITION,CURRENT-OFFSET,LOG-END-OFFSET,LAG,CONSUMER-ID,HOST,CLIENT-ID",
        'mail,"letters",0,10,15,5,a-1,/10.0.0.1,a',
        "mail,letters,1,10,12,2,b-1,/10.0.0.2,b",
        "mail,letters,2,,3,,,,",
    ]
    found = diagnose_text("\n".join(rows[:3]).replace(",", between) + "\n")
    (state,) = found.groups["mail"].states
    assert (state.described.owners, state.described.lag) == (("a", "b"), 7)
    (state,) = diagnose_text("\n".join(rows).replace(",", between) + "\n").groups["mail"].states
    assert state.described.lag is None, "of one partition it is not told"


def test_a_reason_that_names_no_known_cause_is_quoted() -> None:
    story = told("broker-cannot-store").groups["tracks"]
    assert any(
        "error when storing group assignment during SyncGroup" in one for one in story.not_known
    )


def test_two_lines_about_one_occasion_are_counted_once() -> None:
    (finding,) = told("kafka-python-member-not-known").groups["audit"].findings
    assert "once" in finding.sentence


def test_a_log_of_something_else_tells_of_no_group() -> None:
    found = told("nginx")
    assert not found.groups
    (report,) = found.reports.values()
    assert (report.understood, report.lines) == (0, 3)
    assert report.shapes


@pytest.mark.parametrize(
    "line",
    [
        (
            '2026-03-01 10:00:00 ERROR consumer: KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application '
            'maximum poll interval (300000ms) exceeded by 231ms"}'
        ),
        (
            "[thrd:main]: Application maximum poll interval (300000ms) exceeded by 88ms (adjust "
            "max.poll.interval.ms for long-running message processing): leaving group"
        ),
    ],
)
def test_a_missed_poll_as_a_binding_prints_it(line: str) -> None:
    (story,) = diagnose_text(line + "\n").groups.values()
    (finding,) = story.findings
    assert (finding.id, finding.member) == ("max-poll-exceeded", "paste")
    assert "it is 300000 ms here" in finding.sentence


def test_a_refused_commit_without_a_line_of_the_client() -> None:
    trace = (
        "org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed "
        "since the consumer is not part of an active group for auto partition assignment"
    )
    (story,) = diagnose_text(trace + "\n").groups.values()
    assert [event.kind for event in story.events] == ["commit-refused"]
    assert not story.findings


def test_a_list_of_groups_tells_nothing_of_what_they_do() -> None:
    rows = "GROUP TYPE PROTOCOL\norders Classic consumer\njobs Share share\n"
    assert not diagnose_text(rows).groups
