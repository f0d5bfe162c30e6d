"""Notes beside the rebalances as sentences: refusals that matter, zombies, restarts, loads. Wording
only."""

from __future__ import annotations

from ..history.views import Departed, Note
from .detail import api_name
from .words import counted, instant, listed, partitions, printable


def told(note: Note) -> str:
    """A note as a sentence or two."""
    line = note.line
    if note.sentence:
        return note.sentence
    match note.kind:
        case "MemberReplaced":
            instance = printable(line["group_instance_id"])
            return (
                f"Static member {instance} came back as {note.members[0]} and keeps what {note.members[1]} had: no rebalance; "
                f"{note.members[1]} is fenced."
            )
        case "PendingMemberRemoved":
            return f"Member id {note.members[0]} was taken back before it joined ({printable(line['reason'])})."
        case "RequestRefused":
            return _refusal(note)
        case "FaultInjected":
            who = f"client {printable(str(line.get('client') or ''))}"
            return f"A {printable(line['api'])} of {who} met an injected fault{_times(note)}: {printable(note.injected)}."
        case "GroupDeleted":
            return f"The group was deleted ({printable(line['reason'])})."
        case "GroupUnloaded":
            return "The coordinator gave the group up; parked requests were told so."
        case "GroupLoaded":
            return f"A coordinator loaded the group as {line['state']} in generation {line['generation']}; all sessions began anew."
        case kind:
            return f"{printable(kind)}."


def _refusal(note: Note) -> str:
    line, errors = note.line, note.line["errors"]
    who = (
        counted("member", note.members)
        if note.members
        else f"client {printable(str(line['client']))}"
        if line.get("client")
        else "a client"
    )
    refused = f"{who[0].upper()}{who[1:]} was refused {api_name(line)}{_times(note)}: {printable(listed(errors))}"
    if note.injected:
        return f"{refused}, because of an injected fault ({printable(note.injected)})."
    if note.departed is not None:
        return f"{refused}{_rule(errors)}. {_departed(note.departed, line.get('generation'))}"
    if "ILLEGAL_GENERATION" in errors and note.members and "generation" in line:
        believes = f" It still consumes {partitions(note.held)}." if note.held else ""
        return f"{refused} (VAL-1 passed, the generation not): it speaks for generation {line['generation']}.{believes}"
    return f"{refused}."


def _times(note: Note) -> str:
    return f" {note.times} times until {instant(note.last_ms)}" if note.times > 1 else ""


def _rule(errors: list[str]) -> str:
    if "FENCED_INSTANCE_ID" in errors:
        return " (STA-6: a newer instance has its group.instance.id)"
    if "UNKNOWN_MEMBER_ID" in errors:
        return " (VAL-1: this id is no member's)"
    return ""


def _departed(departed: Departed, generation: int | None) -> str:
    """Who this was, and what it may still believe: the definition of a zombie."""
    since = f"at {instant(departed.at_ms)}"
    if departed.reason == "left":
        return f"It had left {since}."
    how = (
        f"replaced by a newer instance {since}"
        if departed.reason == "replaced"
        else f"removed {since} ({printable(departed.reason)})"
    )
    if not departed.held:
        return f"It was {how}, and owned nothing then."
    return f"It is a zombie: {how}, it still believes that it owns {partitions(departed.held)} of generation {departed.generation}."
