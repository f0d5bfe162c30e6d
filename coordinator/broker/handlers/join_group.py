"""JoinGroup (key 11): a member asks to be in the next generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.messages.join_group import JoinGroupRequest

if TYPE_CHECKING:
    from ..core import Broker, Call, Result


def handle(broker: Broker, call: Call) -> Result:
    """Parked until the join phase ends (JOIN-*). The tail of a new member's id is drawn here: the heart has no dice (MID-1)."""
    assert isinstance(call.message, JoinGroupRequest)
    return broker.coordinate(call, call.message, "" if call.message.member_id else broker.fresh_id())
