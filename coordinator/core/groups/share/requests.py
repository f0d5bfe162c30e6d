"""Results of the decisions about a share group: plain values.

A share partition may be given to members only when the share coordinator keeps state for it. A
decision therefore names what it is to be asked, as an `Initialization`; whoever carries the
decision out asks, and brings the answer back with `initializing.answered`.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.events.groups.consumer import TopicPartitions
from coordinator.events.groups.share import ShareEvent
from coordinator.wire.schema import Response


class Initialization(NamedTuple):
    """The request to the share coordinator: to make the state of these share partitions.
    `state_epoch` is the group's epoch (SH-HB-2), `grown` are those of the topics of which the group
    has state already: their new partitions are read from offset 0, but in older releases (SH-44-1)."""

    group_id: str
    state_epoch: int
    topics: tuple[TopicPartitions, ...]
    grown: frozenset[bytes] = frozenset()


class Deletion(NamedTuple):
    """The request to the share coordinator when a group is deleted: to forget the state of all
    its share partitions (SH-DEL-1)."""

    group_id: str
    topics: tuple[TopicPartitions, ...]


StateRequest = Initialization | Deletion


class Decision(NamedTuple):
    """The proposal for one request, or for a session that ended.

    `events` are folded first, then the sessions are set (None: they end) and the reply goes out,
    then the share coordinator is asked for `initialize`. `checked_version`: with which version of
    the topics the group was compared.
    """

    events: tuple[ShareEvent, ...] = ()
    reply: Response | None = None
    sessions: tuple[tuple[str, int | None], ...] = ()
    checked_version: int | None = None
    initialize: Initialization | None = None
