"""Results of decisions about a share group: plain values.

A share partition may be assigned only if the share coordinator keeps its state. So a decision
may contain an `Initialization`; the caller sends it to the share coordinator, and passes the
answer to `initializing.answered`.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.events.groups.consumer import TopicPartitions
from coordinator.events.groups.share import ShareEvent
from coordinator.wire.schema import Response


class Initialization(NamedTuple):
    """Request to the share coordinator to initialize the state of share partitions. `state_epoch`:
    the group epoch (SH-HB-2); `grown`: topics of which the group has state already: their new
    partitions are read from offset 0, except in older releases (SH-44-1).
    """

    group_id: str
    state_epoch: int
    topics: tuple[TopicPartitions, ...]
    grown: frozenset[bytes] = frozenset()


class Deletion(NamedTuple):
    """Request to the share coordinator to delete the state of all share partitions of a deleted
    group (SH-DEL-1).
    """

    group_id: str
    topics: tuple[TopicPartitions, ...]


StateRequest = Initialization | Deletion


class Decision(NamedTuple):
    """Decision on a request or an expired session.

    `events` are folded first, then the sessions are set (None: they end) and the reply is sent,
    then `initialize` is sent to the share coordinator. `checked_version`: the version of the
    topics with which the group was compared.
    """

    events: tuple[ShareEvent, ...] = ()
    reply: Response | None = None
    sessions: tuple[tuple[str, int | None], ...] = ()
    checked_version: int | None = None
    initialize: Initialization | None = None
