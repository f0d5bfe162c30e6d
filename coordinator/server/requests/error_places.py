"""Places of errors in the responses of each API.

An error stands at the top of a response, or in a row for each entry of the request. The places
are derived from the message tables: a row has an error field, and repeats the fields of its
entry that have the same name. `_EXCEPTIONS` has what the tables do not say. Does not know what
is refused, nor a broker's state; `server.requests.refusals` builds responses with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from coordinator.wire.fields import Field, StructType
from coordinator.wire.messages import API_KEYS, response_type
from coordinator.wire.schema import Request

_ERRORS: Final = ("error_code", "partition_error_code")
_TEXT: Final = "error_message"
_NAMES_OF_A_TOPIC: Final = ("name", "topic", "topic_name")
"""One field, which a request and its answer may call differently."""
_ALL_LEVELS: Final = 3
_FIRST_WITH_GROUPS: Final = 8
"""Of OffsetFetch."""
_ABOUT: Final = {
    "group": "group",
    "transactional": "transactional_id",
    "topic": "topic",
    "resource": "topic",
}
"""The kind of the entries of a list, by a part of the list's name."""


class Whole(Enum):
    """Place of the error if a request fails as a whole."""

    TOP = "at the top"
    ROWS = "in every row"
    BOTH = "at the top and in every row"
    NOWHERE = "nowhere: the answer is empty"


class Level(NamedTuple):
    """A list of the response with a row for each entry of a list of the request."""

    asked: tuple[str, ...]
    """The name of the request's list, or of a list in the entry above; two names: the inner lists
    in all entries of the outer list.
    """
    entry: StructType | Field
    """The class of an entry, or the field of a plain value."""
    answered: str
    """The list of the answer, or of the row above."""
    row: Any
    """The class of a row."""
    repeated: tuple[tuple[str, str | None], ...]
    """Fields of a row, each with the field of the entry that it repeats; None: the entry itself,
    which is plain."""
    about: str
    """The kind of an entry: "topic", "group", "transactional_id", or "" for any other."""
    error: str
    """The field of a row for an error; "": there is none."""

    def entries(self, of: Any) -> Iterable[Any]:
        """Return the entries of a request, or of the entry above."""
        if len(self.asked) == 1:
            return getattr(of, self.asked[0]) or ()
        outer, inner = self.asked
        return [entry for each in getattr(of, outer) for entry in getattr(each, inner)]

    def made(self, entry: Any, values: dict[str, Any]) -> Any:
        """Return the row of an entry, with further field values."""
        own = {
            field: entry if repeated is None else getattr(entry, repeated)
            for field, repeated in self.repeated
        }
        return self.row(**own | values)


class ErrorPlaces(NamedTuple):
    """Places of errors in responses to one version of one API."""

    answer: Any
    """The response class."""
    whole: Whole
    levels: tuple[Level, ...]
    """The lists that lead to rows with errors, the outermost first."""
    depth: int
    """So many of them lead to the rows that have the error of an entry."""
    apart: bool
    """True if one entry can fail while others succeed."""
    beside: Mapping[str, Any]
    """Values of further fields beside an error, where they are not the defaults."""


class _Exception(NamedTuple):
    """Facts about an API that the message tables do not say."""

    whole: Whole | None = None
    depth: int = _ALL_LEVELS
    """Maximum of `ErrorPlaces.depth`; 0: the response has no rows with errors."""
    apart: bool | None = None
    through: str = ""
    """The list of the request in whose entries the lists of entries are."""
    beside: Mapping[str, Any] = MappingProxyType({})


_EXCEPTIONS: Final[dict[str, _Exception]] = {
    "AlterPartitionReassignments": _Exception(Whole.BOTH),
    "AlterReplicaLogDirs": _Exception(apart=False, through="dirs"),
    "CreateTopics": _Exception(beside={"num_partitions": -1, "replication_factor": -1}),
    "DeleteRecords": _Exception(beside={"low_watermark": -1}),
    "DescribeClientQuotas": _Exception(beside={"entries": None}),
    "DescribeLogDirs": _Exception(depth=0),
    "DescribeShareGroupOffsets": _Exception(depth=1, beside={"start_offset": -1}),
    "DescribeTopicPartitions": _Exception(depth=1, apart=False),  # topics are answered in pages
    "ElectLeaders": _Exception(Whole.BOTH, apart=True),
    "Fetch": _Exception(depth=0),  # `fetching.errors` has its rows, which a session remembers
    "FindCoordinator": _Exception(beside={"node_id": -1, "host": "", "port": -1}),
    "InitProducerId": _Exception(beside={"producer_epoch": -1}),
    "ListOffsets": _Exception(beside={"offset": -1, "timestamp": -1}),
    "Metadata": _Exception(Whole.NOWHERE, depth=0),
    "OffsetDelete": _Exception(apart=True),
    "OffsetForLeaderEpoch": _Exception(beside={"leader_epoch": -1}),
    "Produce": _Exception(
        beside={"base_offset": -1, "log_append_time_ms": -1, "log_start_offset": -1}
    ),
    "ReadShareGroupStateSummary": _Exception(beside={"leader_epoch": 0}),
    "ShareAcknowledge": _Exception(apart=True),
}


@cache
def error_places(kind: type[Request], version: int) -> ErrorPlaces:
    """Return the places of errors in answers to a version of a request."""
    answer = response_type(kind.api_key)
    known = _exception(API_KEYS[kind.api_key], version)
    levels = tuple(_levels(kind, answer, version, known.through)) if known.depth else ()
    whole = known.whole
    if whole is None:
        at_top = any(each.name in _ERRORS and each.carried(version) for each in answer.fields)
        whole = Whole.TOP if at_top else Whole.ROWS if levels else Whole.NOWHERE
    return ErrorPlaces(
        answer,
        whole,
        levels,
        min(known.depth, len(levels)),
        whole is Whole.ROWS if known.apart is None else known.apart and bool(levels),
        known.beside,
    )


def _exception(api: str, version: int) -> _Exception:
    if api == "OffsetFetch":  # one error a group, which has rows in version 1 alone (OF-6)
        several = version >= _FIRST_WITH_GROUPS
        return _Exception(depth=1 if several else 2, apart=several, beside={"committed_offset": -1})
    return _EXCEPTIONS.get(api, _Exception())


def _levels(
    asked: StructType, answered: StructType, version: int, through: str = ""
) -> Iterator[Level]:
    """Yield the lists that lead to rows with an error, as long as each corresponds to a list of the
    request.
    """
    rows = next((each for each in _lists(answered, version) if _holds_error(each, version)), None)
    if rows is None:
        return
    path: tuple[str, ...] = ()
    if through:
        path = (through,)
        asked = next(each.elem for each in asked.fields if each.name == through)  # type: ignore[assignment]
    lists = _lists(asked, version)
    alike = [each for each in lists if each.name == rows.name] or lists
    if len(alike) != 1:
        return
    entry, row = alike[0].elem, rows.elem
    assert entry is not None
    assert isinstance(row, StructType)
    name = alike[0].name
    about = next((about for word, about in _ABOUT.items() if word in name), "")
    yield Level(
        (*path, name), entry, rows.name, row, tuple(_repeated(row, entry)), about, _error_of(row)
    )
    if isinstance(entry, StructType):
        yield from _levels(entry, row, version)


def _lists(struct: StructType, version: int) -> list[Field]:
    return [each for each in struct.fields if each.kind == "array" and each.carried(version)]


def _error_of(row: StructType) -> str:
    return next((each.name for each in row.fields if each.name in _ERRORS), "")


def _holds_error(rows: Field, version: int) -> bool:
    row = rows.elem
    return isinstance(row, StructType) and (
        bool(_error_of(row)) or any(_holds_error(each, version) for each in _lists(row, version))
    )


def _repeated(row: StructType, entry: StructType | Field) -> Iterator[tuple[str, str | None]]:
    """Yield the fields of a row that its entry has too, with the same name and type."""
    if isinstance(entry, Field):
        texts = [each for each in row.fields if each.kind == entry.kind and each.name != _TEXT]
        yield texts[0].name, None
        return
    kinds = {each.name: (each.kind, each.elem) for each in entry.fields}
    for each in row.fields:
        names = _NAMES_OF_A_TOPIC if each.name in _NAMES_OF_A_TOPIC else (each.name,)
        for name in names:
            if kinds.get(name) == (each.kind, each.elem):
                yield each.name, name
