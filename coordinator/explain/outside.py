"""Vain attempts of clients that reached no group, in sentences."""

from __future__ import annotations

from ..history.outside_groups import Tried
from .rights import asked, why_refused
from .words import instant, listed, printable


def told(tried: Tried) -> str:
    """One client's attempts, or those of all whose id is not known."""
    line = tried.line
    times = f" {tried.times} times" if tried.times > 1 else ""
    when = (
        f"at {instant(line['at_ms'])}"
        if tried.times == 1
        else f"from {instant(line['at_ms'])} to {instant(tried.last_ms)}"
    )
    where = f" at {listed([printable(host) for host in tried.hosts])}" if any(tried.hosts) else ""
    match line["type"]:
        case "ConnectionRefused":
            return f"Connections from a client{where} were closed{times} {when}: {printable(line['why'])}."
        case "AuthenticationFailed":
            who = printable(line.get("principal") or "A client")
            by = f" by {printable(line['mechanism'])}" if line.get("mechanism") else ""
            return f"{who}{where} could not log in{by}{times} {when}: {printable(line['why'])}."
        case "AuthorizationRefused":
            clients = [printable(client) for client in tried.clients]
            client = f" (client{'s'[: len(clients) > 1]} {listed(clients)})" if clients else ""
            return f"{printable(line['principal'])}{where}{client} was refused {asked(line)}{times} {when}: {why_refused(line)}."
        case "ClientThrottled":
            client = f"client {printable(line['client'])}" if line.get("client") else "a client"
            waits = instant(line["throttle_ms"])
            first = "" if tried.times == 1 else "first "
            return (
                f"{printable(line['principal'])}, {client}{where}, was over its quota{times} {when}: "
                f"{asked(line)} was answered, {first}with throttle_time_ms of {waits}, and so long nothing more was read."
            )
        case "InternalTopicRead":
            return (
                f"Client {printable(line['client'])}{where} reads {printable(line['topic'])} {when}, which has no records here: "
                "groups and transactions are kept in the event log."
            )
        case "TopicAutoCreated":
            client, topic = printable(line["client"]), printable(line["topic"])
            return f"Topic {topic} was made {when}, because client {client} asked about it (auto.create.topics.enable)."
        case _:
            return (
                f"Client {printable(line.get('client', ''))}{where} tried SASL{times} {when}: it was refused "
                f"({printable(listed(line['errors']))}), because this listener has none; set security.protocol=PLAINTEXT."
            )
