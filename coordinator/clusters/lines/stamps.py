"""Time stamps at the beginning of a log line, in the formats of common loggers.

A stamp without a zone counts as UTC in calculations and is marked (`offset` is None): output
must not show a zone for it. A stamp without a date counts as 1970-01-01.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

DAY_MS = 86_400_000
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
        start=1,
    )
}
_ZONE = r"(?P<zone> ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?(?![\w:])"
_CLOCK = r"(?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))?"
_OF_TWELVE = r"(?P<h>\d{1,2}):(?P<mi>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))? ?(?P<half>[AP]M)"
_FORMS = tuple(
    re.compile(r"\[?" + day + clock + _ZONE + r"\]?")
    for day, clock in (
        (r"(?P<y>\d{4})[-/.](?P<mo>\d\d)[-/.](?P<d>\d\d)[ T]", _CLOCK),
        (r"(?P<d>\d\d)[-/ ](?P<mon>[A-Z][a-z]{2})[-/ ](?P<y>\d{4})[: ]", _CLOCK),
        (r"(?P<mon>[A-Z][a-z]{2}) (?P<d>\d{1,2}), (?P<y>\d{4})(?:,| @)? ", _OF_TWELVE),
        (r"(?P<mon>[A-Z][a-z]{2}) (?P<d>\d{1,2}), (?P<y>\d{4})(?:,| @)? ", _CLOCK),
        (r"(?P<mo>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4}),? ", _OF_TWELVE),
        (r"(?P<y2>\d\d)/(?P<mo>\d\d)/(?P<d>\d\d) ", _CLOCK),
        (r"", _OF_TWELVE),
        (r"", _CLOCK),
    )
)
_BEGINS = re.compile(r"\[?(?:\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2}, \d)")


class Stamp(NamedTuple):
    """An instant in ms, and its zone in minutes east of UTC (None: the text does not say)."""

    ms: int
    offset: int | None


def zone_minutes(text: str) -> int | None:
    """Return the minutes east of UTC of `Z`, `UTC`, `GMT`, `+02:00` or `-0330`; None for other
    text."""
    text = text.strip()
    if text in ("Z", "UTC", "GMT"):
        return 0
    found = re.fullmatch(r"([+-])(\d\d):?(\d\d)", text)
    if found is None or int(found[2]) > 14 or int(found[3]) > 59:
        return None
    return (int(found[2]) * 60 + int(found[3])) * (1 if found[1] == "+" else -1)


def stamp_at(text: str, begin: int = 0) -> tuple[Stamp, int] | None:
    """Return the stamp at an index of a text, and the index after it; None if there is no stamp."""
    if _BEGINS.match(text, begin) is None:
        return None
    for form in _FORMS:
        found = form.match(text, begin)
        if found is None:
            continue
        parts = found.groupdict()
        try:
            moment = datetime(
                _year(parts),
                _month(parts),
                int(parts.get("d") or 1),
                _hour(parts),
                int(parts["mi"]),
                int(parts["s"]),
                tzinfo=UTC,
            )
        except ValueError:
            return None
        fraction = int(((parts["f"] or "0") + "00")[:3])
        ms = int(moment.timestamp()) * 1000 + fraction
        offset = zone_minutes(parts["zone"]) if parts["zone"] else None
        return Stamp(ms - (offset or 0) * 60_000, offset), found.end()
    return None


def _year(parts: dict[str, str | None]) -> int:
    if parts.get("y"):
        return int(str(parts["y"]))
    return 2000 + int(str(parts["y2"])) if parts.get("y2") else 1970


def _hour(parts: dict[str, str | None]) -> int:
    hour, half = int(str(parts["h"])), parts.get("half")
    if half is None:
        return hour
    return hour % 12 + (12 if half == "PM" else 0)


def _month(parts: dict[str, str | None]) -> int:
    if parts.get("mon"):
        return _MONTHS.get(str(parts["mon"]).lower(), 0)
    return int(parts.get("mo") or 1)


def iso(ms: int | None, offset: int | None) -> str | None:
    """Return an instant in ISO 8601: with `Z` or an offset if the zone is known, only the time
    if the day is not known."""
    if ms is None:
        return None
    zone = timezone(timedelta(minutes=offset or 0))
    moment = datetime.fromtimestamp(ms // 1000, UTC).astimezone(zone)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03d}"
    if 0 <= ms < 30 * DAY_MS:
        text = text[10:]
    if offset is None:
        return text
    if offset == 0:
        return text + "Z"
    return f"{text}{'+' if offset > 0 else '-'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"
