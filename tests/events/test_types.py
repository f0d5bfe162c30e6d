"""The list of lines' types is that of docs/event_log.md and of the code that makes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coordinator.events.vocabulary import FIELD_NAMES, STREAMS, names, unknown_field, unknown_type
from coordinator.kit.cluster import VERBS


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
    assert told == {stream: set(names(stream)) for stream in STREAMS}


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


def test_names_of_fields_are_those_of_the_page(project_root: Path) -> None:
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
    assert unknown_field("reason") == ""
    assert unknown_field("reasons").startswith(
        "'reasons' is no field of a line: did you mean reason"
    )
    assert unknown_field("qq") == "'qq' is no field of a line: docs/event_log.md has all"
