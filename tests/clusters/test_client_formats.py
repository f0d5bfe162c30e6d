"""Which of the lines that client libraries log about their groups give facts, which are passed over,
and which are not read.

`client_formats.tsv` lists the formats by library and release, as they stand in its sources: of Java's
clients and the Python libraries at INFO and above, of Redpanda at TRACE. docs/diagnose.md has the counts.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from coordinator.clusters.reading import FileReader

from .kit import member

_ROWS = [
    (row["dialect"], row["level"], row["format"], row["how"])
    for row in csv.DictReader(
        Path(__file__).with_name("client_formats.tsv").read_text().splitlines(),
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    )
]
_NUMBER_BEFORE = re.compile(r"(?:generation|epoch|generationID=|Syncing) ?$")
_ERRORS = {
    "franz-go": ("err: {}", "err: REBALANCE_IN_PROGRESS: a rejoin is needed"),
    "kafka-go": ("group {}: {}", "group {}: [27] Rebalance In Progress"),
    "java-client": ("failed due to {}, resetting", "failed due to ILLEGAL_GENERATION, resetting"),
    "brod": ("reason:{}", "reason:unknown_member_id"),
    "sarama": (
        "due to {}",
        "due to kafka server: The provided member is not known in the current generation",
    ),
}
"""Errors by which lines get their meaning."""
_WHOLE = {
    "Successfully joined group {} {}": (
        "Successfully joined group x1 <Generation 7 (member_id: x1, protocol: range)>"
    ),
    "found member: {}/{}": f"found member: {member('x1')}/[]byte(nil)",
    "assigned member/topic/partitions {}/{}/{}": "assigned member/topic/partitions x1/t/[0]",
}


def _filled(dialect: str, format_: str) -> str:
    """A message of the format, with plausible values."""
    if dialect == "java-client" and format_.startswith("{} "):
        format_ = f"ConsumerGroupHeartbeatRequest{format_[2:]}"
    format_ = _WHOLE.get(format_, format_)
    error, real = _ERRORS.get(dialect, ("", ""))
    text = ""
    for part in re.split(r"(\{\})", format_.replace(error, real) if error else format_):
        if part == "{}":
            text += "7" if _NUMBER_BEFORE.search(text) else "x1"
        else:
            text += part
    return text


def _line(dialect: str, level: str, text: str) -> str:
    clock = "2026-03-01 10:00:00,000"
    lines = {
        "java-client": f"{clock} {level} [Consumer clientId=c, groupId=g] {text}",
        "kafka-python": f"{clock} {level} kafka.coordinator: {text}",
        "aiokafka": f"{clock} {level} aiokafka.consumer.group_coordinator: {text}",
        "franz-go": f"2026-03-01T10:00:00.000Z [{level}] {text}",
        "sarama": f"[sarama] 2026/03/01 10:00:00 {text}",
        "kafka-go": f"2026/03/01 10:00:00 {text}",
        "brod": f"10:00:00.000 [info] Group member (g,coor=<0.1.0>,cb=<0.2.0>,generation=7): {text}",
        "redpanda": f"TRACE {clock} [shard 0] kafka - [N:g S:Stable G:7] group.cc:1 - {text}",
        "kafkajs": json.dumps(
            {"level": level, "message": text, "groupId": "g", "memberId": member("c")}
        ),
    }
    return lines[dialect]


def how(dialect: str, level: str, format_: str) -> str:
    reader = FileReader("x", None)
    facts = list(reader.read([_line(dialect, level, _filled(dialect, format_)).encode() + b"\n"]))
    if facts:
        return "fact"
    return "passed over" if reader.report.understood else "not read"


@pytest.mark.parametrize(
    ("dialect", "level", "format_", "expected"),
    [pytest.param(*row, id=f"{row[0]}-{number}") for number, row in enumerate(_ROWS)],
)
def test_what_becomes_of_each_line(dialect: str, level: str, format_: str, expected: str) -> None:
    assert how(dialect, level, format_) == expected


def test_the_page_has_these_counts(project_root: Path) -> None:
    counts: dict[str, Counter[str]] = {}
    for dialect, _, _, told in _ROWS:
        counts.setdefault(dialect, Counter())[told] += 1
    page = (project_root / "docs" / "diagnose.md").read_text()
    for dialect, of_dialect in counts.items():
        cells = [str(of_dialect[each]) for each in ("fact", "passed over", "not read")]
        row = r" \| ".join(cells)
        assert re.search(rf"^\| {dialect}\b[^|]*\| {row} \|", page, re.MULTILINE), (dialect, cells)
