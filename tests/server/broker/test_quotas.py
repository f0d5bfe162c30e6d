"""Client quotas as a client feels them (QUO-1 to QUO-4), and what they leave alone. Numbers are a real
broker's, or Kafka's arithmetic; `integration_tests/wire/scenarios/quotas_enforced.py` asks both."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.kit.in_process_requests import ask
from coordinator.server.client_links import LINK_IS_CUT
from coordinator.server.cluster.client_quotas import Change, entity
from coordinator.server.quota_changes import alter
from coordinator.server.security.quotas import Rate
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.server.throttling import _MOST_KEPT, Throttling
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.server.broker.data import BATCH, SIZE, DataDriver, fetch_request, produce_request, wanted
from tests.server.broker.driver import Client

CLIENT = (("client-id", "test"),)
BEAT = HeartbeatRequest(group_id="g", member_id="m", generation_id=1)


def limited(*parts: tuple[str, str | None], **rates: float) -> DataDriver:
    driver = DataDriver()
    limit(driver, *parts, **rates)
    return driver


def limit(driver: DataDriver, *parts: tuple[str, str | None], **rates: float) -> None:
    changes = [Change(key, value) for key, value in rates.items()]
    alter(driver.broker, entity(parts or CLIENT), changes)


def produced(client: Client, *, acks: int = 1) -> tuple[int, Any]:
    """The size of a Produce, without its length, and its answer."""
    frame = client.frame(produce_request({("t", 0): BATCH}, acks=acks), 12)
    client.feed(frame)
    answers = client.answers() if acks else []
    return len(frame) - 4, answers[0] if answers else None


class TestProduce:
    def test_who_produced_too_much_is_told_and_not_read(self) -> None:
        """QUO-1, QUO-2."""
        driver = limited(producer_byte_rate=10)
        client, other = driver.client(), driver.client()
        size, answer = produced(client)
        waits = 100 * size - 10_000
        assert answer.throttle_time_ms == waits
        assert answer.responses[0].partition_responses[0].base_offset == 0  # it was done
        client.send(BEAT, 4)
        client.send(BEAT, 4)
        assert other.ask(BEAT, 4).throttle_time_ms == 0  # type: ignore[attr-defined]
        driver.pass_time(waits - 1)
        assert client.answers() == []
        driver.pass_time(1)
        assert [each.throttle_time_ms for each in client.answers()] == [0, 0]  # type: ignore[attr-defined]

    def test_the_log_says_who_waits_and_for_how_long(self) -> None:
        driver = limited(producer_byte_rate=10)
        driver.broker.log = log = EventLog(
            seed=1, epoch_ms=0, config={}, kafka_version="4.4.0", most_lines=100
        )
        size, answer = produced(driver.client())
        [line] = [each for each in log.events() if each["type"] == "ClientThrottled"]
        assert line["throttle_ms"] == answer.throttle_time_ms == 100 * size - 10_000
        assert (line["api"], line["client"], line["principal"]) == (
            "produce",
            "test",
            "User:ANONYMOUS",
        )

    def test_nobody_waits_within_the_quota(self) -> None:
        driver = limited(producer_byte_rate=SIZE)
        size, answer = produced(driver.client())
        assert answer.throttle_time_ms == 0 and size < 10 * SIZE

    def test_without_acks_the_connection_waits_all_the_same(self) -> None:
        driver = limited(producer_byte_rate=10)
        client = driver.client()
        size, _ = produced(client, acks=0)
        client.asked.clear()
        client.send(BEAT, 4)
        assert not client.writes
        driver.pass_time(100 * size - 10_000)
        assert client.writes

    def test_a_connection_that_is_lost_leaves_nothing_behind(self) -> None:
        driver = limited(producer_byte_rate=10)
        client = driver.client()
        produced(client)
        assert driver.broker.parked
        client.connection.lost()
        assert not driver.broker.parked
        driver.pass_time(1_000_000)
        assert not client.writes

    def test_a_link_that_is_healed_does_not_end_the_wait(self) -> None:
        driver = limited(producer_byte_rate=10)
        client = driver.client()
        size, _ = produced(client)
        client.connection.pause(LINK_IS_CUT)
        client.connection.unpause(driver.now, LINK_IS_CUT)
        client.send(BEAT, 4)
        assert client.answers() == []
        driver.pass_time(100 * size - 10_000)
        assert len(client.answers()) == 1

    def test_a_quota_that_is_taken_away_lets_go(self) -> None:
        driver = limited(producer_byte_rate=10)
        alter(driver.broker, CLIENT, [Change("producer_byte_rate", None)])
        assert produced(driver.client())[1].throttle_time_ms == 0


class TestWhoseQuota:
    @pytest.mark.parametrize(
        ("near", "far"),
        [
            ([("user", "ANONYMOUS"), ("client-id", "test")], [("user", "ANONYMOUS")]),
            ([("user", "ANONYMOUS"), ("client-id", None)], [("user", "ANONYMOUS")]),
            (
                [("user", "ANONYMOUS"), ("client-id", "test")],
                [("user", "ANONYMOUS"), ("client-id", None)],
            ),
            ([("user", "ANONYMOUS")], [("user", None), ("client-id", "test")]),
            ([("user", None), ("client-id", "test")], [("user", None), ("client-id", None)]),
            ([("user", None), ("client-id", None)], [("user", None)]),
            ([("user", None)], [("client-id", "test")]),
            ([("client-id", "test")], [("client-id", None)]),
        ],
    )
    def test_the_nearest_counts_alone(self, near: Any, far: Any) -> None:
        """QUO-3: also where it allows more."""
        for nearer, farther in ((10, 1_000_000), (1_000_000, 10)):
            driver = limited(*far, producer_byte_rate=farther)
            limit(driver, *near, producer_byte_rate=nearer)
            waits = produced(driver.client())[1].throttle_time_ms
            assert bool(waits) == (nearer == 10)

    def test_a_user_shares_it_over_client_ids_and_a_client_id_over_users(self) -> None:
        for whose, shared in (("user", True), ("client-id", False)):
            driver = limited((whose, None), producer_byte_rate=45)
            one, other = driver.client(), driver.client()
            frames = [
                client.frame(produce_request({("t", 0): BATCH}, acks=1), 12, name)
                for client, name in ((one, "a"), (other, "b"))
            ]
            one.feed(frames[0])
            other.feed(frames[1])
            assert one.answers()[0].throttle_time_ms == 0  # type: ignore[attr-defined]
            waits = other.answers()[0].throttle_time_ms  # type: ignore[attr-defined]
            assert bool(waits) == shared

    def test_a_nameless_client_has_no_quota_of_client_ids(self) -> None:
        driver = limited(("client-id", None), producer_byte_rate=1)
        client = driver.client()
        client.feed(client.frame(produce_request({("t", 0): BATCH}, acks=1), 12, None))
        assert client.answers()[0].throttle_time_ms == 0  # type: ignore[attr-defined]

    def test_the_testing_kit_is_never_limited(self) -> None:
        driver = limited(("user", None), controller_mutation_rate=0.01)
        for name in ("a", "b", "c"):
            topic = CreatableTopic(name=name, num_partitions=9, replication_factor=1)
            request = CreateTopicsRequest(topics=[topic], timeout_ms=9)
            answer = ask(driver.broker, request, CreateTopicsResponse, driver.now)
            assert answer.topics[0].error_code == 0

    def test_clients_of_whom_nothing_counts_are_forgotten(self) -> None:
        driver = limited(("client-id", None), producer_byte_rate=1_000_000)
        throttling = driver.broker.services.throttling
        assert isinstance(throttling, Throttling)
        for number in range(_MOST_KEPT):
            throttling._rates["producer_byte_rate", "", str(number)] = rate = Rate(
                throttling._windows
            )
            rate.record(1, 0)
        driver.pass_time(11_000)
        produced(driver.client())
        assert len(throttling._rates) == 1


class TestFetch:
    def test_who_fetched_too_much_gets_nothing_and_nothing_is_counted(self) -> None:
        """QUO-1: and of what is not counted a smaller fetch is free."""
        driver = limited(consumer_byte_rate=100)
        for _ in range(4):
            driver.produce()
        whole = fetch_request(wanted(), wait=0)
        answer = driver.fetch(whole)
        assert answer.responses == [] and answer.session_id == 0
        assert 0 < answer.throttle_time_ms < 1_000
        driver.pass_time(answer.throttle_time_ms)
        answer = driver.fetch(fetch_request(wanted(max_bytes=SIZE), wait=0))
        assert answer.throttle_time_ms == 0
        assert len(answer.responses[0].partitions[0].records or b"") == SIZE

    def test_a_session_is_begun_by_an_answer_only_and_goes_on_after_an_empty_one(self) -> None:
        """What a throttled answer kept back is told later."""
        driver = limited(consumer_byte_rate=100)
        for _ in range(4):
            driver.produce()
        begin = fetch_request(wanted(), wait=0, session=(0, 0))
        throttled = driver.fetch(begin)
        assert throttled.throttle_time_ms and throttled.session_id == 0
        driver.pass_time(throttled.throttle_time_ms)
        small = fetch_request(wanted(max_bytes=SIZE), wait=0, session=(0, 0))
        session = driver.fetch(small).session_id
        assert session
        on = fetch_request(wanted(offset=2, max_bytes=3 * SIZE), wait=0, session=(session, 1))
        throttled = driver.fetch(on)
        assert throttled.session_id == session and throttled.responses == []
        assert throttled.throttle_time_ms and not throttled.error_code
        driver.pass_time(12_000)
        goes_on = driver.fetch(fetch_request(wait=0, session=(session, 2)))
        assert len(goes_on.responses[0].partitions[0].records or b"") == 3 * SIZE

    def test_a_fetch_that_waited_counts_when_it_is_answered(self) -> None:
        driver = limited(consumer_byte_rate=30)
        waiting = driver.client()
        waiting.send(fetch_request(wanted(), wait=5_000), 12)
        driver.pass_time(1_000)
        driver.produce()
        answer = driver.fetched(waiting)
        assert answer.throttle_time_ms > 0 and answer.responses == []
        waiting.send(BEAT, 4)
        driver.pass_time(answer.throttle_time_ms - 1)
        assert waiting.answers() == []
        driver.pass_time(1)
        assert len(waiting.answers()) == 1

    def test_no_more_is_read_than_can_be_allowed(self) -> None:
        """Ten windows of the quota at once; a larger min_bytes is not waited for."""
        driver = limited(consumer_byte_rate=60)
        for _ in range(4):
            driver.produce()
        answer = driver.fetch(fetch_request(wanted(), wait=60_000, min_bytes=1_000_000))
        assert answer.throttle_time_ms  # two batches, and what is about them: some more than 600
        driver = limited(consumer_byte_rate=100)
        for _ in range(9):
            driver.produce()
        driver.now = 0
        asked = driver.fetch(fetch_request(wanted(), wait=60_000, min_bytes=1_000_000))
        assert asked.throttle_time_ms < 1_000


class TestChangesOfTopics:
    def create(self, client: Client, name: str, partitions: int, version: int, **more: Any) -> Any:
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
        return client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=9, **more), version)

    def test_older_versions_are_done_and_wait(self) -> None:
        """QUO-4."""
        driver = limited(controller_mutation_rate=2)
        client = driver.client()
        answer = self.create(client, "a", 24, 5)
        assert answer.topics[0].error_code == 0 and answer.throttle_time_ms == 1_000
        client.send(BEAT, 4)
        driver.pass_time(999)
        assert client.answers() == []
        driver.pass_time(1)
        assert len(client.answers()) == 1

    @pytest.mark.parametrize("validate_only", [False, True])
    def test_newer_versions_are_refused_after_the_burst(self, validate_only: bool) -> None:
        """QUO-4."""
        driver = limited(controller_mutation_rate=2)
        answer = self.create(driver.client(), "a", 24, 7, validate_only=validate_only)
        assert answer.topics[0].error_code == 0 and answer.throttle_time_ms == 0
        answer = self.create(driver.client(), "b", 1, 7)
        assert answer.topics[0].error_code == 89 and answer.topics[0].error_message is None
        assert answer.throttle_time_ms == 1_000
        assert "b" not in driver.broker.cluster.topics
        driver.pass_time(1_000)
        answer = self.create(driver.client(), "b", 1, 7)
        assert answer.topics[0].error_code == 0 and answer.throttle_time_ms == 0

    def test_partitions_and_deletions_are_changes_too_and_refusals_are_none(self) -> None:
        driver = limited(controller_mutation_rate=1)
        for _ in range(20):
            assert self.create(driver.client(), "t", 5, 7).topics[0].error_code == 36
        more = CreatePartitionsTopic(name="t", count=15, assignments=None)
        grow = CreatePartitionsRequest(topics=[more], timeout_ms=9)
        answer: Any = driver.client().ask(grow, 3)
        assert answer.results[0].error_code == 0
        delete = DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=9)
        answer = driver.client().ask(delete, 6)
        assert answer.responses[0].error_code == 89 and answer.throttle_time_ms == 1_000
        assert answer.responses[0].error_message is None
        more.count = 16
        answer = driver.client().ask(grow, 3)
        assert answer.results[0].error_code == 89 and answer.throttle_time_ms == 1_000
        assert driver.client().ask(grow, 2).throttle_time_ms == 2_000  # type: ignore[attr-defined]
        assert len(driver.t.partitions) == 16

    def test_automatic_creation_is_a_change_whose_client_is_not_told(self) -> None:
        driver = limited(controller_mutation_rate=0.1)
        self.create(driver.client(), "a", 2, 7)
        topic = MetadataRequestTopic(name="b")
        answer: Any = driver.client().ask(MetadataRequest(topics=[topic]), 12)
        assert answer.throttle_time_ms == 0 and answer.topics[0].error_code == 3
        assert "b" not in driver.broker.cluster.topics


class TestRequests:
    def test_any_request_waits_for_a_window_at_most(self) -> None:
        """QUO-2."""
        for request, version in (
            (BEAT, 4),
            (MetadataRequest(topics=[]), 12),  # its answer is kept as bytes
            (fetch_request(wanted(), wait=0), 12),
        ):
            driver = limited(request_percentage=0.0001)
            client = driver.client()
            answer: Any = client.ask(request, version)
            assert answer.throttle_time_ms == 1_000
            client.send(BEAT, 4)
            driver.pass_time(999)
            assert client.answers() == []
            driver.pass_time(1)
            assert len(client.answers()) == 1

    def test_an_answer_that_cannot_say_so_is_sent_and_its_client_waits(self) -> None:
        driver = limited(request_percentage=0.0001)
        client = driver.client()
        client.ask(BEAT, 0)
        client.send(BEAT, 0)
        assert client.answers() == []

    def test_the_longer_wait_counts(self) -> None:
        driver = limited(request_percentage=0.0001, producer_byte_rate=10)
        size, answer = produced(driver.client())
        assert answer.throttle_time_ms == 100 * size - 10_000 > 1_000


def test_a_broker_without_quotas_measures_nothing() -> None:
    driver = DataDriver()
    assert driver.broker.services.throttling is None
    alter(driver.broker, CLIENT, [Change("producer_byte_rate", 10)], validate_only=True)
    assert driver.broker.services.throttling is None


def test_settings_of_windows_are_the_brokers() -> None:
    driver = DataDriver({"quota.window.num": "3", "quota.window.size.seconds": "2"})
    limit(driver, producer_byte_rate=10)
    size, answer = produced(driver.client())
    assert answer.throttle_time_ms == 100 * size - 4_000
    assert BrokerConfigs({}).get_int("controller.quota.window.num") == 11
