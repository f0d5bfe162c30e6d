"""The list of lines' types is that of docs/event_log.md and of the code that makes them."""

from __future__ import annotations

import re
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import get_args

import pytest

from coordinator.cluster import events as cluster_events
from coordinator.control.cluster import VERBS
from coordinator.event_log.codec import coordinator_shapes, shapes, share_shapes, transaction_shapes
from coordinator.event_log.envelope import STREAMS
from coordinator.event_log.field_names import FIELD_NAMES, unknown_field
from coordinator.event_log.fields import FIELDS
from coordinator.event_log.types import TYPES, unknown_type
from coordinator.groups import events as group_events
from coordinator.shards.availability import AvailabilityEvent
from coordinator.transactions import events as transaction_events


def test_the_page_has_the_same_types(project_root: Path) -> None:
    page = (project_root / "docs" / "event_log.md").read_text()
    told = {}
    for stream, section in re.findall(
        r"^## Stream `(\w+)`\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL
    ):
        firsts = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
        told[stream] = {
            name for first in firsts for name in re.findall(r"`([A-Z][A-Za-z]+)`", first)
        }
    told["fault"] |= set(VERBS)
    assert told == {stream: set(names) for stream, names in TYPES.items()}
    assert set(TYPES) == {*STREAMS, "data"}


def test_events_of_the_code_are_all_there() -> None:
    unions = {
        "group": group_events.Event,
        "coordinator": AvailabilityEvent,
        "transaction": transaction_events.Event,
        "cluster": cluster_events.Event,
    }
    for stream, union in unions.items():
        made = {kind.__name__ for kind in get_args(union)} - {
            "PartitionChanged",
            "TopicConfigured",
        }  # told by what they are about
        assert made <= set(TYPES[stream]), stream


@pytest.mark.parametrize(
    ("kind", "stream", "why"),
    [
        ("MemberRemoved", None, ""),
        ("MemberRemoved", "group", ""),
        ("MemberRemovd", None, "'MemberRemovd' is no type of line: did you mean MemberRemoved, "),
        (
            "memberremoved",
            "group",
            "'memberremoved' is no type of line of the stream group: did you mean MemberRemoved, ",
        ),
        ("MemberRemoved", "wire", "MemberRemoved is a line of the stream group, not of wire"),
        ("x", "data", "'x' is no type of line of the stream data: such as RecordsAppended, "),
    ],
)
def test_what_is_meant_instead(kind: str, stream: str | None, why: str) -> None:
    assert unknown_type(kind, stream).startswith(why)
    assert bool(why) == bool(unknown_type(kind, stream))


def test_names_of_fields_are_those_of_the_page_and_of_the_events(project_root: Path) -> None:
    rows = [
        line.split("|", 2)[2]
        for line in (project_root / "docs" / "event_log.md").read_text().splitlines()
        if line.startswith("| `")
    ]
    fields = {
        "seq",
        "run",
        "rebalance_timeout_ms",
        "waited_ms",
        "transactional_id",
        "partition_epoch",
        "bytes_per_second",
        "isolation",
    }
    assert fields <= set(FIELD_NAMES)
    assert fields - {"seq", "run"} <= set(re.findall(r"`([a-z_]+)`", " ".join(rows)))
    for shape in (
        *shapes().values(),
        *transaction_shapes().values(),
        *coordinator_shapes().values(),
        *share_shapes().values(),
    ):
        assert {field.key for field in shape.fields} <= FIELD_NAMES, shape.name
    for verb in VERBS.values():
        assert {
            "target" if field.name == "to" else field.name for field in dataclass_fields(verb)
        } <= FIELD_NAMES
    assert set(FIELDS) <= FIELD_NAMES
    assert unknown_field("reason") == ""
    assert unknown_field("reasons").startswith(
        "'reasons' is no field of a line: did you mean reason"
    )
    assert unknown_field("qq") == "'qq' is no field of a line: docs/event_log.md has all"
