"""A played run, for the functions that compute the facts of a lesson's texts.

Depends on the log and on its picture. Instants and durations are whole milliseconds; `s` and
`summed` put them into words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from string import Formatter
from typing import Any, Generic, NamedTuple, TypeVar

from coordinator.events.cluster import PartitionChange, PartitionChanged
from coordinator.events.line import Line
from coordinator.events.members import PartitionsAssigned
from coordinator.events.reader import read_lines
from coordinator.events.wire import RequestRefused
from coordinator.history.explain.formatting import duration

from ...named import api_of
from ...named import client_of as line_client
from ..engine import picture_of

E = TypeVar("E")


class Instant(str):
    """An instant in words, `4.7 s`, that a text names: it is kept as data beside the text."""

    __slots__ = ("at_ms",)
    at_ms: int


def s(ms: int) -> Instant:
    """An instant in seconds: `4.7 s`."""
    text = Instant(f"{ms / 1000:g} s")
    text.at_ms = ms
    return text


class Filled(Formatter):
    """Fills facts into a text and keeps the instants that it names, in the order in which the text
    names them."""

    def __init__(self) -> None:
        self.named: list[int] = []

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        value, key = super().get_field(field_name, args, kwargs)
        if isinstance(value, Instant):
            self.named.append(value.at_ms)
        return value, key


def filled(text: str, facts: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    """A text with its facts, and the instants that it names."""
    formatter = Filled()
    return formatter.vformat(text.strip(), (), facts), tuple(formatter.named)


def seen(line: Happened[Any] | Line, text: str, client: str | None = None) -> dict[str, Any]:
    """What is marked on the picture: a line, a few words, and the member in whose lane they stand;
    without a member they stand under the coordinator's band."""
    return {
        "truth_ms": line.at_ms,
        "truth_seq": line.seq if isinstance(line, Line) else line.line.seq,
        "truth": text,
        "truth_lane": client,
    }


def summed(ms: int) -> str:
    """The loss, with its unit: `39 partition-seconds`."""
    return f"{ms / 1000:g} partition-second{'' if ms == 1000 else 's'}"


def client_of(member_id: str) -> str:
    """The client id at the beginning of a classic member's id."""
    return member_id[:-37]


def told(action: dict[str, Any]) -> dict[str, str | Instant]:
    """An action's instants and lengths in words, for texts that name them."""
    words: dict[str, str | Instant] = {
        "at": s(action["at_ms"]),
        "who": str(action.get("member", "")),
    }
    if "lasts_ms" in action:
        words |= {
            "lasts": duration(action["lasts_ms"]),
            "until": s(action["at_ms"] + action["lasts_ms"]),
        }
    if "down_ms" in action:
        words["down"] = duration(action["down_ms"])
    return words


class Happened(NamedTuple, Generic[E]):
    """A line and its event."""

    line: Line
    event: E

    @property
    def at_ms(self) -> int:
        """When it happened."""
        return self.line.at_ms

    @property
    def generation(self) -> int | None:
        """The line's generation."""
        return self.line.generation

    @property
    def broker(self) -> int | None:
        """The line's broker."""
        return self.line.broker


class Run:
    """A log, its picture, and the window in which a lesson looks at it."""

    def __init__(
        self,
        lines: Sequence[str],
        window_ms: tuple[int, int],
        actions: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.texts = tuple(lines)
        """The lines as the log has them."""
        self.lines: list[Line] = list(read_lines((line + "\n" for line in lines), "lesson"))
        self.clients = {
            line.member: line.event.client_id
            for line in self.lines
            if line.member and "client_id" in line.type.expected
        }
        """Client ids by member id: a member id of the consumer protocol says nothing of its client."""
        self.window_ms = window_ms
        self.actions = actions
        """What was done in it: the lesson's own script, then what the try adds."""
        self.picture = picture_of(lines)
        self.plain = self.picture.plain()
        self.group = self.plain["groups"][0]

    def all(
        self,
        kind: type[E],
        *,
        client: str | None = None,
        api: str | None = None,
        generation: int | None = None,
    ) -> list[Happened[E]]:
        """Return the lines of a class of events, or those of them with this client id, API and
        generation (see `is_of`)."""
        return [
            Happened(line, line.event)
            for line in self.lines
            if line.kind is kind
            and (client is None or self.is_of(line, client))
            and api in (None, api_of(line))
            and generation in (None, line.generation)
        ]

    def is_of(self, line: Line, client: str) -> bool:
        """Return whether a line is of a client: it names the client, or a member id of it."""
        member = line.member or ""
        return (
            line_client(line) == client
            or member.startswith(f"{client}-")
            or self.clients.get(member) == client
        )

    def client(self, member_id: str) -> str:
        """Return the client id of a member id."""
        return self.clients.get(member_id) or client_of(member_id)

    def first(
        self,
        kind: type[E],
        *,
        after_ms: int = -1,
        client: str | None = None,
        generation: int | None = None,
    ) -> Happened[E]:
        """Return the first of them after an instant."""
        found = self.all(kind, client=client, generation=generation)
        return next(one for one in found if one.at_ms > after_ms)

    def refused(
        self, error: str, *, client: str | None = None, api: str | None = None
    ) -> list[Happened[RequestRefused]]:
        """Refusals with an error."""
        found = self.all(RequestRefused, client=client, api=api)
        return [one for one in found if error in one.event.errors]

    def changed(self, what: PartitionChange) -> list[Happened[PartitionChanged]]:
        """Changes of partitions' replicas."""
        return [one for one in self.all(PartitionChanged) if one.event.what is what]

    def given(self, client: str, after_ms: int = -1) -> Happened[PartitionsAssigned]:
        """Return when a member was told partitions of its own."""
        return next(
            one
            for one in self.all(PartitionsAssigned, client=client)
            if one.event.partitions and one.at_ms > after_ms
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

    def who(self, line: Happened[Any]) -> str:
        """Return the name of the lane that a line belongs to."""
        (step,) = [step for step in self.plain["steps"] if step["seq"] == line.line.seq]
        return str(self.group["lanes"][step["lane"]]["name"])

    def within(self, window_ms: tuple[int, int]) -> Run:
        """Return the same run, looked at in another window."""
        other = copy(self)
        other.window_ms = window_ms
        return other

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
