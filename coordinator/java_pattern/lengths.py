"""How long a text a part of a pattern can match, as Java reckons it to refuse a look-behind without
an obvious maximum.

Owns the parts of a pattern, as far as lengths go, and the reckoning. It is Java's to the last bit:
in numbers of 32 bits that overflow, and blind to some repetitions (`(?<=a*)` is taken). Nothing
here depends on how a pattern is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

UNBOUNDED: Final = 0x7FFF_FFFF
_LARGE: Final = 0xFFF_FFFF


class Lengths(NamedTuple):
    """Of a part: the least and the most, whether the most is one, whether there is one way only."""

    least: int = 0
    most: int = 0
    valid: bool = True
    one_way: bool = True


class Text(NamedTuple):
    """So many characters."""

    characters: int


class Greedy(NamedTuple):
    """One character, so often or more often, as often as possible."""

    least: int


class Backreference(NamedTuple):
    """The text a group matched."""


class LineEnd(NamedTuple):
    """One or two characters."""


class Grapheme(NamedTuple):
    """A character as readers see it."""


class Repeated(NamedTuple):
    """A part so often."""

    what: Lengths
    least: int
    most: int


class Optional(NamedTuple):
    """Parts that may be left out."""

    what: list[Part]


class Inline(NamedTuple):
    """A group that is not repeated: its parts stand where it stands."""

    what: list[Part]


class Independent(NamedTuple):
    """A group that gives nothing back."""

    what: list[Part]


class Loop(NamedTuple):
    """A group that is repeated, and can match in several ways."""


class Branch(NamedTuple):
    """One of several."""

    ways: list[Lengths]


class Nothing(NamedTuple):
    """A look around, or a border: no character."""


Part = (
    Text
    | Greedy
    | Backreference
    | LineEnd
    | Grapheme
    | Repeated
    | Optional
    | Inline
    | Independent
    | Loop
    | Branch
    | Nothing
)


class _Chain:
    """Parts that are gone through one by one. `of`: what began them; of one that is inline the rest
    of the outer parts belongs to its own."""

    __slots__ = ("branches", "least", "of", "parts")

    def __init__(
        self, parts: Iterator[Part], of: Part | None, branches: int, least: int = 0
    ) -> None:
        self.parts = parts
        self.of = of
        self.branches = branches
        self.least = least


def lengths_of(parts: list[Part]) -> Lengths:
    """How long a text some parts can match, one behind the other."""
    reckoning = _Reckoning(parts)
    while reckoning.chains:
        reckoning.go_on()
    return Lengths(reckoning.least, reckoning.most, reckoning.valid, reckoning.one_way)


class _Reckoning:
    """The lengths of the parts that were gone through."""

    def __init__(self, parts: list[Part]) -> None:
        self.least, self.most, self.valid, self.one_way = Lengths()
        self.chains = [_Chain(iter(parts), None, 0)]
        self._behind: list[Lengths] = []
        """Of branches, for what follows a branch is reckoned anew and added."""

    def go_on(self) -> None:
        """Take the next part, or end a chain."""
        part = next(self.chains[-1].parts, None)
        match part:
            case None:
                self._end(self.chains.pop())
            case Text(count):
                self._add(count, count)
            case Greedy(at_least):
                self._add(at_least, UNBOUNDED if self.valid else 0)
                self.one_way = False
            case Backreference():
                self.valid = False
            case LineEnd():
                self._add(1, 2)
            case Grapheme():
                self._add(1, 0)
                self.one_way = False
            case Repeated():
                self._repeat(part)
            case Inline(inner) | Independent(inner) | Optional(inner):
                self.chains.append(_Chain(iter(inner), part, len(self._behind), self.least))
            case Loop():
                self.valid = self.one_way = False
                while isinstance(self.chains[-1].of, Inline):
                    self.chains.pop()
                self.chains[-1].parts = iter(())  # Java looks no further
            case Branch(ways):
                self._part_ways(ways)

    def _add(self, least: int, most: int) -> None:
        self.least, self.most = _wrapped(self.least + least), _wrapped(self.most + most)

    def _part_ways(self, ways: list[Lengths]) -> None:
        self._add(min(way.least for way in ways), max(-1, *(way.most for way in ways)))
        valid = self.valid and all(way.valid for way in ways)
        self._behind.append(Lengths(self.least, self.most, valid))
        self.least, self.most, self.valid, self.one_way = Lengths()

    def _end(self, chain: _Chain) -> None:
        if isinstance(chain.of, Inline):
            return
        while len(self._behind) > chain.branches:
            before = self._behind.pop()
            self._add(before.least, before.most)
            self.valid, self.one_way = self.valid and before.valid, False
        if isinstance(chain.of, Optional):
            self.least, self.one_way = chain.least, False

    def _repeat(self, part: Repeated) -> None:
        what, least, most = part.what, self.least, self.most
        self.one_way = self.one_way and what.one_way and part.least == part.most
        self.least = _wrapped(what.least * part.least + least)
        if self.least < least:
            self.least = _LARGE
        if self.valid and what.valid:
            self.most = _wrapped(what.most * part.most + most)
            self.valid = self.most >= most
        else:
            self.most, self.valid = what.most, False


def _wrapped(number: int) -> int:
    """As Java's int."""
    return (number + 0x8000_0000) % 0x1_0000_0000 - 0x8000_0000
