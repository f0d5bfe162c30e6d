r"""The characters of a pattern, as Java reads them: quoted text (\Q...\E) written out first, white
space and comments skipped under the flag x.

Owns the position and the flags. Behind the last character stand two zeros, which end everything
that goes on until a character comes; reading beyond them is Java's own failure, and refused too.
"""

from __future__ import annotations

from typing import Final

UNIX_LINES: Final = 0x1
CASE_INSENSITIVE: Final = 0x2
COMMENTS: Final = 0x4
CANON_EQ: Final = 0x80
UNICODE_CLASSES: Final = 0x100
FLAGS: Final = {
    "i": CASE_INSENSITIVE,
    "m": 0x8,
    "s": 0x20,
    "d": UNIX_LINES,
    "u": 0x40,
    "c": CANON_EQ,
    "x": COMMENTS,
    "U": UNICODE_CLASSES | 0x40,
}
END: Final = "\0"
_SPACE: Final = frozenset("\t\n\x0b\x0c\r ")
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS: Final = frozenset("0123456789")
_LINE_ENDS: Final = frozenset("\n\r\x85\u2028\u2029")


class PatternRefused(Exception):
    """A pattern that Java does not take: why."""


class Cursor:
    """A place in a pattern. `length`: how many characters it has."""

    __slots__ = ("_text", "at", "flags", "length")

    def __init__(self, pattern: str) -> None:
        text = _unquoted(pattern)
        self.length = len(text)
        self._text: list[str] = [*text, END, END]
        self.at = 0
        self.flags = 0

    def has(self, flag: int) -> bool:
        """True if a flag is set here."""
        return bool(self.flags & flag)

    @property
    def at_end(self) -> bool:
        """True if everything was read."""
        return self.at >= self.length

    def character(self, at: int) -> str:
        """The character at a place, white space and comments included."""
        return self._text[at]

    def between(self, first: int, end: int) -> str:
        """The characters from one place to before another."""
        return "".join(self._text[first:end])

    def peek(self) -> str:
        """The character that comes; what is skipped before it is skipped for good."""
        found = self._text[self.at]
        return self._past_blanks(found) if self.flags & COMMENTS else found

    def next(self) -> str:
        """The character behind the one that comes, which comes now."""
        self.at += 1
        return self.peek()

    def next_escaped(self) -> str:
        """As `next`, and nothing is skipped."""
        self.at += 1
        return self._text[self.at]

    def read(self) -> str:
        """The character that comes, which is past then."""
        found = self._text[self.at]
        self.at += 1
        if self.flags & COMMENTS and (found in _SPACE or found == "#"):
            self.at -= 1
            found = self._past_blanks(found)
            self.at += 1
        return found

    def skip(self) -> str:
        """The character behind the one that comes; both are past then."""
        self.at += 2
        return self._text[self.at - 1]

    def unread(self) -> None:
        """One character back."""
        self.at -= 1

    def read_to(self, end: str) -> str | None:
        """The characters up to one that comes later, which is past then; None: it does not
        come."""
        first = self.at
        while (found := self.read()) != end:
            if self.at > self.length or (found == END and self.at_end):
                return None
        return self.between(first, self.at - 1)

    def _past_blanks(self, found: str) -> str:
        text = self._text
        while found in _SPACE or found == "#":
            if found == "#":
                found = self._past_line()
            else:
                self.at += 1
                found = text[self.at]
        return found

    def _past_line(self) -> str:
        """Past a comment: the character that ends its line."""
        ends = "\n" if self.flags & UNIX_LINES else _LINE_ENDS
        self.at += 1
        while (found := self._text[self.at]) != END and found not in ends:
            self.at += 1
        if found == END and self.at > self.length:
            self.at = self.length
        return found


def _unquoted(pattern: str) -> str:
    r"""The pattern with \Q...\E written out. A digit that begins a quotation is written as a number,
    so that it does not belong to what stands before."""
    first = _quotation(pattern)
    if first is None:
        return pattern
    made = [pattern[:first]]
    at, length = first + 2, len(pattern)
    quoted = begins = True
    while at < length:
        found = pattern[at]
        at += 1
        if found > "\x7f" or found in _LETTERS:
            made.append(found)
        elif found in _DIGITS:
            made.append(f"\\x3{found}" if begins else found)
        elif found != "\\":
            made.append(f"\\{found}" if quoted else found)
        elif quoted:
            if pattern[at : at + 1] == "E":
                at += 1
                quoted = False
            else:
                made.append("\\\\")
        elif pattern[at : at + 1] == "Q":
            at += 1
            quoted = begins = True
            continue
        else:
            made.append(found + pattern[at : at + 1])
            at += 1
        begins = False
    return "".join(made)


def _quotation(pattern: str) -> int | None:
    r"""Where the first \Q stands."""
    at = 0
    while at < len(pattern) - 1:
        if pattern[at] != "\\":
            at += 1
        elif pattern[at + 1] == "Q":
            return at
        else:
            at += 2
    return None
