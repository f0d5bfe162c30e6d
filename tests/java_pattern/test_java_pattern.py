"""Patterns as Java's `java.util.regex.Pattern` reads them. The verdicts of
tests/vectors/java_patterns.jsonl are Java 17's (tests/java/JavaPatterns.java)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.java_pattern import MOST_NESTED, PatternRefused, check
from coordinator.java_pattern.characters import code_point_of
from coordinator.java_pattern.classes import MOST_NESTED as MOST_NESTED_CLASSES
from tests.java_jars import NoJavaError, java_program
from tests.java_pattern.cases import PROGRAM, make_case, taken, taken_by_java

VECTORS = Path(__file__).parents[1] / "vectors" / "java_patterns.jsonl"
RECORDED = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def test_patterns_are_taken_and_refused_as_by_java() -> None:
    assert len(RECORDED) >= 300
    for one in RECORDED:
        assert taken(one["pattern"]) is one["taken"], one


def test_java_itself_says_the_same() -> None:
    patterns = [make_case(2, number) for number in range(2_000)]
    try:
        with java_program(PROGRAM) as java:
            verdicts = taken_by_java(java, patterns)
    except NoJavaError as missing:
        pytest.skip(str(missing))
    for pattern, verdict in zip(patterns, verdicts, strict=True):
        assert taken(pattern) is verdict, pattern


@pytest.mark.parametrize(
    ("begins", "ends", "most"),
    [("(", ")", MOST_NESTED), ("(?:", ")*", MOST_NESTED), ("[", "]", MOST_NESTED_CLASSES)],
)
def test_nesting_has_bounds(begins: str, ends: str, most: int) -> None:
    """Java's own are what its stack holds, which is about as much."""
    depth = most - 1
    check(begins * depth + "a" + ends * depth)
    with pytest.raises(PatternRefused, match="too deeply"):
        check(begins * (most + 1) + "a" + ends * (most + 1))


@pytest.mark.parametrize(
    ("pattern", "is_taken"),
    [
        ("(" * 200_000, False),
        ("[" * 200_000, False),
        ("a{2}" * 50_000, True),
        ("((a|b)*|c)*(" * 500, False),
        ("(?<!a|b)" * 20_000, True),
        ("\\Q" * 50_000, True),
        ("(?x)" + "# \n" * 50_000, True),
        ("(?x)" + "#" * 200_000, True),
        ("(?:" * 600 + "a|b" * 20_000 + ")*" * 600, True),
        ("(?>" * 600 + "a*" * 20_000 + ")" * 600, True),
        ("\\N{" * 50_000, False),
        ("\\p{" * 50_000, False),
        ("[a-z&&" * 30_000, False),
        ("a{" + "9" * 100_000 + "}", False),
        ("\\x{" + "0" * 100_000 + "}", True),
        ("\\1" + "0" * 100_000, True),
        ("\\N{" + "A" * 100_000 + "}", False),
        ("(?<a" + "b" * 100_000 + ">)", True),
        ("(?i)" * 50_000, True),
        ("a|" * 100_000, True),
        (" " * 100_000, True),
    ],
)
def test_large_patterns_are_no_burden(pattern: str, is_taken: bool) -> None:
    assert taken(pattern) is is_taken


def test_characters_have_javas_names() -> None:
    assert code_point_of("LATIN SMALL LETTER A") == 0x61
    assert code_point_of(" latin small letter a\t") == 0x61
    assert code_point_of("LINE FEED (LF)") == 0x0A  # Python's is LINE FEED
    assert code_point_of("CJK UNIFIED IDEOGRAPHS 4E00") == 0x4E00
    assert code_point_of("TANGUT COMPONENT-001") == 0x18800
    assert code_point_of("LATIN 1 SUPPLEMENT 84") == 0x84
    for none in ("LINE FEED", "CJK UNIFIED IDEOGRAPH-4E00", "HANGUL SYLLABLE GA", "A" * 200, ""):
        assert code_point_of(none) is None
    for none in ("CJK UNIFIED IDEOGRAPHS 04E00", "HANGUL SYLLABLES +AC00", "TANGUT 1", "TANGUT x"):
        assert code_point_of(none) is None
