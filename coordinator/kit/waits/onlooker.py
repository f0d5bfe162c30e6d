"""Notes clients' requests while a test waits for a group that does not exist: their APIs, the
groups they name, and unknown topics they ask for.

An interceptor that changes nothing, installed for as long as such a wait lasts.
`kit/group/in_vain.py` makes sentences of it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from coordinator.base.printable import printable
from coordinator.server import apis
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.metadata import MetadataRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coordinator.server.broker import Broker
    from coordinator.server.requests.call import Call

_TOLD = 5
_OF_GROUPS = 0


class Onlooker:
    """Notes each client's requests to these brokers."""

    def __init__(self, brokers: Iterable[Broker]) -> None:
        self._brokers = list(brokers)
        self._asked: dict[str, Counter[str]] = {}
        self._groups: dict[str, dict[str, None]] = {}
        self._missing: dict[str, dict[str, None]] = {}
        for broker in self._brokers:
            broker.interceptors.insert(0, self)

    def end(self) -> None:
        """Stop looking."""
        for broker in self._brokers:
            if self in broker.interceptors:
                broker.interceptors.remove(self)

    def __call__(self, call: Call) -> None:
        """Note a request; as an interceptor it never gives a verdict."""
        message: Any = call.message
        self._asked.setdefault(call.client_id, Counter())[apis.title(message.api_key)] += 1
        named = [getattr(message, "group_id", None)]
        if isinstance(message, FindCoordinatorRequest) and message.key_type == _OF_GROUPS:
            named += [message.key, *message.coordinator_keys]
        groups = self._groups.setdefault(call.client_id, {})
        groups.update((name, None) for name in named if name)
        if isinstance(message, MetadataRequest):
            known = self._brokers[0].cluster.topics
            names = [topic.name for topic in message.topics or ()]
            missing = self._missing.setdefault(call.client_id, {})
            missing.update((name, None) for name in names if name and name not in known)

    def told(self, clients: Iterable[str]) -> list[str]:
        """Return sentences: which clients are connected, and what each asked for."""
        told = []
        for client in sorted({*clients, *self._asked}):
            apis_asked = self._asked.get(client, Counter())
            parts = [
                f"{api}{f' {count} times' if count > 1 else ''}"
                for api, count in apis_asked.most_common(_TOLD)
            ]
            text = f"asked for {', '.join(parts)}" if parts else "asked for nothing meanwhile"
            if groups := [*self._groups.get(client, ())][:_TOLD]:
                text += f"; it named group{'s' if len(groups) > 1 else ''} {_listed(groups)}"
            if missing := [*self._missing.get(client, ())][:_TOLD]:
                text += f"; it asked for {_listed(missing)}, which does not exist"
            told.append(f"client {printable(client)!r} {text}")
        return told


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(printable(name)) for name in names)
