"""Answers of the control port as text for the command line, one function for each kind of
answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Tell = Callable[[Any], str]
_ENVELOPE = {"seq", "at_ms", "run", "stream", "type", "cause", "durable"}


def table(rows: list[list[Any]]) -> str:
    """Return rows in aligned columns."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in texts
    )


def columns(listed: str, **cells: str | Callable[[Any], object]) -> Tell:
    """Return a function that prints a list in the answer, one row each. `cells`: for each
    heading the property, or a function of the row; an underscore in a heading stands for a
    space."""
    headings = [heading.replace("_", " ") for heading in cells]

    def tell(answer: Any) -> str:
        rows = [
            [row[cell] if isinstance(cell, str) else cell(row) for cell in cells.values()]
            for row in answer[listed]
        ]
        return table([headings, *rows])

    return tell


def each(listed: str, template: str) -> Tell:
    """Return a function that prints a list in the answer, one line each, by a template with the
    row's properties."""
    return lambda answer: "\n".join(template.format(**row) for row in answer[listed])


def lines(answer: Any) -> str:
    """Return lines of the event log as text."""
    rows = []
    for line in answer["events"]:
        told = ", ".join(
            f"{name} {value}"
            for name, value in line.items()
            if name not in _ENVELOPE and not isinstance(value, list | dict)
        )
        rows.append(
            f"{line['seq']:>6}  {line['at_ms']:>8} ms  {line['type']}{': ' + told if told else ''}"
        )
    return "\n".join(rows)


def data(value: Any) -> str:
    """Return a record's key or value as text."""
    if value is None:
        return "(none)"
    return value if isinstance(value, str) else f"base64 {value['base64']}"


def partition(row: Any) -> str:
    """Return the partition of a record as text."""
    return f"{row['topic']}-{row['partition']}"


def checks(answer: Any) -> str:
    """Return a line for each assertion, and the evidence against those that do not hold."""
    rows = [
        f"{'holds' if row['holds'] else 'DOES NOT HOLD'}: {row['check']}"
        for row in answer["checks"]
    ]
    return "\n".join([*rows, *(row["failure"] for row in answer["checks"] if not row["holds"])])
