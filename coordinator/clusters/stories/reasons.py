"""Reads the reason in a broker's "Preparing to rebalance": the cause, the member, and the
client's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..facts import ClientLeaving, ClientPollExpired, Fact, Seen, SessionTimedOut
from ..lines.patterns import none_of
from .story import LIKELY, SHOWN


class Told(NamedTuple):
    """Meaning of a reason. `certainty` is None for an unknown reason."""

    cause: str
    member: str | None = None
    instance: str | None = None
    client_reason: str = ""
    certainty: str | None = SHOWN


_WHY = r"(?:; client reason: (?P<why>.*))?"
_TABLE = (
    (
        "joined",
        re.compile(
            r"Adding new member (?P<member>\S+)(?: with group ?instance ?id (?P<instance>[^;]+))?"
            + _WHY
        ),
    ),
    ("expired", re.compile(r"removing member (?P<member>\S+) on heartbeat expiration")),
    ("left", re.compile(r"[Rr]emoving member (?P<member>\S+) on LeaveGroup" + _WHY)),
    ("left", re.compile(r"explicit `LeaveGroup` request for \((?P<member>[^,)\s]+)")),
    (
        "static-restart",
        re.compile(
            r"Updating metadata for static member (?P<member>\S+) with instance id (?P<instance>[^;\s]+)"
            + _WHY
        ),
    ),
    (
        "static-restart",
        re.compile(
            r"Group's selectedProtocol will change because static member (?P<member>\S+) with instance id (?P<instance>\S+) joined"
            r"[^;]*" + _WHY
        ),
    ),
    (
        "subscription-changed",
        re.compile(r"Updating metadata for member (?P<member>[^\s;]+)(?: during [^;\s]+)?" + _WHY),
    ),
    (
        "leader-rejoined",
        re.compile(r"[Ll]eader (?P<member>\S+) re-?joining group(?: during [^;\s]+)?" + _WHY),
    ),
    ("rejoined", re.compile(r"Member (?P<member>\S+) (?:is )?joining group during [^;\s]+" + _WHY)),
    (
        "expired",
        re.compile(r"Removing (?:Set|HashSet)?[(\[](?P<member>[^,)\]\s]+)"),
    ),
    ("coordinator-loaded", re.compile(r"Freshly-loaded group")),
    ("left", re.compile(r"Downgrade group \S+ from consumer to classic for member leaving")),
)


def told(reason: str) -> Told:
    """Return the cause that a reason states; `unknown` for a reason that is not recognized."""
    for cause, regex in _TABLE:
        found = regex.match(reason)
        if found is None:
            continue
        parts = found.groupdict()
        member = parts.get("member")
        why = parts.get("why") or ""
        certainty = SHOWN
        if cause == "left":
            cause = "poll-timeout" if poll_expired(why) else "left"
        elif cause in ("leader-rejoined", "subscription-changed", "rejoined"):
            cause, certainty = _rejoin(cause, why)
        return Told(cause, member, none_of(parts.get("instance")), why, certainty)
    return Told("unknown", certainty=None)


def poll_expired(client_reason: str) -> bool:
    """Return True if the client's reason is that its application did not poll in time."""
    return "poll timeout has expired" in client_reason or "max.poll.interval" in client_reason


def poll_missed(fact: Fact) -> bool:
    """Return True if a client's line says that its application did not poll in time."""
    return isinstance(fact, ClientPollExpired) or (
        isinstance(fact, ClientLeaving) and poll_expired(fact.reason)
    )


_OF_FRANZ_GO_GREW = (
    "rejoining because we are the leader and noticed some topics have new partitions",
    "leader detected that partitions on topics another member is consuming have changed",
)
_WAKES_MS = 10_000


def maybe_paused(seen: Iterable[Seen], client: str) -> bool:
    """Return True if a client whose poll timed out also logs, at about the same time, that its
    session timed out: then it sent no heartbeat either, so it may have been paused."""
    missed = [each.at for each in seen if poll_missed(each.fact) and _of(each, client)]
    silent = [
        each.at for each in seen if isinstance(each.fact, SessionTimedOut) and _of(each, client)
    ]
    return any(
        one is None or other is None or abs(one - other) <= _WAKES_MS
        for one in missed
        for other in silent
    )


def _of(each: Seen, client: str) -> bool:
    return getattr(each.fact, "client", None) == client


def someone_else(client_reason: str) -> bool:
    """Return True if a client joins again because the group is rebalancing already."""
    return (
        "already rebalancing" in client_reason
        or client_reason == "rejoining from normal rebalance"
        or client_reason == "group is rebalancing"
        or "rebalance in progress" in client_reason.lower()
        or "RebalanceInProgress" in client_reason
    )


def asked_cause(client_reason: str) -> str | None:
    """Return the cause in a client's own reason for joining again; None if it states none."""
    if client_reason.startswith("cached metadata has changed"):
        return "topic-grew"
    if "Metadata for subscribed topic(s) has changed" in client_reason:
        return "topic-grew"
    if client_reason.startswith(_OF_FRANZ_GO_GREW):
        return "topic-grew"
    if client_reason.startswith("rejoining because there are more topics to consume"):
        return "subscription-changed"
    if client_reason.startswith(
        ("cooperative rejoin after", "rejoining after we previously errored")
    ):
        return "rejoined"
    if client_reason.startswith(("subscription has changed", "the subscription has changed")):
        return "subscription-changed"
    if client_reason.startswith("need to revoke partitions"):
        return "rejoined"
    if "probing rebalance" in client_reason or "followup rebalance" in client_reason:
        # Kafka Streams moves tasks in steps, and asks by itself for the next one.
        return "rejoined"
    if "ncremental unassign" in client_reason:
        return "rejoined"
    if client_reason.startswith("rebalance failed due to") and any(
        word in client_reason for word in ("NotCoordinator", "CoordinatorNotAvailable")
    ):
        return "coordinator-moved"
    return None


def _rejoin(cause: str, why: str) -> tuple[str, str]:
    asked = asked_cause(why)
    if asked == "rejoined":
        return ("leader-rejoined" if cause == "leader-rejoined" else "rejoined"), SHOWN
    if asked is not None:
        return asked, SHOWN
    if cause == "subscription-changed":
        # The member's metadata is new: its topics, or the partitions that it owns.
        return cause, LIKELY
    return cause, SHOWN
