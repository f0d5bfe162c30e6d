"""One row of the table of verbs, and the table itself.

`verb` adds a row; `brokers` and `members` hold the verbs. Does not know how a verb is carried
out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_type_hints

K = TypeVar("K", bound=type)


class WorldKind(Enum):
    """A kind of world in which a scenario can run."""

    VIRTUAL = "virtual time"
    EMULATOR = "the live emulator"
    KAFKA = "a foreign Kafka"


EVERYWHERE: Final = frozenset(WorldKind)
OURS: Final = frozenset({WorldKind.VIRTUAL, WorldKind.EMULATOR})


class Hurts(Enum):
    """The parties whose waits a verb may prolong: brokers, one client, or none. Judges of liveness
    use it.
    """

    NOBODY = "nobody"
    BROKERS = "brokers, until it is undone"
    A_WHILE = "brokers, for a while"
    CLIENT = "one client, until it is undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One verb.

    `kind`: the class of its data. `summary`: its description for users, in help and
    `/openapi.json`. `sentence`: what happened, as explain says it, with the fields of the event
    in braces. `further`: a phrase for each of some fields, by the field's name; it is added to
    the sentence if the field is given and is not 0. `ended`: the sentence if none of these
    fields is left, or "" to use `sentence`.

    `undone_by`: the name of the verb that undoes it (for a verb for members: of the event), or
    "" if there is none. `again`: it may be carried out twice in a row. `command`: its name in
    `coordinator ctl broker`, or "". `drawn`: the swarm may draw it, and reports if it never did.
    """

    kind: type[Any]
    summary: str
    sentence: str
    further: Mapping[str, str]
    ended: str
    undone_by: str
    hurts: Hurts
    worlds: frozenset[WorldKind]
    command: str
    again: bool
    drawn: bool

    @property
    def name(self) -> str:
        """Return the verb's name in scenario files, HTTP and the log."""
        return self.kind.__name__

    @property
    def of_member(self) -> bool:
        """True if the verb acts on a member's host or links, not on a cluster."""
        return "member" in self.kind.__dataclass_fields__

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the types of the lines that the verb writes: its own, and that of its end if no
        other verb ends it.
        """
        ends = self.of_member and self.undone_by not in ("", self.name)
        return (self.name, self.undone_by) if ends else (self.name,)

    @property
    def takes(self) -> tuple[Taken, ...]:
        """Return the verb's fields."""
        return _takes(self.name)

    @property
    def fields_of_kind(self) -> tuple[Default, ...]:
        """Return the defaults of the verb's fields."""
        return tuple(
            Default(each.name, each.default, each.default is MISSING) for each in fields(self.kind)
        )

    @property
    def logged(self) -> tuple[str, ...]:
        """Return the names of the verb's fields in its line."""
        other = {"to": "target"} | ({"member": "client"} if self.of_member else {})
        return tuple(other.get(each.name, each.name) for each in self.takes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One field of a verb: its type, meaning and bounds. `option`: its name in commands if that
    differs; `example`: a value to show.
    """

    name: str
    kind: Any
    required: bool
    doc: str = ""
    least: int | None = None
    choices: tuple[str, ...] = ()
    option: str = ""
    example: str = ""

    @property
    def number(self) -> bool:
        """True if the field is a whole number."""
        return int in (self.kind, *get_args(self.kind)) and not self.several

    @property
    def flag(self) -> bool:
        """True if the field is a boolean."""
        return self.kind is bool

    @property
    def several(self) -> bool:
        """True if the field is a list of brokers."""
        return "tuple" in str(self.kind)

    @property
    def optional(self) -> bool:
        """True if the field may be None."""
        return type(None) in get_args(self.kind)


class Default(NamedTuple):
    """The default of a field; `required`: it has none."""

    name: str
    default: object
    required: bool


@cache
def _takes(name: str) -> tuple[Taken, ...]:
    kind = ROWS[name].kind
    hints = get_type_hints(kind)
    return tuple(
        Taken(
            name=each.name, kind=hints[each.name], required=each.default is MISSING, **each.metadata
        )
        for each in fields(kind)
    )


ROWS: Final[dict[str, Row]] = {}


def told(
    doc: str,
    *,
    least: int | None = None,
    choices: tuple[str, ...] = (),
    option: str = "",
    example: str = "",
) -> Mapping[str, Any]:
    """Return the metadata of a verb's field, which becomes its `Taken`."""
    return {"doc": doc, "least": least, "choices": choices, "option": option, "example": example}


def verb(
    sentence: str,
    *,
    summary: str,
    further: Mapping[str, str] = {},
    ended: str = "",
    undone_by: str = "",
    hurts: Hurts = Hurts.NOBODY,
    worlds: frozenset[WorldKind] = OURS,
    command: str = "",
    again: bool = False,
    drawn: bool = False,
) -> Callable[[K], K]:
    """Return the decorator that adds a verb's data to the table under its own name."""

    def enter(kind: K) -> K:
        ROWS[kind.__name__] = Row(
            kind=kind,
            summary=summary,
            sentence=sentence,
            further=further,
            ended=ended,
            undone_by=undone_by,
            hurts=hurts,
            worlds=worlds,
            command=command,
            again=again,
            drawn=drawn,
        )
        return kind

    return enter


def row_of(verb: object) -> Row:
    """Return the row of a verb's data."""
    return ROWS[type(verb).__name__]


def undone_by(*hurts: Hurts, of_member: bool | None = None) -> Mapping[str, str]:
    """Return the verbs that hurt one of these parties and have an inverse: by name, the type of the
    line that ends them.
    """
    return {
        row.name: row.undone_by
        for row in ROWS.values()
        if row.hurts in hurts and row.undone_by and of_member in (None, row.of_member)
    }
