"""Formats for sentences: durations, instants, lists, partition ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from coordinator.base.printable import printable as printable


def duration(ms: int) -> str:
    """Return a duration: `120 ms`, `6 s`, `6.25 s`, `5 min`, `1 min 5 s`."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.2f}".rstrip("0").rstrip(".") + " s"
    minutes, rest = divmod(ms, 60_000)
    return f"{minutes} min" + (f" {duration(rest)}" if rest >= 1000 else "")


def instant(ms: int) -> str:
    """Return seconds since the run's zero, to the millisecond: `12.345 s`."""
    return f"{ms / 1000:.3f} s"


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), *words[-1:]])


def counted(noun: str, words: Sequence[str], most: int = 8) -> str:
    """Return `member a` or `members a and b`; of many only the first few by name."""
    if len(words) == 1:
        return f"{noun} {words[0]}"
    if len(words) > most:
        return f"{len(words)} {noun}s ({', '.join(words[:3])}, ...)"
    return f"{noun}s {listed(words)}"


def ranges(numbers: Collection[int]) -> str:
    """Return numbers as ranges: `0-5, 8`."""
    parts: list[str] = []
    ordered = sorted(numbers)
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] + 1:
            parts.append(
                str(ordered[start]) if at == start + 1 else f"{ordered[start]}-{ordered[at - 1]}"
            )
            start = at
    return ", ".join(parts)


def partitions(by_topic: Mapping[str, Collection[int]]) -> str:
    """Return `orders 0-5, 8; payments 1`, or `nothing`."""
    return (
        "; ".join(
            f"{printable(topic)} {ranges(numbers)}"
            for topic, numbers in by_topic.items()
            if numbers
        )
        or "nothing"
    )


_WORD: Final = re.compile(r"([^ ,;:()]+)")


def renamed(text: str, name: Callable[[str], str]) -> str:
    """Return a reason in Kafka's words with member ids replaced by names."""
    return printable("".join(map(name, _WORD.split(text))))
