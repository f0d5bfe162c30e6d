"""Report of clients that use an API that is not served, a feature that is off, or a topic whose
records are not kept. Each client is reported once.

Owns the clients already reported, and the sentences. A client is its client id and address; the
first thousand are reported. Does not know connections: `tell` passes a sentence to the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coordinator.events.wire import ApiNotServed, InternalTopicRead

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from .call import Call

_MOST_NAMED = 1_000
_HINTS = {
    68: "; with group.protocol=classic it is served",
    69: "; groups of the classic protocol are described by DescribeGroups",
}


class Unserved:
    """The clients that one broker has reported."""

    def __init__(self) -> None:
        self._named: set[tuple[str, str, int | str]] = set()
        self.tell: Callable[[str], None] = lambda sentence: None
        """Called with a sentence about each client; set by the driver."""

    def closing(
        self,
        log: EventLog | None,
        client_id: str,
        peer: str,
        key: int,
        title: str,
        version: int,
        now: int,
    ) -> tuple[str, bool]:
        """Return the reason for closing a connection after a request for an API that is not served,
        and whether it is this client's first.
        """
        return self._name(log, client_id, peer, key, title, version, now, "is not served")

    def refused(self, log: EventLog | None, call: Call, title: str, why: str) -> None:
        """Report a request answered with UNSUPPORTED_VERSION because the feature it needs is off.
        `title`: the API's name; `why` follows it.
        """
        key, peer = call.message.api_key, call.client_host.removeprefix("/")
        sentence, first = self._name(
            log, call.client_id, peer, key, title, call.version, call.now, why
        )
        if first:
            self.tell(sentence)

    def reads_internal_topic(self, log: EventLog | None, call: Call, topic: str) -> None:
        """Report a client that fetches from an internal topic whose records are not kept."""
        host = call.client_host.removeprefix("/")
        client = (call.client_id, host, topic)
        if client in self._named or len(self._named) >= _MOST_NAMED:
            return
        self._named.add(client)
        self.tell(
            f"the client {call.client_id!r} at {host} reads {topic}, which has no records here: "
            "groups and transactions are kept in the event log (docs/event_log.md)"
        )
        if log is not None and log.writable:
            log.append(InternalTopicRead(call.client_id, host), at_ms=call.now, topic=topic)

    def _name(
        self,
        log: EventLog | None,
        client_id: str,
        peer: str,
        key: int,
        title: str,
        version: int,
        now: int,
        why: str,
    ) -> tuple[str, bool]:
        host = peer.rpartition(":")[0] or peer
        sentence = f"{title} (key {key}) {why}: the client {client_id!r} at {host} asks for it{_HINTS.get(key, '')}"
        client = (client_id, host, key)
        if client in self._named or len(self._named) >= _MOST_NAMED:
            return sentence, False
        self._named.add(client)
        if log is not None and log.writable:
            log.append(ApiNotServed(title, key, version, client_id, peer), at_ms=now)
        return sentence, True
