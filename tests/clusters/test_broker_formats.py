"""Every line at INFO and above that a broker's coordinator can write about a group is understood, or
is passed over for a reason.

`broker_formats.tsv` lists the formats of these lines by release; they stand in the classes of Kafka's
group coordinator and share coordinator.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from coordinator.clusters.dialects import java_broker, scala_broker
from coordinator.clusters.facts import Fact
from coordinator.clusters.lines.patterns import Pattern

_ROWS = [
    (row["releases"], row["class"], row["level"], row["format"])
    for row in csv.DictReader(
        Path(__file__).with_name("broker_formats.tsv").read_text().splitlines(),
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    )
]
_NAMES = re.compile(
    r"[Gg]roup (?:metadata for )?'?\{\}|\[Group|group: ?\{\}|[Mm]ember(?: id)? \{\}|memberId|generation"
    r"|Assignment received|group id"
)
ANY_TEXT = {
    "[GroupId {}] {}.": "the text is that of an exception",
}
_NUMBER_BEFORE = re.compile(
    r"(?:generation|epoch to|epoch|hash|__consumer_offsets-|within|with|has|Generated|Removed|Scanned"
    r"|,) ?$"
)


def _filled(format_: str) -> str:
    """A line of the format, with plausible values."""
    text = ""
    for part in re.split(r"(\{\}|%[sd])", format_):
        if part not in ("{}", "%s", "%d"):
            text += part
        elif _NUMBER_BEFORE.search(text) and not text.endswith(("due to ", "instance ")):
            text += "7"
        else:
            text += "x1"
    return text


def _read(class_: str, format_: str) -> tuple[bool, list[Fact]]:
    scala = class_.startswith("kafka.coordinator.group.")
    return (scala_broker if scala else java_broker).read(_filled(format_))


@pytest.mark.parametrize(
    ("class_", "format_"),
    [
        pytest.param(class_, format_, id=f"{class_.rpartition('.')[2]}-{number}")
        for number, (_, class_, _, format_) in enumerate(_ROWS)
        if _NAMES.search(format_) and format_ not in ANY_TEXT
    ],
)
def test_a_line_about_a_group_is_understood_or_passed_over_for_a_reason(
    class_: str, format_: str
) -> None:
    understood, _ = _read(class_, format_)
    assert understood, _filled(format_)


@pytest.mark.parametrize("release", ["3.9.2", "4.0.2", "4.3.1", "4.4.0"])
def test_the_page_has_the_counts(release: str, project_root: Path) -> None:
    counts = Counter[str]()
    for releases, class_, level, format_ in _ROWS:
        if release in releases.split(",") and level in ("INFO", "WARN", "ERROR"):
            understood, facts = _read(class_, format_)
            counts["fact" if facts else "passed" if understood else "not read"] += 1
    cells = " | ".join(str(counts[each]) for each in ("fact", "passed", "not read"))
    assert f"| broker {release} | {cells} |" in (project_root / "docs" / "diagnose.md").read_text()


def test_every_row_that_passes_a_line_over_says_why() -> None:
    rows: list[Pattern] = [*scala_broker.TABLE, *java_broker.TABLE]
    passing = [row for row in rows if row.why]
    assert len(passing) > 30
    for row in passing:
        assert row.why.strip()


def test_lines_that_begin_or_end_a_generation_give_facts() -> None:
    """Guards against a row that passes over what a row below it would have understood."""
    begins = ("Preparing to rebalance", "Stabilized group", "[GroupId {}] Bumped group epoch")
    for _, class_, _, format_ in _ROWS:
        if format_.startswith(begins) or "fenced from the group" in format_:
            assert _read(class_, format_)[1], format_
