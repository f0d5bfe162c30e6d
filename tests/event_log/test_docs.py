"""docs/event_log.md is the contract: every event, field and JSON key stands in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from coordinator.event_log.codec import (
    coordinator_shapes,
    shapes,
    share_shapes,
    transaction_shapes,
)
from coordinator.event_log.envelope import ENVELOPE, STREAMS
from coordinator.explain.output import as_plain
from coordinator.groups.events import CommittedOffset, StoredMember
from tests.event_log.kit import a_long_story

ROW = re.compile(r"^\| `(\w+)` \|(.*)$", re.MULTILINE)


def test_every_group_event_has_its_row_with_its_fields_and_durability(project_root: Path) -> None:
    text = (project_root / "docs" / "event_log.md").read_text()
    rows = dict(ROW.findall(text))
    for shape in shapes().values():
        row = rows[shape.name]
        assert row.split("|")[0].strip() == ("yes" if shape.durable else ""), shape.name
        for field in shape.fields:
            assert field.key in ENVELOPE or f"`{field.key}`" in row, f"{shape.name}: {field.key}"
    for nested in (CommittedOffset, StoredMember):
        assert all(f"`{name}`" in text for name in nested._fields)
    for stream in STREAMS:
        assert f"`{stream}`" in text
    assert all(f"`{name}`" in text for name in ENVELOPE)


def test_every_event_of_a_transactional_id_has_its_row_with_its_fields(project_root: Path) -> None:
    rows = dict(ROW.findall((project_root / "docs" / "event_log.md").read_text()))
    for shape in transaction_shapes().values():
        for field in shape.fields:
            assert f"`{field.key}`" in rows[shape.name], f"{shape.name}: {field.key}"


def test_every_event_of_the_coordinator_has_its_row_with_its_fields(project_root: Path) -> None:
    rows = dict(ROW.findall((project_root / "docs" / "event_log.md").read_text()))
    for shape in coordinator_shapes().values():
        for field in shape.fields:
            assert f"`{field.key}`" in rows[shape.name], f"{shape.name}: {field.key}"


def test_every_event_of_a_share_partition_has_its_row_with_its_fields(project_root: Path) -> None:
    rows = dict(ROW.findall((project_root / "docs" / "event_log.md").read_text()))
    for shape in share_shapes().values():
        row = rows[shape.name]
        assert row.split("|")[0].strip() == ("yes" if shape.durable else ""), shape.name
        for field in shape.fields:
            assert field.key in ENVELOPE or f"`{field.key}`" in row, f"{shape.name}: {field.key}"


def test_every_key_of_the_json_is_told(project_root: Path) -> None:
    text = (project_root / "docs" / "event_log.md").read_text().split("## coordinator explain")[1]
    timeline = a_long_story().timeline()
    plain = json.dumps(as_plain(timeline, timeline.groups.values()))
    keys = set(re.findall(r'"(\w+)": ', plain)) - {"orders", "payments"}
    assert {key for key in keys if f"`{key}`" not in text} == set()
