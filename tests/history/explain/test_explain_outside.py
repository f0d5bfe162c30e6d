"""`explain` tells what clients tried that reached no group, and why a client could not join one."""

from __future__ import annotations

from typing import Any

from coordinator.events import Line
from coordinator.history.explain.output import as_plain, as_text, timeline_of
from tests.lines import line_from


def lines(*rows: dict[str, Any]) -> list[Line]:
    """Lines of a log, numbered."""
    header = {"stream": "run", "type": "RunStarted", "run": "r", "product": "p"}
    return [
        line_from({"seq": seq, "at_ms": 10 * seq, **row}) for seq, row in enumerate([header, *rows])
    ]


def told(*rows: dict[str, Any]) -> str:
    timeline = timeline_of(lines(*rows))
    return "\n".join(as_text(timeline, timeline.groups.values()))


TLS = {
    "stream": "wire",
    "type": "ConnectionRefused",
    "peer": "127.0.0.1:5000",
    "why": "this looks like a TLS hello; the listener speaks plaintext only",
}
SASL = {
    "stream": "wire",
    "type": "RequestRefused",
    "api": "sasl_handshake",
    "version": 1,
    "client": "app",
    "peer": "127.0.0.1:5001",
    "errors": ["ILLEGAL_SASL_STATE"],
}
READ = {
    "stream": "wire",
    "type": "InternalTopicRead",
    "client": "lag",
    "peer": "127.0.0.1",
    "topic": "__consumer_offsets",
}


def test_a_topic_that_a_question_made() -> None:
    made = {"stream": "wire", "type": "TopicAutoCreated", "client": "app", "topic": "ordres"}
    assert (
        "Topic ordres was made at 0.010 s, because client app asked about it "
        "(auto.create.topics.enable)." in told(made)
    )


THROTTLED = {
    "stream": "wire",
    "type": "ClientThrottled",
    "principal": "User:billing",
    "api": "produce",
    "throttle_ms": 2_500,
    "client": "app",
    "peer": "127.0.0.1:5004",
}


def test_a_client_that_is_over_its_quota() -> None:
    text = told(THROTTLED)
    assert "User:billing, client app at 127.0.0.1, was over its quota at " in text
    assert "Produce was answered, with throttle_time_ms of 2.500 s, and so long" in text
    text = told(THROTTLED, THROTTLED | {"client": ""}, THROTTLED | {"throttle_ms": 9})
    assert "was over its quota 2 times from " in text and "first with throttle_time_ms" in text
    assert "User:billing, a client at 127.0.0.1, was over its quota at " in text


def test_a_client_that_speaks_tls() -> None:
    text = told(TLS, TLS | {"peer": "127.0.0.1:5003"})
    assert (
        "Connections from a client at 127.0.0.1 were closed 2 times from 0.010 s to 0.020 s: "
        "this looks like a TLS hello; the listener speaks plaintext only." in text
    )


def test_a_client_that_speaks_sasl() -> None:
    assert (
        "Client app at 127.0.0.1 tried SASL at 0.010 s: it was refused (ILLEGAL_SASL_STATE), because "
        "this listener has none; set security.protocol=PLAINTEXT." in told(SASL)
    )


def test_a_client_that_reads_where_no_records_are() -> None:
    assert (
        "Client lag at 127.0.0.1 reads __consumer_offsets at 0.010 s, which has no records"
        in told(READ)
    )


def test_the_same_as_plain_values() -> None:
    timeline = timeline_of(lines(TLS, SASL, TLS))
    rows = as_plain(timeline, [])["outside_groups"]
    assert [(row["times"], row["at_ms"], row["last_ms"], row["hosts"]) for row in rows] == [
        (2, 10, 30, ["127.0.0.1"]),
        (1, 20, 20, ["127.0.0.1"]),
    ]


def test_clients_with_ever_new_names_are_bounded() -> None:
    timeline = timeline_of(lines(*(SASL | {"client": f"c{n}"} for n in range(1000))))
    assert len(timeline.outside_groups.found) == 100


REFUSED = {
    "stream": "wire",
    "type": "AuthorizationRefused",
    "principal": "User:pay",
    "operation": "Read",
    "resource": "topic",
    "name": "payments",
    "api": "fetch",
    "client": "pay-1",
    "peer": "10.0.0.1:5005",
    "acl": "User:pay may Read topic payments",
    "acl_deleted_ms": 5,
}


def test_all_clients_that_a_user_was_refused_with_are_named() -> None:
    text = told(REFUSED, REFUSED | {"client": "pay-2"}, REFUSED)
    assert "User:pay at 10.0.0.1 (clients pay-1 and pay-2) was refused Fetch 3 times from" in text
    many = told(*(REFUSED | {"client": f"pay-{number}"} for number in range(1, 12)))
    assert "pay-8 and others) was refused Fetch 11 times from" in many
    assert "(client pay-1) was refused Fetch at " in told(REFUSED)


def test_a_refusal_for_another_reason_is_told_by_itself() -> None:
    """The right was taken away, given back, and denied later: two sentences, each with its reason."""
    denied = {"acl": "User:pay may not Read topic payments", "acl_deleted_ms": None}
    text = told(REFUSED, REFUSED | denied)
    assert "the one that did was deleted at 0.005 s." in text
    assert "an ACL denies it: User:pay may not Read topic payments." in text
