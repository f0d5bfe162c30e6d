"""What is kept of a tool's output: text lines, with a name wherever one run or broker differs from
the next without meaning it.

A transcript is a list of lines a person can read: `$ ` the command, the output, `! ` lines of
standard error, `= ` the exit status when it is not 0. Rule: what is replaced is replaced by a name
that stands for the same thing all through one transcript. Nothing is judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile, zip_longest
from typing import NamedTuple

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TOPIC_ID = re.compile(r"(TopicId: |--topic-id )([\w-]{22})")
_CONSOLE_GROUP = re.compile(r"console-consumer-\d+")
_LOG_TIME = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\]")
_MEMBER_HOST = re.compile(r"/\d+\.\d+\.\d+\.\d+\b *")
_NODE = re.compile(r"\b[\w.-]+:\d+ \(id: (\d+) rack: null")
_COORDINATOR = re.compile(r"\b[\w.-]+:\d+( +)\((\d+)\)")
_NOW_MS = re.compile(
    r"\b(170[1-9]|17[1-9]\d|1[89]\d\d|2\d{3})\d{9}\b"
)  # from December 2023 on; records of stories bear earlier times
_LOG_DIR = re.compile(r'"log_dirs":\["/[^"]*"\]')
_SET = re.compile(r"\(('[^',]*'(?:, '[^',]*')+)\)")  # names in the order of a hash set
_GAPS = re.compile(r"[ \t]{2,}")
_USAGE = re.compile(r"Option +Description")
_STACK = re.compile(r"\s+at [\w.$/<>]+\(|\s+\.\.\. \d+ more")


class Names:
    """Stands names in for what brokers and clients mint; the first of a kind seen is 1."""

    def __init__(self, nonce: str, address: str, other: dict[str, str]) -> None:
        """`nonce`: the run's mark behind all names; `other`: texts and what stands for them (paths
        of files)."""
        self._nonce = nonce
        self._plain = {address: "ADDRESS", **other}
        self._known: dict[str, str] = {}

    def line(self, text: str) -> str:
        """One line without chance in it."""
        text = _NODE.sub(r"HOST:PORT (id: \1 rack: null", text)
        text = _COORDINATOR.sub(r"HOST:PORT\1(\2)", text)
        for chance, name in self._plain.items():
            text = text.replace(chance, name)
        text = text.replace("-" + self._nonce, "")
        text = _TOPIC_ID.sub(lambda found: found.group(1) + self._of("T", found.group(2)), text)
        text = _UUID.sub(lambda found: f"<{self._of('id', found.group())}>", text)
        text = _CONSOLE_GROUP.sub("console-consumer-<n>", text)
        text = _LOG_TIME.sub("[TIME]", text)
        text = _MEMBER_HOST.sub("/HOST  ", text)
        text = _NOW_MS.sub("NOW", text)
        text = _LOG_DIR.sub('"log_dirs":["DIRECTORY"]', text)
        text = _SET.sub(lambda found: f"({', '.join(sorted(found.group(1).split(', ')))})", text)
        return _GAPS.sub("  ", text).rstrip()

    def lines(self, text: str) -> list[str]:
        """All lines but empty ones, those of stack traces, and a tool's table of its options."""
        told = takewhile(lambda line: not _USAGE.match(line), text.splitlines())
        return [self.line(line) for line in told if line.strip() and not _STACK.match(line)]

    def _of(self, kind: str, value: str) -> str:
        if value not in self._known:
            self._known[value] = (
                f"{kind}{1 + sum(name.startswith(kind) for name in self._known.values())}"
            )
        return self._known[value]


class Divergence(NamedTuple):
    """A known difference of the emulator from Kafka: why, and for each line that only Kafka says,
    what is said instead (None: nothing)."""

    reason: str
    instead: Mapping[str, str | None]

    def applied(self, kafka: Iterable[str]) -> list[str]:
        """What the emulator should say, given what Kafka says."""
        return [ours for line in kafka if (ours := self.instead.get(line, line)) is not None]


def difference(
    kafka: Iterable[str], ours: Iterable[str]
) -> tuple[str, str | None, str | None] | None:
    """The command before the first line that differs and the two lines (None: there is none); None
    when all are the same."""
    command = ""
    for left, right in zip_longest(kafka, ours):
        if left != right:
            return command, left, right
        if left.startswith("$ "):
            command = left
    return None
