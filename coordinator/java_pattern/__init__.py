"""Which regular expressions Java's `java.util.regex.Pattern` takes, as the brokers' Java does where a
client's text is one of its patterns.

`check` reads a pattern and accepts or refuses it; nothing is matched. It takes time linear in the
pattern, and no pattern overflows a stack: Java refuses what overflows its own, here that is what
nests deeper than `MOST_NESTED`. Compared with Java 17 by tests/java_pattern. Does not depend on
what patterns are for.
"""

from __future__ import annotations

from .cursor import PatternRefused
from .parser import MOST_NESTED, check

__all__ = ["MOST_NESTED", "PatternRefused", "check"]
