"""Topics whose logs are cleaned while a scenario looks on.

The profile `logs` looks at logs ten times a second. Records are written under settings that keep
all of them; what is to happen begins with `configure`, and is awaited without a step, so that
transcripts repeat.
"""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import TIMESTAMP_MS, Producer, batch, read, records
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.scenarios.fetch import fill
from integration_tests.wire.scenarios.log_offsets import list_offsets, listed

PROFILE = "logs"
SINCE = "4.4"
CHECKS_MS = 600
"""The time of some checks."""
_APPLIED_MS = 100
"""What a log is told of a configuration that others see already."""
CLEANS_MS = 4_000
"""The time in which the cleaner has had some looks."""
ALL_KEPT = {"retention_ms": "-1"}
DELETED_AT_ONCE = {"retention_ms": "1"}
VALUE = b"x" * 50
SIZE = len(bytes.fromhex(batch(VALUE)))
"""Bytes of a batch with one record of this value."""


def log(s: Session, label: str = "t", *, each: int = 2, **configs: str) -> str:
    """A topic whose segments have so many batches of `SIZE`, and that keeps everything."""
    bound = {"internal_segment_bytes": str(each * SIZE)} if each else {}
    return topic(s, label, 1, **{**ALL_KEPT, **bound, **configs})


def write(s: Session, name: str, count: int = 1, **other: Any) -> None:
    """Write so many batches with one record of `VALUE` each, without a step."""
    fill(s, name, *(batch(VALUE, **other) for _ in range(count)))


def keyed(
    *keys: str, value: bytes = VALUE, producer: Producer = Producer(), **other: Any
) -> list[str]:
    """A batch with one record for each key."""
    return [batch(value, key=key.encode(), producer=producer, **other) for key in keys]


def configure(s: Session, name: str, **configs: str) -> None:
    """Set configurations of a topic, without a step."""
    changes = [
        {"name": key.replace("_", "."), "config_operation": 0, "value": value}
        for key, value in configs.items()
    ]
    answer = s.stage().ask_quietly(
        "IncrementalAlterConfigs",
        1,
        resources=[{"resource_type": 2, "resource_name": name, "configs": changes}],
        validate_only=False,
    )
    assert not answer["responses"][0]["error_code"], answer
    s.until(lambda: _has(s, name, changes), f"{name} was never configured so")
    s.wait(_APPLIED_MS)


def _has(s: Session, name: str, changes: list[Plain]) -> bool:
    keys = [change["name"] for change in changes]
    answer = s.stage().ask_quietly(
        "DescribeConfigs",
        4,
        resources=[{"resource_type": 2, "resource_name": name, "configuration_keys": keys}],
        include_synonyms=False,
        include_documentation=False,
    )
    shown = {each["name"]: each["value"] for each in answer["results"][0]["configs"]}
    return all(shown.get(change["name"]) == change["value"] for change in changes)


def start_of(s: Session, name: str) -> int:
    """Where a log starts, without a step."""
    answer = s.stage().ask_quietly(
        "ListOffsets",
        11,
        replica_id=-1,
        isolation_level=0,
        timeout_ms=5_000,
        topics=[listed(name, -2)],
    )
    return int(answer["topics"][0]["partitions"][0]["offset"])


def size_of(s: Session, name: str) -> int:
    """Bytes of a log, without a step."""
    answer = s.stage().ask_quietly(
        "DescribeLogDirs", 4, topics=[{"topic": name, "partitions": [0]}]
    )
    return sum(
        part["partition_size"]
        for directory in answer["results"]
        for each in directory["topics"]
        for part in each["partitions"]
    )


def until_start(s: Session, name: str, offset: int) -> None:
    """Wait until a log starts at an offset."""
    s.until(lambda: start_of(s, name) == offset, f"{name} never started at {offset}")


def until_size(s: Session, name: str, size: int) -> None:
    """Wait until a log has so many bytes."""
    s.until(lambda: size_of(s, name) == size, f"{name} never had {size} bytes")


def tell(s: Session, link: Link, name: str, *timestamps: int) -> None:
    """Bytes of a log in batches of `SIZE`, and what ListOffsets says of it."""
    s.say("size", size_of(s, name))
    for timestamp in (-1, -2, -4, *timestamps):
        list_offsets(link, listed(name, timestamp))
    answer = link.ask_quietly(
        "ListOffsets",
        11,
        replica_id=-1,
        isolation_level=0,
        timeout_ms=5_000,
        topics=[listed(name, -3)],
    )
    part = answer["topics"][0]["partitions"][0]
    told = part["timestamp"]
    when = told if told <= TIMESTAMP_MS + 1_000_000 else "now"
    s.say("highest", [part["error_code"], part["offset"], when, part["leader_epoch"]])


def delete_records(link: Link, name: str, offset: int) -> Plain:
    """DeleteRecords and its answer."""
    part = {"partition_index": 0, "offset": offset}
    return link.ask(
        "DeleteRecords", 2, topics=[{"name": name, "partitions": [part]}], timeout_ms=5_000
    )


KEPT_DIRTY = {"cleanup_policy": "compact", "min_cleanable_dirty_ratio": "1.0"}
CLEANED = {"min_cleanable_dirty_ratio": "0.0"}


def compacted(s: Session, label: str = "t", *, each: int = 2, **configs: str) -> str:
    """A compacted topic that is not cleaned before it is told to (`clean`)."""
    return log(s, label, each=each, **{**KEPT_DIRTY, **configs})


def clean(s: Session, name: str, *, changes: bool = True, **configs: str) -> None:
    """Let the cleaner clean a topic, then keep it as it is again; without a step. `changes`: the
    log's size will change by that."""
    before = size_of(s, name)
    configure(s, name, **{**CLEANED, **configs})
    if changes:
        until_settled(s, name, before)
    else:
        s.wait(CLEANS_MS)
    configure(s, name, min_cleanable_dirty_ratio="1.0")


def until_settled(s: Session, name: str, before: int) -> None:
    """Wait until a log has another size than before, and keeps it: segments are swapped one after
    the other."""
    s.until(lambda: size_of(s, name) != before, f"{name} was never cleaned")
    while True:
        size = size_of(s, name)
        s.wait(CHECKS_MS)
        if size_of(s, name) == size:
            return


def contents(s: Session, name: str, *, committed: bool = False) -> None:
    """Say what a log holds, batch by batch, without what depends on the time of day."""
    offset, found = start_of(s, name), []
    while True:
        answer = s.stage().ask_quietly(
            "Fetch",
            12,
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            isolation_level=int(committed),
            session_id=0,
            session_epoch=-1,
            topics=[
                {
                    "topic": name,
                    "partitions": [
                        {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
                    ],
                }
            ],
            forgotten_topics_data=[],
        )
        part = answer["responses"][0]["partitions"][0]
        batches = read(part["records"]) or []
        if not batches:
            break
        whole = not any(each["attributes"] & 7 for each in batches)
        records_ = (
            [[each["offset"], each["key"], each["value"]] for each in records(part["records"])]
            if whole and not any(each["attributes"] & 32 for each in batches)
            else []
        )
        found.append([[_batch(s, each) for each in batches], records_])
        offset = batches[-1]["base_offset"] + batches[-1]["last_offset_delta"] + 1
    s.say("contents", found)


def _batch(s: Session, each: Plain) -> list[object]:
    horizon = bool(each["attributes"] & 64)
    producer = s.names.value("producer_id", each["producer_id"])
    return [
        each["base_offset"],
        each["last_offset_delta"],
        each["count"],
        each["attributes"],
        "horizon" if horizon else each["first_timestamp"],
        each["max_timestamp"],
        producer,
        each["producer_epoch"],
        each["sequence"],
        each["crc_is_right"],
        each["length"] if not horizon and not each["attributes"] & 7 else "some",
    ]
