"""The events of the cluster: transactions, reassignments, faults."""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any, Final

from ...history.reader import History
from .observer import Emit, Line, Subject


class _Transaction:
    __slots__ = ("begun", "begun_ms", "partitions", "prepared")

    def __init__(self, begun: int | None, begun_ms: int | None) -> None:
        self.begun = begun
        self.begun_ms = begun_ms
        self.partitions = 0
        self.prepared: Line = {}


class Transactions(Subject):
    """Table `transactions`: from the first partition to the last marker."""

    streams = frozenset({"transaction"})
    tables = ("transactions",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._open: dict[str, _Transaction] = {}

    def see(self, line: Line) -> None:
        """A line of stream `transaction`."""
        name, kind = line["transactional_id"], line["type"]
        if kind == "PartitionsEnlisted":
            going = self._open.setdefault(name, _Transaction(line["seq"], line["started_ms"]))
            going.partitions += len(line["partitions"])
        elif kind == "TransactionPrepared":
            going = self._open.setdefault(name, _Transaction(None, line["started_ms"]))
            going.prepared = line
        elif (
            kind in ("TransactionCompleted", "TransactionalIdExpired", "TransactionalIdDeleted")
            and name in self._open
        ):
            self._emit(name, self._open.pop(name), line if kind == "TransactionCompleted" else {})

    def finish(self) -> None:
        """Transactions that are still open."""
        for name, going in self._open.items():
            self._emit(name, going, {})

    def _emit(self, name: str, going: _Transaction, completed: Line) -> None:
        prepared = going.prepared
        self.emit(
            "transactions",
            (
                name,
                prepared.get("producer_id"),
                prepared.get("producer_epoch"),
                going.begun,
                going.begun_ms,
                going.partitions,
                prepared.get("seq"),
                prepared.get("at_ms"),
                prepared.get("committed"),
                prepared.get("reason"),
                completed.get("seq"),
                completed.get("at_ms"),
            ),
        )


_ENDED = {"ReassignmentCompleted": "completed", "ReassignmentCancelled": "cancelled"}


class Reassignments(Subject):
    """Table `reassignments`: partitions on their way to other replicas."""

    streams = frozenset({"cluster"})
    tables = ("reassignments",)

    def __init__(self, emit: Emit, history: History) -> None:
        super().__init__(emit, history)
        self._going: dict[tuple[str, int], Line] = {}

    def see(self, line: Line) -> None:
        """A line of stream `cluster`."""
        kind = line["type"]
        if kind != "ReassignmentStarted" and kind not in _ENDED:
            return
        place = (line["topic"], line["partition"])
        started = self._going.pop(place, {})
        if kind in _ENDED:
            self._emit(place, started, line)
            return
        if started:  # another one was asked for while it ran
            self._emit(place, started, line)
        self._going[place] = line

    def finish(self) -> None:
        """Those that have not ended."""
        for place, started in self._going.items():
            self._emit(place, started, {})

    def _emit(self, place: tuple[str, int], started: Line, ended: Line) -> None:
        outcome = _ENDED.get(ended["type"], "cancelled") if ended else "running"
        self.emit(
            "reassignments",
            (
                *place,
                started.get("seq"),
                started.get("at_ms"),
                list(started.get("adding", ())),
                list(started.get("removing", ())),
                (started or ended).get("reason"),
                outcome,
                ended.get("seq"),
                ended.get("at_ms"),
            ),
        )


_ENVELOPE = frozenset(
    {
        "seq",
        "at_ms",
        "run",
        "stream",
        "type",
        "cause",
        "group",
        "generation",
        "member",
        "broker",
        "topic",
        "partition",
    }
)


def _encoder() -> Callable[[Any], str]:
    """The work of `json.dumps` of compact separators: it makes an encoder for each text, and even
    `JSONEncoder.encode` half of one."""
    encoder = json.JSONEncoder(separators=(",", ":"), check_circular=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    in_parts = make(
        None,
        encoder.default,
        json.encoder.encode_basestring_ascii,
        None,
        ":",
        ",",
        False,
        False,
        True,
    )
    return lambda value: "".join(in_parts(value, 0))


_compact: Final = _encoder()


def detail(line: Line) -> str:
    """An event's own fields as JSON: what is not part of the envelope."""
    own: dict[str, Any] = {key: value for key, value in line.items() if key not in _ENVELOPE}
    return _compact(own) if own else "{}"


class Faults(Subject):
    """Table `faults`."""

    streams = frozenset({"fault"})
    tables = ("faults",)

    def see(self, line: Line) -> None:
        """A line of stream `fault`, but for the end of a simulation."""
        if line["type"] != "RunEnded":
            action = line.get("action")
            self.emit(
                "faults",
                (
                    line["seq"],
                    line["at_ms"],
                    line["type"],
                    action if isinstance(action, str) else None,
                    line.get("group"),
                    line.get("member"),
                    line.get("client"),
                    line.get("broker"),
                    detail(line),
                ),
            )
