"""Clients that never reached a group: they used another protocol than the listener's (TLS, SASL,
HTTP), could not log in, lack a right, are throttled by a quota, or read a topic without records.
Also topics that were created because a client asked for them. Each kind counts once for each
client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from coordinator.events.line import Line
from coordinator.events.wire import (
    Authenticated,
    AuthenticationFailed,
    AuthorizationRefused,
    ClientThrottled,
    ConnectionRefused,
    InternalTopicRead,
    RequestRefused,
    TopicAutoCreated,
)

_NO_SASL = "ILLEGAL_SASL_STATE"
_SASL = frozenset({"sasl_handshake", "sasl_authenticate"})


@dataclass(slots=True)
class Tried:
    """Failed attempts of one client, or of all clients without a known id."""

    line: Line
    times: int = 1
    last_ms: int = 0
    hosts: dict[str, None] = field(default_factory=dict)
    clients: dict[str, None] = field(default_factory=dict)
    """Client ids, as far as lines name them."""
    over: bool = False
    """The same user has logged in since, or rights were given since."""


class OutsideGroups:
    """Follows lines that belong to no group."""

    def __init__(self) -> None:
        self.found: dict[tuple[object, ...], Tried] = {}
        self._told: set[str] = set()  # why logins failed, and their connections ended

    def follow(self, line: Line) -> None:
        """Handle a line of stream `wire`."""
        event = line.event
        key: tuple[object, ...]
        peer, client = "", ""
        match event:
            case Authenticated(principal):
                for tried in self.found.values():
                    failed = tried.line.event
                    if isinstance(failed, AuthenticationFailed) and failed.principal == principal:
                        tried.over = True
                return
            case ConnectionRefused(peer, why):
                if why in self._told:
                    return
                key = (ConnectionRefused, why)
            case AuthenticationFailed(principal, _, why, _, client, peer):
                self._told.add(why)
                key = (AuthenticationFailed, principal or "", why)
            case AuthorizationRefused(principal, operation, resource, name, api, _, client, peer):
                about = (api, operation, resource, name)
                why_not = (event.acl, event.acl_deleted_ms)
                key = (AuthorizationRefused, principal, *about, *why_not)
            case ClientThrottled(principal, api, _, client, peer):
                key = (ClientThrottled, principal, client, api)
            case RequestRefused() if event.api in _SASL and _NO_SASL in event.errors:
                peer, client = event.peer or "", event.client or ""
                key = (RequestRefused, client)
            case InternalTopicRead(client, peer):
                key = (InternalTopicRead, client, line.topic)
            case TopicAutoCreated(client):
                key = (TopicAutoCreated, line.topic)
            case _:
                return
        known = self.found.get(key)
        if known is None:
            if len(self.found) >= _MOST:
                return
            known = self.found[key] = Tried(line, 0)
        known.times, known.last_ms, known.over = known.times + 1, line.at_ms, False
        _add(known.hosts, peer.rpartition(":")[0] or peer)
        _add(known.clients, client)

    def rights_given(self) -> None:
        """Drop all refusals for a missing right, because rights were given: if one still
        applies, it comes again."""
        for tried in self.found.values():
            tried.over = tried.over or tried.line.kind is AuthorizationRefused

    def standing(self) -> list[Tried]:
        """Return the attempts that failed to the end, the latest last. Automatically created
        topics are left out, because they keep no client from anything."""
        found = [
            tried
            for tried in self.found.values()
            if not tried.over and tried.line.kind is not TopicAutoCreated
        ]
        return sorted(found, key=lambda tried: tried.last_ms)


_MOST = 100
"""Highest number of clients: a client may use a new name each time."""
_MOST_NAMES = 8
OTHERS: Final = "others"
"""The name for further hosts, or clients."""


def _add(names: dict[str, None], name: str) -> None:
    if name and name not in names:
        names[name if len(names) < _MOST_NAMES else OTHERS] = None
