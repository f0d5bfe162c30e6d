"""Patterns of topics and transactional ids: RE2 takes them, and what it refuses is told in RE2J's words."""

from __future__ import annotations

import pytest

from coordinator.server.patterns import MOST_INSTRUCTIONS, PatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("orders-.*", "orders-eu", True),
        ("orders", "orders-eu", False),
        ("order|orders-eu", "orders-eu", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        ("(?i)ORDERS", "orders", True),
        ("(?<region>eu|us)", "us", True),
        ("(?P<region>eu|us)", "uk", False),
        ("(?s).", "\n", True),
        (".", "\n", False),
        (r"[[:alpha:]]+\pL", "abc", True),
        ("", "", True),
    ],
)
def test_the_whole_text_is_matched(pattern: str, text: str, *, matches: bool) -> None:
    assert compile_pattern(pattern).matches(text) is matches


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(", "missing closing )"),
        ("[a", "missing closing ]"),
        (")", "regexp/syntax: internal error"),
        ("*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("a{2,1}", "invalid repeat count"),
        ("a{1001}", "invalid repeat count"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        (r"\1", "invalid escape sequence"),
        ("[z-a]", "invalid character class range"),
        ("\\", "trailing backslash at end of expression"),
        ("(?P<n", "invalid named capture"),
        ("(?P<n>a)(?<n>b)", "duplicate capture group name"),
        ("\ud800", "invalid UTF-8"),
    ],
)
def test_a_refused_pattern_is_told_in_re2js_words(pattern: str, told: str) -> None:
    with pytest.raises(PatternError) as refused:
        compile_pattern(pattern)
    assert str(refused.value) == told


@pytest.mark.parametrize(
    "pattern",
    ["x" * 60_000, r"\pL{1000}", ".{1000}" * 20, "(x|)" * 20_000, "((a{100}){10}){1000}"],
)
def test_a_pattern_that_would_cost_much_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern)


def test_what_is_taken_has_few_instructions() -> None:
    assert compile_pattern("(a?){1000}").instructions < MOST_INSTRUCTIONS
