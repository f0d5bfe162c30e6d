"""The fields of one line of a log, with the bytes of consumers' subscriptions and assignments
decoded.

Reads the log and the consumer protocol's bytes alone. Bytes that cannot be decoded are shown as
bytes.
"""

from __future__ import annotations

from typing import Any, Final

from coordinator.events.line import Line
from coordinator.history.explain.formatting import partitions, printable
from coordinator.history.world.blobs import by_topic, decoded
from coordinator.wire.consumer_protocol import Assignment, Subscription

Row = tuple[str, str]
_LEFT_OUT: Final = frozenset({"seq", "at_ms", "run", "stream", "type", "group", "durable"})
_MOST_TEXT: Final = 400
_MOST_ROWS: Final = 40


def fields_of(line: Line, without: frozenset[str] = frozenset()) -> list[Row]:
    """Return names and values as text, in the order of the line; only as many as a person reads.
    `without`: keys to leave out."""
    rows: list[Row] = []
    for key, value in line.plain.items():
        if key in _LEFT_OUT or key in without or value is None:
            continue
        if key == "protocols" and isinstance(value, list):
            for row in value:
                rows += _blob(f"{key} {row['name']}", row["metadata"], "subscription")
        elif key == "members" and isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                rows.append(("member", str(row.get("member_id"))))
                rows += _blob("· subscription", row.get("subscription", ""), "subscription")
                rows += _blob("· assignment", row.get("assignment", ""), "assignment")
        else:
            rows.append((key, _text(value)))
    return [(printable(name), printable(text)[:_MOST_TEXT]) for name, text in rows[:_MOST_ROWS]]


def _text(value: object) -> str:
    if (
        isinstance(value, list)
        and value
        and all(isinstance(row, dict) and {"topic", "partition"} <= row.keys() for row in value)
    ):
        if "offset" in value[0]:
            return ", ".join(f"{row['topic']}-{row['partition']}: {row['offset']}" for row in value)
        return partitions(by_topic((row["topic"], [row["partition"]]) for row in value))
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(each)}" for key, each in value.items())
    return str(value)


def _blob(name: str, hexadecimal: Any, kind: str) -> list[Row]:
    if not isinstance(hexadecimal, str):
        return []
    rows: list[Row] = []
    data = _bytes(hexadecimal)
    if data is None:
        pass
    elif kind == "subscription":
        wish = decoded(Subscription.decode, data)
        if wish is not None:
            rows.append((name, f"topics {', '.join(wish.topics)}"))
            owned = partitions(by_topic(wish.owned_partitions))
            generation = f", generation {wish.generation_id}" if wish.generation_id >= 0 else ""
            rows.append((f"{name}: owned", f"{owned}{generation}"))
            if wish.user_data:
                rows.append((f"{name}: user data", f"{len(wish.user_data)} bytes"))
    else:
        given = decoded(Assignment.decode, data)
        if given is not None:
            rows.append((name, partitions(by_topic(given.partitions))))
    rows.append(
        (f"{name}: bytes" if rows else name, f"{len(hexadecimal) // 2} bytes {hexadecimal}")
    )
    return rows


def _bytes(hexadecimal: str) -> bytes | None:
    try:
        return bytes.fromhex(hexadecimal)
    except ValueError:
        return None
