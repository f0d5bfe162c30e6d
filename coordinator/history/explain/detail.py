"""The steps of a rebalance as sentences: how members learn of it, what they send, and how they are
answered. Wording only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.events.members import PartitionsAssigned, PartitionsLost, PartitionsRevoked
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen

from ..world.blobs import numbers_of
from ..world.views import Step
from .formatting import duration, listed, partitions, printable

_CALLBACKS: Final[Mapping[type, str]] = {
    PartitionsRevoked: "is called: {} revoked",
    PartitionsLost: "is called: {} lost",
    PartitionsAssigned: "is called: {} assigned",
}


def sentence(step: Step) -> str:
    """Return one step as a sentence."""
    event = step.line.event
    match event:
        case PartitionsRevoked() | PartitionsLost() | PartitionsAssigned():
            held = partitions(numbers_of(event.partitions))
            return f"{step.name}'s rebalance listener {_CALLBACKS[type(event)].format(held)}."
        case RequestSeen(api):
            return f"{_who(step)} sends {api_name(api)}{_as(step, event)}."
        case RequestAnswered(api, waited_ms):
            answered = f"{_who(step)}'s {api_name(api)} is answered"
            return f"{answered}{_after(waited_ms)}{_with(step, api)}."
        case RequestRefused(api):
            times = f" ({step.times} times)" if step.times > 1 else ""
            told = printable(listed(event.errors))
            return (
                f"{_who(step)}'s {api_name(api)} is answered {told}{times}{_meaning(step, event)}."
            )
        case _:
            raise AssertionError(f"{step.line} is no step of a rebalance")


def api_name(api: object) -> str:
    """Return Kafka's name of an API, from its name in a line of stream `wire`."""
    api = printable(str(api or "a request"))
    if api in ("a request", "heartbeat"):
        return api
    return "".join(part[:1].upper() + part[1:] for part in api.split("_"))


def _who(step: Step) -> str:
    event = step.line.event
    if isinstance(event, RequestRefused) and "MEMBER_ID_REQUIRED" in event.errors:
        return f"client {_client(step)}"
    return step.name or f"client {_client(step)}"


def _client(step: Step) -> str:
    event = (step.seen or step.line).event
    named = event.client if isinstance(event, RequestSeen | RequestRefused) else "?"
    return printable("?" if named is None else named) or "without a name"


def _as(step: Step, event: RequestSeen) -> str:
    if event.api != "join_group" or step.line.member:
        return ""
    instance = event.group_instance_id
    return f" as static member {printable(instance)}" if instance else " without a member id"


def _after(waited_ms: int) -> str:
    return f" after {duration(waited_ms)}" if waited_ms else " at once"


def _with(step: Step, api: str) -> str:
    generation = step.line.generation
    match api:
        case "join_group":
            return f": it is in generation {generation}" if generation is not None else ""
        case "sync_group":
            return ": it has its assignment"
        case _:
            return ""


def _meaning(step: Step, event: RequestRefused) -> str:
    """Return the meaning of an error for the client that gets it, with the rule's id."""
    api, errors = event.api, event.errors
    if step.injected:
        return f": a fault was injected ({printable(step.injected)})"
    if "MEMBER_ID_REQUIRED" in errors:
        return f": it is given the member id {step.name} and has to join with that (MID-3)"
    if "REBALANCE_IN_PROGRESS" in errors:
        match api:
            case "heartbeat":
                return ": this is how a member learns that it has to join again (HB-1)"
            case "sync_group":
                return ": another rebalance came first, it has to join again (SYNC-2)"
            case _:
                return ": between JoinGroup and SyncGroup no member can commit (OC-2)"
    if "ILLEGAL_GENERATION" in errors:
        return ": its generation is not the group's"
    if "UNKNOWN_MEMBER_ID" in errors:
        return ": the group has no member with this id"
    if "FENCED_INSTANCE_ID" in errors:
        return ": a newer instance of this static member has fenced it (STA-2)"
    return ""
