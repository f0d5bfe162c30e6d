"""Makes a failing scenario smaller: leaves something out, or reduces it, as long as the same
promise is broken.

Decides what may be left out and in which order: large things first. Draws are keyed by whom they
are for, so leaving one thing out changes no other draw. This module must not know how a scenario
is run: its caller says whether a smaller one still fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from ..files.schema import TABLES, duration_ms

Plain = dict[str, Any]
_ARRAYS = ("churn", "faults", "producers", "members")
_SHORTEST_MS = 1000
_KEPT = {
    ("members", "name"),
    ("members", "topics"),
    ("churn", "kind"),
    ("churn", "members"),
    ("faults", "verb"),
    ("faults", "action"),
    ("producers", "name"),
    ("producers", "topics"),
}


def shrink(
    raw: Plain, fails: Callable[[Plain], bool], go_on: Callable[[], bool] = lambda: True
) -> Plain:
    """Return the smallest scenario found that still fails; `raw` fails. `go_on`: returns False
    when the time is over. `fails`: runs a smaller scenario and returns True if it fails."""
    found = deepcopy(raw)
    changed = True
    while changed:
        changed = False
        for smaller in candidates(found):
            if not go_on():
                return found
            if fails(smaller):
                found, changed = smaller, True
                break
    return found


def candidates(raw: Plain) -> Iterator[Plain]:
    """Yield scenarios that are one step smaller."""
    for name in _ARRAYS:
        array = raw.get(name, [])
        for at in range(len(array)):
            if name != "members" or len(array) > 1:
                yield _with(raw, name, [*array[:at], *array[at + 1 :]])
    yield from _less_of_everything(raw)
    for name in _ARRAYS:
        for at, element in enumerate(raw.get(name, [])):
            for key, value in element.items():
                smaller = _less(name, key, value)
                if (
                    (name, key) not in _KEPT
                    and TABLES[name].keys.get(key) is not None
                    and not TABLES[name].keys[key].required
                ):
                    smaller.insert(0, _GONE)
                for less in smaller:
                    yield _with(raw, name, _replaced(raw[name], at, key, less))
    for key in ("links", "parameters"):
        if key in raw and not _uses(raw, key):
            yield {name: value for name, value in raw.items() if name != key}


_GONE = object()


def _less_of_everything(raw: Plain) -> Iterator[Plain]:
    length = duration_ms(raw.get("duration", "10m"))
    if length is not None and length > _SHORTEST_MS:
        for part in (2, 4):
            yield {**raw, "duration": _text(length - length // part)}
    brokers = raw.get("brokers", {})
    if brokers.get("count", 1) > 1:
        yield _with(raw, "brokers", {**brokers, "count": 1})
    for key in brokers:
        if key != "count":
            yield _with(
                raw, "brokers", {name: value for name, value in brokers.items() if name != key}
            )
    topics = raw.get("topics", {})
    for name, count in topics.items():
        if isinstance(count, int) and count > 1:
            yield _with(raw, "topics", {**topics, name: 1})
            yield _with(raw, "topics", {**topics, name: count // 2})
        if len(topics) > 1:
            yield _with(
                raw, "topics", {other: each for other, each in topics.items() if other != name}
            )


def _less(table: str, key: str, value: Any) -> list[Any]:
    spec = TABLES[table].keys.get(key)
    if spec is not None and spec.kind == "count" and isinstance(value, int) and value > 1:
        return [1, value // 2] if value > 3 else [1]
    if (
        spec is not None
        and spec.kind == "duration"
        and (length := duration_ms(value)) is not None
        and length > _SHORTEST_MS
    ):
        return [_text(length // 2)]
    if isinstance(value, list) and len(value) > 1 and spec is not None and spec.kind == "names":
        return [[each for each in value if each != left_out] for left_out in value]
    if isinstance(value, dict):
        return [
            {name: inner for name, inner in value.items() if name != left_out} for left_out in value
        ]
    return []


def _text(length_ms: int) -> str:
    return f"{length_ms // 1000}s" if length_ms % 1000 == 0 else f"{length_ms}ms"


def _with(raw: Plain, name: str, value: Any) -> Plain:
    return {**raw, name: value}


def _replaced(array: list[Plain], at: int, key: str, value: Any) -> list[Plain]:
    element = (
        {name: inner for name, inner in array[at].items() if name != key}
        if value is _GONE
        else {**array[at], key: value}
    )
    return [*array[:at], element, *array[at + 1 :]]


def _uses(raw: Plain, key: str) -> bool:
    return key == "parameters" and "$" in str(
        {name: value for name, value in raw.items() if name != "parameters"}
    )
