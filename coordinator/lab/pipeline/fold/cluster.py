"""Tables about the cluster: transactions, reassignments, faults."""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any, Final

from coordinator.events.cluster import PartitionChange, PartitionChanged
from coordinator.events.envelope import ENVELOPE
from coordinator.events.faults import FaultInjected, RunEnded
from coordinator.events.handlers import on
from coordinator.events.line import Line
from coordinator.events.transactions import (
    PartitionsEnlisted,
    TransactionalIdDeleted,
    TransactionalIdExpired,
    TransactionCompleted,
    TransactionPrepared,
)

from ...named import client_of
from .observer import Emit, Subject


class _Transaction:
    __slots__ = ("begun", "begun_ms", "partitions", "prepared")

    def __init__(self, begun: int | None, begun_ms: int | None) -> None:
        self.begun = begun
        self.begun_ms = begun_ms
        self.partitions = 0
        self.prepared: tuple[Line, TransactionPrepared] | None = None


class Transactions(Subject):
    """Table `transactions`: from the first partition to the last marker."""

    tables = ("transactions",)

    def __init__(self, emit: Emit) -> None:
        super().__init__(emit)
        self._open: dict[str, _Transaction] = {}

    @on(PartitionsEnlisted)
    def _enlisted(self, line: Line, event: PartitionsEnlisted) -> None:
        new = _Transaction(line.seq, event.started_ms)
        going = self._open.setdefault(event.transactional_id, new)
        going.partitions += len(event.partitions)

    @on(TransactionPrepared)
    def _prepared(self, line: Line, event: TransactionPrepared) -> None:
        new = _Transaction(None, event.started_ms)
        self._open.setdefault(event.transactional_id, new).prepared = line, event

    @on(TransactionCompleted)
    def _completed(self, line: Line, event: TransactionCompleted) -> None:
        self._over(event.transactional_id, line)

    @on(TransactionalIdExpired, TransactionalIdDeleted)
    def _forgotten(self, _: Line, event: TransactionalIdExpired | TransactionalIdDeleted) -> None:
        self._over(event.transactional_id, None)

    def finish(self) -> None:
        """Emit the transactions that are still open."""
        for name in list(self._open):
            self._over(name, None)

    def _over(self, name: str, completed: Line | None) -> None:
        going = self._open.pop(name, None)
        if going is None:
            return
        producer: tuple[int | None, int | None] = (None, None)
        decided: tuple[int | None, int | None, bool | None, str | None] = (None,) * 4
        if going.prepared is not None:
            line, event = going.prepared
            producer = event.producer_id, event.producer_epoch
            decided = line.seq, line.at_ms, event.committed, event.reason
        self.emit(
            "transactions",
            (
                name,
                *producer,
                going.begun,
                going.begun_ms,
                going.partitions,
                *decided,
                *_when(completed),
            ),
        )


_STARTED: Final = PartitionChange.REASSIGNMENT_STARTED
_ENDED: Final = {
    PartitionChange.REASSIGNMENT_COMPLETED: "completed",
    PartitionChange.REASSIGNMENT_CANCELLED: "cancelled",
}


class Reassignments(Subject):
    """Table `reassignments`."""

    tables = ("reassignments",)

    def __init__(self, emit: Emit) -> None:
        super().__init__(emit)
        self._going: dict[tuple[str, int], tuple[Line, PartitionChanged]] = {}

    @on(PartitionChanged)
    def _changed(self, line: Line, event: PartitionChanged) -> None:
        if event.what is not _STARTED and event.what not in _ENDED:
            return
        place = (event.topic, event.partition)
        going = self._going.pop(place, None)
        # one that starts while another one runs takes its place
        if going is not None or event.what is not _STARTED:
            outcome = _ENDED.get(event.what, "cancelled")
            reason = event.reason if going is None else going[1].reason
            self._emit(place, going, reason, outcome, line)
        if event.what is _STARTED:
            self._going[place] = line, event

    def finish(self) -> None:
        """Emit the reassignments that have not ended."""
        for place, going in self._going.items():
            self._emit(place, going, going[1].reason, "running", None)

    def _emit(
        self,
        place: tuple[str, int],
        going: tuple[Line, PartitionChanged] | None,
        reason: str,
        outcome: str,
        ended: Line | None,
    ) -> None:
        line, event = going or (None, None)
        self.emit(
            "reassignments",
            (
                *place,
                *_when(line),
                [] if event is None else list(event.adding),
                [] if event is None else list(event.removing),
                reason,
                outcome,
                *_when(ended),
            ),
        )


def _when(line: Line | None) -> tuple[int | None, int | None]:
    return (None, None) if line is None else (line.seq, line.at_ms)


_NOT_OWN: Final = frozenset(ENVELOPE) - {"durable"}


def _encoder() -> Callable[[Any], str]:
    """Return an encoder with compact separators. It is made once: `json.dumps` would make one
    for each text, and `JSONEncoder.encode` makes half of one each time."""
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
    """Return an event's own fields as JSON: those without a column of their own."""
    own = {key: value for key, value in line.plain.items() if key not in _NOT_OWN}
    return _compact(own) if own else "{}"


class Faults(Subject):
    """Table `faults`: lines of stream `fault`, except the end of a simulation."""

    tables = ("faults",)

    def looks_at(self, line: Line) -> bool:
        """Return True for lines of stream `fault`, including unknown types."""
        return line.stream == "fault" and line.kind is not RunEnded

    def see(self, line: Line) -> None:
        """Emit the line's row."""
        event = line.event if line.kind is FaultInjected else None
        self.emit(
            "faults",
            (
                line.seq,
                line.at_ms,
                line.name,
                event.action if isinstance(event, FaultInjected) else None,
                line.group,
                line.member,
                client_of(line),
                line.broker,
                detail(line),
            ),
        )
