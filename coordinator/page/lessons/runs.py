"""A played run, for the functions that compute the facts of a lesson's texts.

Depends on the log and on its picture. Instants and durations are whole milliseconds; `s` and
`summed` put them into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...event_log.reader import Line, read_lines
from ...explain.words import duration
from ..engine import picture_of


def s(ms: int) -> str:
    """An instant or a span in seconds: `4.7 s`."""
    return f"{ms / 1000:g} s"


def summed(ms: int) -> str:
    """The loss, with its unit: `39 partition-seconds`."""
    return f"{ms / 1000:g} partition-second{'' if ms == 1000 else 's'}"


def client_of(member_id: str) -> str:
    """The client id at the beginning of a classic member's id."""
    return member_id[:-37]


def told(action: dict[str, Any]) -> dict[str, str]:
    """An action's instants and lengths in words, for texts that name them."""
    words = {"at": s(action["at_ms"]), "who": str(action.get("member", ""))}
    if "lasts_ms" in action:
        words |= {
            "lasts": duration(action["lasts_ms"]),
            "until": s(action["at_ms"] + action["lasts_ms"]),
        }
    if "down_ms" in action:
        words["down"] = duration(action["down_ms"])
    return words


class Run:
    """A log, its picture, and the window in which a lesson looks at it."""

    def __init__(self, lines: Sequence[str], window_ms: tuple[int, int]) -> None:
        self.lines: list[Line] = list(read_lines((line + "\n" for line in lines), "lesson"))
        self.window_ms = window_ms
        self.picture = picture_of(lines)
        self.plain = self.picture.plain()
        self.group = self.plain["groups"][0]

    def all(self, kind: str, **match: Any) -> list[Line]:
        """The lines of a type whose fields are these; `client` also matches the beginning of a
        member id."""
        return [
            line
            for line in self.lines
            if line["type"] == kind
            and all(_matches(line, key, value) for key, value in match.items())
        ]

    def first(self, kind: str, *, after_ms: int = -1, **match: Any) -> Line:
        """The first of them after an instant."""
        return next(line for line in self.all(kind, **match) if line["at_ms"] > after_ms)

    def refused(self, error: str, **match: Any) -> list[Line]:
        """Refusals with an error."""
        return [line for line in self.all("RequestRefused", **match) if error in line["errors"]]

    def given(self, client: str, after_ms: int = -1) -> Line:
        """When a member was told partitions of its own."""
        return next(
            line
            for line in self.all("PartitionsAssigned", client=client)
            if line["partitions"] and line["at_ms"] > after_ms
        )

    def activity(self, name: str, doing: str) -> list[tuple[int, int]]:
        """When a member did something, such as `stopped`."""
        lane = next(lane for lane in self.group["lanes"] if lane["name"] == name)
        return [(begin, end) for begin, end, does in lane["activity"] if does == doing]

    def owner(self, partition: int, at_ms: int) -> str | None:
        """The member that owned a partition of the first topic at an instant."""
        row = next(row for row in self.group["raster"] if row["partition"] == partition)
        span = next((span for span in row["spans"] if span[0] <= at_ms < span[1]), None)
        return self.group["lanes"][span[2][0]]["name"] if span is not None and span[2] else None

    def held(self, name: str, at_ms: int) -> list[str]:
        """The partitions that a member owned at an instant."""
        return [
            f"{row['topic']}-{row['partition']}"
            for row in self.group["raster"]
            for begin, end, owners, _ in row["spans"]
            if begin <= at_ms < end
            and name in [self.group["lanes"][each]["name"] for each in owners]
        ]

    def kept(self, before_ms: int, after_ms: int) -> int:
        """How many partitions have the same owner at both instants."""
        return sum(
            self.owner(row["partition"], before_ms) == self.owner(row["partition"], after_ms)
            for row in self.group["raster"]
        )

    def lost_ms(self, *, still: bool | None = None) -> int:
        """The loss in the window, as the number above the picture says it. `still`: the part
        that had an owner who stood still, or the part that had none."""
        low, high = self.window_ms
        return sum(
            min(end, high) - max(begin, low)
            for row in self.group["raster"]
            for begin, end, owners, stands in row["spans"]
            if (stands or not owners) and still in (None, stands) and begin < high and end > low
        )


def _matches(line: Line, key: str, value: Any) -> bool:
    if key == "client":
        return line.get("client") == value or str(line.get("member", "")).startswith(f"{value}-")
    return bool(line.get(key) == value)
