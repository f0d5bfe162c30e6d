"""Topics, partitions and groups in the requests of every API, as selectors of faults and of the
journal find them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.faults import API_NAMES, FaultError
from coordinator.kit.injection import carried
from coordinator.wire.fields import Field, StructType
from coordinator.wire.messages import request_type
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)

_TOPIC_ID = b"\x07" * 16
_TOPICAL = ("topic", "topic_name", "topic_id")
_NUMBERS = ("partition", "partition_index", "index")


def _filled(kind: StructType) -> Any:
    """A message with one element in every list, "orders" in every text, 3 in every int32."""
    values: dict[str, Any] = {}
    for field in kind.fields:
        value = _value(field)
        if value is not None:
            values[field.name] = value
    return kind(**values)


def _value(field: Field) -> Any:
    simple = {"string": "orders", "uuid": _TOPIC_ID, "int32": 3}
    if field.kind in simple:
        return simple[field.kind]
    if field.kind == "array":
        elem = field.elem
        element = _filled(elem) if isinstance(elem, StructType) else elem and _value(elem)
        return None if element is None else [element]
    return None


def _named(kind: StructType, path: str = "", topical: bool = False) -> Iterator[str]:
    """The places of partitions' numbers below a topic's name or id, however a table nests them."""
    names = {field.name for field in kind.fields}
    topical = (
        topical or bool(names & set(_TOPICAL)) or (path.endswith("topics/") and "name" in names)
    )
    for field in kind.fields:
        if field.kind == "array" and isinstance(field.elem, StructType):
            yield from _named(field.elem, f"{path}{field.name}/", topical)
        elif topical and "partition" in f"{path}{field.name}" and path:
            number = field.kind == "int32" and field.name in _NUMBERS
            if number or (field.kind == "array" and field.name.startswith("partition")):
                yield f"{path}{field.name}"


@pytest.mark.parametrize("api", sorted(API_NAMES))
def test_a_partition_beside_a_topic_is_found_in_every_request(api: str) -> None:
    kind = request_type(API_NAMES[api])
    found = carried.places(_filled(kind))
    # a new topic's replicas are listed by partition, but it is created as a whole
    if list(_named(kind)) and api != "CreateTopics":
        assert [
            place
            for place in found
            if place.partition == 3 and (place.topic == "orders" or place.topic_id == _TOPIC_ID)
        ]
    assert carried.names_topics(kind) >= bool(found)


def test_a_resource_of_another_type_is_no_topic() -> None:
    both = [
        DescribeConfigsResource(resource_type=2, resource_name="orders"),
        DescribeConfigsResource(resource_type=4, resource_name="1"),
    ]
    assert [place.topic for place in carried.places(DescribeConfigsRequest(resources=both))] == [
        "orders"
    ]


def test_acknowledgements_are_found_and_failed_by_their_topic() -> None:
    config = {"group.share.heartbeat.interval.ms": 100, "group.share.assignment.interval.ms": 0}
    with Emulator({"jobs": 1, "other": 1}, config=config, remember=10_000) as kafka:
        kafka.share_group("workers").configure({"share.auto.offset.reset": "earliest"})
        kafka.produce("jobs", [b"a", b"b"])
        journal = kafka.journal()
        seen = kafka.observe("ShareAcknowledge", topic="jobs")
        with kafka.share_peer("workers", ["jobs"]):
            kafka.share_group("workers").wait(acknowledged=2)
        came = journal.requests("ShareAcknowledge")
        assert journal.requests("ShareAcknowledge", topic="jobs", partition=0) == [
            each for each in came if each.request.topics
        ]
        assert journal.requests("ShareAcknowledge", topic="other") == []
        assert seen.hits == len([each for each in came if each.request.topics])


def test_a_selector_of_the_journal_that_no_request_can_fit_is_an_error() -> None:
    with Emulator({"orders": 1}) as kafka:
        journal = kafka.journal()
        for words in ({"topic": "orders"}, {"topic": "orders", "partition": 0}):
            with pytest.raises(FaultError, match="a request of Heartbeat names no topic"):
                journal.verify("Heartbeat", exactly=0, **words)
        with pytest.raises(FaultError, match="a request of Fetch names no generation"):
            journal.requests("Fetch", generation=1)
        assert journal.requests("DescribeShareGroupOffsets", group="workers") == []
