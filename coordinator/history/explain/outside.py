"""Sentences about clients whose attempts to reach a group failed."""

from __future__ import annotations

from coordinator.events.wire import (
    AuthenticationFailed,
    AuthorizationRefused,
    ClientThrottled,
    ConnectionRefused,
    InternalTopicRead,
    RequestRefused,
    TopicAutoCreated,
)

from ..world.outside_groups import Tried
from .formatting import instant, listed, printable
from .rights import asked, why_refused


def told(tried: Tried) -> str:
    """Return a sentence about one client's attempts, or about those of all clients without a
    known client id."""
    line, event = tried.line, tried.line.event
    times = f" {tried.times} times" if tried.times > 1 else ""
    when = (
        f"at {instant(line.at_ms)}"
        if tried.times == 1
        else f"from {instant(line.at_ms)} to {instant(tried.last_ms)}"
    )
    where = f" at {listed([printable(host) for host in tried.hosts])}" if any(tried.hosts) else ""
    match event:
        case ConnectionRefused(_, why):
            return f"Connections from a client{where} were closed{times} {when}: {printable(why)}."
        case AuthenticationFailed(principal, mechanism, why):
            who = printable(principal or "A client")
            by = f" by {printable(mechanism)}" if mechanism else ""
            return f"{who}{where} could not log in{by}{times} {when}: {printable(why)}."
        case AuthorizationRefused():
            clients = [printable(client) for client in tried.clients]
            client = f" (client{'s'[: len(clients) > 1]} {listed(clients)})" if clients else ""
            return f"{printable(event.principal)}{where}{client} was refused {asked(event.api)}{times} {when}: {why_refused(event)}."
        case ClientThrottled(principal, api, throttle_ms):
            client = f"client {printable(event.client)}" if event.client else "a client"
            first = "" if tried.times == 1 else "first "
            return (
                f"{printable(principal)}, {client}{where}, was over its quota{times} {when}: "
                f"{asked(api)} was answered, {first}with throttle_time_ms of {instant(throttle_ms)}, and so long nothing more was read."
            )
        case InternalTopicRead(client):
            return (
                f"Client {printable(client)}{where} reads {printable(line.topic or '')} {when}, which has no records here: "
                "groups and transactions are kept in the event log."
            )
        case TopicAutoCreated(client):
            topic = printable(line.topic or "")
            return f"Topic {topic} was made {when}, because client {printable(client)} asked about it (auto.create.topics.enable)."
        case RequestRefused():
            return (
                f"Client {printable(event.client or '')}{where} tried SASL{times} {when}: it was refused "
                f"({printable(listed(event.errors))}), because this listener has none; set security.protocol=PLAINTEXT."
            )
        case _:
            raise AssertionError(f"{line} tells of no attempt")
