"""Sentences about events beside the rebalances: refusals that matter, zombies, restarts,
coordinator loads. Wording only: the facts are the timeline's notes."""

from __future__ import annotations

from coordinator.events.cluster import TopicCreated
from coordinator.events.faults import FaultInjected
from coordinator.events.groups import (
    GroupDeleted,
    GroupLoaded,
    GroupUnloaded,
    MemberReplaced,
    OffsetsRemoved,
    PendingMemberRemoved,
)
from coordinator.events.wire import AuthorizationRefused, RequestRefused

from ..world.verb_notes import KINDS as DEEDS
from ..world.views import Note
from . import verb_sentences as deeds
from .formatting import printable
from .lost_offsets import made_again, removed
from .refused import refusal, times


def told(note: Note) -> str:
    """Return a note as one or two sentences."""
    if note.sentence:
        return note.sentence
    if note.kind in DEEDS:
        return deeds.told(note)
    line, event = note.line, note.line.event
    match event:
        case MemberReplaced():
            instance = printable(event.group_instance_id)
            return (
                f"Static member {instance} came back as {note.members[0]} and keeps the partitions of "
                f"{note.members[1]} without a rebalance; "
                f"{note.members[1]} is fenced."
            )
        case PendingMemberRemoved(_, reason):
            return f"Member id {note.members[0]} was removed before its client joined with it ({printable(reason)})."
        case RequestRefused() | AuthorizationRefused():
            return refusal(note)
        case FaultInjected(api, client):
            return f"A {printable(api)} of client {printable(client)} met an injected fault{times(note)}: {printable(note.injected)}."
        case OffsetsRemoved():
            return removed(line, event, note.clock_ahead_ms)
        case TopicCreated():
            return made_again(line, event, note.deleted_ms)
        case GroupDeleted(reason):
            return f"The group was deleted ({printable(reason)})."
        case GroupUnloaded():
            return _unloaded(note)
        case GroupLoaded(state, generation):
            who = "A coordinator" if line.broker is None else f"Broker {line.broker}"
            return f"{who} loaded the group as {state} in generation {generation}; all sessions began anew."
        case _:
            return f"{printable(line.name)}."


def _unloaded(note: Note) -> str:
    broker = note.line.broker
    if note.moved:
        return f"Broker {broker} unloaded its copy of the group, which another broker coordinates already."
    who = "The coordinator" if broker is None else f"Broker {broker}"
    if note.crashed:
        return f"{who} crashed; parked requests of the group were not answered."
    return f"{who} unloaded the group; parked requests were answered with NOT_COORDINATOR."
