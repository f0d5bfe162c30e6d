"""The assignment of a Kafka Connect worker in words and as plain values. Its bytes are read by
`wire.connect_protocol`."""

from __future__ import annotations

from typing import Any

from coordinator.wire.connect_protocol import ConnectWork, Work, connectors, tasks

from .formatting import counted, duration, printable


def connect_work(work: ConnectWork) -> str:
    """Return `connector files; tasks files-0, files-1 (+ delayed: 5 min)`, or `nothing`."""
    if work.failed:
        return "nothing could be assigned: the workers have read different connector configurations"
    notes = [f"to give up: {_named(work.revoked)}"] if work.revoked else []
    if work.delay_ms:
        notes.append(
            f"lost work is kept for {duration(work.delay_ms)} for the worker that had it "
            "(scheduled.rebalance.max.delay.ms)"
        )
    return _named(work.assigned) + (f"   ({'; '.join(notes)})" if notes else "")


def connect_plain(work: ConnectWork) -> dict[str, Any]:
    """Return the assignment as plain values."""
    return {
        "connectors": connectors(work.assigned),
        "tasks": tasks(work.assigned),
        "revoked_connectors": connectors(work.revoked),
        "revoked_tasks": tasks(work.revoked),
        "config_offset": work.config_offset,
        "delay_ms": work.delay_ms,
    }


def config_change(offsets: tuple[int, int]) -> str:
    """Return why a worker whose configurations were older joined again."""
    before, now = offsets
    return f"has read connector configurations up to offset {now} ({before} before)"


def _named(work: Work) -> str:
    own = [printable(name) for name in connectors(work)]
    every = [
        f"{printable(name)}-{number}" for name, numbers in tasks(work).items() for number in numbers
    ]
    parts = [counted("connector", own)] if own else []
    parts += [counted("task", every)] if every else []
    return "; ".join(parts) or "nothing"
