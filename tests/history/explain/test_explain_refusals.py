"""`explain` of refusals that take turns, of protocols that do not fit, of offsets that went, of
Kafka Connect's groups."""

from __future__ import annotations

from coordinator.history.explain.output import as_plain, as_text, timeline_of
from coordinator.history.world import packed_stories as filed
from coordinator.history.world import refusals
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.messages.sync_group import SyncGroupRequest
from tests.events.kit import LoggedWorld, wants
from tests.lines import write
from tests.server.broker.driver import Client, join, new_member
from tests.server.broker.test_wire_log import LoggedDriver
from tests.wire.test_connect_protocol import FAILED_V1, WORK_V1, WORKER_V0, WORKER_V1


def stable() -> tuple[LoggedDriver, Client, str]:
    """One member that offers range, in generation 1."""
    driver = LoggedDriver()
    client = driver.client()
    member = new_member(client)
    client.send(join(member=member), 9)
    driver.pass_time(0)
    client.send(SyncGroupRequest(group_id="g", generation_id=1, member_id=member), 4)
    return driver, client, member


def text_of(driver: LoggedDriver) -> str:
    timeline = timeline_of(driver.log.read())
    return "\n".join(as_text(timeline, timeline.groups.values()))


def offer(name: str, kind: str = "consumer", member: str = "") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member,
        protocol_type=kind,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=b"\0\0")],
    )


def test_who_offered_what_when_protocols_do_not_fit() -> None:
    """JOIN-3"""
    driver, _, member = stable()
    driver.client().send(offer("roundrobin"), 9)
    assert (
        "Client test was refused JoinGroup: INCONSISTENT_GROUP_PROTOCOL: it offers roundrobin; "
        f"member {member[:-32]} offers range; a member must offer a protocol that all others offer, too."
        in text_of(driver)
    )


def test_another_protocol_type() -> None:
    """JOIN-3"""
    driver, _, _ = stable()
    driver.client().send(offer("range", "connect"), 9)
    assert (
        "it offers range of protocol type connect, and the group is of type consumer."
        in text_of(driver)
    )


def test_refusals_of_one_client_that_take_turns_are_one_line() -> None:
    driver, client, _ = stable()
    for _ in range(50):
        driver.now += 100
        client.send(HeartbeatRequest(group_id="g", generation_id=1, member_id="nobody"), 4)
        client.send(SyncGroupRequest(group_id="g", generation_id=1, member_id="nobody"), 4)
    text = text_of(driver)
    assert (
        "was refused 100 requests until 5.000 s, in turn: heartbeat UNKNOWN_MEMBER_ID (50 times); "
        "SyncGroup UNKNOWN_MEMBER_ID (50 times)." in text
    )
    assert text.count("was refused") == 1


def test_refusals_of_two_clients_stay_apart() -> None:
    driver, client, _ = stable()
    for who in ("x", "y", "x", "y"):
        client.send(HeartbeatRequest(group_id="g", generation_id=1, member_id=who), 4)
    assert text_of(driver).count("was refused") == 4


def test_refusals_of_clients_that_are_refused_at_one_time_are_one_line_for_each() -> None:
    driver, _, _ = stable()
    clients = [driver.client(), driver.client()]
    for _ in range(50):
        driver.now += 100
        for number, client in enumerate(clients):
            beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="nobody")
            client.feed(client.frame(beat, 4, f"client-{number}"))
    text = text_of(driver)
    told = "Member nobody was refused heartbeat 50 times until 5.000 s: UNKNOWN_MEMBER_ID."
    assert text.count(told) == 2
    assert text.count("was refused") == 2


def test_offsets_that_expired_and_a_topic_that_was_made_again() -> None:
    """EXP-1, EXP-7"""
    w = LoggedWorld()
    w.admin_commit({("orders", 0): 5, ("old", 1): 1})
    w.delete_partitions(("old", 1))
    w.advance(8 * 86_400_000)
    write(w.log_file, "cluster", "TopicDeleted", at_ms=w.now, topic="old", partitions=2)
    text = w.text()
    assert "The offsets committed for old 1 were deleted with the topic (EXP-7)." in text
    assert (
        "The offsets committed for orders 0 expired (EXP-1): for offsets.retention.minutes" in text
    )


def test_a_topic_that_is_read_is_deleted_and_made_again() -> None:
    w = LoggedWorld()
    w.enter("a", protocols=wants("orders"))
    w.share(a={"orders": (0, 1)})
    deleted = {"partitions": 3}
    created = {"partitions": 3, "replicas": [[1], [1], [1]]}
    for kind, fields in (("TopicDeleted", deleted), ("TopicCreated", created)):
        w.now += 2000
        for topic in ("orders", "other"):
            write(w.log_file, "cluster", kind, at_ms=w.now, topic=topic, **fields)
    text = w.text()
    assert (
        "Topic orders was made again with 3 partitions, 2 s after it had been deleted: offsets and positions of "
        "the old one are void; the next consumer of them begins by auto.offset.reset." in text
    )
    assert "Topic other" not in text


def connected() -> LoggedWorld:
    """A group of one worker, Stable."""
    w = LoggedWorld()
    w.enter("worker", kind="connect", protocols={"sessioned": bytes.fromhex(WORKER_V0)})
    w.tick()
    w.sync("worker", {"worker": bytes.fromhex(WORK_V1)}, kind="connect", protocol="sessioned")
    return w


def test_a_worker_of_kafka_connect_has_connectors_and_tasks_by_name() -> None:
    w = connected()
    text = w.text()
    assert (
        "connector files; task files-0   (to give up: connector jdbc; task jdbc-3; lost work is kept for 5 min "
        "for the worker that had it (scheduled.rebalance.max.delay.ms))" in text
    )
    timeline = w.timeline()
    (group,) = as_plain(timeline, timeline.groups.values())["groups"]
    assert group["rebalances"][0]["assignments"][0]["connect"] == {
        "connectors": ["files"],
        "tasks": {"files": (0,)},
        "revoked_connectors": ["jdbc"],
        "revoked_tasks": {"jdbc": (3,)},
        "config_offset": 7,
        "delay_ms": 300_000,
    }


def test_a_worker_joins_again_because_it_read_newer_configurations() -> None:
    w = connected()
    w.join("worker", kind="connect", protocols={"sessioned": bytes.fromhex(WORKER_V1)})
    w.tick()
    w.sync("worker", {"worker": bytes.fromhex(FAILED_V1)}, kind="connect", protocol="sessioned")
    text = w.text()
    assert "has read connector configurations up to offset 7 (5 before) and joined again" in text
    assert "nothing could be assigned: the workers have read different connector" in text


def test_a_note_that_is_still_counted_is_no_packed_one() -> None:
    """A timeline in a file packs its older entries: what changes then would be lost."""
    assert refusals._MOST_AT_ONCE <= filed._KEPT_ENTRIES
