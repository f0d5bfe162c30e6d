"""Reading single characters and escapes of a pattern, in RE2J's order and with its words for what
is wrong.

Owns the position in the text. Does not depend on what is built from the characters.
"""

from __future__ import annotations

MAX_RUNE = 0x10FFFF
_OCTAL = "01234567"
_HEX = "0123456789abcdefABCDEF"
_C_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class PatternError(ValueError):
    """A pattern that RE2J refuses; `str()` is its message, `description` the part that says what is
    wrong, without where."""

    description = ""

    @classmethod
    def about(cls, what: str, where: str | None = None) -> PatternError:
        """RE2J's form of a message."""
        error = cls(f"error parsing regexp: {what}" + ("" if where is None else f": `{where}`"))
        error.description = what
        return error


class Scanner:
    """A pattern's text and how far it was read."""

    __slots__ = ("pos", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    def more(self) -> bool:
        """Is anything left?"""
        return self.pos < len(self.text)

    def at(self, what: str) -> bool:
        """Does the rest begin with `what`?"""
        return self.text.startswith(what, self.pos)

    def take(self) -> str:
        """The next character."""
        char = self.text[self.pos]
        self.pos += 1
        return char

    def since(self, start: int) -> str:
        """The text read from `start` on."""
        return self.text[start : self.pos]

    def digits(self) -> int:
        """A number without leading zeros: -1 if there is none, -2 if it has more than eight digits
        (no more is looked at)."""
        start = self.pos
        while self.more() and self.text[self.pos] in "0123456789":
            self.pos += 1
        number = self.since(start)
        if not number or (len(number) > 1 and number[0] == "0"):
            return -1
        return -2 if len(number) > 8 else int(number)

    def escape(self) -> int:
        """The code point that an escape at the position stands for. Raises PatternError."""
        start = self.pos
        self.pos += 1
        if not self.more():
            raise PatternError.about("trailing backslash at end of expression")
        found = self._escaped(self.take())
        if found is None:
            raise PatternError.about("invalid escape sequence", self.since(start))
        return found

    def _escaped(self, char: str) -> int | None:
        if char in _OCTAL:
            return self._octal(char)
        if char == "x":
            return self._hexadecimal()
        if char in _C_ESCAPES:
            return _C_ESCAPES[char]
        return None if char.isascii() and char.isalnum() else ord(char)

    def _octal(self, first: str) -> int | None:
        """Up to three digits; a single one other than 0 would be a back reference, which there is
        not."""
        if first != "0" and not (self.more() and self.text[self.pos] in _OCTAL):
            return None
        value = int(first)
        for _ in range(2):
            if not (self.more() and self.text[self.pos] in _OCTAL):
                break
            value = value * 8 + int(self.take())
        return value

    def _hexadecimal(self) -> int | None:
        if not self.more():
            return None
        first = self.take()
        if first == "{":
            return self._braced()
        if not self.more():
            return None
        second = self.take()
        return int(first + second, 16) if first in _HEX and second in _HEX else None

    def _braced(self) -> int | None:
        value, digits = 0, 0
        while self.more():
            char = self.take()
            if char == "}":
                return value if digits else None
            if char not in _HEX:
                return None
            value = value * 16 + int(char, 16)
            if value > MAX_RUNE:
                return None
            digits += 1
        return None
