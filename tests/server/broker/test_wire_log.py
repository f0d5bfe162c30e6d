"""The wire stream: what came, what was answered and when, and that the chain of causes reaches from
bytes to rebalances."""

from __future__ import annotations

from random import Random
from typing import Any

from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.events import EventLog
from coordinator.events.groups import MemberRemoved
from coordinator.events.wire import RequestSeen
from coordinator.history.world.world import World
from coordinator.server.build import build_broker, topic_options
from coordinator.server.replay.one_broker import group_events
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.messages.api_versions import ApiVersionsRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from coordinator.wire.messages.topics import CreatePartitionsRequest, CreatePartitionsTopic
from tests.server.broker.driver import Client, Driver, join, new_member


class LoggedDriver(Driver):
    """A driver with a log in memory."""

    def __init__(self) -> None:
        self.now = 0
        self.log = EventLog()
        configs = BrokerConfigs({}, kafka_defaults=False)
        self.broker = build_broker(
            configs=configs,
            random=Random(1),
            epoch_ms=1_000_000,
            topics=topic_options(["orders:2"]),
            log=self.log,
        )
        self.broker.cluster.brokers[1].endpoints["PLAINTEXT"] = ("127.0.0.1", 9092)

    def lines(self, stream: str) -> list[dict[str, Any]]:
        return [line for line in self.log.events() if line["stream"] == stream]


def test_topics_of_the_start_are_in_the_log() -> None:
    driver = LoggedDriver()
    assert [
        (line["topic"], line["partitions"], line["cause"]) for line in driver.lines("cluster")
    ] == [
        ("__consumer_offsets", 50, None),
        ("orders", 2, None),
    ]


def test_a_member_from_its_first_bytes_to_its_goodbye() -> None:
    driver = LoggedDriver()
    client = driver.client()
    member = new_member(client)
    client.send(join(member=member), 9)
    driver.pass_time(0)
    driver.now += 40
    sync = SyncGroupRequest(
        group_id="g",
        generation_id=1,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=member, assignment=b"")],
    )
    client.send(sync, 5)
    client.send(HeartbeatRequest(group_id="g", generation_id=1, member_id=member), 4)
    commit = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=1,
        member_id=member,
        topics=[
            OffsetCommitRequestTopic(
                name="orders",
                partitions=[OffsetCommitRequestPartition(partition_index=1, committed_offset=3)],
            )
        ],
    )
    client.send(commit, 9)
    client.send(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]), 8)
    client.send(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=member)]), 5)
    told = [
        (line["type"], line["api"], line.get("member"), line.get("generation"))
        for line in driver.lines("wire")
    ]
    assert told == [
        ("RequestSeen", "join_group", None, None),
        ("RequestRefused", "join_group", member, None),
        ("RequestSeen", "join_group", member, None),
        ("RequestAnswered", "join_group", member, 1),
        ("RequestSeen", "sync_group", member, 1),
        ("RequestAnswered", "sync_group", member, 1),
        ("RequestSeen", "offset_commit", member, 1),
        ("RequestAnswered", "offset_commit", member, 1),
        ("RequestSeen", "offset_fetch", None, None),
        ("RequestAnswered", "offset_fetch", None, None),
        ("RequestSeen", "leave_group", member, None),
        ("RequestAnswered", "leave_group", member, None),
    ]
    assert {line["group"] for line in driver.lines("wire")} == {"g"}
    by_seq = {line["seq"]: line for line in driver.log.events()}
    for line in driver.lines("wire"):
        if line["type"] != "RequestSeen":
            assert by_seq[line["cause"]]["api"] == line["api"]
    for line in driver.lines("group"):
        assert line["cause"] is not None, line
    world = World()
    timeline = world.timeline
    for each in driver.log.read():
        world.see(each)
    last = timeline.groups["g"].rebalances[-1]
    assert [cause.kind for cause in last.causes] == [MemberRemoved, RequestSeen]
    assert last.causes[-1].event.api == "leave_group"
    replayed = GroupCoordinator.replay(
        driver.broker.coordinator.config, group_events(driver.log.read()), driver.now
    )
    assert replayed.groups["g"].snapshot() == driver.broker.coordinator.groups["g"].snapshot()


def test_a_parked_request_is_answered_late() -> None:
    driver = LoggedDriver()
    first, second = driver.client(), driver.client("127.0.0.1:50001")
    a = new_member(first)
    first.send(join(member=a), 9)
    driver.pass_time(0)
    b = new_member(second)
    second.send(join(member=b), 9)
    driver.now += 250
    first.send(join(member=a), 9)
    waits = {
        line["member"]: line["waited_ms"]
        for line in driver.lines("wire")
        if line["type"] == "RequestAnswered"
    }
    assert waits == {a: 0, b: 250}


def test_refused_heartbeats_are_told_and_others_are_not() -> None:
    driver = LoggedDriver()
    client = driver.client()
    client.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
    client.ask(ApiVersionsRequest(), 0)
    (line,) = driver.lines("wire")
    assert line["type"] == "RequestRefused"
    assert line["cause"] is None
    assert (line["group"], line["generation"], line["member"], line["errors"]) == (
        "g",
        1,
        "m",
        ["UNKNOWN_MEMBER_ID"],
    )
    assert (line["api"], line["version"], line["client"], line["peer"]) == (
        "heartbeat",
        4,
        "test",
        "127.0.0.1:50000",
    )


def test_a_part_that_is_refused_is_a_refusal() -> None:
    driver = LoggedDriver()
    topics = [
        OffsetCommitRequestTopic(
            name="no-such", partitions=[OffsetCommitRequestPartition(partition_index=0)]
        )
    ]
    driver.client().ask(OffsetCommitRequest(group_id="g", topics=topics), 9)
    refused = driver.lines("wire")[-1]
    assert refused["errors"] == ["UNKNOWN_TOPIC_OR_PARTITION"]


def test_a_metadata_request_is_told_when_it_may_make_a_topic() -> None:
    driver = LoggedDriver()
    client = driver.client()
    client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 9)
    assert driver.lines("wire") == []
    client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="fresh")]), 9)
    seen = driver.lines("wire")[0]
    created = driver.lines("cluster")[-1]
    assert (seen["type"], seen["api"]) == ("RequestSeen", "metadata")
    assert (created["type"], created["topic"], created["cause"]) == (
        "TopicCreated",
        "fresh",
        seen["seq"],
    )


def test_growth_is_caused_by_who_asked_for_it() -> None:
    driver = LoggedDriver()
    driver.now = 70
    topics = [CreatePartitionsTopic(name="orders", count=3, assignments=None)]
    driver.client().ask(CreatePartitionsRequest(topics=topics, timeout_ms=100), 3)
    grown = driver.lines("cluster")[-1]
    assert (grown["type"], grown["at_ms"], grown["partitions"], grown["added"]) == (
        "PartitionsAdded",
        70,
        3,
        [2],
    )
    assert grown["cause"] == driver.lines("wire")[0]["seq"]


def test_bytes_that_are_not_kafka_are_told() -> None:
    driver = LoggedDriver()
    driver.client().feed(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    (line,) = driver.lines("wire")
    assert line["type"] == "ConnectionRefused"
    assert line["peer"] == "127.0.0.1:50000"
    assert "HTTP" in line["why"]


def test_the_log_is_handed_over_before_an_answer_leaves() -> None:
    driver = LoggedDriver()
    client = driver.client()
    order: list[str] = []
    flush, write = driver.log.flush, client.connection._write
    driver.log.flush = lambda: (order.append("flush"), flush())[1]  # type: ignore[func-returns-value, method-assign]
    client.connection._write = lambda data: (order.append("write"), write(data))[1]  # type: ignore[func-returns-value]
    client.send(join(), 9)
    assert order[:2] == ["flush", "write"]


def test_a_line_has_the_time_of_what_it_tells() -> None:
    driver = LoggedDriver()
    client = driver.client()
    new_member(client)
    driver.now = 250
    driver.client().feed(
        b"\x00\x00\x00\x00"
    )  # the first thing that happens at 250 is a refused connection
    [refused] = [line for line in driver.lines("wire") if line["type"] == "ConnectionRefused"]
    assert refused["at_ms"] == 250


def test_settings_changed_by_a_request_are_in_force_for_the_next_one_of_any_kind() -> None:
    driver = LoggedDriver()
    transactions = driver.broker.services.transactions.coordinator
    driver.broker.configs.replace_dynamic(
        {"group.max.size": "3", "transaction.max.timeout.ms": "9"}, for_all_brokers=True
    )
    assert (driver.broker.coordinator.config.max_size, transactions.config.max_timeout_ms) == (3, 9)
    assert driver.broker.cluster.topics["orders"].effective("retention.ms") == 604_800_000
    driver.broker.configs.replace_dynamic({"log.retention.ms": "77"}, for_all_brokers=False)
    assert driver.broker.cluster.topics["orders"].effective("retention.ms") == 77


# -- connections of members


def _said(driver: LoggedDriver, first: int = 0) -> list[tuple[str, str]]:
    return [
        (line["type"], line["member"])
        for line in driver.lines("wire")[first:]
        if line["type"] in ("MemberDisconnected", "MemberReconnected")
    ]


def _joined(driver: LoggedDriver) -> tuple[Client, str]:
    client = driver.client()
    member = new_member(client)
    client.send(join(member=member), 9)
    driver.pass_time(0)
    return client, member


def test_a_member_is_disconnected_until_it_speaks_again() -> None:
    driver = LoggedDriver()
    client, member = _joined(driver)
    client.connection.lost(driver.now)
    assert _said(driver) == [("MemberDisconnected", member)]
    driver.pass_time(500)
    again = driver.client("127.0.0.1:50001")
    heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id=member)
    again.send(heartbeat, 4)
    again.send(heartbeat, 4)
    assert _said(driver) == [("MemberDisconnected", member), ("MemberReconnected", member)]
    again.connection.lost(driver.now)
    assert _said(driver)[2:] == [("MemberDisconnected", member)]


def test_who_has_left_and_who_loses_its_broker_is_not_disconnected() -> None:
    driver = LoggedDriver()
    client, member = _joined(driver)
    client.send(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=member)]), 5)
    client.connection.lost(driver.now)
    client, _ = _joined(driver)
    client.connection.lost()
    driver.client("127.0.0.1:50001").connection.lost(driver.now)  # speaks for nobody
    assert _said(driver) == []


def test_members_that_were_removed_are_forgotten() -> None:
    driver = LoggedDriver()
    for _ in range(1100):
        client, _ = _joined(driver)
        client.connection.lost(driver.now)
        driver.pass_time(12_000)
    assert len(_said(driver)) == 1100
    assert len(driver.broker.disconnected_members) < 100
