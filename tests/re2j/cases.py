"""Random patterns and texts, and what RE2J and ours make of them. A case is made from its seed and
number alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import NamedTuple

from coordinator.re2j import PatternError, compile_pattern
from tests.java_jars import JavaProgram

PROGRAM = "Patterns"
TEXTS = 8
_LETTERS = "abAB01_-.kK\u017f\u212a\u00e9\u03a3\u03c2\u03c3\n \u4e2d\U0001f600"
_ATOMS = (
    "a",
    "b",
    "A",
    "0",
    "_",
    "-",
    "k",
    "K",
    "s",
    "\u00e9",
    "\u03c3",
    "\u4e2d",
    "\U0001f600",
    ".",
    "^",
    "$",
    "\\A",
    "\\z",
    "\\b",
    "\\B",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\pL",
    "\\PL",
    "\\p{Lu}",
    "\\P{Lu}",
    "\\p{Greek}",
    "\\p{^Greek}",
    "\\pN",
    "\\p{Any}",
    "\\P{Any}",
    "\\p{Cs}",
    "\\x61",
    "\\x{61}",
    "\\x{1F600}",
    "\\141",
    "\\0",
    "\\n",
    "\\.",
    "\\-",
    "\\_",
    "[a-c]",
    "[^a-c]",
    "[\\d_-]",
    "[[:alpha:]]",
    "[^[:upper:]]",
    "[[:^digit:]k]",
    "[]a]",
    "[^]]",
    "[a-]",
    "[\\pL0]",
    "[^\\PL]",
    "[k-m]",
    "[\u03b1-\u03c9]",
    "\\Qa.b\\E",
    "\\Q\\E",
    "()",
    "(?:)",
    "(|a)",
)
_FAULTS = (
    "(",
    ")",
    "[",
    "]",
    "*",
    "**",
    "+?",
    "{",
    "}",
    "{2",
    "{2,1}",
    "{1001}",
    "{99999999999}",
    "\\",
    "\\C",
    "\\8",
    "\\1",
    "\\x",
    "\\xg",
    "\\x{}",
    "\\x{110000}",
    "\\pX",
    "\\p",
    "\\p{",
    "\\p{Foo}",
    "[b-a]",
    "[[:foo:]]",
    "[a-\\d]",
    "(?",
    "(?P",
    "(?P<",
    "(?P<>",
    "(?P<n>",
    "(?<n>",
    "(?P<n-n>",
    "(?z)",
    "(?i-)",
    "(?-)",
    "(?i",
    "\\Z",
    "\\q",
    "\u00e9\\\u00e9",
    "{0,}",
    "{01}",
    "{,2}",
    "(?'n'a)",
    "(?=a)",
    "(?#a)",
    "\\G",
    "\\k",
)


class Case(NamedTuple):
    """A pattern, and texts to match whole."""

    pattern: str
    texts: list[str]


def make_case(seed: int, number: int) -> Case:
    """The case of this number."""
    rng = random.Random(f"{seed}/{number}")
    pattern = _pattern(rng, 3)
    if rng.random() < 0.3:
        at = rng.randrange(len(pattern) + 1)
        pattern = pattern[:at] + rng.choice(_FAULTS) + pattern[at:]
    if rng.random() < 0.1:
        at = rng.randrange(len(pattern) + 1)
        pattern = pattern[:at] + pattern[at + 1 :]
    texts = ["", *("".join(rng.choices(_LETTERS, k=rng.randrange(1, 7))) for _ in range(TEXTS - 1))]
    return Case(pattern, texts)


def _pattern(rng: random.Random, depth: int) -> str:
    parts = [_repeated(rng, depth) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))]
    pattern = "".join(parts)
    if rng.random() < 0.25:
        pattern += "|" + (_pattern(rng, depth - 1) if depth else "")
    return rng.choice(("", "", "", "", "(?i)", "(?s)", "(?m)", "(?im-s)", "(?U)")) + pattern


def _repeated(rng: random.Random, depth: int) -> str:
    if depth and rng.random() < 0.35:
        atom = rng.choice(
            (
                "(",
                "(?:",
                "(?i:",
                "(?-i:",
                "(?s-m:",
                f"(?P<g{rng.randrange(9)}>",
                f"(?<h{rng.randrange(9)}>",
            )
        )
        atom += _pattern(rng, depth - 1) + ")"
    else:
        atom = rng.choice(_ATOMS)
    return atom + rng.choice(
        (
            "",
            "",
            "",
            "",
            "*",
            "+",
            "?",
            "*?",
            "+?",
            "??",
            "{2}",
            "{0,2}",
            "{1,}",
            "{0}",
            "{1,3}?",
            "{3,}?",
        )
    )


def ours(case: Case) -> str:
    """Ours, in the words of tests/java/Patterns.java."""
    try:
        pattern = compile_pattern(case.pattern)
    except PatternError as refused:
        return "-" + str(refused)
    return "+" + "".join("01"[pattern.matches(text)] for text in case.texts)


def theirs(java: JavaProgram, cases: Iterable[Case]) -> list[str]:
    """RE2J's."""
    questions = [
        ",".join(text.encode().hex() for text in (case.pattern, *case.texts)) for case in cases
    ]
    return [
        "-" + bytes.fromhex(answer[1:]).decode() if answer.startswith("-") else answer
        for answer in java.ask(questions)
    ]
