"""Sentences about a group that does not exist because each request for it met an injected fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from coordinator.base.counting import how_many
from coordinator.base.printable import printable
from coordinator.events.faults import FaultInjected
from coordinator.events.line import Line


def told(lines: Iterable[Line], group: str) -> list[str]:
    """Return a line for each client, API and fault that its requests for a group met."""
    met = Counter(
        line.event for line in lines if line.kind is FaultInjected and line.group == group
    )
    return [
        f"group {printable(group)}: {how_many(times, f'{printable(each.api)} request')} of client "
        f"{printable(each.client)} met an injected fault: {printable(each.fault)}"
        for each, times in met.items()
    ]
