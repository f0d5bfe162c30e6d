"""Random patterns, and whether Java and ours take them. A case is made from its seed and number
alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Final

from coordinator.java_pattern import PatternRefused, check
from tests.java_jars import JavaProgram

PROGRAM: Final = "JavaPatterns"
_PIECES: Final = (
    "a",
    "b",
    "z",
    "0",
    "9",
    " ",
    "\t",
    "\n",
    "#",
    "-",
    "_",
    ",",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "^",
    "$",
    ".",
    "|",
    "?",
    "*",
    "+",
    "\\",
    "&",
    "<",
    ">",
    "=",
    "!",
    ":",
    "'",
    '"',
    "\x00",
    "\\Q",
    "\\E",
    "\\p{",
    "\\P{",
    "\\pL",
    "\\p{IsLatin}",
    "\\p{InGreek}",
    "\\p{javaLowerCase}",
    "\\p{L}",
    "\\p{gc=Lu}",
    "\\p{sc=latin}",
    "\\p{Alpha}",
    "\\p{alpha}",
    "\\d",
    "\\D",
    "\\w",
    "\\s",
    "\\S",
    "\\h",
    "\\H",
    "\\v",
    "\\V",
    "\\R",
    "\\X",
    "\\b",
    "\\B",
    "\\b{g}",
    "\\A",
    "\\G",
    "\\Z",
    "\\z",
    "\\1",
    "\\2",
    "\\10",
    "\\k<n>",
    "\\k<",
    "(?<n>",
    "(?<m>",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?>",
    "(?i)",
    "(?x)",
    "(?-x)",
    "(?i:",
    "(?xU)",
    "(?c)",
    "(?d)",
    "(?-i:",
    "(?@",
    "(",
    "(",
    ")",
    ")",
    ")",
    "]",
    "]",
    "[",
    "[^",
    "&&",
    "a-z",
    "z-a",
    "\\x41",
    "\\x{41}",
    "\\x{110000}",
    "\\u0041",
    "\\uD800\\uDC00",
    "\\0101",
    "\\08",
    "\\cA",
    "\\N{LATIN SMALL LETTER A}",
    "\\N{NULL}",
    "\\N{",
    "{2}",
    "{2,}",
    "{2,3}",
    "{3,2}",
    "{0,1}",
    "{,3}",
    "{99999999999}",
    "{2147483647}",
    "*",
    "+",
    "?",
    "*?",
    "*+",
    "++",
    "??",
    "?+",
    "{2}?",
    "{2}+",
    "|",
    "|",
    "\\t",
    "\\n",
    "\\e",
    "\\a",
    "\\y",
    "\\\xe9",
    "\xe9",
    "\U0001f600",
    "\u2028",
    "\x85",
    "# c\n",
    "\\-",
    "\\]",
    "\\[",
    "\\\\",
    "\\ ",
    "\\#",
    "ab",
    "abc",
    "x",
)
_PARTS: Final = (
    "a",
    "b",
    "ab",
    "\\d",
    "[a-c]",
    ".",
    "\\R",
    "\\X",
    "\\1",
    "^",
    "$",
    "\\b",
    "\\p{L}",
    "(?i)",
    "abc",
)
_TIMES: Final = ("*", "+", "?", "{2}", "{2,}", "{2,5}", "{0,1}", "*?", "+?", "??", "*+", "?+", "+?")
_MORE_TIMES: Final = ("{1000000}", "{2,}+", "{0}")
_HEADS: Final = ("(?:", "(", "(?>", "(?=", "(?<=", "(?<!", "(?<=", "(?i:", "(?x:", "(?<=", "(?c:")
_IN_CLASSES: Final = (
    *("a", "a-z", "z-a", "\\d", "\\p{L}", "&", "^", "-", "]", "[", "a-", "\\Q]\\E", "\\v-z"),
    *("\\x41-\\x5a", "b-\\d", " ", "#", "\xe9-\xfc", "\\n-\\r", "a&", "\\^", "a-[b]"),
)


def make_case(seed: int, number: int) -> str:
    """The pattern of this number."""
    rng = random.Random(f"{seed}/{number}")
    kind = number % 4
    if kind == 0:
        return "".join(rng.choices(_PIECES, k=rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 14, 20))))
    if kind == 1:
        return rng.choice(("", "(?x)", "(?i)", "(?iu)")) + _class(rng, 2) + rng.choice(("", "*"))
    return _tree(rng, rng.randint(1, 6))


def _tree(rng: random.Random, depth: int) -> str:
    """A pattern that is mostly whole."""
    if not depth:
        return rng.choice(_PARTS)
    inner = _tree(rng, depth - 1)
    match rng.randrange(7):
        case 0:
            return inner + _tree(rng, depth - 1)
        case 1:
            return inner + rng.choice(_TIMES + _MORE_TIMES)
        case 2:
            return f"{rng.choice(_HEADS)}{inner}){rng.choice(('', '', *_TIMES))}"
        case 3:
            return f"{inner}|{_tree(rng, depth - 1)}"
        case 4:
            return f"(?<={inner})"
        case 5:
            return f"({inner})"
        case _:
            return f"(?:|{inner})"


def _class(rng: random.Random, depth: int) -> str:
    made = "[" + rng.choice(("", "^", "", "&&", "]", "-"))
    for _ in range(rng.randint(0, 4)):
        chance = rng.random()
        if chance < 0.2 and depth:
            made += _class(rng, depth - 1)
        else:
            made += "&&" if chance < 0.4 else rng.choice(_IN_CLASSES)
    return made + rng.choice(("]", "]", "]", "]", ""))


def taken(pattern: str) -> bool:
    """Whether ours takes it."""
    try:
        check(pattern)
    except PatternRefused:
        return False
    return True


def taken_by_java(java: JavaProgram, patterns: Iterable[str]) -> list[bool]:
    """Whether Java does, for each."""
    return [
        answer == "+" for answer in java.ask([pattern.encode().hex() or "" for pattern in patterns])
    ]
