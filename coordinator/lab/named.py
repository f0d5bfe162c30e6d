"""The client and the API that a line of a log names, whatever its type.

For readers that sort lines of all types, or make sentences of them. A reader of events of one
class uses the event's own attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Final

from coordinator.events.line import Line
from coordinator.events.vocabulary import TYPES


def client_of(line: Line) -> str | None:
    """Return the client id in the line's field `client`; None if it has none. Raises LogError."""
    get = _CLIENTS.get(line.kind)
    return None if get is None else get(line.event)


def api_of(line: Line) -> str | None:
    """Return the API in the line's field `api`; None if it has none. Raises LogError."""
    get = _APIS.get(line.kind)
    return None if get is None else get(line.event)


def _readers(key: str) -> Mapping[type, Callable[[object], str | None]]:
    return {
        each.kind: attrgetter(field.name)
        for each in TYPES.values()
        for field in each.fields
        if field.key == key
    }


_CLIENTS: Final = _readers("client")
_APIS: Final = _readers("api")
