"""Notes beside the rebalances as sentences: refusals that matter, zombies, restarts, loads. Wording
only."""

from __future__ import annotations

from ..history.deeds import KINDS as DEEDS
from ..history.views import Note
from . import deeds
from .lost_offsets import made_again, removed
from .refused import refusal, times
from .words import printable


def told(note: Note) -> str:
    """A note as a sentence or two."""
    line = note.line
    if note.sentence:
        return note.sentence
    if note.kind in DEEDS:
        return deeds.told(note)
    match note.kind:
        case "MemberReplaced":
            instance = printable(line["group_instance_id"])
            return (
                f"Static member {instance} came back as {note.members[0]} and keeps what {note.members[1]} had: no rebalance; "
                f"{note.members[1]} is fenced."
            )
        case "PendingMemberRemoved":
            return f"Member id {note.members[0]} was taken back before it joined ({printable(line['reason'])})."
        case "RequestRefused" | "AuthorizationRefused":
            return refusal(note)
        case "FaultInjected":
            who = f"client {printable(str(line.get('client') or ''))}"
            return f"A {printable(line['api'])} of {who} met an injected fault{times(note)}: {printable(note.injected)}."
        case "OffsetsRemoved":
            return removed(line, note.clock_ahead_ms)
        case "TopicCreated":
            return made_again(line, note.deleted_ms)
        case "GroupDeleted":
            return f"The group was deleted ({printable(line['reason'])})."
        case "GroupUnloaded":
            return _unloaded(note)
        case "GroupLoaded":
            who = "A coordinator" if "broker" not in line else f"Broker {line['broker']}"
            return f"{who} loaded the group as {line['state']} in generation {line['generation']}; all sessions began anew."
        case kind:
            return f"{printable(kind)}."


def _unloaded(note: Note) -> str:
    broker = note.line.get("broker")
    if note.moved:
        return f"Broker {broker} gave up its copy of the group, which another broker coordinates by now."
    who = "The coordinator" if broker is None else f"Broker {broker}"
    if note.crashed:
        return f"{who} lost the group with its process; parked requests were not answered."
    return f"{who} gave the group up; parked requests were told so."
