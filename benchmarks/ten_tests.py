"""The same ten tests of a consumer application on the emulator and on Apache Kafka in containers
(Testcontainers), in one run.

Both ways of either: a broker of its own for each test, as the fixture `kafka` gives one and as
function-scoped container fixtures do, and one broker for all tests, whose topics and groups are
deleted after each. The tests use no verb of the emulator: they create topics, write records and
look at what confluent-kafka and the example application see. Needs Docker and the broker's image
(KAFKA_IMAGE, or one of those that `integration_tests/targets.py` knows). Taken is the time from the
first broker's start to the last one's end; pytest itself is left out, on both sides.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Condition
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from benchmarks.process import Row
from coordinator import Emulator
from coordinator.testing.containers import RealKafka
from coordinator.testing.on_real_kafka import RealBroker
from examples.consumers.confluent_application import ConfluentApplication
from integration_tests.targets import real_broker_image, why_no_docker

TOPIC, GROUP, PARTITIONS = "orders", "billing", 6
DEADLINE_S = 60.0
FAST = {"heartbeat.interval.ms": 50, "statistics.interval.ms": 50, "fetch.wait.max.ms": 10}
"""What docs/testing.md recommends for tests."""


class Application:
    """The example application, and waits for what it has processed."""

    def __init__(self, broker: Any, group: str = GROUP, client_id: str = "billing") -> None:
        self._changed = Condition()
        self._worked: list[tuple[str, int, int]] = []
        self._app = ConfluentApplication(
            TOPIC, group, client_id=client_id, work=self._work, settings=FAST
        )
        self._broker = broker
        self.start()

    def _work(self, topic: str, partition: int, offset: int, value: bytes | None) -> None:
        with self._changed:
            self._worked.append((topic, partition, offset))
            self._changed.notify_all()

    def start(self) -> None:
        self._app.start(self._broker.bootstrap_servers)

    def until(self, count: int) -> None:
        """Until it has processed so many records, since it was made."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._worked) >= count, DEADLINE_S), (
                f"{len(self._worked)} of {count} were processed"
            )

    def until_all(self, records: set[tuple[str, int, int]]) -> None:
        """Until it has processed these."""
        with self._changed:
            assert self._changed.wait_for(lambda: records <= set(self._worked), DEADLINE_S), (
                f"{self._worked} were processed"
            )

    def until_more(self, broker: Any) -> None:
        """Until it processes anything of what is written meanwhile."""
        before, end = len(self._worked), time.monotonic() + DEADLINE_S
        with self._changed:
            while len(self._worked) == before:
                assert time.monotonic() < end, "it processes nothing"
                broker.produce(TOPIC, ["more"] * PARTITIONS)
                self._changed.wait(0.05)

    def stop(self) -> list[tuple[str, int, int]]:
        """Stop it; what it has processed."""
        self._app.stop()
        if self._app.error is not None:
            raise self._app.error
        return self._app.processed()

    def kill(self) -> None:
        self._app.kill()


def committed(broker: Any, group: str = GROUP) -> int:
    """The sum of the group's committed offsets."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    asked = ConsumerGroupTopicPartitions(
        group, [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
    )
    (answer,) = admin.list_consumer_group_offsets([asked]).values()
    return sum(max(row.offset, 0) for row in answer.result().topic_partitions)


def consumer(broker: Any, group: str, **settings: Any) -> Any:
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **FAST,
            **settings,
        }
    )


def read(reader: Any, count: int) -> list[Any]:
    """So many records."""
    found: list[Any] = []
    end = time.monotonic() + DEADLINE_S
    while len(found) < count:
        assert time.monotonic() < end, f"{len(found)} of {count} records came"
        for message in reader.consume(100, 0.05):
            if message.error():
                raise KafkaException(message.error())
            found.append(message)
    return found


# -- the tests
# -----------------------------------------------------------------------------------------------------------


def everything_is_processed_in_order(broker: Any) -> None:
    broker.produce(TOPIC, [f"{number}" for number in range(60)])
    app = Application(broker)
    app.until(60)
    processed = app.stop()
    for partition in range(PARTITIONS):
        assert [offset for _, index, offset in processed if index == partition] == list(range(10))


def what_is_processed_is_committed(broker: Any) -> None:
    broker.produce(TOPIC, ["a"] * 12)
    app = Application(broker)
    app.until(12)
    app.stop()
    assert committed(broker) == 12


def it_goes_on_where_it_stopped(broker: Any) -> None:
    broker.produce(TOPIC, ["before"] * 12)
    app = Application(broker)
    app.until(12)
    app.stop()
    broker.produce(TOPIC, ["after"] * 6)
    app.start()
    app.until(18)
    processed = app.stop()
    assert len(processed) == len(set(processed)) == 18


def records_that_come_later_are_processed(broker: Any) -> None:
    app = Application(broker)
    for round_ in range(1, 4):
        broker.produce(TOPIC, ["late"] * 6)
        app.until(6 * round_)
    app.stop()


def two_instances_share_the_work(broker: Any) -> None:
    first, second = Application(broker, client_id="first"), Application(broker, client_id="second")
    first.until_more(broker)
    second.until_more(broker)
    assert first.stop()
    assert second.stop()


def one_instance_takes_over_from_another(broker: Any) -> None:
    first, second = Application(broker, client_id="first"), Application(broker, client_id="second")
    first.until_more(broker)
    second.until_more(broker)
    first.stop()
    second.until_all(
        {
            (row.topic, row.partition, row.offset)
            for row in broker.produce(TOPIC, ["last"] * PARTITIONS)
        }
    )
    second.stop()


def a_record_that_fails_once_is_processed_at_last(broker: Any) -> None:
    broker.produce(TOPIC, ["good", ConfluentApplication.flaky, "good"], partition=0)
    app = Application(broker)
    app.until(3)
    assert app.stop() == [(TOPIC, 0, 0), (TOPIC, 0, 1), (TOPIC, 0, 2)]


def work_that_was_not_committed_is_done_again(broker: Any) -> None:
    broker.produce(TOPIC, ["a"] * 6)
    reader = consumer(broker, GROUP)
    reader.subscribe([TOPIC])
    read(reader, 6)
    reader.close()
    app = Application(broker)
    app.until(6)
    app.stop()
    assert committed(broker) == 6


def groups_do_not_disturb_each_other(broker: Any) -> None:
    broker.produce(TOPIC, ["a"] * 6)
    one, another = Application(broker, "one"), Application(broker, "another")
    one.until(6)
    another.until(6)
    one.stop()
    another.stop()
    assert (committed(broker, "one"), committed(broker, "another")) == (6, 6)


def what_a_transaction_aborts_is_not_read(broker: Any) -> None:
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "shop", "linger.ms": 0}
    )
    producer.init_transactions(DEADLINE_S)
    for value, end in (
        (b"never", producer.abort_transaction),
        (b"paid", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.produce(TOPIC, value, partition=0)
        producer.flush(DEADLINE_S)
        end(DEADLINE_S)
    reader = consumer(broker, "readers", **{"isolation.level": "read_committed"})
    reader.subscribe([TOPIC])
    assert [message.value() for message in read(reader, 1)] == [b"paid"]
    reader.close()


TESTS: tuple[Callable[[Any], None], ...] = (
    everything_is_processed_in_order,
    what_is_processed_is_committed,
    it_goes_on_where_it_stopped,
    records_that_come_later_are_processed,
    two_instances_share_the_work,
    one_instance_takes_over_from_another,
    a_record_that_fails_once_is_processed_at_last,
    work_that_was_not_committed_is_done_again,
    groups_do_not_disturb_each_other,
    what_a_transaction_aborts_is_not_read,
)

# -- where they run
# ------------------------------------------------------------------------------------------------------

Start = Callable[[], AbstractContextManager[Any]]


@contextmanager
def _emulator() -> Iterator[Any]:
    with Emulator(remember=100_000) as kafka:  # as the fixture
        yield kafka


@contextmanager
def _container() -> Iterator[Any]:
    with RealKafka(image=real_broker_image()) as kafka:
        broker = RealBroker(kafka)
        try:
            yield broker
        finally:
            broker.close()


def _a_broker_each(start: Start) -> None:
    for test in TESTS:
        with start() as broker:
            broker.create_topic(TOPIC, PARTITIONS)
            test(broker)


def _one_broker(start: Start) -> None:
    with start() as broker:
        for test in TESTS:
            broker.create_topic(TOPIC, PARTITIONS)
            test(broker)
            (broker.clear if isinstance(broker, RealBroker) else broker.reset)()


def _taken(run: Callable[[Start], None], start: Start) -> float:
    began = time.perf_counter()
    run(start)
    return time.perf_counter() - began


def run() -> Iterator[Row | str]:
    """Seconds of each way on each side, and how many times as long it takes in containers."""
    missing = why_no_docker()
    if missing:
        print(f"ten_tests: skipped: {missing}", file=sys.stderr)
        return
    _taken(
        _one_broker, _emulator
    )  # what is imported and compiled by the first use belongs to neither
    for name, arrangement in (
        ("a broker of its own each", _a_broker_each),
        ("one broker for all", _one_broker),
    ):
        emulator, container = _taken(arrangement, _emulator), _taken(arrangement, _container)
        yield Row(f"{len(TESTS)} tests, {name}: emulator", emulator, "s")
        yield Row(f"{len(TESTS)} tests, {name}: Kafka in containers", container, "s")
        yield Row(
            f"{len(TESTS)} tests, {name}: times as long in containers", container / emulator, ""
        )
