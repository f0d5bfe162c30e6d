"""The steps of a rebalance as sentences: how members learn of it, what they send, and how they are
answered. Wording only."""

from __future__ import annotations

from ..event_log.reader import Line
from ..history.blobs import by_topic
from ..history.views import Step
from .words import duration, listed, partitions, printable

_CALLBACKS = {
    "PartitionsRevoked": "is told that {} are revoked",
    "PartitionsLost": "is told that {} are lost",
    "PartitionsAssigned": "is told that {} are assigned",
}


def sentence(step: Step) -> str:
    """One step."""
    line = step.line
    if line["stream"] == "member":
        held = partitions(
            by_topic((row["topic"], [row["partition"]]) for row in line["partitions"])
        )
        return f"{step.name}'s application {_CALLBACKS[line['type']].format(held)}."
    who, api = _who(step), api_name(line)
    match line["type"]:
        case "RequestSeen":
            return f"{who} sends {api}{_as(step)}."
        case "RequestAnswered":
            return f"{who}'s {api} is answered{_after(line.get('waited_ms', 0))}{_with(step)}."
        case _:
            times = f" ({step.times} times)" if step.times > 1 else ""
            return f"{who}'s {api} is answered {printable(listed(line['errors']))}{times}{_meaning(step)}."


def api_name(line: Line) -> str:
    """The request that a line of stream `wire` is about, as Kafka calls it."""
    api = printable(str(line.get("api", "a request")))
    if api in ("a request", "heartbeat"):
        return api
    return "".join(part[:1].upper() + part[1:] for part in api.split("_"))


def _who(step: Step) -> str:
    if step.line["type"] == "RequestRefused" and "MEMBER_ID_REQUIRED" in step.line["errors"]:
        return f"client {_client(step)}"
    return step.name or f"client {_client(step)}"


def _client(step: Step) -> str:
    return printable(str((step.seen or step.line).get("client", "?"))) or "without a name"


def _as(step: Step) -> str:
    if step.line["api"] != "join_group" or step.line.get("member"):
        return ""
    instance = step.line.get("group_instance_id")
    return f" as static member {printable(instance)}" if instance else " without a member id"


def _after(waited_ms: int) -> str:
    return f" after {duration(waited_ms)}" if waited_ms else " at once"


def _with(step: Step) -> str:
    generation = step.line.get("generation")
    match step.line["api"]:
        case "join_group":
            return f": it is in generation {generation}" if generation is not None else ""
        case "sync_group":
            return ": it has its assignment"
        case _:
            return ""


def _meaning(step: Step) -> str:
    """An error's meaning to the client that gets it, in the rules' words."""
    api, errors = step.line["api"], step.line["errors"]
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
                return ": between JoinGroup and SyncGroup nobody commits (OC-2)"
    if "ILLEGAL_GENERATION" in errors:
        return ": it speaks for another generation than the group's"
    if "UNKNOWN_MEMBER_ID" in errors:
        return ": this id is no member's"
    if "FENCED_INSTANCE_ID" in errors:
        return ": a newer instance of this static member is in its place (STA-2)"
    return ""
