"""Principals of client certificates: the rules that map a certificate's subject to a principal
(TLS-2).

The rules are Kafka's ssl.principal.mapping.rules: the first whose pattern matches the whole
subject applies; if none does, the client is refused. Patterns are Python regular expressions;
replacements are read as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

DEFAULT: Final = "DEFAULT"
_RULE: Final = re.compile(
    r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,|$)"
)
_IN_REPLACEMENT: Final = re.compile(
    r"\\(.?)|\$(?:\{([A-Za-z]\w*)\}|([0-9]+))?", re.ASCII | re.DOTALL
)
_NAMED: Final = re.compile(r"(?<!\\)\(\?<(?=[A-Za-z])")


class MappingError(ValueError):
    """Error for rules that cannot be parsed; the message says what would be right."""


class Rule(NamedTuple):
    """A mapping rule. `pattern` None: the subject unchanged."""

    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """Return the mapped name, or None if the rule does not match."""
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        # Kafka replaces each match in the name, and looks for the first anew
        made = self.pattern.sub(self._expanded, name)
        return made.lower() if self.case == "L" else made.upper() if self.case == "U" else made

    def _expanded(self, found: re.Match[str]) -> str:
        return _expanded(self.replacement, found)


def read_rules(text: str) -> tuple[Rule, ...]:
    """Parse rules separated by commas. Raises MappingError."""
    rules, at = [], 0
    while at < len(text):
        found = _RULE.match(text, at)
        if found is None:
            raise MappingError(
                f"{text[at:]!r} is no rule; write DEFAULT or RULE:PATTERN/REPLACEMENT/[LU], such as RULE:^CN=([^,]+),.*$/$1/L,DEFAULT"
            )
        default, pattern, replacement, case = found.groups()
        if default:
            rules.append(Rule())
        else:
            try:
                rules.append(Rule(_compiled(pattern), replacement, case))
            except re.error as error:
                raise MappingError(f"{pattern!r} is no regular expression: {error}") from None
        at = found.end()
    return tuple(rules) or (Rule(),)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a Java pattern in Python: named groups are written differently, and the predefined
    character classes are ASCII.
    """
    return re.compile(_NAMED.sub("(?P<", pattern.replace(r"\/", "/")), re.ASCII)


def _expanded(replacement: str, found: re.Match[str]) -> str:
    """Return the replacement text for a match. Raises MappingError."""
    try:
        return _IN_REPLACEMENT.sub(lambda each: _piece(each, found), replacement)
    except IndexError:
        raise MappingError(
            f"{replacement!r}: write \\$ for a dollar sign, $1 or ${{name}} for a group of {found.re.pattern!r}"
        ) from None


def _piece(each: re.Match[str], found: re.Match[str]) -> str:
    """Return the meaning of a backslash or `$` and the characters after it. A group number has as
    many digits as there are groups for; Kafka treats a number without a group as text if the
    pattern has any group.
    """
    character, named, number = each.groups()
    if character is not None:
        return str(character)
    if named is not None:
        return found[str(named)] or ""
    digits = len(number or "")
    while digits > 1 and int(number[:digits]) > found.re.groups:
        digits -= 1
    group = int(number[:digits]) if digits else -1
    if group > found.re.groups > 0:
        return each[0]
    if group < 0:
        raise IndexError
    return (found[group] or "") + number[digits:]


def principal_of(name: str, rules: Iterable[Rule]) -> str | None:
    """Return a principal such as User:CN=billing,OU=tests for a subject (RFC 2253), or None if no
    rule matches.
    """
    for rule in rules:
        mapped = rule.apply(name)
        if mapped is not None:
            return f"User:{mapped}"
    return None
