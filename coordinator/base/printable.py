"""Text from outside made safe for a terminal: ids, names, reasons and error messages chosen by a
client or found in a log file.

Owns one rule: no control character, no character that changes the direction of writing, no
surrogate and no line break of such a text reaches a terminal or a line of a log for people; each
is written as a Python escape (`\\x1b`, `\\n`, `\\u202e`). Does not depend on anything.
"""

from __future__ import annotations

MOST_CHARACTERS = 300
"""The number of characters of one text that a message shows (`shortened`)."""


def printable(text: object) -> str:
    """Return a text with every character escaped that a terminal might interpret."""
    shown = text if isinstance(text, str) else str(text)
    if shown.isprintable():
        return shown
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown
    )


def shortened(text: object, most: int = MOST_CHARACTERS) -> str:
    """Return the same, cut to `most` characters; three dots mark a cut."""
    shown = text if isinstance(text, str) else str(text)
    return printable(shown) if len(shown) <= most else printable(shown[:most]) + "..."
