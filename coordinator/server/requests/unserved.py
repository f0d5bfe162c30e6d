"""Clients that ask for what is not here: an API that is not served, or whose feature is off, or the
records of a topic that is kept without any. Each is named once; later requests are not told again.

Owns who was named, and the words. A client is its client id and its address; of endless ones with
new names the first thousand are named. Does not depend on connections: `tell` is where a sentence
for people goes.
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
    """One broker's list of clients that were named."""

    def __init__(self) -> None:
        self._named: set[tuple[str, str, int | str]] = set()
        self.tell: Callable[[str], None] = lambda sentence: None
        """Told of each client, in a sentence; the driver gives it."""

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
        """Why a connection is closed after a request for an API that is not served; and whether
        this is the first of this client."""
        return self._name(log, client_id, peer, key, title, version, now, "is not served")

    def refused(self, log: EventLog | None, call: Call, title: str, why: str) -> None:
        """A request was answered UNSUPPORTED_VERSION because the feature it needs is off. `title`:
        the API's name; `why` follows it."""
        key, peer = call.message.api_key, call.client_host.removeprefix("/")
        sentence, first = self._name(
            log, call.client_id, peer, key, title, call.version, call.now, why
        )
        if first:
            self.tell(sentence)

    def reads_internal_topic(self, log: EventLog | None, call: Call, topic: str) -> None:
        """A client fetches from a topic of Kafka's own whose records are not kept."""
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
