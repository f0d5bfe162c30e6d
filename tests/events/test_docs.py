"""docs/event_log.md is the contract: every event, field and JSON key stands in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from coordinator.events.envelope import ENVELOPE
from coordinator.events.groups import CommittedOffset, StoredMember
from coordinator.events.vocabulary import TYPES
from coordinator.history.explain.output import as_plain
from coordinator.verbs import ROWS as VERBS
from tests.events.kit import a_long_story

ROW = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \|(.*)\|$", re.MULTILINE)


def rows_of(section: str) -> dict[str, tuple[str, ...]]:
    """The cells behind each type's name. A row may hold several types; fields that are told "as
    below" are those of a later row."""
    found: dict[str, tuple[str, ...]] = {}
    below = ""
    for names, rest in reversed(ROW.findall(section)):
        *cells, fields = (cell.strip() for cell in rest.split("|"))
        below = below if fields == "as below" else fields
        for name in re.findall(r"\w+", names):
            assert name not in found, f"{name} has two rows"
            found[name] = (*cells, below)
    return found


def test_every_type_has_its_row_with_its_fields_and_durability(project_root: Path) -> None:
    text = (project_root / "docs" / "event_log.md").read_text()
    sections = dict(
        re.findall(r"^## Stream `(\w+)`\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    )
    rows = {stream: rows_of(section) for stream, section in sections.items()}
    of_all = {stream: section.split("\n|")[0] for stream, section in sections.items()}
    for (stream, name), of in TYPES.items():
        if name in VERBS or stream == "run":
            continue  # verbs stand in docs/cluster.md and docs/simulator.md, the header in a text
        assert name in rows[stream], f"{name} has no row"
        row = rows[stream][name]
        if of.durable is not None:
            assert row[0] == ("yes" if of.durable else ""), name
        told = "".join((*row, of_all[stream]))
        for field in of.fields:
            assert field.key in ENVELOPE or f"`{field.key}`" in told, f"{name}: {field.key}"
    for nested in (CommittedOffset, StoredMember):
        assert all(f"`{name}`" in text for name in nested._fields)
    assert all(f"`{name}`" in text for name in ENVELOPE)


def test_every_key_of_the_json_is_told(project_root: Path) -> None:
    text = (project_root / "docs" / "event_log.md").read_text().split("## coordinator explain")[1]
    timeline = a_long_story().timeline()
    plain = json.dumps(as_plain(timeline, timeline.groups.values()))
    keys = set(re.findall(r'"(\w+)": ', plain)) - {"orders", "payments"}
    assert {key for key in keys if f"`{key}`" not in text} == set()
