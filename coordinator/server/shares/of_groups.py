"""Requests of groups to the share coordinator: initialize states of share partitions, and delete
all of a deleted group (SH-HB-2, SH-DEL-1). Only translates; the rules are in `core.groups.share`
and `core.share_states`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.share.requests import Deletion, StateRequest
from coordinator.core.share_states.model import NO_OFFSET, ShareStateKey

if TYPE_CHECKING:
    from .service import Shares


def carry_out(shares: Shares, asked: StateRequest, now: int) -> ErrorCode:
    """Carry out a group's request; return the first error, or NONE."""
    keys = [
        ShareStateKey(asked.group_id, of.topic_id, partition)
        for of in asked.topics
        for partition in of.partitions
    ]
    if isinstance(asked, Deletion):
        decisions = [shares.persister.delete(key, now) for key in keys]
    else:
        from_zero = asked.grown if shares.grown_from_zero else ()
        decisions = [
            shares.persister.initialize(
                key, asked.state_epoch, 0 if key.topic_id in from_zero else NO_OFFSET, now
            )
            for key in keys
        ]
    return next((of.error for of in decisions if of.error), ErrorCode.NONE)
