"""The grammar of `java.util.regex.Pattern` of Java 17: groups, repetitions, flags, back references,
look-behind.

Owns what may stand where. It does as Java's own parser does, place by place, for Java's errors are
where that parser stumbles (`a{2}{3}` is taken, `a**` is not). Open groups are kept in a list, so
no pattern overflows a stack.
"""

from __future__ import annotations

from typing import Final

from .classes import read_class
from .cursor import CANON_EQ, END, FLAGS, Cursor, PatternRefused
from .escapes import Groups, escape, family, group_name
from .lengths import (
    UNBOUNDED,
    Branch,
    Grapheme,
    Greedy,
    Independent,
    Inline,
    Lengths,
    Loop,
    Nothing,
    Optional,
    Part,
    Repeated,
    Text,
    lengths_of,
)

MOST_NESTED: Final = 780
_STOPS: Final = frozenset("$().[^|")
_QUANTIFIERS: Final = frozenset("*+?{")
_DIGITS: Final = frozenset("0123456789")


class _Group:
    """A group that is open. `kind`: what its head says, "" of one that captures. `flags`: of what
    stands behind it."""

    __slots__ = ("flags", "kind", "parts", "ways")

    def __init__(self, kind: str, flags: int) -> None:
        self.kind = kind
        self.flags = flags
        self.ways: list[list[Part]] = []
        self.parts: list[Part] = []

    def whole(self) -> list[Part]:
        """Its parts, all its ways considered."""
        if not self.ways:
            return self.parts
        return [Branch([lengths_of(way) for way in [*self.ways, self.parts]])]


def check(pattern: str) -> None:
    """Accept a pattern that Java compiles. Raises PatternRefused."""
    try:
        _Parser(pattern).read()
    except IndexError:  # Java fails by the same
        raise PatternRefused("it ends in the middle of an expression") from None


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._cursor = Cursor(pattern)
        self._groups = Groups()
        self._open = [_Group("", 0)]
        self._counted = False  # whether the last repetition stands in braces, with a most

    def read(self) -> None:
        """Read the whole pattern."""
        cursor = self._cursor
        while True:
            here = self._open[-1]
            found = cursor.peek()
            if found == "(":
                self._begin_group()
            elif found == "|":
                here.ways.append(here.parts)
                here.parts = []
                cursor.next()
            elif found == ")" or (found == END and cursor.at_end):
                if len(self._open) == 1:
                    break
                self._end_group()
            else:
                self._add(self._closure(self._one(found)))
        if cursor.at != cursor.length:
            raise PatternRefused("a group is closed that is not open, or something is cut off")

    def _add(self, part: Part) -> None:
        self._open[-1].parts.append(part)

    # -- groups

    def _begin_group(self) -> None:
        """Read a group's head; one that sets flags only is done with it."""
        cursor, flags = self._cursor, self._cursor.flags
        kind = ""
        if cursor.next() != "?":
            self._groups.count += 1
        else:
            kind = cursor.skip()
            if kind == "<":
                kind = self._angle()
            elif kind in ("$", "@"):
                raise PatternRefused(f"(?{kind} begins no group")
            elif kind not in (":", "=", "!", ">"):
                cursor.unread()
                self._read_flags()
                end = cursor.read()
                if end == ")":
                    return
                if end != ":":
                    raise PatternRefused("unknown flag")
                kind = ":"
        self._open.append(_Group(kind, flags))
        if len(self._open) > MOST_NESTED:
            raise PatternRefused("groups stand in one another too deeply")

    def _angle(self) -> str:
        """Behind (?<: a look-behind, or a group's name."""
        cursor = self._cursor
        found = cursor.read()
        if found in ("=", "!"):
            return f"<{found}"
        name = group_name(cursor, found)
        if name in self._groups.names:
            raise PatternRefused(f"two groups are called {name!r}")
        self._groups.names.add(name)
        self._groups.count += 1
        return ""

    def _read_flags(self) -> None:
        cursor, found = self._cursor, self._cursor.peek()
        while found in FLAGS:
            cursor.flags |= FLAGS[found]
            found = cursor.next()
        if found == "-":
            found = cursor.next()
            while found in FLAGS:
                cursor.flags &= ~FLAGS[found]
                found = cursor.next()

    def _end_group(self) -> None:
        cursor, group = self._cursor, self._open.pop()
        whole = group.whole()
        if group.kind in ("<=", "<!") and not lengths_of(whole).valid:
            raise PatternRefused("a look-behind without an obvious maximum length")
        if cursor.read() != ")":
            raise PatternRefused("a group is not closed")
        cursor.flags = group.flags
        if group.kind == ">":
            self._add(self._closure(Independent(whole)))
        elif group.kind in ("", ":"):
            self._add(self._repeated_group(whole))
        else:
            self._add(self._closure(Nothing()))

    def _repeated_group(self, whole: list[Part]) -> Part:
        """A group with what says how often it comes."""
        times = self._times()
        if times is None:
            return Inline(whole)
        least, most, kind = times
        if (least, most) == (0, 1):
            return Optional(whole) if kind == "+" else Branch([lengths_of(whole), Lengths()])
        lengths = lengths_of(whole)
        if kind == "+" or lengths.one_way:
            return Repeated(lengths, least, most)
        return Loop()

    # -- repetitions

    def _closure(self, part: Part) -> Part:
        """A part with what says how often it comes."""
        times = self._times()
        if times is None:
            return part
        least, most, kind = times
        if (least, most) == (0, 1):
            return Optional([part])
        if most == UNBOUNDED and not kind and not self._counted and part == Text(1):
            return Greedy(least)
        return Repeated(lengths_of([part]), least, most)

    def _times(self) -> tuple[int, int, str] | None:
        """How often what was read comes: at least, at most, and + or ? behind it. Raises
        PatternRefused."""
        found = self._cursor.peek()
        if found not in _QUANTIFIERS:
            return None
        self._counted = False
        match found:
            case "?":
                least, most = 0, 1
            case "*":
                least, most = 0, UNBOUNDED
            case "+":
                least, most = 1, UNBOUNDED
            case _:
                least, most = self._count()
        kind = self._cursor.next()
        if kind in ("?", "+"):
            self._cursor.next()
            return least, most, kind
        return least, most, ""

    def _count(self) -> tuple[int, int]:
        """The count in braces; the position is at the closing one then."""
        cursor = self._cursor
        found = cursor.skip()
        if found not in _DIGITS:
            raise PatternRefused("a repetition begins with a number")
        least, found = self._number(found)
        most = least
        if found == ",":
            found = cursor.read()
            if found == "}":
                cursor.unread()
                return least, UNBOUNDED
            most, found = self._number(found)
        if found != "}":
            raise PatternRefused("a repetition is not closed")
        if most < least:
            raise PatternRefused("a repetition goes from the lower to the higher")
        cursor.unread()
        self._counted = True
        return least, most

    def _number(self, found: str) -> tuple[int, str]:
        """A number of Java's int, 0 without a digit, and the character behind it."""
        number = 0
        while found in _DIGITS:
            number = number * 10 + int(found)
            if number > UNBOUNDED:
                raise PatternRefused("a repetition is at most 2147483647")
            found = self._cursor.read()
        return number, found

    # -- single expressions

    def _one(self, found: str) -> Part:
        """A class, a dot, a border, or characters up to something else."""
        cursor = self._cursor
        if found == "[":
            read_class(cursor, self._groups)
            return self._character()
        if found in ("^", "$", "."):
            cursor.next()
            return Text(1) if found == "." else Nothing()
        if found in ("*", "+", "?"):
            raise PatternRefused(f"{found} repeats nothing")
        return self._characters()

    def _characters(self) -> Part:
        """Characters one behind the other; the last one is left out if a repetition follows, which
        is its own."""
        cursor = self._cursor
        count, before = 0, -1
        found = cursor.peek()
        while True:
            if found in _QUANTIFIERS:
                if count > 1:
                    cursor.at = before
                    count -= 1
                break
            if found in _STOPS or (found == END and cursor.at_end):
                break
            if found != "\\":
                before = cursor.at
                count += 1
                found = cursor.next()
                continue
            if cursor.next_escaped() in ("p", "P"):
                if count:
                    cursor.unread()
                    break
                family(cursor)
                return self._character()
            cursor.unread()
            before = cursor.at
            part = escape(cursor, self._groups, in_class=False, makes=not count)
            if isinstance(part, int):
                count += 1
                found = cursor.peek()
                continue
            if not count:
                return part
            cursor.at = before
            break
        return Text(count)

    def _character(self) -> Part:
        """One character of a class."""
        return Grapheme() if self._cursor.has(CANON_EQ) else Text(1)
