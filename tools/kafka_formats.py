"""The formats of log lines that Kafka's own classes have, read from the bytecode of its jars.

Follows the texts that a method loads up to a call of slf4j's Logger or, in Scala's classes, up to a call of Kafka's
Logging, which takes closures: their texts are those that the closure puts together. Does not know what the lines mean.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

LEVELS: Final = ("INFO", "WARN", "ERROR")
_LOGGER: Final = "org/slf4j/Logger"
_CLASS: Final = re.compile(
    r"(?:org/apache/kafka/coordinator/(?:group|common|share)|kafka/coordinator/group)/[\w/$]+\.class"
)
_JAR: Final = re.compile(
    r"(?:kafka-group-coordinator|kafka-coordinator-common|kafka-share-coordinator|kafka_2\.13)-\d"
)
_OPERANDS: Final = {
    **dict.fromkeys((16, 18, *range(21, 26), *range(54, 59), 169, 188), 1),
    **dict.fromkeys(
        (17, 19, 20, 132, *range(153, 169), *range(178, 185), 187, 189, 192, 193, 198, 199), 2
    ),
    197: 3,
    **dict.fromkeys((185, 186, 200, 201), 4),
}
"""Bytes behind each instruction that has some; the two switches and `wide` have as many as they say."""
_LDC, _LDC_W, _CALLS, _DYNAMIC = 18, 19, range(182, 186), 186
_STRING, _HANDLE = 8, 15
"""Kinds of constants."""
_NOTHING: Final = ("", "", "")
_CLOSURE: Final = "Lscala/Function0;"
_TEXT: Final = ")Ljava/lang/String;"
_TABLE_SWITCH, _LOOKUP_SWITCH, _WIDE, _INCREMENT = 170, 171, 196, 132


class Format(NamedTuple):
    """A format of a log line, such as `[GroupId {}] Bumped group epoch to {}.`, at a level."""

    class_name: str
    level: str
    text: str


def formats(folder: Path) -> set[Format]:
    """Return the formats at INFO and above of the coordinators' classes in a folder of jars."""
    found: set[Format] = set()
    for jar in sorted(folder.glob("*.jar")):
        if not _JAR.match(jar.name):
            continue
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if _CLASS.fullmatch(name) and "/generated/" not in name:
                    found.update(_ClassFile(archive.read(name)).formats())
    return found


class _ClassFile:
    """A class as it stands in a jar (Java Virtual Machine Specification, chapter 4)."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 8
        self.constants: list[tuple[int, int, int] | str | None] = [None] * self._u2()
        self._read_constants()
        self.at += 2
        name = self.constants[self._u2()]
        assert isinstance(name, tuple)
        self.name = self._text(name[1]).replace("/", ".")
        self.at += 2
        interfaces = self._u2()
        self.at += 2 * interfaces
        self._members()
        self.methods = self._members()
        self.recipes, self.closures = self._bootstraps()

    def formats(self) -> Iterator[Format]:
        for _, code in self.methods:
            loaded: list[str] = []
            closures: list[str] = []
            for text, closed, called in self._steps(code):
                if text is not None:
                    loaded.append(text)
                closures += closed
                owner, name, takes = called
                level, count = name.upper(), takes.count(_CLOSURE)
                if count and level in LEVELS and len(closures) >= count:
                    # The message is the first closure; a second one has the exception.
                    yield Format(self.name, level, self._made(closures[-count]))
                    closures = []
                if name.startswith("$anonfun$") and takes.endswith(_TEXT):
                    loaded.append(self._made(name))  # a closure that the compiler called itself
                if owner == _LOGGER:
                    texts = [each for each in loaded if "{}" in each] or loaded
                    if texts and level in LEVELS:
                        yield Format(self.name, level, texts[-1])
                    loaded = []

    def _made(self, method: str) -> str:
        """The text that a closure puts together, with {} where a value goes."""
        code = next((code for name, code in self.methods if name == method), b"")
        texts = [text for text, _, _ in self._steps(code) if text is not None]
        return texts[-1] if texts else ""

    def _steps(self, code: bytes) -> Iterator[tuple[str | None, list[str], tuple[str, str, str]]]:
        """Each text that is whole (a literal, a recipe, what a StringBuilder has put together), the
        closures that are made, and the methods that are called, in the order of the code."""
        builders: list[list[str]] = []
        literal: str | None = None
        for instruction, index in _instructions(code):
            before, literal = literal, None
            constant = self.constants[index]
            if instruction in (_LDC, _LDC_W):
                if isinstance(constant, tuple) and constant[0] == _STRING:
                    literal = self._text(constant[1])
                    yield literal, [], _NOTHING
            elif instruction == _DYNAMIC:
                assert isinstance(constant, tuple)
                literal = self.recipes[constant[1]]
                yield literal, self.closures[constant[1]], _NOTHING
            elif instruction in _CALLS:
                owner, name, _ = called = self._called(index)
                if not owner.endswith("StringBuilder"):
                    yield None, [], called
                elif name == "<init>":
                    builders.append([])
                elif name == "append" and builders:
                    builders[-1].append("{}" if before is None else before)
                elif name in ("toString", "result") and builders:
                    literal = "".join(builders.pop())
                    yield literal, [], _NOTHING

    def _called(self, index: int) -> tuple[str, str, str]:
        """The class, the name and the types of a method that is called."""
        reference = self.constants[index]
        assert isinstance(reference, tuple)
        owner, named = self.constants[reference[1]], self.constants[reference[2]]
        assert isinstance(owner, tuple) and isinstance(named, tuple)
        return self._text(owner[1]), self._text(named[1]), self._text(named[2])

    def _text(self, index: int) -> str:
        text = self.constants[index]
        assert isinstance(text, str)
        return text

    def _u2(self) -> int:
        self.at += 2
        return int.from_bytes(self.data[self.at - 2 : self.at])

    def _u4(self) -> int:
        self.at += 4
        return int.from_bytes(self.data[self.at - 4 : self.at])

    def _read_constants(self) -> None:
        index = 1
        while index < len(self.constants):
            tag = self.data[self.at]
            self.at += 1
            if tag == 1:
                length = self._u2()
                self.constants[index] = self.data[self.at : self.at + length].decode(
                    "utf-8", "replace"
                )
                self.at += length
            elif tag in (5, 6):  # long and double count twice
                self.at += 8
                index += 1
            elif tag in (7, 8, 16, 19, 20):
                self.constants[index] = tag, self._u2(), 0
            elif tag == _HANDLE:
                kind = self.data[self.at]
                self.at += 1
                self.constants[index] = tag, kind, self._u2()
            elif tag in (3, 4):
                self.at += 4
            else:
                self.constants[index] = tag, self._u2(), self._u2()
            index += 1

    def _members(self) -> list[tuple[str, bytes]]:
        """The names and the code of fields or methods."""
        found = []
        for _ in range(self._u2()):
            self.at += 2
            member = self._text(self._u2())
            self.at += 2
            for _ in range(self._u2()):
                name, length = self._text(self._u2()), self._u4()
                if name == "Code":
                    size = int.from_bytes(self.data[self.at + 4 : self.at + 8])
                    found.append((member, self.data[self.at + 8 : self.at + 8 + size]))
                self.at += length
        return found

    def _bootstraps(self) -> tuple[list[str | None], list[list[str]]]:
        """Of each bootstrap method the recipe of a concatenation, with {} where a value goes, and
        the methods of this class that it makes closures of."""
        found: list[str | None] = []
        closures: list[list[str]] = []
        for _ in range(self._u2()):
            name, length = self._text(self._u2()), self._u4()
            end = self.at + length
            if name == "BootstrapMethods":
                for _ in range(self._u2()):
                    self.at += 2
                    arguments = [self.constants[self._u2()] for _ in range(self._u2())]
                    first = arguments[0] if arguments else None
                    text = (
                        self._text(first[1]) if isinstance(first, tuple) and first[0] == 8 else None
                    )
                    found.append(None if text is None else re.sub("[\x01\x02]", "{}", text))
                    closures.append([name for each in arguments for name in self._handled(each)])
            self.at = end
        return found, closures

    def _handled(self, constant: tuple[int, int, int] | str | None) -> Iterator[str]:
        """The method of this class that a handle is of."""
        if isinstance(constant, tuple) and constant[0] == _HANDLE:
            owner, name, _ = self._called(constant[2])
            if owner.replace("/", ".") == self.name and name.startswith("$anonfun$"):
                yield name


def _instructions(code: bytes) -> Iterator[tuple[int, int]]:
    """Each instruction, with the constant that it names (0: none)."""
    at = 0
    while at < len(code):
        instruction, behind = code[at], at + 1
        if instruction == _LDC:
            yield instruction, code[behind]
        elif instruction in (_LDC_W, _DYNAMIC, *_CALLS):
            yield instruction, int.from_bytes(code[behind : behind + 2])
        if instruction == _TABLE_SWITCH:
            behind = (behind + 3) & ~3
            low, high = struct.unpack(">ii", code[behind + 4 : behind + 12])
            at = behind + 12 + 4 * (high - low + 1)
        elif instruction == _LOOKUP_SWITCH:
            behind = (behind + 3) & ~3
            at = behind + 8 + 8 * int.from_bytes(code[behind + 4 : behind + 8])
        elif instruction == _WIDE:
            at = behind + (5 if code[behind] == _INCREMENT else 3)
        else:
            at = behind + _OPERANDS.get(instruction, 0)
