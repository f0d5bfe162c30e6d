"""Reads options of `coordinator ctl` as values of a body's fields. Each function raises
ShapeError, which says how the option is written."""

from __future__ import annotations

from typing import Any

from .shapes import Option, ShapeError

PAIR = "NAME=VALUE"
_RATE = "NAME=NUMBER|none"
OFFSET = "TOPIC-PARTITION=OFFSET"


def pairs(option: str, given: list[str], _: Any = None) -> dict[str, str]:
    """Return NAME=VALUE options as a mapping."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ShapeError(f"{option} {text!r}: write {PAIR}")
        found[name] = value
    return found


def offsets(option: str, given: list[str], _: Any = None) -> dict[str, int]:
    """Return TOPIC-PARTITION=OFFSET options as a mapping."""
    found = {}
    for name, value in pairs(option, given).items():
        if not value.isdecimal():
            raise ShapeError(f"{option} {name}={value}: write {OFFSET}, such as orders-0=10")
        found[name] = int(value)
    return found


def number_or_text(option: str, given: str, _: Any = None) -> int | str:
    """Return a whole number if the text is one, else the text."""
    return int(given) if given.removeprefix("-").isdecimal() else given


def _fields(option: str, given: list[str], _: Any) -> dict[str, int | str]:
    return {name: number_or_text(option, text) for name, text in pairs(option, given).items()}


def _rates(option: str, given: list[str], _: Any) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, value in pairs(option, given).items():
        try:
            found[name] = None if value == "none" else float(value)
        except ValueError:
            raise ShapeError(f"{name}={value}: write {_RATE}") from None
    return found


def _assigned(option: str, given: list[str], _: Any) -> Any:
    if given == ["all"]:
        return "all"
    if "all" in given:
        raise ShapeError(f"{option} all stands alone: who has what is a stronger condition")
    return {
        name: [item for item in rows.split(",") if item]
        for name, rows in pairs(option, given).items()
    }


def _new_topic(option: str, given: str, _: Any) -> dict[str, Any]:
    name, colon, count = given.partition(":")
    if colon and not count.isdecimal():
        raise ShapeError(f"{given!r}: write NAME or NAME:PARTITIONS, such as orders:12")
    return {"name": name} | ({"partitions": int(count)} if colon else {})


RATES = Option(metavar=_RATE, read=_rates)
FIELDS = Option(read=_fields)
ASSIGNED = Option(metavar="all|MEMBER=TOPIC-PARTITION,...", read=_assigned)
NEW_TOPIC = Option(metavar="NAME[:PARTITIONS]", read=_new_topic, spread=True)
SAME_KEY = Option(metavar="KEY", read=lambda _, given, args: given * len(args.values))
