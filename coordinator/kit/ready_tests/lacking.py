"""Skips a case that needs something which the application lacks, and makes the table of a whole
run: what to add to which application, to run which case.

Such a skip carries what was missing; `coordinator.testing.lacking_table` collects it and prints
the table once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, NoReturn

import pytest

INSTANCE_ID: Final = "group.instance.id"
PROCESSED: Final = "processed() or output_topic"

_METHODS: Final = {
    "effects",
    "fail_listener",
    "hold_work",
    "postpone_work",
    "resume_work",
    "taken",
}
_ONLY_FOR: Final = {
    INSTANCE_ID: "in its consumer's settings, if it is to be a static member",
    "effects": "if it does something outside of Kafka for a record",
    "new_topic": "if it is to read topics that come later",
    "transactional_id": "if it works in transactions",
}
"""Needs that not every application has, and the applications that do have them."""


class Lack(NamedTuple):
    """Attributes that one application lacks, and the case that needs them."""

    application: str
    attributes: tuple[str, ...]
    case: str


def skip_for_want_of(application: object, attributes: Collection[str], text: str) -> NoReturn:
    """Skip the running case with this text; the application lacks these attributes."""
    name = type(application).__name__
    try:
        pytest.skip(f"{name} {text}")
    except pytest.skip.Exception as skipped:
        skipped.__dict__["lacks"] = (name, tuple(attributes))
        raise


def need(application: object, *attributes: str) -> None:
    """Skip the running case unless the application has these attributes."""
    missing = [name for name in attributes if getattr(application, name, None) is None]
    if missing:
        skip_for_want_of(application, missing, f"has no {' and no '.join(missing)}")


def lack_of(skipped: BaseException, case: str) -> Lack | None:
    """Return what a skipped case lacked; None if it was skipped for another reason."""
    lacks: tuple[str, tuple[str, ...]] | None = skipped.__dict__.get("lacks")
    return None if lacks is None else Lack(*lacks, case)


def table(lacks: Iterable[Lack]) -> list[str]:
    """Return the lines of the table: for each application what it may be given, and the cases that
    are skipped without it. Empty if nothing lacks."""
    known: dict[str, dict[tuple[str, ...], dict[str, None]]] = {}
    for lack in lacks:
        rows = known.setdefault(lack.application, {})
        rows.setdefault(lack.attributes, {})[lack.case] = None
    lines: list[str] = []
    for application, rows in known.items():
        everyones_first = sorted(
            rows, key=lambda attributes: not _ONLY_FOR.keys().isdisjoint(attributes)
        )
        told = {words(attributes): rows[attributes] for attributes in everyones_first}
        title = f"add to {application}"
        width = max(map(len, [title, *told]))
        lines += ["", f"{title:<{width}}  to run"]
        lines += [
            f"{what if number == 0 else '':<{width}}  {case}"
            for what, cases in told.items()
            for number, case in enumerate(cases)
        ]
    return lines[1:]


def words(attributes: Iterable[str]) -> str:
    """Return attributes as they are written: methods with parentheses, and for which applications
    they are meant."""
    names = [f"{name}()" if name in _METHODS else name for name in attributes]
    only = [_ONLY_FOR[name] for name in attributes if name in _ONLY_FOR]
    return f"{', '.join(names)}{f' ({only[0]})' if only else ''}"
