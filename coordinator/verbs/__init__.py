"""Verbs: what can be done to brokers, topics and members, one row each.

    @verb("broker {broker} starts", undone_by="StopBroker", command="start")
    @dataclass(frozen=True, slots=True)
    class StartBroker: ...

A row is a verb's data with the bounds of its fields, and the rest is derived from it: the types
and fields of the log's lines, the schema and the checks of scenario files, the methods of the
kit, the control port's schema and commands, and which judges wait. `kit.cluster` carries out the
verbs for clusters, the simulator's nemesis those for members. Depends on nothing.
"""

from __future__ import annotations

from . import brokers, members
from .row import ROWS, Hurts, Row, WorldKind, row_of

__all__ = ["ROWS", "Hurts", "Row", "WorldKind", "brokers", "members", "row_of"]
