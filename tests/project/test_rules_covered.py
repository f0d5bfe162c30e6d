"""Every rule of docs/rules.md is cited by at least one test: the list is the map from Kafka's
behaviour to our proofs."""

from __future__ import annotations

import re
from pathlib import Path

SECTION_WITHOUT_TESTS = "## Outside, for now"
RULE = re.compile(r"\*\*((?:K8-|SH-)?[A-Z]+(?:44|-4[0-4])?-\d+)\*\*")
# JOIN-4, JOIN-4/5, JOIN-4..6, DLY-1 to DLY-7
CITED = re.compile(
    r"\b((?:K8-|SH-)?[A-Z]{2,}(?:-4[0-4])?|V44)-(\d+)(?:\s*(\.\.|to)\s*(?:\1-)?(\d+)|((?:/\d+)+))?"
)


def rules(text: str) -> tuple[list[str], set[str]]:
    """The ids that need a test, in order, and those that do not."""
    inside, outside = text.split(SECTION_WITHOUT_TESTS)
    return RULE.findall(inside), cited(outside.replace("**", ""))


def cited(text: str) -> set[str]:
    """All ids in a text, ranges and alternatives spelled out."""
    found = set()
    for prefix, first, span, last, others in CITED.findall(text):
        numbers = {int(first), *(int(number) for number in others.split("/") if number)}
        if span:
            numbers |= set(range(int(first), int(last) + 1))
        found |= {f"{prefix}-{number}" for number in numbers}
    return found


def missing(root: Path) -> list[str]:
    """The rules that no file under tests/ cites, this one aside."""
    wanted, _ = rules((root / "docs" / "rules.md").read_text())
    files = [
        path
        for path in (root / "tests").rglob("*")
        if path.suffix in {".py", ".txt"} and path != Path(__file__).resolve()
    ]
    seen = set[str]().union(*(cited(path.read_text()) for path in files))
    return [rule for rule in wanted if rule not in seen]


def test_each_rule_is_cited_by_a_test(project_root: Path) -> None:
    assert missing(project_root) == []


def test_no_rule_stands_twice_and_none_is_both_in_and_out(project_root: Path) -> None:
    wanted, exempt = rules((project_root / "docs" / "rules.md").read_text())
    assert len(wanted) == len(set(wanted))
    assert not exempt & set(wanted)
    assert {"ENT-1", "OF-7", "PST-2"} <= exempt
    assert wanted


def test_citations_are_understood_in_every_form() -> None:
    assert cited("JOIN-4/5, STA-1..3; DLY-1 to DLY-3, HM-1 to 2; KIP-848, x-1, UTF-8") >= {
        *("JOIN-4", "JOIN-5"),
        *("STA-1", "STA-2", "STA-3"),
        *("DLY-1", "DLY-2", "DLY-3"),
        *("HM-1", "HM-2"),
    }
    assert "DLY-4" not in cited("DLY-1 to DLY-3")
