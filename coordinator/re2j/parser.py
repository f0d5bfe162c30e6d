"""From RE2J's syntax to the engine's: checks a pattern from left to right, and writes it anew as it
goes.

Rules: work is linear in the pattern, and nothing is recursive; what is written uses groups,
alternatives, repetitions, escapes and classes only, flags being written out for each character.
Only whole texts are matched, so captures and greed are dropped. Groups that change nothing are
dropped too, since the engine nests a thousand deep at most and RE2J deeper; repetitions of
repetitions, which the engine counts together up to a thousand, are written out.
"""

from __future__ import annotations

from dataclasses import dataclass

from .classes import bracket_class, code_point, literal, perl_class, unicode_class
from .scanner import PatternError, Scanner

__all__ = ["PatternError", "translate"]

MOST_REPEATED = 1_000
"""RE2J takes no greater count, and the engine no greater product of nested counts."""
MOST_WRITTEN_OUT = 100_000
"""Characters of a pattern after repetitions were written out."""
MOST_NESTED = 1_000
"""Groups within each other, of those that are written."""
MOST_UNICODE_CLASSES = 200
"""Of \\p{...}: each is hundreds of ranges."""
MOST_ATOMS = 50_000
"""Of a pattern, repetitions counted as often as they are repeated: it has as many instructions at
least."""
MOST_ATOMS_BY_OPTIONAL = 30_000_000
"""Atoms multiplied by the atoms, groups and alternatives that may be left out: the engine looks
past each of these from each of those."""
UNICODE_CLASS_SIZE = 500
"""As many atoms as a \\p{...} counts for."""
MOST_DOTS = 7_500
"""Each is seven of the engine's instructions at least, of which a pattern may have 50,000."""
_ONE, _SEVERAL, _REPEATED = range(3)
_SIMPLE = {
    "*": "*",
    "+": "+",
    "?": "?",
    "**": "*",
    "*+": "*",
    "*?": "*",
    "+*": "*",
    "++": "+",
    "+?": "*",
    "?*": "*",
    "?+": "*",
    "??": "?",
}
"""An operator upon an operator, as one."""


@dataclass(slots=True)
class _Flags:
    """The state of (?i), (?m) and (?s)."""

    fold: bool = False
    lines: bool = False
    dot_all: bool = False


@dataclass(slots=True)
class _Atom:
    """The object of a repetition: the pieces from `start` on. `repeated`: the product of the
    counts within it.

    `size` and `optional`: how many atoms there are in it, and how many parts that may be left out.
    """

    start: int
    kind: int = _ONE
    repeated: int = 1
    depth: int = 0
    operator: str = ""  # of a repetition: "*", "+", "?", or "" for counts
    size: int = 1
    optional: int = 0


@dataclass(slots=True)
class _Group:
    """An open group: where it starts, the flags to go back to, what is in it."""

    start: int
    flags: _Flags
    atoms: int = 0
    alternatives: bool = False
    repeated: int = 1
    depth: int = 0
    size: int = 0
    optional: int = 0


def too_large(text: str) -> PatternError:
    """A pattern that RE2J may take, and the engine cannot hold (docs/divergences.md). The words are
    Go's."""
    return PatternError.about("expression too large", text)


def translate(text: str) -> str:
    """The pattern for the engine. Raises PatternError with RE2J's message, or "expression too
    large" (docs/divergences.md)."""
    return _Translator(text).run()


class _Translator:
    def __init__(self, text: str) -> None:
        self.scan = Scanner(text)
        self.pieces: list[str] = []
        self.flags = _Flags()
        self.groups = [_Group(0, self.flags)]
        self.atom: _Atom | None = None
        self.names: set[str] = set()
        self.size = 0
        self.unicode_classes = 0
        self.dots = 0

    def run(self) -> str:
        scan = self.scan
        last_repeat = -1
        while scan.more():
            repeat = -1
            match scan.text[scan.pos]:
                case "*" | "+" | "?":
                    repeat = scan.pos
                    self.repeat_simply(scan.take(), repeat, last_repeat)
                case "{":
                    repeat = scan.pos  # of a brace that is but a character, too: RE2J refuses {*
                    counts = self.counts()
                    if counts is None:
                        scan.pos = repeat
                        self.character(ord(scan.take()))
                    else:
                        self.repeat_counted(*counts, repeat, last_repeat)
                case "(":
                    self.open()
                case _:
                    self.other()
            last_repeat = repeat
        if len(self.groups) > 1:
            raise PatternError.about("missing closing )", scan.text)
        return "".join(self.pieces)

    def other(self) -> None:
        scan = self.scan
        match scan.text[scan.pos]:
            case "|":
                scan.pos += 1
                self.pieces.append("|")
                self.groups[-1].alternatives = True
                self.atom = None
            case ")":
                self.close()
            case "^":
                scan.pos += 1
                self.add("(?m:^)" if self.flags.lines else r"\A")
            case "$":
                scan.pos += 1
                self.add("(?m:$)" if self.flags.lines else r"\z")
            case ".":
                scan.pos += 1
                self.dots += 1
                if self.dots > MOST_DOTS:
                    raise too_large(scan.text)
                self.add("(?s:.)" if self.flags.dot_all else r"[^\n]")
            case "[":
                self.add_class(bracket_class(scan))
            case "\\":
                self.escaped()
            case _:
                self.character(ord(scan.take()))

    # -- single characters

    def escaped(self) -> None:
        scan = self.scan
        following = scan.text[scan.pos + 1 : scan.pos + 2]
        if following in ("A", "z", "b", "B"):
            scan.pos += 2
            self.add("\\" + following)
        elif following == "C":
            raise PatternError.about("invalid escape sequence", r"\C")
        elif following == "Q":
            end = scan.text.find("\\E", scan.pos + 2)
            quoted = scan.text[scan.pos + 2 : end if end >= 0 else None]
            scan.pos += 4 + len(quoted)
            for char in quoted:
                self.character(ord(char))
        else:
            item = unicode_class(scan)
            if item is None:
                item = perl_class(scan)
            if item is None:
                self.character(scan.escape())
            else:
                self.add_class(f"[{item}]" if item else literal(0xD800))

    def character(self, value: int) -> None:
        self.add(f"(?i:{code_point(value)})" if self.flags.fold else literal(value))

    def add_class(self, text: str) -> None:
        unicode_classes = text.count("\\p") + text.count("\\P")
        self.unicode_classes += unicode_classes
        if self.unicode_classes > MOST_UNICODE_CLASSES:
            raise too_large(self.scan.text)
        self.add(
            f"(?i:{text})" if self.flags.fold else text,
            max(1, UNICODE_CLASS_SIZE * unicode_classes),
        )

    def add(self, text: str, size: int = 1) -> None:
        self.atom = _Atom(len(self.pieces), size=size)
        self.pieces.append(text)
        self.groups[-1].atoms += 1
        self.grow(size, 0)

    def grow(self, size: int, optional: int) -> None:
        """The open group has more in it. Raises PatternError."""
        group = self.groups[-1]
        group.size += size
        group.optional += optional
        if group.size > MOST_ATOMS or group.size * group.optional > MOST_ATOMS_BY_OPTIONAL:
            raise too_large(self.scan.text)

    def repeat(self, atom: _Atom, times: int, optional: int) -> None:
        """An atom's content comes so many times, and so many parts more may be left out. Raises
        PatternError."""
        size, left_out = atom.size, atom.optional
        atom.size, atom.optional = size * times, left_out * times + optional
        self.grow(atom.size - size, atom.optional - left_out)

    # -- repetitions

    def counts(self) -> tuple[int, int] | None:
        """{n}, {n,} or {n,m} at the position; -1 for no end; None if it is something else. Raises
        PatternError."""
        scan = self.scan
        start = scan.pos
        scan.pos += 1
        least = most = scan.digits()
        if least == -1 or not scan.more():
            return None
        if scan.at(","):
            scan.pos += 1
            most = -1
            if not scan.at("}"):
                most = scan.digits()
                if most == -1:
                    return None
        if not scan.at("}"):
            return None
        scan.pos += 1
        if not 0 <= least <= MOST_REPEATED or not -1 <= most <= MOST_REPEATED or 0 <= most < least:
            raise PatternError.about("invalid repeat count", scan.since(start))
        return least, most

    def repeatable(self, start: int, last: int) -> _Atom:
        scan = self.scan
        scan.pos += scan.at("?")
        if last != -1:
            raise PatternError.about("invalid nested repetition operator", scan.since(last))
        if self.atom is None:
            raise PatternError.about("missing argument to repetition operator", scan.since(start))
        return self.atom

    def repeat_simply(self, operator: str, start: int, last: int) -> None:
        atom = self.repeatable(start, last)
        if atom.kind == _REPEATED and atom.operator:
            atom.operator = _SIMPLE[atom.operator + operator]
            self.pieces[-1] = atom.operator
            return
        self.wrap(atom)
        self.repeat(atom, 1, int(operator != "+"))
        self.pieces.append(operator)
        atom.kind, atom.operator = _REPEATED, operator

    def repeat_counted(self, least: int, most: int, start: int, last: int) -> None:
        atom = self.repeatable(start, last)
        self.wrap(atom)
        times = max(least, most, 1)
        self.repeat(atom, times, most - least if most >= 0 else 1)
        if atom.repeated * times > MOST_REPEATED:
            self.write_out(atom, least, most)
        else:
            atom.repeated *= times
            self.pieces.append(
                f"{{{least}}}" if least == most else f"{{{least},{'' if most < 0 else most}}}"
            )
        atom.kind, atom.operator = _REPEATED, ""
        self.groups[-1].repeated = max(self.groups[-1].repeated, atom.repeated)

    def wrap(self, atom: _Atom) -> None:
        if atom.kind != _ONE:
            self.deeper(atom)
            self.pieces[atom.start] = "(?:" + self.pieces[atom.start]
            self.pieces.append(")")

    def write_out(self, atom: _Atom, least: int, most: int) -> None:
        """A repetition as text: x{2,4} is xxx?x?, which whole texts match alike."""
        text = "".join(self.pieces[atom.start :])
        optional = (
            f"{text}*"
            if most < 0
            else f"{text}?" * (most - least)
            if (most - least) * len(text) <= MOST_WRITTEN_OUT
            else None
        )
        self.size += len(text) * max(least, most, 1)
        if optional is None or self.size > MOST_WRITTEN_OUT:
            raise too_large(self.scan.text)
        self.pieces[atom.start :] = [text * least + optional]

    # -- groups

    def open(self) -> None:
        scan = self.scan
        start = scan.pos
        if scan.at("(?P<") or scan.at("(?<"):
            self.name(start)
        elif scan.at("(?"):
            scan.pos += 2
            flags = self.changed_flags(start)
            if scan.text[scan.pos - 1] == ")":
                self.flags = flags
                return
            self.push()
            self.flags = flags
            return
        else:
            scan.pos += 1
        self.push()

    def push(self) -> None:
        self.groups.append(_Group(len(self.pieces), self.flags))
        self.pieces.append("")
        self.atom = None

    def name(self, start: int) -> None:
        scan = self.scan
        begin = start + (4 if scan.at("(?P<") else 3)
        end = scan.text.find(">", begin)
        if end < 0:
            raise PatternError.about("invalid named capture", scan.text[start:])
        name = scan.text[begin:end]
        if not name or not all(char == "_" or (char.isascii() and char.isalnum()) for char in name):
            raise PatternError.about("invalid named capture", scan.text[start : end + 1])
        if name in self.names:
            raise PatternError.about("duplicate capture group name", name)
        self.names.add(name)
        scan.pos = end + 1

    def changed_flags(self, start: int) -> _Flags:
        """Flags up to the colon or the closing parenthesis, which is read. Raises PatternError."""
        scan = self.scan
        flags = _Flags(self.flags.fold, self.flags.lines, self.flags.dot_all)
        on, seen = True, False
        while scan.more():
            char = scan.take()
            if char == "i":
                flags.fold = on
            elif char == "m":
                flags.lines = on
            elif char == "s":
                flags.dot_all = on
            elif char == "-" and on:
                on, seen = False, False
                continue
            elif char in ":)" and (on or seen):
                return flags
            elif char != "U":  # ungreedy: whole texts match alike
                break
            seen = True
        raise PatternError.about("invalid or unsupported Perl syntax", scan.since(start))

    def close(self) -> None:
        if len(self.groups) == 1:
            raise PatternError.about("regexp/syntax: internal error", "stack underflow")
        self.scan.pos += 1
        group = self.groups.pop()
        self.flags = group.flags
        inner, atom = (
            self.atom,
            _Atom(
                group.start,
                repeated=group.repeated,
                depth=group.depth,
                size=group.size,
                optional=group.optional,
            ),
        )
        if group.alternatives or not group.atoms:
            self.deeper(atom)
            self.pieces[group.start] = "(?:"
            self.pieces.append(")")
        elif group.atoms == 1 and inner is not None:
            atom.kind, atom.operator = inner.kind, inner.operator
        else:
            atom.kind = _SEVERAL
        atom.optional += group.alternatives  # one of them may be empty
        self.grow(atom.size, atom.optional)
        self.atom = atom
        self.groups[-1].atoms += 1
        self.groups[-1].repeated = max(self.groups[-1].repeated, group.repeated)
        self.groups[-1].depth = max(self.groups[-1].depth, atom.depth)

    def deeper(self, atom: _Atom) -> None:
        """The atom is put between parentheses. Raises PatternError."""
        atom.depth += 1
        self.groups[-1].depth = max(self.groups[-1].depth, atom.depth)
        if atom.depth > MOST_NESTED:
            raise too_large(self.scan.text)
