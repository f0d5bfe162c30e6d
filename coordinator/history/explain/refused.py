"""Sentences about refused requests: the client, the error, the cause, and what the client may
still believe. Wording only: the facts are the timeline's notes."""

from __future__ import annotations

from collections.abc import Collection

from coordinator.base.counting import how_many
from coordinator.events.wire import RequestRefused

from ..world.views import Note
from .detail import api_name
from .formatting import counted, instant, listed, partitions, printable
from .rights import why_refused
from .verb_sentences import went_through

_MOST_OFFERS = 4


def refusal(note: Note) -> str:
    """Return a sentence about a refused request, or about refusals that alternate."""
    line, errors = note.line, note.errors
    who = _who(note)
    if note.tally:
        return _in_turn(note, who)
    refused = f"{who} was refused {api_name(note.api)}{times(note)}: {printable(listed(errors))}"
    if note.injected:
        return (
            f"{refused}, because of an injected fault ({printable(note.injected)}).{_ghost(note)}"
        )
    if note.departed is not None:
        return f"{refused}{_rule(errors)}. {_departed(note)}"
    if "ILLEGAL_GENERATION" in errors and note.members and line.generation is not None:
        believes = f" It still consumes {partitions(note.held)}." if note.held else ""
        return f"{refused} (VAL-1 passed, the generation not): its request has generation {line.generation}.{believes}"
    if note.unauthorised is not None:
        return f"{who} was refused {api_name(note.api)}{times(note)}: {why_refused(note.unauthorised.event)}."
    event = line.event
    if isinstance(event, RequestRefused) and event.offered is not None:
        return f"{refused}: {_offers(note, event)}."
    return f"{refused}."


def times(note: Note) -> str:
    """Return the number of repetitions as the end of a clause; "" if there was none."""
    return f" {note.times} times until {instant(note.last_ms)}" if note.times > 1 else ""


def _who(note: Note) -> str:
    if note.members:
        who = counted("member", note.members)
    elif note.client:
        who = f"client {printable(note.client)}"
    else:
        who = "a client"
    return f"{who[0].upper()}{who[1:]}"


def _how_often(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _in_turn(note: Note, who: str) -> str:
    each = [
        f"{api_name(api)} {printable(listed(errors))} ({_how_often(count)})"
        for (api, errors), count in note.tally.items()
    ]
    told = f"{who} was refused {how_many(note.times, 'request')} until {instant(note.last_ms)}, in turn: {'; '.join(each)}"
    if note.unauthorised is not None:
        return f"{told}: {why_refused(note.unauthorised.event)}."
    if note.departed is None:
        return f"{told}."
    return f"{told}{_rule(note.errors)}. {_departed(note)}"


def _offers(note: Note, event: RequestRefused) -> str:
    """Return what a client offers and what the group's members offer (JOIN-3)."""
    offered = f"it offers {printable(listed(event.offered or ()) or 'no protocol')}"
    kind = event.protocol_type
    if note.protocol_type is not None and kind != note.protocol_type:
        return f"{offered} of protocol type {printable(kind or '')}, and the group is of type {printable(note.protocol_type)}"
    if not note.offers:
        return f"{offered}, and the group is one of the consumer protocol (KIP-848) that has none of these"
    rows = [
        f"{counted('member', names)} {'offers' if len(names) == 1 else 'offer'} {printable(listed(names_of))}"
        for names_of, names in list(note.offers.items())[:_MOST_OFFERS]
    ]
    return (
        f"{offered}; {'; '.join(rows)}; a member must offer a protocol that all others offer, too"
    )


def _ghost(note: Note) -> str:
    """Return a sentence about a member that an injected error declared unknown although the
    group still has it; else ""."""
    if "UNKNOWN_MEMBER_ID" in note.errors and note.departed is None and note.members:
        return (
            " The group still has the member, and waits for it until its session ends; "
            "remove() really removes a member."
        )
    return ""


def _rule(errors: Collection[str]) -> str:
    if "FENCED_INSTANCE_ID" in errors:
        return " (STA-6: a newer instance has its group.instance.id)"
    if "UNKNOWN_MEMBER_ID" in errors:
        return " (VAL-1: the group has no member with this id)"
    return ""


def _departed(note: Note) -> str:
    """Return a sentence about a client that is no member any more: when and how it was removed,
    and which partitions it may still consume (a zombie)."""
    departed = note.departed
    assert departed is not None, f"{note.line} tells of nobody that has gone"
    since = f"at {instant(departed.at_ms)}"
    if departed.reason == "left":
        return f"It had left {since}."
    how = (
        f"replaced by a newer instance {since}"
        if departed.reason == "replaced"
        else f"removed {since} ({printable(departed.reason)})"
    )
    clause = went_through(note.trouble)
    before = f", while {clause}" if clause else ""
    if not departed.held:
        return f"It was {how}{before}, and owned nothing then."
    return f"It is a zombie: {how}{before}, it still believes that it owns {partitions(departed.held)} of generation {departed.generation}."
