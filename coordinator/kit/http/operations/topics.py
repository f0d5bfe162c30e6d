"""Operations on topics: create, add partitions, delete, produce, read, truncate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...in_process_requests import ControlError
from ..as_text import columns, data, each
from ..as_text import partition as named
from ..json_values import (
    BYTES,
    DONE,
    NUMBER,
    TEXT,
    list_of,
    object_of,
    of_record,
    of_written,
    to_bytes,
)
from ..operation import operation
from ..options import NEW_TOPIC, SAME_KEY
from ..port import NotThereError, Port, index_of, timeout_of
from ..shapes import HIDDEN, told

_SEGMENT = object_of(
    first_offset=NUMBER, last_offset=NUMBER, size=NUMBER, largest_timestamp_ms=NUMBER, state=TEXT
)
_RECORD = object_of(
    topic=TEXT,
    partition=NUMBER,
    offset=NUMBER,
    timestamp_ms=NUMBER,
    key=BYTES,
    value=BYTES,
    headers=list_of(object_of(name=TEXT, value=BYTES)),
)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to be made."""

    name: str = told("its name", option=NEW_TOPIC)
    partitions: int = told("number of partitions (default: num.partitions)", -1, HIDDEN)
    replication: int = told("replicas of each partition (default: default.replication.factor)", -1)
    config: dict[str, str | int | float | bool] = told("configurations by Kafka's names", {})


@dataclass(frozen=True, slots=True)
class Grow:
    """More partitions."""

    partitions: int = told("new number of partitions")


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Configurations of a topic."""

    config: dict[str, Any] = told("configurations by Kafka's names; null resets one to its default")


@dataclass(frozen=True, slots=True)
class Records:
    """Records to be written, in the order of `values`. Text stands for UTF-8; {"base64": "..."} for
    other bytes; null for none."""

    values: list[Any] = told('values of the records, such as ["coffee", {"base64": "AAEC"}, null]')
    keys: list[Any] | None = told("a key for each value", None, SAME_KEY)
    headers: dict[str, Any] = told("headers, the same for all records", {})
    partition: int | None = told(
        "partition (default: by the key, as Java's producer; without a key each in turn)", None
    )
    timestamp_ms: int | None = told("Unix time in ms (default: now)", None)
    transactional_id: str | None = told(
        "write in one transaction with this transactional id and commit it", None
    )
    abort: bool = told("abort the transaction instead", False)
    user: str | None = told("user whose permissions count", None)
    timeout: float | None = told("seconds to wait for leaders and in-sync replicas (30)", None)


@dataclass(frozen=True, slots=True)
class Reading:
    """Selects records."""

    partition: int | None = told("partition (default: all, one after the other)", None)
    start: int | None = told("first offset", None)
    committed: bool = told("read as a read_committed consumer", False)
    limit: int = told("at most this number", 1000)
    timeout: float | None = told("seconds to wait for leaders (30)", None)


@dataclass(frozen=True, slots=True)
class Ends:
    """Selects the end offset that a reader sees."""

    committed: bool = told("the end for read_committed consumers", False)
    timeout: float | None = told("seconds to wait for leaders (30)", None)


@dataclass(frozen=True, slots=True)
class Before:
    """The end of the records to delete."""

    before: int = told("delete the records below this offset (default: all)", -1)
    timeout: float | None = told("seconds to wait for the leader and its replicas (30)", None)


@operation(
    "GET",
    "/topics",
    summary="List all topics except Kafka's internal ones.",
    answer=object_of(topics=list_of(object_of(name=TEXT, partitions=NUMBER))),
    tell=columns("topics", TOPIC="name", PARTITIONS="partitions"),
)
def topic_list(port: Port, body: Any) -> Any:
    return {
        "topics": [
            {"name": name, "partitions": count} for name, count in port.kafka.topics().items()
        ]
    }


@operation("POST", "/topics", summary="Create a topic.", body=NewTopic, answer=DONE)
async def topic_create(port: Port, body: NewTopic) -> Any:
    await port.kafka.awaited.create_topic(
        body.name, body.partitions, replication=body.replication, config=body.config
    )
    return {"done": True}


@operation(
    "DELETE",
    "/topics/{topic}",
    summary="Delete a topic, its records, and the groups' committed offsets in it.",
    answer=DONE,
)
async def topic_delete(port: Port, body: Any, topic: str) -> Any:
    _existing(port, topic)
    await port.kafka.awaited.delete_topic(topic)
    return {"done": True}


@operation(
    "POST", "/topics/{topic}/grow", summary="Give a topic more partitions.", body=Grow, answer=DONE
)
async def topic_grow(port: Port, body: Grow, topic: str) -> Any:
    _existing(port, topic)
    await port.kafka.awaited.grow_topic(topic, body.partitions)
    return {"done": True}


@operation(
    "POST",
    "/topics/{topic}/configure",
    summary="Change configurations of a topic. The answer contains the former values.",
    body=TopicSettings,
    answer=object_of(before={"type": "object"}),
)
async def topic_configure(port: Port, body: TopicSettings, topic: str) -> Any:
    _existing(port, topic)
    return {"before": await port.kafka.awaited.configure_topic(topic, body.config)}


@operation(
    "POST",
    "/topics/{topic}/partitions/{partition}/truncate",
    summary="Delete a partition's records below an offset. The answer contains the new log start "
    "offset.",
    body=Before,
    answer=object_of(start=NUMBER),
)
async def topic_truncate(port: Port, body: Before, topic: str, partition: str) -> Any:
    _existing(port, topic)
    index, timeout = index_of(partition, "partition"), timeout_of(body.timeout)
    start = await port.kafka.awaited.truncate(topic, index, body.before, timeout=timeout)
    return {"start": start}


_WRITTEN = object_of(topic=TEXT, partition=NUMBER, offset=NUMBER)


@operation(
    "GET",
    "/topics/{topic}/partitions/{partition}/log",
    summary="List the segments of a partition's log at its leader, oldest first.",
    answer=object_of(
        topic=TEXT,
        partition=NUMBER,
        broker=NUMBER,
        start_offset=NUMBER,
        end_offset=NUMBER,
        size=NUMBER,
        segments=list_of(_SEGMENT),
    ),
    command="topic log",
    tell=columns(
        "segments",
        FIRST="first_offset",
        LAST="last_offset",
        BYTES="size",
        LATEST_MS="largest_timestamp_ms",
        STATE="state",
    ),
)
def topic_log(port: Port, body: Any, topic: str, partition: str) -> Any:
    _existing(port, topic)
    return asdict(port.kafka.topic(topic).log(index_of(partition, "partition")))


@operation(
    "POST",
    "/topics/{topic}/records",
    summary=(
        "Write records. The answer, with the offset of each, comes when all in-sync replicas have "
        "them. Status 409 if until the timeout there is no leader or too few replicas are in "
        "sync."
    ),
    body=Records,
    answer=object_of(written=list_of(_WRITTEN)),
    tell=each("written", "{topic}-{partition} offset {offset}"),
)
async def topic_produce(port: Port, body: Records, topic: str) -> Any:
    _existing(port, topic)
    values = [to_bytes(value, f"values[{number}]") for number, value in enumerate(body.values)]
    keys = (
        None
        if body.keys is None
        else [to_bytes(key, f"keys[{number}]") for number, key in enumerate(body.keys)]
    )
    headers = {name: to_bytes(value, f"headers.{name}") for name, value in body.headers.items()}
    written = await port.kafka.awaited.produce(
        topic,
        values,
        partition=body.partition,
        keys=keys,
        headers=headers,
        timestamp_ms=body.timestamp_ms,
        transactional_id=body.transactional_id,
        abort=body.abort,
        user=body.user,
        timeout=timeout_of(body.timeout),
    )
    return {"written": [of_written(row) for row in written]}


@operation(
    "GET",
    "/topics/{topic}/records",
    summary="Read records as a consumer does.",
    body=Reading,
    answer=object_of(records=list_of(_RECORD)),
    tell=columns(
        "records",
        PARTITION=named,
        OFFSET="offset",
        KEY=lambda row: data(row["key"]),
        VALUE=lambda row: data(row["value"]),
    ),
)
async def topic_records(port: Port, body: Reading, topic: str) -> Any:
    _existing(port, topic)
    if body.limit < 1:
        raise ControlError(f"limit: {body.limit}; at least 1")
    found = await port.kafka.awaited.records(
        topic,
        body.partition,
        start=body.start,
        committed=body.committed,
        timeout=timeout_of(body.timeout),
    )
    return {"records": [of_record(row) for row in found[: body.limit]]}


@operation(
    "GET",
    "/topics/{topic}/end-offsets",
    summary="Return the end offset of each partition: one above the last record that consumers may "
    "read.",
    body=Ends,
    answer=object_of(offsets=list_of(object_of(partition=NUMBER, offset=NUMBER))),
    command="topic ends",
    tell=columns("offsets", PARTITION="partition", END="offset"),
)
async def topic_end_offsets(port: Port, body: Ends, topic: str) -> Any:
    _existing(port, topic)
    ends = await port.kafka.awaited.end_offsets(
        topic, committed=body.committed, timeout=timeout_of(body.timeout)
    )
    return {"offsets": [{"partition": index, "offset": offset} for index, offset in ends.items()]}


def _existing(port: Port, topic: str) -> None:
    """Raise NotThereError, which names the topics that exist, if there is no such topic."""
    known = port.kafka.topics()
    if topic not in known and not topic.startswith("__"):
        raise NotThereError(f"there is no topic {topic!r}; there are: {', '.join(known) or 'none'}")
