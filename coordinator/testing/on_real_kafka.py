"""The fixture `kafka` under `--kafka=real`: Apache Kafka in a container, with the methods that any
Kafka can serve.

Topics can be created and deleted, records written, share groups looked at. A method that only
the emulator has (faults, waits for groups, peers, the clock, the log) skips the test and names
itself. One broker serves all tests without settings of their own; what a test created is deleted
after it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.kit.admin import Admin
from coordinator.kit.in_process_requests import ControlError, check
from coordinator.kit.topics import Written
from coordinator.members.partitioners.murmur2 import partition_for_key
from coordinator.server.storage.record_codec import Record, build_batch
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)

from .real_share_groups import GROUP, RealShareGroup

if TYPE_CHECKING:
    from .containers import RealKafka

Value = bytes | str | None
_TIMEOUT_MS = 30_000
_SHARED = {"topics", "seed", "log", "log_mode", "remember", "kafka_defaults"}
"""Options that the broker of all tests can serve: topics are made by request, the others mean
nothing there."""
_NOT_YET = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
"""Errors of a broker that leads a partition by the metadata and has not learned it yet."""
_OF_CONTAINERS = {"config", "brokers", "racks", "broker_config", "auto_create_topics"}


class RealBroker:
    """Apache Kafka with the testing kit's methods. A method that only the emulator has skips the
    test."""

    def __init__(self, kafka: RealKafka) -> None:
        self._kafka = kafka
        self.bootstrap_servers = kafka.bootstrap_servers
        self._admin = self._new_admin()
        self._configured: dict[str, dict[str, None]] = {}
        """Of groups, by their ids: the names of configurations that were set."""

    def _new_admin(self) -> Admin:
        addresses = [address.rpartition(":") for address in self.bootstrap_servers.split(",")]
        return Admin([(host.strip("[]"), int(port)) for host, _, port in addresses])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        pytest.skip(
            f"kafka.{name} is the emulator's own: --kafka=real runs tests of applications that use none of its verbs"
        )

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of each topic, without Kafka's internal topics."""
        answer = self._admin.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), 12)
        return {
            topic.name: len(topic.partitions) for topic in answer.topics if not topic.is_internal
        }

    def create_topic(
        self,
        name: str,
        partitions: int = -1,
        *,
        replication: int = -1,
        config: Mapping[str, object] | None = None,
    ) -> None:
        """Create a topic; return when it can be written to. Raises ControlError with Kafka's
        message."""
        rows = [
            CreatableTopicConfig(name=key, value=_text(value))
            for key, value in (config or {}).items()
        ]
        topic = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=replication, configs=rows
        )
        (result,) = self._admin.ask(
            CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS), 7
        ).topics
        check(result.error_code, f"topic {name} cannot be made", result.error_message)
        until = time.monotonic() + _TIMEOUT_MS / 1000
        while not self._is_led(name):
            if time.monotonic() > until:
                raise ControlError(f"topic {name} has no leaders after {_TIMEOUT_MS / 1000:g} s")
            time.sleep(0.02)

    def delete_topic(self, name: str) -> None:
        """Delete a topic. Raises ControlError."""
        (result,) = self._admin.ask(
            DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=_TIMEOUT_MS), 6
        ).responses
        check(result.error_code, f"topic {name} cannot be deleted", result.error_message)

    def produce(
        self,
        name: str,
        values: Iterable[Value],
        *,
        partition: int | None = None,
        keys: Sequence[Value] | None = None,
        headers: Mapping[str, Value] | None = None,
        timestamp_ms: int | None = None,
    ) -> list[Written]:
        """Write records; return the partition and offset of each, in the order of `values`. See
        `Kit.produce`; transactions exist only on the emulator."""
        if isinstance(values, (str, bytes)):
            raise ControlError(f"values come as a list: [{values!r}]")
        count = self.topics().get(name)
        if count is None:
            raise ControlError(
                f"there is no topic {name!r}; there are: {', '.join(self.topics()) or 'none'}"
            )
        at_ms = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
        pairs = tuple((key, _bytes(value)) for key, value in (headers or {}).items())
        by_partition: dict[int, list[tuple[int, Record]]] = {}
        for number, value in enumerate(values):
            key = None if keys is None else _bytes(keys[number])
            index = (
                partition
                if partition is not None
                else number % count
                if key is None
                else partition_for_key(key, count)
            )
            rows = by_partition.setdefault(index, [])
            rows.append((number, Record(len(rows), at_ms, key, _bytes(value), pairs)))
        written: dict[int, Written] = {}
        for index, rows in by_partition.items():
            base = self._append(name, index, [record for _, record in rows])
            written |= {
                number: Written(name, index, base + place) for place, (number, _) in enumerate(rows)
            }
        return [written[number] for number in sorted(written)]

    def share_group(self, group_id: str) -> RealShareGroup:
        """Return a share group (KIP-932), which need not exist, as the broker describes it."""

        def configured(group: str, name: str) -> None:
            self._configured.setdefault(group, {})[name] = None

        return RealShareGroup(group_id, self._new_admin, configured)

    def clear(self) -> None:
        """Delete the topics, the empty groups and the groups' configurations, so that the next
        test finds none."""
        for group, names in self._configured.items():
            self._admin.set_configs(GROUP, group, dict.fromkeys(names))
        self._configured.clear()
        for name in self.topics():
            self.delete_topic(name)
        groups = [
            row.group_id
            for row in self._admin.ask(ListGroupsRequest(), 4).groups
            if row.group_state == "Empty"
        ]
        if groups:
            self._admin.ask(DeleteGroupsRequest(groups_names=groups), 2)

    def close(self) -> None:
        """Close the connections to the brokers."""
        self._admin.__exit__(None, None, None)

    def _is_led(self, name: str) -> bool:
        answer = self._admin.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), 12)
        partitions = [
            partition
            for topic in answer.topics
            if topic.name == name
            for partition in topic.partitions
        ]
        return bool(partitions) and all(
            partition.leader_id >= 0 and not partition.error_code for partition in partitions
        )

    def _append(self, name: str, index: int, records: list[Record]) -> int:
        self._admin.replicas([name])  # learns the addresses of the brokers
        answer = self._admin.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), 12)
        leaders = {
            row.partition_index: row.leader_id
            for topic in answer.topics
            if topic.name == name
            for row in topic.partitions
        }
        if index not in leaders:
            raise ControlError(
                f"topic {name} has no partition {index}: it has 0 to {len(leaders) - 1}"
            )
        data = TopicProduceData(
            name=name,
            partition_data=[PartitionProduceData(index=index, records=build_batch(records))],
        )
        request = ProduceRequest(acks=-1, timeout_ms=_TIMEOUT_MS, topic_data=[data])
        until = time.monotonic() + _TIMEOUT_MS / 1000
        while True:
            (row,) = self._admin.ask(request, 9, leaders[index]).responses[0].partition_responses
            if row.error_code not in _NOT_YET or time.monotonic() > until:
                break
            time.sleep(0.02)
        check(row.error_code, f"{name}-{index}: the records cannot be written", row.error_message)
        return int(row.base_offset)


def real_broker(request: pytest.FixtureRequest, options: dict[str, Any]) -> Iterator[RealBroker]:
    """Yield the broker of one test: the run's shared broker, or another one if the test has
    settings of its own."""
    from .containers import RealKafka

    unknown = options.keys() - _SHARED - _OF_CONTAINERS
    if unknown:
        pytest.skip(
            f"{', '.join(sorted(unknown))}: an option of the emulator, which --kafka=real does not have"
        )
    if options.get("brokers", 1) not in (1, 3):
        pytest.skip(f"brokers={options['brokers']}: with --kafka=real there are 1 or 3")
    own = {name: value for name, value in options.items() if name in _OF_CONTAINERS}
    if own.pop("auto_create_topics", None) is not None:
        own["config"] = {
            **own.get("config", {}),
            "auto.create.topics.enable": options["auto_create_topics"],
        }
    if own and own != request.getfixturevalue("_real_options"):
        with RealKafka(**own) as kafka:
            yield from _with_topics(kafka, options)
    else:
        yield from _with_topics(request.getfixturevalue("_real_kafka"), options)


def _with_topics(kafka: RealKafka, options: Mapping[str, Any]) -> Iterator[RealBroker]:
    from coordinator.server.build import topic_options

    broker = RealBroker(kafka)
    try:
        for topic in topic_options(options.get("topics", ())):
            broker.create_topic(topic.name, -1 if topic.partitions is None else topic.partitions)
        yield broker
        broker.clear()
    finally:
        broker.close()


def _bytes(value: Value) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
