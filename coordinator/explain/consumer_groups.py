"""Events of consumer groups (KIP-848) as notes of a timeline; the words are those of
`consumer_story`."""

from __future__ import annotations

from collections.abc import Callable

from ..event_log.reader import Line
from .consumer_epochs import Epochs
from .consumer_state import ConsumerState
from .consumer_story import KINDS as KINDS
from .consumer_story import ConsumerStory
from .views import GroupView, Note
from .words import printable


def follow_consumer_event(group: GroupView, line: Line) -> None:
    """Fold one event of a consumer group into its state, and tell nothing."""
    if group.followed is None:
        group.followed = ConsumerState()
    group.followed.follow(line)
    group.state = group.followed.state()


def note_consumer_event(
    group: GroupView, line: Line, chain: Callable[[int | None], list[Line]]
) -> None:
    """Tell one event of a consumer group, and remember what later sentences need. `chain`: as
    `Timeline.chain`."""
    if group.consumers is None or group.epochs is None:
        group.consumers, group.epochs = ConsumerStory(), Epochs()
    sentence = group.consumers.tell(line)
    group.state = group.consumers.state()
    group.epochs.follow(line, group.state, chain)
    member = line.get("member")
    names = [printable(member)] if member else []
    group.entries.append(
        Note(
            line["at_ms"],
            line["seq"],
            line["type"],
            group.generation,
            names,
            line,
            last_ms=line["at_ms"],
            sentence=sentence,
        )
    )
