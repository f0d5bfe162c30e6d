"""Patterns as RE2J 1.8 reads them. The verdicts of tests/vectors/re2j.jsonl are those of Kafka's
jar (tests/java/Patterns.java)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coordinator.re2j import PatternError, compile_pattern
from coordinator.re2j.parser import translate
from tests.java_jars import NoJavaError, java_program
from tests.re2j.cases import PROGRAM, Case, make_case, ours, theirs

VECTORS = Path(__file__).parents[1] / "vectors" / "re2j.jsonl"
RECORDED = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def test_patterns_are_accepted_refused_and_worded_as_by_re2j() -> None:
    """Some 370 patterns, each with its texts: K8-RX-1, and ListTransactions (KIP-1152)."""
    assert len(RECORDED) > 300
    for one in RECORDED:
        case = Case(one["pattern"], one["texts"])
        assert ours(case) == one["answer"], case


def test_re2j_itself_says_the_same() -> None:
    cases = [make_case(2, number) for number in range(300)]
    try:
        with java_program(PROGRAM) as java:
            answers = theirs(java, cases)
    except NoJavaError as missing:
        pytest.skip(str(missing))
    for case, answer in zip(cases, answers, strict=True):
        assert ours(case) == answer or "expression too large" in ours(case), case


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|aa)+b", "(a|a?)+b", "(.*)*b", "(a*)*(a*)*b"])
def test_time_is_linear_in_the_text(pattern: str) -> None:
    """Each of these takes a backtracking engine longer than anybody waits."""
    compiled = compile_pattern(pattern)
    assert not compiled.matches("a" * 30_000)
    assert compiled.matches("a" * 30_000 + "b")


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("(" * 15_000 + "a" + ")" * 15_000, "a"),
        ("(" * 10_000 + "a" + ")*" * 10_000, "aaa"),
        ("(?:" * 5_000 + "a" + "b)" * 5_000, "a" + "b" * 5_000),
        ("(a" * 5_000 + ")" * 5_000, "a" * 5_000),
        ("(?i)" * 5_000 + "a", "A"),
        ("()" * 10_000, ""),
    ],
)
def test_deep_nesting_that_changes_nothing_is_no_burden(pattern: str, matching: str) -> None:
    compiled = compile_pattern(pattern)
    assert compiled.matches(matching)
    assert not compiled.matches(matching + "x")


@pytest.mark.parametrize(
    "pattern",
    [
        "((a{100}){100}){100}",
        "(a|" * 5_000 + "b" + ")" * 5_000,
        r"\pL" * 201,
        "(?:a{1000}){1000}",
        ".{1000}" * 4_000,
        r"\pL{1000}",
    ],
)
def test_what_the_engine_cannot_hold_is_refused(pattern: str) -> None:
    """A divergence: RE2J takes them, or runs out of stack."""
    with pytest.raises(PatternError) as refused:
        compile_pattern(pattern)
    assert str(refused.value) == f"error parsing regexp: expression too large: `{pattern}`"


@pytest.mark.parametrize(
    "pattern",
    [
        "a?" * 6_000,
        "." * 7_501,
        "(a|)" * 6_000,
        "a{0,100}" * 60,
        "(?:a?b?){1000}" * 3,
        "(x{1,1000}y)" * 6,
        "a{1000}" * 51,
        r"\pL{200}",
    ],
)
def test_what_takes_the_engine_long_to_compile_is_refused_before_it_tries(pattern: str) -> None:
    """`a{0,100}` 500 times took five seconds, for which nobody else was served."""
    with pytest.raises(PatternError, match="expression too large"):
        translate(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "a?" * 5_000,
        "[a-z]{0,249}",
        "(.{0,200}-){0,4}x",
        "|".join(f"(topic-{i})" for i in range(2_300)),
        "a{1000}" * 49,
    ],
)
def test_what_anybody_would_write_is_not_too_large(pattern: str) -> None:
    assert compile_pattern(pattern).instructions > 0


def test_the_translation_grows_with_the_pattern() -> None:
    patterns = (
        "[" + "a-z" * 8_000 + "]",
        r"\pL" * 99,
        "(?i:a)" * 5_000,
        r"\Q" + "(" * 30_000,
        "a|" * 15_000,
        "[[:alpha:]]" * 2_500,
    )
    for pattern in patterns:
        assert len(translate(pattern)) <= 20 * len(pattern)


def test_a_start_does_not_load_the_engine() -> None:
    code = "import sys, coordinator.broker.handlers.list_transactions as one, coordinator.net.server; print('re2' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.strip()
        == "False"
    )
