"""Who a client certificate says that its owner is: the name of RFC 2253, and the rules that map it
(TLS-2).

Rules are Kafka's ssl.principal.mapping.rules: tried in order, the first whose pattern matches the
whole name wins; without any the name is nobody's to log in with. Patterns are regular expressions
as Python has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

DEFAULT: Final = "DEFAULT"
_RULE: Final = re.compile(
    r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,|$)"
)
_SHORT: Final = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "userId": "UID",
}
_ESCAPED: Final = re.compile(r'([,+"\\<>;])')

Subject = Sequence[Sequence[tuple[str, str]]]
"""A certificate's subject as Python's `ssl` gives it: the most general part first."""


class MappingError(ValueError):
    """Rules that cannot be read: what, and what would be right."""


class Rule(NamedTuple):
    """A rule; `pattern` None: the name as it is."""

    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """What it makes of a name; None: it is not about it."""
        if self.pattern is None:
            return name
        found = self.pattern.fullmatch(name)
        if found is None:
            return None
        made = re.sub(
            r"\$(\d)",
            lambda group: found[int(group[1])] or "",
            self.replacement.replace(r"\/", "/"),
        )
        return made.lower() if self.case == "L" else made.upper() if self.case == "U" else made


def read_rules(text: str) -> tuple[Rule, ...]:
    """Rules, with commas between them. Raises MappingError."""
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
                rules.append(Rule(re.compile(pattern.replace(r"\/", "/")), replacement, case))
            except re.error as error:
                raise MappingError(f"{pattern!r} is no regular expression: {error}") from None
        at = found.end()
    return tuple(rules) or (Rule(),)


def distinguished_name(subject: Subject) -> str:
    """The name of RFC 2253: the most specific part first, commas and their like escaped."""
    return ",".join("+".join(_shown(*pair) for pair in part) for part in reversed(subject))


def _shown(kind: str, value: str) -> str:
    escaped = _ESCAPED.sub(r"\\\1", value)
    return f"{_SHORT.get(kind, kind)}={escaped}"


def principal_of(subject: Subject, rules: Iterable[Rule]) -> str | None:
    """Such as User:CN=billing,OU=tests; None: no rule is about the name."""
    name = distinguished_name(subject)
    for rule in rules:
        mapped = rule.apply(name)
        if mapped is not None:
            return f"User:{mapped}"
    return None
